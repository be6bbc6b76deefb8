# SPDX-License-Identifier: Apache-2.0
#
# The files csv-ROUND-ARM/launches.csv as a table: a row for each size and way to launch, with the
# times of the three arms, and the ratios of the tuners to no tuner. first, last: the sizes in bytes
# that have a rule. Fails if a target is missed. After csv.awk.

FNR == 1 {
    header()
    n = split(FILENAME, parts, "/")
    split(parts[n - 1], parts, "-")
    round = parts[2]
    arm = parts[3]
    arms[arm] = 1
    rounds = round + 1 > rounds ? round + 1 : rounds
    next
}
{
    csv($0, f)
    way = match(" " get("params"), / launch=[a-z]+/) ? substr(get("params"), RSTART + 7, RLENGTH - 8) : "-"
    key = way SUBSEP get("size_B")
    if (!(key in seen)) { seen[key] = 1; keys[++n_keys] = key }
    if (get("median_s") == "") next
    t[key, arm, round] = log(get("median_s"))
    what = get("ran")
    if ((key, arm) in ran && ran[key, arm] != what) what = "differs"
    ran[key, arm] = what
}
END {
    if (stopped) exit 1
    for (i = 2; i <= n_keys; i++)
        for (k = i; k > 1 && after(keys[k - 1], keys[k]); k--) {
            key = keys[k]; keys[k] = keys[k - 1]; keys[k - 1] = key
        }
    print "# size_B launch rule | us: none ours" ("theirs" in arms ? " theirs" : "") " | ours/none [95%]" \
        ("theirs" in arms ? " | theirs/none [95%]" : "") " | what NCCL ran | verdict"
    for (i = 1; i <= n_keys; i++) row(keys[i])
    for (way in ways) total(way)
    exit missed
}

function after(a, b,    x, y) {
    split(a, x, SUBSEP)
    split(b, y, SUBSEP)
    return x[1] != y[1] ? x[1] > y[1] : x[2] + 0 > y[2] + 0
}

# The mean of v[1..n] with the half width of its 95% interval, in `mean` and `half`: Student's t by
# the expansion of its quantile in 1/df.
function interval(v, n,    i, s, z, df) {
    mean = half = 0
    for (i = 1; i <= n; i++) mean += v[i] / n
    if (n < 3) { half = "-"; return }
    for (i = 1; i <= n; i++) s += (v[i] - mean) ^ 2
    z = 1.959964
    df = n - 1
    half = sqrt(s / df / n) * (z + (z ^ 3 + z) / (4 * df) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * df ^ 2) + \
        (3 * z ^ 7 + 19 * z ^ 5 + 17 * z ^ 3 - 15 * z) / (384 * df ^ 3))
}
function us(key, arm,    r, n, v) {
    for (r = 0; r < rounds; r++) if ((key, arm, r) in t) v[++n] = t[key, arm, r]
    if (!n) return "-"
    interval(v, n)
    return sprintf("%.2f", 1e6 * exp(mean))
}
# The ratio of an arm to no tuner, paired by round; low and high are left behind.
function ratio(key, arm,    r, n, v) {
    for (r = 0; r < rounds; r++)
        if ((key, arm, r) in t && (key, "none", r) in t) v[++n] = t[key, arm, r] - t[key, "none", r]
    low = high = ""
    if (!n) return "-"
    interval(v, n)
    return ends()
}
function ends() {
    if (half == "-") return sprintf("%.4f", exp(mean))
    low = exp(mean - half)
    high = exp(mean + half)
    return sprintf("%.4f [%.4f, %.4f]", exp(mean), low, high)
}
# Where no rule matches: no slower than by 0.5%. Where one does: what the example plugin runs.
function row(key,    part, size, matched, line, verdict, r) {
    split(key, part, SUBSEP)
    size = part[2] + 0
    matched = size >= first && size <= last
    line = sprintf("%d %s %s | %s %s", size, part[1], matched ? "yes" : "no", us(key, "none"), us(key, "ours"))
    if ("theirs" in arms) line = line " " us(key, "theirs") " | " ratio(key, "ours") " | " ratio(key, "theirs")
    else line = line " | " ratio(key, "ours")
    ratio(key, "ours")
    if (matched)
        verdict = !("theirs" in arms) ? "-" : ran[key, "ours"] == ran[key, "theirs"] ? "same" : "MISSED: runs differ"
    else {
        verdict = ran[key, "ours"] != ran[key, "none"] ? "MISSED: runs differ" : low == "" ? "-" : \
            high <= 1.005 ? "ok" : low > 1.005 ? "MISSED" : "open"
        ways[part[1]] = 1
        for (r = 0; r < rounds; r++)
            if ((key, "ours", r) in t && (key, "none", r) in t) {
                sum[part[1], r] += t[key, "ours", r] - t[key, "none", r]
                count[part[1], r]++
            }
    }
    if (verdict ~ /^MISSED/) missed = 1
    print line " | " short(ran[key, "none"]) ", " short(ran[key, "ours"]) \
        ("theirs" in arms ? ", " short(ran[key, "theirs"]) : "") " | " verdict
}
function short(text) { gsub(/ ctas=/, "x", text); return text == "" ? "-" : text }
# All sizes without a rule together: the mean of their ratios in each round.
function total(way,    r, n, v, text) {
    for (r = 0; r < rounds; r++) if (count[way, r]) v[++n] = sum[way, r] / count[way, r]
    if (!n) return
    interval(v, n)
    low = high = ""
    text = ends()
    if (low > 1.005) missed = 1
    print "# no rule matches, " way ": ours/none over all sizes " text ", held to 1.005: " \
        (low == "" ? "-" : high <= 1.005 ? "ok" : low > 1.005 ? "MISSED" : "open")
}
