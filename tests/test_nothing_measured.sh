#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A later run in which nothing was measured, as on a machine without the GPUs, does not stand in for
# an earlier one: not in `show`, not in the figures, not in the report.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

old=raw/p/null/20250101T000000Z-aaaa new=raw/p/null/20250202T000000Z-bbbb
skip_line() { line "$new" 1 1 \
    '{"type":"fail","cell":"'"$1"'","copy":0,"kind":"skip","why":"no GPU","rank":0,"host":"h",'\
'"phase":"prepare"}'; }
whole_run $old
new_run $new
header $new 1 1
for id in $A $B $C $S; do skip_line "$id"; done
for group in $G $H; do line $new 1 1 \
    '{"type":"group","group":"'"$group"'","blocks":0,"cells":[]}'; done
line $new 1 1 '{"type":"end","at":2.5,"status":"complete"}'

run "$gradsync" show raw
like "$out" '20250101T000000Z-aaaa' 'show takes the run that measured something'
run "$gradsync" show $new
like "$out" '20250202T000000Z-bbbb.*no GPU' 'show takes a run without measurements when it is named'

# ---- figures ----

"$gradsync" reduce -q raw -o csv
panels before p/null csv ${old##*/}
panels after p/null csv ${old##*/} ${new##*/}
ok 'there is something to draw' test -s before/figures.mk
ok 'the figures are the same after a later run without measurements' diff -r before after

# ---- a run that has only begun ----

begun=begun/p/null/20250303T000000Z-cccc
mkdir -p $begun
: >$begun/launch-01.01.jsonl
ok 'a run without a line is reduced when it is named' \
    "$gradsync" reduce -q $begun -o begun.csv
ok 'its table of contrasts has a header' test -s begun.csv/compare.csv

# ---- tables of the report ----

ok 'a run without measurements is compared' "$gradsync" compare -q raw -o csv
"$gradsync" transitions -q csv && "$gradsync" limits -q -o csv "$top/configs/local.ini"
# Neither run is final: without its numbers the later one comes after the earlier.
ok 'a report is made with a run without measurements' \
    "$gradsync" report -q -r raw -c csv -f none -o page.html
is "$(sed -n '/Every cell/,/<.details>/p' page.html | grep -c '20250202T000000Z-bbbb</a>')" 0 \
    'the report has the rows of the earlier run'
done_testing
