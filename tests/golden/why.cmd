# Not under ASan: what is read is fuzzed with it.
# A number back to the lines it was measured in; what is under-sampled, mixed, damaged or missing is refused, with
# the command that fills the gap.
config() { # KEYS of [null] LAUNCHES
    printf '[launch]\nranks = 2\n[measure]\nlaunches = %s\n[null]\n%s\n' "$2" "$1" >configs/p.ini
}
tables() { rm -rf csv && gradsync reduce -q raw -o csv 2>/dev/null; }
why() { gradsync why --macros macros.txt --csv csv --raw raw --configs configs "$@"; }
defines() { printf '%s\n' "$@" >macros.txt; }
first=raw/p/null/20250101T000000Z-aaaa
mkdir -p configs raw/p/null
config $'size = 8, 16\nconfigs = a, b' 2
whole_run $first && manifest $first && tables

# ---- a number and its evidence. The names of the files are those of the definitions and of the tables.
A_ROW="platform='p' AND workload='null' AND config='a' AND size=8"
cat >macros.txt <<END
time.a = time: SELECT median_s, ci_low_s, ci_high_s FROM summary WHERE $A_ROW
set s = 8, 16
set c = SELECT config FROM summary WHERE platform='p'
size.<s> = size: SELECT size_B FROM summary WHERE platform='p' AND config='a' AND size=<s>
config.<c> = integer: SELECT count(*) FROM summary WHERE config='<c>'
rows sizes over s = <s> & \\val{size.<s>} \\\\
best = text: SELECT config FROM summary WHERE platform='p' AND status='ok' ORDER BY median_s, line LIMIT 1
of.best = text: SELECT cell_id FROM summary WHERE platform='p' AND config='@best' AND size=8
cells = integer: SELECT count(*) FROM summary WHERE platform='p' AND status='ok'
configs = integer: SELECT count(DISTINCT config) FROM summary WHERE platform='p' AND status='ok'
names = text: SELECT DISTINCT config FROM summary WHERE platform='p' AND status='ok' ORDER BY config
launches = integer: SELECT total(launches) FROM summary WHERE platform='p' AND status='ok'
none = time else \\nothing: SELECT median_s FROM summary WHERE platform='q'
nobody = integer: SELECT count(*) FROM summary WHERE platform='q'
ratio = ratio: SELECT @size.16 / @size.8
most = size: SELECT value FROM @size.* ORDER BY value DESC LIMIT 1
same = integer: SELECT '@best' = '@names'
tally = integer: SELECT count(*) FROM @size.* WHERE plain='16'
within = integer: SELECT count(*) FROM @size.* WHERE value BETWEEN 10 AND 20
launch = text: SELECT value FROM settings WHERE section='measure' AND key='launches'
wanted = text: SELECT value FROM asked WHERE platform='p' AND section='measure' AND key='launches'
default = text: SELECT value FROM asked WHERE platform='p' AND section='measure' AND key='blocks'
host = text: SELECT "commit" FROM runs WHERE platform='p'
END
$ why $first
$ why time.a
# Every line that is named speaks of the cell, and there is no other that does.
$ grep -n "\"cell\":\"$A\"" $first/launch-01.01.jsonl | grep -v '"type":"group"' | cut -d: -f1 | xargs
$ diff <(why '\val{time.a}') <(why time.a)
$ why --value size.16 best of.best cells configs names nobody ratio same tally within most config.a launch default host
$ why "integer: SELECT launches FROM summary WHERE $A_ROW"
$ why --value size.16 "integer: SELECT launches FROM summary WHERE $A_ROW"
$ why launches
$ why wanted
$ why none
$ why time.b
# Without a name it lists all.
$ why

# ---- a row of a table, as a report numbers them
mv macros.txt away
$ why summary:2
$ diff <(why summary.csv:2) <(why summary:2)
$ why summary:1
$ why sumary:2
mv away macros.txt
# What ran, and no line is wrapped into a pipe.
gradsync reduce -q $top/data/raw/h200-4gpu/nccl_allreduce/*-a9e9 -o gpus
$ gradsync why --csv gpus --raw $top/data/raw --configs $top/configs summary:2 >said
$ grep '^  ran ' said; grep -v '^[^ ].*:2$\|^  [a-z]\+ \|^    launch-' said

# ---- all of them, for TeX
$ why -o tex && grep 'time.a\|rows@sizes' tex/macros.tex
# A cell that was skipped is not counted, and not called refused.
$ why "integer: SELECT count(*) FROM summary WHERE platform='p' AND config='b'"
$ why -o again && diff -r tex again

# ---- what is refused
refused() { tables && why -o tex2 || echo "exit $?: $(ls tex2 2>/dev/null | wc -l) files"; }
time_a="time.a = time: SELECT median_s FROM summary WHERE $A_ROW"
defines "$time_a"
config $'size = 8, 16\nconfigs = a, b' 3
$ refused
# An under-sampled number gives way to its substitute and is not counted.
defines "${time_a/time:/time else \\leftout:}" \
    "cells = integer: SELECT count(*) FROM summary WHERE platform='p' AND status='ok'"
$ why -o tex3 && grep -o 'gs@v@.*' tex3/macros.tex
# A training has a config of its own, which the config of the platform need not name.
cp -r $first kept
sed -i 's/"null"/"train"/' $first/*.jsonl && manifest $first
defines "${time_a/null/train}"
mv raw/p/null raw/p/train && tables
$ why --value time.a
rm -rf raw/p/* && mkdir raw/p/null && mv kept $first
defines "$time_a"
config $'size = 8, 16\nconfigs = a, b' 2
# Launches with different versions of MPI, or of the driver.
sed -i '1s/"ranks":2/"mpi":"another","ranks":2/' $first/launch-02.01.jsonl && manifest $first
$ refused
sed -i '1s/"mpi":"another"/"hosts":[{"host":"h","gpu":{"driver":"1.2"}}]/' $first/launch-02.01.jsonl && manifest $first
$ refused
# A recording that was edited since the tables were made.
rm -rf $first && whole_run $first && manifest $first && tables
sed -i 's/"time_ns":\[1/"time_ns":[2/' $first/launch-01.01.jsonl
$ why -o tex2
rm -rf $first && whole_run $first && manifest $first
# What was never measured, on a platform that was and on another, and what was skipped, which no command can fill.
defines "q = time: SELECT median_s FROM summary WHERE platform='q' AND config='a'"
$ refused
defines "p = time: SELECT median_s FROM summary WHERE platform='p' AND config='z'"
$ refused
defines "s = time: SELECT median_s FROM summary WHERE cell_id='$S'"
$ refused

# ---- measured again: an unfinished run does not take the place of a finished one, a finished one does
later=raw/p/null/20250102T000000Z-bbbb
whole_run $later && sed -i 's/"time_ns":\[1/"time_ns":[3/' $later/*.jsonl
defines "time.a = text: SELECT run_id FROM summary WHERE $A_ROW"
$ tables; why --value time.a
manifest $later
$ tables; why --value time.a
# A row without a workload is traced to its run, also if another run replaced that.
printf '%s\n' platform,run_id "p,${first##*/}" >csv/shapes.csv
$ why shapes:2
rm csv/shapes.csv
# A row of two runs: verdict beside verdict. Both must be sound.
printf '%s\n' platform,workload,label,run_id,mode,size_B,params,baseline,config,launches,ratio,earlier_run_id,earlier_launches,earlier_ratio \
    "p,null,,${later##*/},,8,size=8 config=b,a,b,2,2.1,${first##*/},2,1.9" >csv/again.csv
defines "earlier = ratio: SELECT earlier_ratio FROM again WHERE platform='p'"
$ why earlier
sed -i '1s/"ranks":2/"mpi":"another","ranks":2/' $first/launch-02.01.jsonl && manifest $first
$ why -o tex2
sed -i '1s/"mpi":"another","ranks":2/"ranks":2/' $first/launch-02.01.jsonl && manifest $first
sed -i '2s/,2,1.9$/,1,1.9/' csv/again.csv
$ why -o tex2
$ ls -d tex2
$ gradsync why -m .
