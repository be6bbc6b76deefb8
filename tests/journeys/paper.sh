#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A journey: the numbers of the paper come from the recordings of this repository.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/committed.sh"
[ -x "$build/sim/error_rates" ] || skip_all 'tests/sim is not built here'
paper=$top/paper/paper.tex

ok 'no number of the paper is typed in' awk -f "$top/paper/typed.awk" "$paper"
cd "$top" || exit 1
ok 'the tables of the recordings are made' committed_tables "$tmp/csv"
"$build/sim/error_rates" 20 3 200 >"$tmp/csv/error_rates.csv" 2>/dev/null
exits 0 'the macros are written' bash paper/numbers.sh "$gradsync" "$tmp/csv"
printf '%s\n' "$out" >"$tmp/macros.tex"
named() { grep -o '\\val{[^{}#]*}' "$paper" | sed 's/.*{//; s/}$//' | sort -u; }
defined() { grep -o 'gs@v@[^\\]*' "$tmp/macros.tex" | sed 's/gs@v@//' | sort -u; }
is "$(comm -23 <(named) <(defined))" '' 'every number that the paper names is defined'
ok 'the paper names many numbers' test "$(named | wc -l)" -gt 50
done_testing
