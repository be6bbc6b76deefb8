# SPDX-License-Identifier: Apache-2.0
#
#   awk -f typed.awk paper.tex   finds numbers that were typed in where \val{NAME} belongs: prints
#                                FILE:LINE: and the word, and ends with 1 when there is one
#
# Digits may stand in names (H200, int8: a word that begins with a letter), in what TeX is told (the
# arguments of the commands below), in a number of another's work (\cited{NUMBER}, beside its \cite), in a \cmd that begins with one of the project's programs, in a
# formula as single digits, and in the level of the intervals, 95\%.

BEGIN {
    ARGUMENTS = "\\\\(val|cited|rows|whenrows|whenpositive|drawing|steptable|ref|label|cite|input|documentclass" \
                "|usepackage|includegraphics|begin|end|multicolumn|setlength|bibliography|hypersetup" \
                "|newcommand|renewcommand|vspace|cmidrule)"
    ARGUMENT = "(\\[[^]]*\\]|\\{[^{}]*\\})"
}

/^\\title/ { text = 1 } # what stands before it is told to TeX
text {
    line = $0
    gsub(/\\%/, "\001", line)
    sub(/%.*/, "", line)
    gsub(/\\\\/, " ", line)
    gsub(/\\cmd\{(make|gradsync|tests\/|figures\/)[^{}]*\}/, "", line)
    # First arguments and options alone: the text that a conditional holds is text.
    while (match(line, ARGUMENTS ARGUMENT))
        line = substr(line, 1, RSTART - 1) "\002" substr(line, RSTART + RLENGTH)
    gsub(/\002\{0\.[0-9]+\}/, " ", line) # the width of a picture
    gsub(/\\newcommand\\[a-z]+\[[0-9]\]/, "", line)
    gsub(/95\001/, "", line)
    while (match(line, /\$[^$]*\$/)) {
        formula = substr(line, RSTART + 1, RLENGTH - 2)
        line = substr(line, 1, RSTART - 1) " " (formula ~ /[0-9][0-9.]|^[0-9]$/ ? formula : "") substr(line, RSTART + RLENGTH)
    }
    gsub(/#[0-9]/, "", line)
    gsub(/[A-Z]+-[0-9]|[A-Za-z]+[0-9]+[A-Za-z0-9]*/, "", line)
    gsub(/-?[0-9.]+(cm|pt|em|\\linewidth)/, "", line)
    if (match(line, /[0-9][0-9.,]*/)) {
        printf "%s:%d: '%s' is typed in; a number of the paper is \\val{NAME}, a row of paper/numbers.sql\n", FILENAME, FNR, substr(line, RSTART, RLENGTH)
        found = 1
    }
}

END { exit found }
