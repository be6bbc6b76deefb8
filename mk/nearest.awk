# SPDX-License-Identifier: Apache-2.0
#
#   awk -v word=figurs -f mk/nearest.awk MAKEFILE…     the documented target that is nearest to a word,
#   awk -v word=PLATFROM -f mk/nearest.awk MAKEFILE…   or what may be set (NAME ?=), within a third of
#                                                      its length in edits; nothing when none is
function least(a, b) { return a < b ? a : b }
function edits(a, b,    i, j, row, diagonal, above) {
    for (j = 0; j <= length(b); j++) row[j] = j
    for (i = 1; i <= length(a); i++) {
        diagonal = row[0]
        row[0] = i
        for (j = 1; j <= length(b); j++) {
            above = row[j]
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (substr(a, i, 1) != substr(b, j, 1)))
            diagonal = above
        }
    }
    return row[length(b)]
}
function try(name,    n) {
    n = edits(word, name)
    if (n * 3 <= length(word) + 2 && (nearest == "" || n < fewest)) {
        fewest = n
        nearest = name
    }
}
/^[a-z][a-z-]*:.*##/ { sub(/:.*/, ""); try($1) }
/^(export )?[A-Z_]+ \?=/ { sub(/^export /, ""); try($1) }
END { print nearest }
