# SPDX-License-Identifier: Apache-2.0
#
# "ours|theirs COLLECTIVE LAUNCH bytes microseconds" of each round: a line for each size that both
# measured, and a sentence. within: the ratio of the medians is in the target, 2% from 1 KiB, 5%
# below. among: it is not, but our median is between the fastest and the slowest round of
# nccl-tests.
function sort_all(side, key, k, i, j, x) {
    k = n[side, key]
    for (i = 2; i <= k; i++) {
        x = t[side, key, i]
        for (j = i - 1; j > 0 && t[side, key, j] > x; j--)
            t[side, key, j + 1] = t[side, key, j]
        t[side, key, j + 1] = x
    }
    return k
}
function median(side, key, k) {
    k = sort_all(side, key)
    return (t[side, key, int((k + 1) / 2)] + t[side, key, int(k / 2) + 1]) / 2
}
{
    key = $2 " " $4 " " $3
    t[$1, key, ++n[$1, key]] = $5
    if ($1 == "theirs" && n[$1, key] == 1)
        order[++keys] = key
}
END {
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, word, " ")
        if (!n["ours", key]) {
            missing++
            continue
        }
        ours = median("ours", key)
        theirs = median("theirs", key)
        least = t["theirs", key, 1]
        most = t["theirs", key, n["theirs", key]]
        w = word[2] < 1024 ? 0.05 : 0.02
        ratio = ours / theirs
        verdict = ratio >= 1 - w && ratio <= 1 + w ? "within" : \
            ours >= least && ours <= most ? "among" : "outside"
        count[verdict]++
        side = verdict == "outside" ? (ratio > 1 ? "slower" : "faster") : verdict
        sides[side]++
        printf "%s %.2f %.2f %.4f %.2f..%.2f %s %.2f..%.2f of %d\n", key, ours, theirs, ratio,
            1 - w, 1 + w, verdict, least, most, n["theirs", key]
    }
    printf "# T_ss: %d of %d within the target (2%% from 1 KiB, 5%% below), %d outside it but " \
        "among the rounds of nccl-tests, %d outside: gradsync slower in %d, faster in %d\n",
        count["within"], keys - missing, count["among"], count["outside"], sides["slower"],
        sides["faster"]
    if (missing)
        printf "# T_ss: %d sizes measured by nccl-tests alone\n", missing
}
