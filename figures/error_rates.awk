# SPDX-License-Identifier: Apache-2.0
#
# The panel of error_rates.csv, after csv.awk: how often a difference is found, against its size. At no
# difference this is the rate of false ones. A curve for each method that was simulated at every size.

BEGIN {
    n = split("verdict;verdict: one of fourteen, three blocks;Mann-Whitney one after the other;wrong way", method, ";")
    split("one comparison;one of 14, 3 blocks;Mann-Whitney;Mann-Whitney, reversed", words, ";")
}
FNR == 1 { header(); next }
{
    csv($0, f)
    size = get("quantity") ~ /^nothing there but/ ? 0 : get("quantity") ~ /^[0-9.]+% there and/ ? get("quantity") + 0 : -1
    wrong = get("quantity") ~ /the other way$/
    name = get("method")
    gsub(/;/, ",", name)
    sub(/any of fourteen/, "one of fourteen", name)
    for (i = 1; i <= n && size >= 0; i++)
        if (wrong ? i == n && name == method[n - 1] : name == method[i])
            point(i, num("rate"), num("rate_low"), num("rate_high"))
    if (size >= 0 && !wrong && name == "verdict") {
        campaigns = num("campaigns") > campaigns ? num("campaigns") : campaigns
        if (num("most") < 1) at_most = num("most")
        if (num("least") > 0) { at_least = num("least"); least_size = size }
    }
}
function point(i, rate, low, high,    k) {
    for (k = ++points[i]; k > 1 && at[i, k - 1] > size; k--) {
        at[i, k] = at[i, k - 1]
        row[i, k] = row[i, k - 1]
    }
    at[i, k] = size
    row[i, k] = size " " 100 * rate " " 100 * low " " 100 * high
}
END {
    stop_if_stopped()
    printf "title_of = 'how often a difference is found'\n"
    printf "detail = 'up to %d simulated campaigns of 5 launches for each point'\n", campaigns
    printf "platform = ''\nworkload = ''\nat_most = %g\nat_least = %g\nleast_size = %g\n", 100 * at_most, 100 * at_least, least_size
    printf "n = %d\narray label[%d] = [", n, n
    for (i = 1; i <= n; i++)
        printf "%s%s", (i > 1 ? ", " : ""), quote(words[i])
    printf "]\n$power << EOD\n"
    for (i = 1; i <= n; i++) {
        for (k = 1; k <= points[i]; k++)
            print row[i, k]
        print (i < n ? "\n" : "EOD")
    }
}
