#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A journey: the numbers of the paper come from the recordings of this repository. No number in it is
# typed in. tests/test_paper_written.sh writes it.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/committed.sh"
[ -x "$build/sim/error_rates" ] || skip_all 'tests/sim is not built here'
paper=$top/paper/paper.tex

# ---- typed in
typed() { awk -f "$top/paper/typed.awk" "$@"; }
ok 'no number of the paper is typed in' typed "$paper"
# A line put at the end of the abstract is found there, or not.
with() { sed "s/^\\\\end{abstract}/$(sed 's/[\\&/]/\\&/g' <<<"$1")\n&/" "$paper" >with.tex; }
at=$(grep -n '^\\end{abstract}' "$paper" | cut -d: -f1)
# shellcheck disable=SC1003 # lines of TeX may end with a backslash
for line in 'It takes 635 us.' 'a gain of 16\% there' '\emph{243} GB/s' 'on 4 GPUs' \
    '\val{error.power} of 1000' \
    'about $635$ of them' 'up to $3.5$ times' '\caption{At 535 us}' '1 MiB & 20.1 & faster \\' \
    'the 2x that we saw' \
    '\whenpositive{error.power}{It is 12.}{It is not.}' '\texttt{635}' 'from 10 to 20~ms' \
    '\cmd{rm 635}'; do
    with "$line"
    exits 1 "a typed number is found in: $line" typed with.tex
    like "$err$out" "with.tex:$at: '.*' is typed in; a number of the paper is " \
        "the message gives the line of the typed number in: $line"
done
for line in 'an H200, an A100 and int8' 'at least $2(n-1)/n$ of it' \
    '\val{step.h200-4gpu.16MiB.1.change}' '% 635 us' \
    'Table~\ref{tab:1} and \cite{ha2008}' 'a 95\% interval' '\rows{step.h200-4gpu.16}' \
    'INTELLECT-1' 'gains of \cited{1.07} to \cited{44\%}~\cite{xu2025}'; do
    with "$line"
    ok "nothing is found in: $line" typed with.tex
done

# ---- every number that it names
ok 'the tables of the recordings are made' committed_checkout "$tmp/checkout"
cd "$tmp/checkout" || exit 1 # as make runs it: places in the paper are those of the checkout
csv=data/csv
"$build/sim/error_rates" 20 3 200 >"$csv/error_rates.csv" 2>/dev/null
exits 0 'the numbers of the paper come from these recordings' bash paper/numbers.sh "$gradsync" "$csv"
printf '%s\n' "$out" >"$tmp/macros.tex"
# $(names COMMAND FILE…): the arguments of \COMMAND{…} but those of definitions
names() { cat "${@:2}" | grep -v '^%\|^ *\\newcommand\|^  *{\\csname' | grep \
    -o "\\\\$1{[^{}#]*}" | sed 's/.*{//; s/}$//' | sort -u; }
defined() { grep -o "gs@$1@[^\\\\]*" "$tmp/macros.tex" | sed "s/gs@$1@//" | sort -u; }
is "$(comm -23 <(names val "$paper" "$tmp/macros.tex") <(defined v))" '' \
    'every number that the paper names is defined'
is "$(comm -23 <(names rows "$paper") <(defined rows))" '' \
    'every table body that the paper names is defined'
is "$(comm -23 <(grep -o 'when[a-z]*{[^{}#]*}' "$paper" | sed 's/.*{//; s/}//' | sort \
    -u) <(sort -u <(defined v) <(defined rows)))" '' \
    'every condition of a sentence is defined'
is "$(grep -o 'gs@.*endcsname' "$tmp/macros.tex" | sort | uniq -d)" '' 'no number is defined twice'
n=$(names val "$paper" | wc -l)
ok "the paper names many numbers ($n)" test "$n" -gt 50
is "$(bash paper/numbers.sh "$gradsync" "$csv" back.steps price.step.least)" \
    $'back.steps = 6\nprice.step.least = 1.7%' 'numbers.sh prints single numbers as text'

# ---- macros of other queries
mkdir "$tmp/none"
cd "$tmp/none" || exit 1
prints '\{841.0~\\textmu\{\}s~\[840.0, 842.0\]\}' "$gradsync" query -q --format tex \
    "SELECT 'a', 'time', 841e-6, 840e-6, 842e-6"
prints '\{\$-\$15\.3\\%\}' "$gradsync" query -q --format tex "SELECT 'a', 'change', 0.847"
prints '\{a\\_b\}.*\{--\}' "$gradsync" query -q --format tex \
    "SELECT 'a', 'text', 'a_b'; SELECT 'b', 'time', NULL, NULL, NULL, '--';"
fails1 1 "'a' has no value" "$gradsync" query -q --format tex "SELECT 'a', 'time', NULL"
fails1 2 "'a' has the form 'tim'; the forms are text" "$gradsync" query -q --format tex "SELECT 'a', 'tim', 1"
fails1 2 'takes SELECTs of the columns name, form' "$gradsync" query -q --format tex 'SELECT 1'
cd "$tmp/checkout" || exit 1

# ---- figures of queries agree with what else computes them
jobs=$(awk -F, '$2 == "job" {
    printf "data/raw/%s/trial/%s %.1f%% [%.1f, %.1f]\n", $9, $8, 100 * $4, 100 * $5, 100 * $6 }' "$csv/price.csv")
is "$jobs" "$(while read -r job _; do
    "$gradsync" compare "$job" 2>&1 | sed -n "s|^.*ommunication costs \(.*\]\) of the step.*|$job \1|p"
done <<<"$jobs")" \
    'each price of the query is the price that compare prints of its run'
is "$(awk -F, '$1 == "reversed" && $2 == 1' "$csv/links.csv" | wc -l)" \
    "$(grep -c '^h100-2gpu-steps,iter_proxy,resnet,.*,overlapped,.*,faster,.*,4,graph,' "$csv/chosen.csv")" \
    'the opposite orders of the query are the verdicts against the highest bandwidth'
is "$(grep -c '^reversed,[23],' "$csv/links.csv")" 0 'one or two launches show no opposite orders'

# ---- written
exits 3 'a paper without LaTeX ends with 3' env PATH=/nonexistent "$BASH" mk/latex.sh --found
like "$err" 'make setup-paper' 'the message without LaTeX says how to install it'
done_testing
