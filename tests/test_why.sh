#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A number back to the lines it was measured in; what is under-sampled, mixed, damaged or
# missing is refused, with the command that fills the gap.
# shellcheck disable=SC1003 # lines of TeX end with a backslash
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

config() { # KEYS of [null] LAUNCHES
    printf '[launch]\nranks = 2\n[measure]\nlaunches = %s\n[null]\n%s\n' "$2" "$1" >configs/p.ini
}
tables() { rm -rf csv && "$gradsync" reduce -q raw -o csv 2>/dev/null; }
why() { run "$gradsync" why --macros macros.txt --csv csv --raw raw --configs configs "$@"; }
defines() { printf '%s\n' "$@" >macros.txt; }
first=raw/p/null/20250101T000000Z-aaaa
mkdir -p configs raw/p/null
config $'size = 8, 16\nconfigs = a, b' 2
whole_run $first
manifest $first
tables

# ---- a number and its evidence
A_ROW="platform='p' AND workload='null' AND config='a' AND size=8"
defines "time.a = time: SELECT median_s, ci_low_s, ci_high_s FROM summary WHERE $A_ROW" \
    'set s = 8, 16' \
    "set c = SELECT config FROM summary WHERE platform='p'" \
    "size.<s> = size: SELECT size_B FROM summary WHERE platform='p' AND config='a' AND size=<s>" \
    "config.<c> = integer: SELECT count(*) FROM summary WHERE config='<c>'" \
    'rows sizes over s = <s> & \val{size.<s>} \\' \
    "best = text: SELECT config FROM summary WHERE platform='p' AND status='ok' ORDER BY \
median_s, line LIMIT 1" \
    "of.best = text: SELECT cell_id FROM summary WHERE platform='p' AND config='@best' AND size=8" \
    "cells = integer: SELECT count(*) FROM summary WHERE platform='p' AND status='ok'" \
    "configs = integer: SELECT count(DISTINCT config) FROM summary WHERE platform='p' AND \
status='ok'" \
    "names = text: SELECT DISTINCT config FROM summary WHERE platform='p' AND status='ok' ORDER \
BY config" \
    "launches = integer: SELECT total(launches) FROM summary WHERE platform='p' AND status='ok'" \
    "none = time else \\nothing: SELECT median_s FROM summary WHERE platform='q'" \
    "nobody = integer: SELECT count(*) FROM summary WHERE platform='q'" \
    'ratio = ratio: SELECT @size.16 / @size.8' \
    'most = size: SELECT value FROM @size.* ORDER BY value DESC LIMIT 1' \
    "same = integer: SELECT '@best' = '@names'" \
    "tally = integer: SELECT count(*) FROM @size.* WHERE plain='16'" \
    'within = integer: SELECT count(*) FROM @size.* WHERE value BETWEEN 10 AND 20' \
    "launch = text: SELECT value FROM settings WHERE section='measure' AND key='launches'" \
    "wanted = text: SELECT value FROM asked WHERE platform='p' AND section='measure' AND \
key='launches'" \
    "default = text: SELECT value FROM asked WHERE platform='p' AND section='measure' AND \
key='blocks'" \
    "host = text: SELECT \"commit\" FROM runs WHERE platform='p'"
why $first
like "$rc $err" "^2 gradsync: why: '$first' is a run, not a number: gradsync show $first .* summary.csv:12$" \
    'why of a run says in one line what to type'
why --value size.16 best
like "$rc $out" $'^0 size.16 = 16[^ ]*B\nbest = a$' 'why --value prints several numbers, a line each'
why time.a
is $rc 0 'why traces a number of the definitions'
like "$out" $'^time.a = 1.01' 'why prints the number as the paper prints it'
like "$out" $'defined +macros.txt:1 ' 'why names the line of the definition'
like "$out" $'row +csv/summary.csv:[0-9]+ ' 'why names the row of the table'
like "$out" "run +$first, 2 ranks on 1 node, 2 launches"
like "$out" $'\n  commit +c\n' 'why names the commit that measured it'
# Every line that is named speaks of the cell, and there is no other that does.
lines=$(grep -o 'launch-01.01.jsonl:.*' <<<"$out" | cut -d: -f2)
is "$(tr -s ', ' '\n' <<<"$lines" |
    awk -F- '{ for (i = $1; i <= (NF > 1 ? $2 : $1); i++) print i }')" \
    "$(grep -n "\"cell\":\"$A\"" $first/launch-01.01.jsonl | grep -v '"type":"group"' | cut -d: \
    -f1)" 'why names every line of the recording that speaks of the cell, and no other'
why '\val{time.a}'
like "$out" '^time.a = ' 'why accepts a name as it stands in the paper'
why "integer: SELECT launches FROM summary WHERE $A_ROW"
like "$out" '^query = 2' 'why accepts a query of its own'
why --value size.16 "integer: SELECT launches FROM summary WHERE $A_ROW"
like "$rc $out" $'^0 size.16 = 16[^ ]*B\nquery = 2$' 'why accepts a query behind a name'
# ---- a row of a table, as a report numbers them
at=$(grep -n "^[^,]*,p,null,,$A," csv/summary.csv | cut -d: -f1)
mv macros.txt away
why "summary:$at"
like "$out" $'^summary:'"$at"$'\n  row +csv/summary.csv:'"$at .*cell_id=$A"
like "$out" "run +$first.*launch-01.01.jsonl:[0-9]"
why "summary.csv:$at"
like "$out" "^summary:$at" 'why accepts a table by the name of its file'
why summary:1
is "$rc" 2 'a line without a row is refused'
one_line "$err" 'a line without a row is refused in one line'
like "$err" 'csv/summary.csv: no row begins on line 1; rows are on lines 2 to'
why sumary:2
is "$rc" 2 'a table that is not there is refused'
like "$err" "did you mean 'summary'" 'a misspelt table gets the nearest one'
mv away macros.txt
run_of_gpus=$(echo "$top"/data/raw/h200-4gpu/nccl_allreduce/*-a9e9)
"$gradsync" reduce -q "$run_of_gpus" -o gpus
prints $'\n  ran +RING/LL ctas=1\n' "$gradsync" why --csv gpus --raw "$top/data/raw" --configs \
    "$top/configs" summary:2
is "$(grep -v '^[^ ].*:2$\|^  [a-z]\+ \|^    launch-' <<<"$out")" '' \
    'why wraps no line into a pipe'

for pair in 'size.16=16' 'best=a' 'cells=3' 'configs=2' 'names=a, b' 'launches=6' 'nobody=0' \
    'ratio=2.000' 'same=0' 'tally=1' 'within=1' 'most=16' 'config.a=2' 'launch=5' 'wanted=2' \
    'default=20' 'host=c' "of.best=$A"; do
    why "${pair%%=*}"
    like "$out" "^${pair%%=*} = ${pair#*=}" "${pair%%=*} is ${pair#*=}"
done
why wanted
like "$out" 'place=configs/p.ini:4' 'why names the line of the config that asked for a value'
why none
is "$rc|${out%%$'\n'*}" '0|none = \nothing' \
    'a number that was not measured prints what its definition puts instead'
why time.b
is $rc 2 'an unknown name is refused'
like "$err" "did you mean 'time.a'" 'an unknown name gets the nearest one'
why
is "$out$err" "$("$gradsync" why --macros macros.txt --csv csv --raw raw --configs configs 2>&1)" \
    'why without a name succeeds in listing the names'
like "$out" $'time.a\n.*size.16' 'why without a name lists every name'

# ---- all of them, for TeX
why -o tex
is "$rc|$err" '0|' 'why -o writes all numbers without a complaint'
ok 'the macros have a number with its interval' \
    grep -qF '\csname gs@v@time.a\endcsname{1.010~\textmu{}s~[1.010, 1.010]}' tex/macros.tex
ok 'the macros have the body of a table' \
    grep -qxF '\expandafter\def\csname gs@rows@sizes\endcsname{8 & \val{size.8} \\' tex/macros.tex
unlike "$err" 'under-sampled' 'a cell that was skipped does not lack launches'
why "integer: SELECT count(*) FROM summary WHERE platform='p' AND config='b'"
is "$rc|${out%%$'\n'*}" '0|query = 1' 'a cell that was skipped is not counted'
unlike "$out" 'refused' 'a cell that was skipped is not called refused'
why -o again
ok 'why -o writes the same bytes again' diff -r tex again

# ---- what is refused
refused() { # NAME REGEX: the number cannot be had, and the message says so
    tables
    why -o tex2
    is $rc 1 "$1: the exit code is 1"
    like "$err" "$2" "$1: the message says which number, and what fills the gap"
    one_line "$err" "$1: the message is one line"
    ok "$1: nothing is written" test ! -e tex2
}
defines "time.a = time: SELECT median_s FROM summary WHERE $A_ROW"
config $'size = 8, 16\nconfigs = a, b' 3
refused 'fewer launches than the config asks for' \
    "$first: under-sampled: .* than the 3 .*: time.a cannot be printed; fill it: gradsync run \
configs/p.ini --workload null"
defines "time.a = time else \\leftout: SELECT median_s FROM summary WHERE $A_ROW" \
    "cells = integer: SELECT count(*) FROM summary WHERE platform='p' AND status='ok'"
why -o tex3
is "$rc|$(grep -o 'gs@v@.*' tex3/macros.tex | tr '\n' ' ')" \
    '0|gs@v@time.a\endcsname{\leftout} gs@v@cells\endcsname{0} ' \
    'an under-sampled number gives way to its substitute and is not counted'
like "$err" '^left out: .*under-sampled.*fill it: gradsync run'
defines "time.a = time: SELECT median_s FROM summary WHERE $A_ROW"
cp -r "$first" kept
sed -i 's/"null"/"train"/' "$first"/*.jsonl && manifest "$first"
sed -i "s/workload='null'/workload='train'/" macros.txt
mv raw/p/null raw/p/train
tables
why time.a
is "$rc" 0 'a training has a config of its own, which the config of the platform need not name'
rm -rf raw/p/* tex2 && mkdir raw/p/null && mv kept "$first"
defines "time.a = time: SELECT median_s FROM summary WHERE $A_ROW"
config $'size = 8, 16\nconfigs = a, b' 2
chmod -R u+w raw
sed -i '1s/"ranks":2/"mpi":"another","ranks":2/' $first/launch-02.01.jsonl
manifest $first
refused 'launches with different MPI versions' \
    "$first: mixed: its launches differ in mpi none . another"
sed -i '1s/"mpi":"another"/"hosts":[{"host":"h","gpu":{"driver":"1.2"}}]/' $first/launch-02.01.jsonl
manifest $first
refused 'launches with different GPU drivers' \
    'mixed: its launches differ in .*gpu_driver none . 1.2'
rm -rf $first
whole_run $first
manifest $first
tables
sed -i 's/"time_ns":\[1/"time_ns":[2/' $first/launch-01.01.jsonl
why -o tex5
is $rc 1 'a recording edited since the tables were made is refused'
like "$err" "$first: damaged: time.a cannot be printed"
rm -rf $first
whole_run $first
manifest $first
defines "q = time: SELECT median_s FROM summary WHERE platform='q' AND config='a'"
refused 'a platform that was never measured' \
    "macros.txt:1: summary has no row with platform='q'.*fill it: make figures"
defines "p = time: SELECT median_s FROM summary WHERE platform='p' AND config='z'"
refused 'a config that was never measured on a known platform' 'fill it: gradsync run configs/p.ini'

defines "s = time: SELECT median_s FROM summary WHERE cell_id='$S'"
refused 'a cell that was skipped, which no command can fill' \
    "all rows of summary with cell_id='$S' were skipped: no .b., here: s cannot be printed$"

# ---- measured again
later=raw/p/null/20250102T000000Z-bbbb
whole_run $later
sed -i 's/"time_ns":\[1/"time_ns":[3/' $later/*.jsonl
defines "time.a = text: SELECT run_id FROM summary WHERE $A_ROW"
tables
why time.a
like "$out" "^time.a = ${first##*/}" 'an unfinished run does not take the place of a finished one'
manifest $later
tables
why time.a
like "$out" "^time.a = ${later##*/}" 'a finished run takes the place of an earlier one'

printf '%s\n' platform,run_id "p,${first##*/}" >csv/shapes.csv
why shapes:2
like "$out" "run +$first," 'a row without a workload is traced to its run, also if another run replaced that'
rm csv/shapes.csv

# A row of two runs: verdict beside verdict.
{
    echo platform,workload,label,run_id,mode,size_B,params,baseline,config,launches,ratio,\
earlier_run_id,earlier_launches,earlier_ratio
    echo "p,null,,${later##*/},,8,size=8 config=b,a,b,2,2.1,${first##*/},2,1.9"
} >csv/again.csv
defines "earlier = ratio: SELECT earlier_ratio FROM again WHERE platform='p'"
why earlier
like "$out" "run +$later, .*run +$first, " 'a number of two runs is traced to both'
sed -i '1s/"ranks":2/"mpi":"another","ranks":2/' $first/launch-02.01.jsonl
manifest $first
why -o tex8
is "$rc|$(grep -c "$first: mixed: its launches differ in mpi none . another: earlier" <<<"$err")" \
    '1|1' 'a number of two runs is refused when the earlier one is mixed'
sed -i '1s/"mpi":"another","ranks":2/"ranks":2/' $first/launch-02.01.jsonl
manifest $first
sed -i '2s/,2,1.9$/,1,1.9/' csv/again.csv
why -o tex9
is "$rc|$(grep -c "$first: under-sampled" <<<"$err")" '1|1' \
    'a number of two runs is refused when the earlier one has too few launches'

fails 2 '^\.: Is a directory; --macros' "$gradsync" why -m .
done_testing
