#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# LaTeX writes the paper: twice to the same bytes, and also when every verdict is the opposite.
. "$(dirname "$0")/lib.sh"
. "$top/tests/committed.sh"
[ -x "$build/sim/error_rates" ] || skip_all 'tests/sim is not built here'
command -v latexmk >/dev/null || skip_all 'no latexmk here: make setup-paper'
paper=$top/paper/paper.tex

ok 'the tables of the recordings are made' committed_checkout "$tmp/checkout"
cd "$tmp/checkout" || exit 1 # as make runs it: places in the paper are those of the checkout
csv=data/csv
"$build/sim/error_rates" 20 3 200 >"$csv/error_rates.csv" 2>/dev/null
numbers() { mkdir -p "$tmp/$1" && bash paper/numbers.sh "$gradsync" "$csv" >"$tmp/$1/macros.tex"; }
ok 'the numbers of the paper are made' numbers numbers
# $(names COMMAND FILE…): the arguments of \COMMAND{…} but those of definitions
names() { cat "${@:2}" | grep -v '^%\|^ *\\newcommand\|^  *{\\csname' | grep \
    -o "\\\\$1{[^{}#]*}" | sed 's/.*{//; s/}$//' | sort -u; }
figures() { # DIR: a drawing for each that the paper shows
    printf '\\documentclass{article}\\pagestyle{empty}\\begin{document}.\\end{document}\n' \
        >"$tmp/dot.tex"
    [ -e "$tmp/dot.pdf" ] || (cd "$tmp" && pdflatex -interaction=batchmode dot.tex >/dev/null)
    names drawing "$paper" | sed \
        "s,.*,\\\\expandafter\\\\def\\\\csname gs@figure@&\\\\endcsname{$tmp/dot.pdf}," \
        >"$1/figures.tex"
}
write() { # DIR NUMBERS
    mkdir -p "$1" && cp "$2"/* "$1" && figures "$1" || return
    bash mk/latex.sh "$paper" "$1" 20250102T030405Z-aaaa
}
ok 'LaTeX writes the paper' write "$tmp/one" "$tmp/numbers"
ok 'LaTeX writes the paper again in another folder' write "$tmp/another/place" "$tmp/numbers"
ok 'paper.pdf has the same bytes' cmp "$tmp/one/paper.pdf" "$tmp/another/place/paper.pdf"
# Nothing is faster any more.
mkdir "$tmp/turned" && sed '/@[^@]*faster/s/{[0-9]*}/{0}/; s/{faster}/{slower}/' "$tmp/numbers/macros.tex" >"$tmp/turned/macros.tex"
ok 'the opposite numbers are others' bash -c "! cmp -s '$tmp/numbers/macros.tex' '$tmp/turned/macros.tex'"
ok 'LaTeX writes the paper with the opposite numbers' write "$tmp/opposite" "$tmp/turned"
sed 's/\\val{error.power}/\\val{error.pwer}/' "$paper" >"$tmp/typo.tex"
exits 1 'a paper that names an unknown number is refused' \
    bash mk/latex.sh "$tmp/typo.tex" "$tmp/one" 20250102T030405Z-aaaa
like "$err" 'No number error.pwer' 'the message names the unknown number'
done_testing
