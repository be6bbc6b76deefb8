# SPDX-License-Identifier: Apache-2.0
#
# The panel of limits.csv, after csv.awk: each published claim that has a fraction, the least possible
# first, and the highest value measured on each platform. A claim that is held against several
# measurements is drawn where it is furthest from them.

function shorten(text, n) { return length(text) > n ? substr(text, 1, n - 1) "…" : text }

function add(name, what, fraction, verdict,    i) {
    for (i = 1; i <= n && (row_name[i] != name || row_what[i] != what);)
        i++
    if (i <= n && row_fraction[i] + 0 >= fraction + 0)
        return
    n = i > n ? i : n
    row_name[i] = name; row_what[i] = what; row_fraction[i] = fraction; row_verdict[i] = verdict
    order[i] = i
}

NR == 1 { header(); next }
{ csv($0, f) }
num("fraction") == "" { next }
get("kind") == "published" {
    agrees = get("quantity") ~ /^(busbw\/algbw|duration)$/ && get("verdict") == "possible" # no limit is near
    if (!agrees)
        add(get("claim") ~ /^[a-z0-9_.]+ = / ? get("platform") ": " get("claim") : get("claim"), \
            get("quantity") (get("limit_source") ~ /^measured on/ ? ", measured" : ""), num("fraction"), get("verdict"))
    next
}
{
    key = get("platform") SUBSEP get("quantity")
    if (!(key in most) || num("fraction") + 0 > most[key]) {
        most[key] = num("fraction") + 0
        most_verdict[key] = get("verdict")
    }
}

END {
    stop_if_stopped()
    for (key in most) {
        split(key, part, SUBSEP)
        add("peak measured on " part[1], part[2], most[key], most_verdict[key])
    }
    for (i = 2; i <= n; i++) { # the largest fraction on top; equals by name, so that runs agree
        v = order[i]
        for (j = i - 1; j >= 1 && (row_fraction[order[j]] + 0 < row_fraction[v] + 0 ||
             (row_fraction[order[j]] + 0 == row_fraction[v] + 0 && row_name[order[j]] row_what[order[j]] > row_name[v] row_what[v])); j--)
            order[j + 1] = order[j]
        order[j + 1] = v
    }
    if (!n)
        print "n = 0"
    colour["impossible"] = 2; colour["contradicted"] = 2; colour["at the limit"] = 3; colour["in part"] = 3
    for (i = 1; i <= n; i++) {
        k = order[i]
        names = names ", " quote(shorten(row_name[k], 47))
        whats = whats ", " quote(row_what[k])
        rows = rows i " " row_fraction[k] " " (row_verdict[k] in colour ? colour[row_verdict[k]] : 1) "\n"
    }
    printf "platform = \"\"\nworkload = \"\"\ndetail = \"▲ impossible, or contradicted by data   ◆ at the limit, or partly true\"\nrows = %d\n", n
    printf "array name[%d] = [%s]\narray what[%d] = [%s]\n", n, substr(names, 3), n, substr(whats, 3)
    printf "$claims << EOD\n%sEOD\n", rows
}
