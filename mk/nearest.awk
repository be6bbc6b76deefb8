# SPDX-License-Identifier: Apache-2.0
#
#   awk -v word=figurs -f mk/nearest.awk MAKEFILE…                  the documented target that is nearest to a
#                                                                   word, within a third of its length in edits
#   awk -v word=PLATFROM -v variable=1 -f mk/nearest.awk MAKEFILE…  what may be set (NAME ?=) and differs by one
#                                                                   letter, by two that changed places, or
#                                                                   in case alone
#   awk -v word=h200 -v names='local h200-2gpu' -f mk/nearest.awk </dev/null
#                                                                   of the names the nearest, or the first
#                                                                   that holds the word
# Nothing when none is near, or the word is one.
function least(a, b) { return a < b ? a : b }
function swapped(a, b, i, j) {
    return i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1)
}
function edits(a, b,    i, j, d) {
    for (j = 0; j <= length(b); j++) d[0, j] = j
    for (i = 1; i <= length(a); i++) {
        d[i, 0] = i
        for (j = 1; j <= length(b); j++) {
            d[i, j] = least(least(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + (substr(a, i, 1) != substr(b, j, 1)))
            if (swapped(a, b, i, j)) d[i, j] = least(d[i, j], d[i - 2, j - 2] + 1)
        }
    }
    return d[length(a), length(b)]
}
function try(name,    n) {
    known = known || word == name
    if (variable && word != name && toupper(word) == name) {
        fewest = 0
        nearest = name
        return
    }
    n = edits(word, name)
    if (names != "" && holder == "" && length(word) > 2 && index(name, word))
        holder = name
    if ((variable ? n == 1 && length(word) > 2 : n * 3 <= length(word) + 2) && (nearest == "" || n < fewest)) {
        fewest = n
        nearest = name
    }
}
!variable && /^[a-z][a-z-]*:.*##/ { sub(/:.*/, ""); try($1) }
variable && /^(export )?[A-Z_]+ \?=/ { sub(/^export /, ""); try($1) }
END {
    n_given = split(names, given, " ")
    for (i = 1; i <= n_given; i++)
        try(given[i])
    if (!known)
        print nearest == "" ? holder : nearest
}
