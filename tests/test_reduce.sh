#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `gradsync reduce`: recordings that are written by hand here become the tables that are expected.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

# ---- the tables of a whole run
whole_run raw/p/null/r1
ok 'a run is reduced' "$gradsync" reduce raw -o csv
is "$(head -n 3 csv/samples.csv)" \
    "run_id,launch,block,cell_id,platform,workload,config,mode,copy,ranks,nodes,size_B,sample,time_s
r1,1,1,$A,p,null,a,,0,2,1,8,1,0.0000010001
r1,1,1,$A,p,null,a,,0,2,1,8,2,0.00000101" \
    'samples.csv has its header and exact times in the order they were taken'
is "$(wc -l <csv/samples.csv)" $((1 + 2 * (2 * 9 + 3))) \
    'samples.csv has a row for every sample, those of copies included'
is "$(grep -c ",a,,1,2,1,8," csv/samples.csv)" 12 \
    "samples.csv tells the baseline's second copy apart"
is "$(head -n 1 csv/summary.csv)" \
    'run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,n,launches,'\
'blocks,warmup_blocks,median_s,ci_low_s,ci_high_s,p95_s,p99_s,min_s,algbw_Bps,busbw_Bps,'\
'limit_Bps,limit_fraction,skew_s,converged,status,reason,ran,iterations,throttled,note,'\
'param_size,param_config' \
    'summary.csv has its columns'
is "$(cut -d, -f5 csv/summary.csv)" "cell_id
$A
$B
$C
$S" 'summary.csv has a row for every cell, in the order of the plan'
is "$(of csv $A median_s) $(of csv $A n) $(of csv $A launches) $(of csv $A blocks)" \
    '1.01e-06 12 2 4' 'summary.csv has the median and the counts of samples, launches and blocks'
is "$(of csv $A min_s) $(of csv $A skew_s) $(of csv $A limit_Bps)" \
    '1.0001e-06 3e-08 10000000000.0' 'summary.csv has the minimum, the skew and the limit'
# 8 B / 1.01 us, and that over 10 GB/s
is "$(of csv $A busbw_Bps | cut -c1-10) $(of csv $A limit_fraction | cut -c1-10)" \
    '7920792.07 0.00079207' 'summary.csv has the bus bandwidth and its share of the limit'
# A limit is known of the hardware: that of the platform's config today holds for every table.
mkdir configs
printf '[limits]\nbusbw = 20GB/s\n' >configs/p.ini
"$gradsync" reduce -q raw -o today
is "$(of today $A limit_Bps) $(of today $A median_s)" '20000000000.0 1.01e-06' \
    "a limit in the platform's config replaces the recorded one"
printf '[limits]\nmemory = 1TB/s\n' >configs/p.ini
"$gradsync" reduce -q raw -o today
is "$(of today $A limit_Bps)$(of today $A limit_fraction)" '' \
    "a platform's config without a bandwidth limit leaves the limit empty"
rm -r configs
is "$(of csv $A converged) $(of csv $C converged)" 'yes yes' \
    'convergence is judged by the interval in the row, not by what a launch recorded'
is "$(tail -n 1 csv/summary.csv)" \
    "r1,p,null,,$S,b,,2,1,16,,,,,,,,,,,,,,,,no,skip,\"no \"\"b\"\", here\",,,,,16,b" \
    'a skipped cell has a row with its reason'
is "$(grep -c . csv/metrics.csv)" 4 'metrics beyond the time have rows in metrics.csv'
is "$(sed -n 2p csv/metrics.csv)" "r1,p,null,,$A,a,,2,1,8,steps,1,4,1.5,1.0,2.0" \
    'metrics.csv has the median and the interval of a metric'
is "$(wc -l <csv/iteration.csv)" 1 'iteration.csv stays empty when no steps were measured'
like "$(cat csv/classic/p/null/r1/allreduce.txt)" \
    $'config b\n.*\n +8 +8 +- +- +-1 +2.01 +0.00 +0.00 +0' \
    'the classic output looks like the table of nccl-tests'

whole_run told/p/null/r1 # what was 16 bytes is 8, by another metric
sed -i "/$C/{ s/\"params\": \"size=16 config=a\"/\"params\": \"size=8 config=a metric=L\"/; \
s/\"size_B\": 16/\"size_B\": 8/
    s/{\"size\":\"16\",\"config\":\"a\"}/{\"size\":\"8\",\"config\":\"a\",\"metric\":\"L\"}/; \
s/\"size_B\":16/\"size_B\":8/ }" told/p/null/r1/*.json*
ok 'a run with two metrics of one size is reduced' "$gradsync" reduce -q told -o told.csv
is "$(grep -A 4 '^# config a' told.csv/classic/p/null/r1/allreduce.txt | grep \
    -E '^# config|^ +8 ' | sed 's/^ *//; s/  .*//')" \
    $'# config a\n8\n# config a, metric=L\n8' 'the classic output has a table for each metric'

# ---- the same bytes
cp -r csv first
ok 'a run is reduced a second time' "$gradsync" reduce raw -o csv
ok 'a second reduction gives the same bytes' diff -r first csv
whole_run raw/p/null/r0
sed 's/"platform":"p"/"platform":"a-b"/; s/"run_id":"[^"]*"/"run_id":"r9"/' \
    -i "$(recording raw/p/null/r0 1 1)" "$(recording raw/p/null/r0 2 1)"
mv raw/p/null/r0 raw/p/null/r9
ok 'two runs are reduced at once' "$gradsync" reduce raw -o both
mkdir -p kept/data/raw && cp -r raw/p kept/data/raw/
(cd kept && "$gradsync" reduce -q -o csv) # the store then has both runs
mv kept/data/raw/p/null/r9 kept/r9 && (cd kept && rm -r csv && "$gradsync" reduce -q -o csv)
ok 'the tables of a store without a run that went are those of the other' diff -r first kept/csv
mv kept/r9 kept/data/raw/p/null/r9
mv kept/data/raw/p/null/r1 kept/r1 && (cd kept && rm -r csv && "$gradsync" reduce -q -o csv)
"$gradsync" reduce -q raw/p/null/r9 -o other
ok 'whichever of them went' diff -r other kept/csv
mv kept/r1 kept/data/raw/p/null/r1
(cd kept && rm -r csv && "$gradsync" reduce -q -o csv)
ok 'the tables of a store that took the runs one after the other have the same bytes' \
    diff -r both kept/csv
like "$(sed -n 2p both/summary.csv)" '^r9,a-b,null' "rows are in the order of the platforms' names"
exits 2 'the same run twice is refused' "$gradsync" reduce raw raw -o twice
like "$err" 'the same run as' 'the message says that the same run was given twice'
rm -rf raw/p/null/r9
mkdir locale && (cd locale && LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 "$gradsync" reduce ../raw \
    -o csv)
ok 'a German locale gives the same bytes' diff -r first locale/csv

# ---- the tables of all recordings stay

mkdir -p home/data && cp -r raw home/data/raw
home() { (cd home && "$gradsync" reduce -q "$@"); }
ok 'data/csv is made from a part of the recordings if it has no tables' home data/raw/p
ok 'all recordings replace the tables of data/csv' home data/raw/
exits 2 'a part of the recordings does not replace the tables of all' home data/raw/p
one_line "$err" 'the refusal is one line'
like "$err" 'data/csv would be replaced by those of data/raw/p alone: .*--output' \
    'the error names the part and the option for another folder'
exits 2 'nor does one run' home data/raw/p/null/r1
ok 'a part goes where --output says' home data/raw/p -o data/csv

# ---- which blocks count
new_run two/a 1
header two/a 1 1
cell two/a 1 1 $G $A 0 a 8
block two/a 1 1 $A 0 1 '50000'
header two/a 1 2
cell two/a 1 2 $G $A 0 a 8
block two/a 1 2 $A 0 1 '10000'
closed two/a 1 2 $G $A true
header two/a 1 3
cell two/a 1 3 $G $A 0 a 8
block two/a 1 3 $A 0 1 '70000'
ok 'a group that was attempted three times is reduced' "$gradsync" reduce two -o two.csv
is "$(of two.csv $A median_s) $(of two.csv $A n) $(of two.csv $A status)" '1e-06 1 ok' \
    'the attempt that closed a group is the one that counts'
sed -i '/"type":"group"/d' "$(recording two/a 1 2)"
ok 'a group that no attempt closed is reduced' "$gradsync" reduce two -o two.csv
is "$(of two.csv $A median_s) $(of two.csv $A converged) $(of two.csv $A status)" \
    '7e-06 no partial' 'of attempts that did not close a group the latest counts, as not converged'
is "$(of two.csv $B median_s)|$(of two.csv $B status)|$(of two.csv $B reason)" \
    '|partial|not measured' 'a cell that was never reached is marked as not measured'
failed() { # DIR LAUNCH ATTEMPT CELL KIND WHY
    line "$1" "$2" "$3" '{"type":"fail","cell":"'"$4"'","copy":0,"kind":"'"$5"'","why":"'"$6"'",'\
'"rank":1,"host":"h","phase":"verify"}'
}
failed two/a 1 3 $A wrong 'sum off'
ok 'a run with a wrong result is reduced' "$gradsync" reduce two -o two.csv
is "$(of two.csv $A median_s)|$(of two.csv $A status)|$(of two.csv $A reason)" '|wrong|sum off' \
    'a cell with a wrong result has its reason and no numbers'
new_run died/a 2
for launch in 1 2; do
    header died/a $launch 1
    cell died/a $launch 1 $G $A 0 a 8
    block died/a $launch 1 $A 0 1 '10000'
    failed died/a $launch 1 $A crash SIGSEGV
    header died/a $launch 2
    cell died/a $launch 2 $G $B 0 b 8
    block died/a $launch 2 $B 0 1 '20000'
    [ $launch = 2 ] && cell died/a $launch 2 $G $A 0 a 8 && block died/a $launch 2 $A 0 1 '30000'
    closed died/a $launch 2 $G $B true
done
ok 'a run with crashes is reduced' "$gradsync" reduce died -o died.csv
is "$(of died.csv $A median_s) $(of died.csv $A status)" '3e-06 partial' \
    'a cell that crashed in one launch counts with the other launch, as partial'
is "$(of died.csv $A reason)" '1 of 2 launches; crash: SIGSEGV' \
    'a cell that crashed in one launch has the crash as its reason'
is "$(of died.csv $B median_s) $(of died.csv $B status)" '2e-06 ok' \
    'the cell beside one that crashed is whole'

# ---- a cell without a bandwidth
whole_run notraffic/r
sed -i 's/"busbw_factor":1.0/"busbw_factor":0.0/' notraffic/r/launch-*.jsonl
ok 'a cell whose size is no traffic is reduced' "$gradsync" reduce notraffic -o notraffic.csv
is "$(of notraffic.csv $A algbw_Bps)$(of notraffic.csv $A busbw_Bps)" '' \
    'a cell whose size is no traffic has no bandwidth'
sed -i '/"type":"end"/d' notraffic/r/launch-02.01.jsonl
for why in first last; do failed notraffic/r 2 1 $S skip $why; done
"$gradsync" reduce -q notraffic -o notraffic.csv
is "$(of notraffic.csv $S reason)" last 'the last of several failures of one kind is the reason'

# ---- warm-up
new_run warm/w 1
header warm/w 1 1
cell warm/w 1 1 $G $A 0 a 8
for n in 1 2; do block warm/w 1 1 $A 0 $n 50000; done
for n in 3 4 5 6 7 8 9 10 11 12; do block warm/w 1 1 $A 0 $n $((10000 + n * 5 % 9)); done
closed warm/w 1 1 $G $A true
ok 'a run whose first blocks are slower is reduced' "$gradsync" reduce warm -o warm.csv
is "$(of warm.csv $A warmup_blocks) $(of warm.csv $A blocks) $(of warm.csv $A n)" '2 10 12' \
    'blocks of warm-up are found, counted and left out'
is "$(of warm.csv $A median_s)|$(of warm.csv $A ci_low_s)|$(of warm.csv $A ci_high_s)" \
    '1.00045e-06||' 'the median leaves warm-up out, and has no interval from one launch'
is "$(grep steps warm.csv/metrics.csv | cut -d, -f13-)" '10,7.5,,' \
    'other metrics leave warm-up out as well'

# ---- a change of level: more than a fifth of the values, so nothing is dropped
rm -r warm && new_run warm/w 1
header warm/w 1 1
cell warm/w 1 1 $G $A 0 a 8
for n in {1..30}; do block warm/w 1 1 $A 0 "$n" $((n < 3 ? 500000 : 10000 + n % 3)); done
closed warm/w 1 1 $G $A true
ok 'a launch with two slow first steps is reduced' "$gradsync" reduce warm -o warm.csv
unlike "$(of warm.csv $A note)" 'changes level' 'two blocks are no level'

rm -r warm && new_run warm/w 1
header warm/w 1 1
cell warm/w 1 1 $G $A 0 a 8
for n in {1..13}; do block warm/w 1 1 $A 0 "$n" 50000; done
for n in {14..30}; do block warm/w 1 1 $A 0 "$n" $((10000 + n % 3)); done
for n in {1..30}; do # the skew of a warm block is its number
    printf '%s\n' 's/"block":'"$n"',\(.*"skew_ns":\)30/"block":'"$n"',\1'$((n < 14 ? 90 : n))/
done | sed -i -f - "$(recording warm/w 1 1)"
closed warm/w 1 1 $G $A true
ok 'a launch that changes its level is reduced' "$gradsync" reduce warm -o warm.csv
is "$(of warm.csv $A warmup_blocks) $(of warm.csv $A blocks) $(of warm.csv $A converged)" \
    '13 17 no' 'a slow first level is taken for warm-up, and the cell does not converge'
is "$(of warm.csv $A skew_s)" 2.2e-08 'the skew leaves warm-up out'
is "$(of warm.csv $A note)" \
    'launch 1 changes level after block 13 of 30: 5.00 us before and 1.00 us after' \
    'the note names the change of level with the times before and after'
is "$(sed -n 2p warm.csv/launches.csv | cut -d, -f12,13,15-17)" \
    '17,1.0001e-06,13,5e-06,1.0001e-06' \
    'launches.csv has the times before and after a change of level'
prints \
    $'us  -  .*ok \\[1\\]\n.*\n\\[1\\] launch 1 changes level after block 13 of 30: 5.00 us before and 1.00 us after' \
    "$gradsync" show warm

# ---- convergence: the interval of the row against `precision`
wide() { # DIR SECOND: two launches, the second at SECOND ns
    new_run "$1" 2
    for launch in 1 2; do
        header "$1" $launch 1
        cell "$1" $launch 1 $G $A 0 a 8
        for n in 1 2 3; do block "$1" $launch 1 $A 0 $n $((launch == 1 ? 100000 : $2)); done
        closed "$1" $launch 1 $G $A true
    done
}
wide wide/w 104000
ok 'launches that differ by 4% are reduced' "$gradsync" reduce wide -o wide.csv
is "$(of wide.csv $A converged)" no \
    'launches that differ by 4% do not converge to 1%, whatever they recorded'
printf '[measure]\nprecision = 5%%\n' >>wide/w/config.ini
sed -i "s/\"config_sha256\": \"[0-9a-f]*/\"config_sha256\": \"$(sha256sum <wide/w/config.ini | cut \
    -d' ' -f1)/" wide/w/plan.json
"$gradsync" reduce -q wide -o wide.csv
is "$(of wide.csv $A converged)" yes 'launches that differ by 4% converge to 5%'

# ---- clocks that are held down, and a steady state of few operations
health() { # LAUNCH BLOCK REASONS
    line wide/w "$1" 1 '{"type":"health","group":"'$G'","block":'"$2"',"before":{"0":{"load1":1,'\
'"gpu":{"throttle":['"$3"']}},"1":{"load1":1}},"after":{"0":{"gpu":{"throttle":["power_cap"]}}}}'
}
rm -r wide && wide wide/w 100000
sed -i '/"type":"group"/d; s/"params":{/"params":{"metric":"T_ss",/' wide/w/launch-0?.01.jsonl
for launch in 1 2; do
    health $launch 1 '"power_cap"'
    health $launch 2 '"idle"'
    closed wide/w $launch 1 $G $A true
done
ok 'readings of throttle reasons are reduced' "$gradsync" reduce wide -o wide.csv
is "$(of wide.csv $A iterations) $(of wide.csv $A throttled)" '10 0.75' \
    'summary.csv has the operations of a sample and the share of throttled readings'
like "$(sed -n 2p wide.csv/summary.csv)" \
    ',"?T_ss over 10 operations, fewer than 16; power cap or clock throttle in 75% of readings: '\
'compare inside this group only"?,T_ss,8,a$' \
    'the note tells of few operations and of throttled clocks'
like "$("$gradsync" show wide 2>/dev/null)" \
    $'ok \\[1\\]\n.*\n\\[1\\] T_ss over 10 operations, fewer than 16; power cap' \
    'show tells of few operations and of throttled clocks'
sed -i '/"type":"block"/s/"iters":10/"iters":20/' wide/w/launch-02.01.jsonl
"$gradsync" reduce -q wide -o wide.csv
is "$(of wide.csv $A iterations)" 10 'iterations is the smallest number of any timed sample'
sed -i -E 's/("busbw_factor": ?)1[.0]*/\11.5/' wide/w/plan.json wide/w/launch-0?.01.jsonl
"$gradsync" reduce -q wide -o wide.csv
is "$(awk "BEGIN { print $(of wide.csv $A busbw_Bps) / $(of wide.csv $A algbw_Bps) }")" 1.5 \
    'the bus bandwidth is the algorithm bandwidth times the factor of the collective'

# ---- steps
step() { # LAUNCH CELL CONFIG MODE
    line steps/s "$1" 1 '{"type":"cell","cell":"'"$2"'","group":"'$G'","copy":0,'\
'"config":"'"$3"'","mode":"'"$4"'","params":{"size":"1024"},"size_B":1024,"busbw_factor":0.0,'\
'"iters":1,"metrics":[],"baseline":false}'
}
visit() { # LAUNCH CELL BLOCK TIMES
    line steps/s "$1" 1 '{"type":"block","cell":"'"$2"'","copy":0,"block":'"$3"',"iters":1,'\
'"skew_ns":0,"metrics":{},"time_ns":['"$4"']}'
}
mkdir -p steps/s
for launch in 1 2; do
    header steps/s $launch 1
    step $launch c0 '' compute
    step $launch b1 ring/LL comm
    step $launch s1 ring/LL sequential
    step $launch o1 ring/LL overlapped
    for n in 1 2 3; do # clocks drift from block to block: what is inside one block does not mind
        visit $launch c0 $n $((10000000 * n))
        visit $launch b1 $n 4000000
        visit $launch s1 $n $((10000000 * n + 4000000))
        visit $launch o1 $n $((10000000 * n + 1000000)),$((10000000 * n + 1000000))
    done
    closed steps/s $launch 1 $G o1 true
done
# Another attempt, which closed no group: none of its blocks counts.
sed '/"type":"group"/d; 1s/"attempt":1/"attempt":2/; s/"time_ns":\[/&9/' "$(recording steps/s 1 1)" \
    >"$(recording steps/s 1 2)"
ok 'steps that were imported without a plan are reduced' "$gradsync" reduce steps -o steps.csv
decomposition=$(awk -F, \
    'NR == 2 { printf "%s", $1; for (i = 5; i <= NF; i++) printf " %s", $i + 0 == 0 || i < 9 ? '\
'$i : sprintf("%.6g", $i) }' steps.csv/iteration.csv)
# A = 10, 20, 30 ms, B = 4 ms, C = A + B, D = A + 1 ms: exposed 1 ms, hidden 3 ms, overlap (C - D)/B
is "$decomposition" 's ring/LL 2 1 1024 2 6 0.02 0.004 0.024 0.021 0.011 0.031 0.001 '\
'0.001 0.001 0.003 0.75 0.75 0.75   1024' 'a step is decomposed block by block'
cp -r steps twice && sed -i '/"cell":"c0"/{ p; s/"copy":0/"copy":1/; s/"time_ns":\[/&9/ }' \
    twice/s/*.jsonl
ok 'steps whose compute was measured twice are reduced' "$gradsync" reduce -q twice -o twice.csv
ok 'the second copy of compute is no part of a step' \
    diff steps.csv/iteration.csv twice.csv/iteration.csv
cp -r steps lone && sed -i '/"config":"ring\/LL"/{ p; s/"cell":"./&_/; s,ring/LL,tree/LL, }' \
    lone/s/*.jsonl
sed -i '/"block","cell":"o1"/{ p; s/"cell":"./&_/ }; /"cell":"[bs]_1"/d' lone/s/*.jsonl
ok 'steps with a config that lacks modes are reduced' "$gradsync" reduce -q lone -o lone.csv
is "$(of lone.csv o_1 status)|$(cut -d, -f5 lone.csv/iteration.csv | xargs)" \
    'ok|config ring/LL' 'a step is not decomposed with the modes of another config'
is "$(cat steps.csv/classic/p/null/s/iteration_times_ring-LL.txt)" \
    "$(printf '%s\n' 11 11 21 21 31 31 11 11 21 21 31 31)" 'iteration times are in ms, as measured'

cp -r steps groups && sed -i 's/'$G'/'$H'/; s/"cell":"[a-z]/&9/; s/1024/2048/' groups/s/launch-02.01.jsonl
ok 'steps of two sizes are reduced' "$gradsync" reduce -q groups -o groups.csv
is "$(cd groups.csv/classic/p/null/s && echo iteration*)" \
    'iteration_times_ring-LL.1.txt iteration_times_ring-LL.2.txt' 'each size has its file of iteration times'

# B = 50 us, 0.3% of A: what C - D is of it is noise
sed -i '/"cell":"b1"/s/\[4000000\]/[50000]/' steps/s/*.jsonl
ok 'a step with next to no communication is reduced' "$gradsync" reduce steps -o steps.csv
is "$(sed -n 2p steps.csv/iteration.csv | cut -d, -f11,12,20-24)" '0.02,5e-05,0.0,,,,' \
    'a step with next to no communication has no overlap'

rm -r steps && mkdir -p steps/s
header steps/s 1 1
for mode in compute comm sequential overlapped; do step 1 "$mode" a $mode; done
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    for mode in compute comm sequential overlapped; do
        time=$((10000000 + n * 5 % 9))
        [ $mode = compute ] && [ $n -le 2 ] && time=50000000
        visit 1 $mode $n $time
    done
done
ok 'a step whose compute warms up is reduced' "$gradsync" reduce steps -o steps.csv
is "$(sed -n 2p steps.csv/iteration.csv | cut -d, -f10)" 10 \
    'a step is decomposed in the blocks where every mode is warm'

# ---- damage
whole_run torn/r
printf '{"type":"block","cell":"%s","copy":0,"blo' $C >>"$(recording torn/r 2 1)"
says 'launch-02.01.jsonl: ignoring the incomplete last line' "$gradsync" reduce torn -o torn.csv
: >"$(recording torn/r 2 2)"
ok 'an attempt that was killed before its first line is no fault' \
    "$gradsync" reduce torn -o torn.csv
ok 'an attempt that was killed before its first line adds nothing' \
    diff <(sed s/r1/r/ first/summary.csv) torn.csv/summary.csv
for damage in '5s/^/x/' '5s/\[/[x/' '5d;1d' '5s/"iters":10/"iters":0/' '5s/'$A'/'$C'/' \
    '1s/"schema":1/"schema":2/' '2s/'$G'/cccccccccccccccc/' '1s/"run_id":"r"/"run_id":"q"/' \
    '1s/"workload":"null"/"workload":"other"/'; do
    rm -rf bad && whole_run bad/r && "$gradsync" reduce -q bad -o bad.csv && cp -r bad.csv before
    sed -i "$damage" "$(recording bad/r 2 1)"
    fails 1 '^bad/r/launch-02.01.jsonl:[0-9]+: ' "$gradsync" reduce bad -o bad.csv
    ok 'a damaged recording leaves the tables as they were' diff -r before bad.csv
    rm -rf before
done
rm -rf bad && whole_run bad/r && manifest bad/r
ok 'a finished run with its manifest is reduced' "$gradsync" reduce bad -o bad.csv
sed -i 's/10100,/10101,/' "$(recording bad/r 1 1)"
exits 1 'a recording that was edited after its run was completed is refused' \
    "$gradsync" reduce bad -o bad.csv
is "$err" 'bad/r/launch-01.01.jsonl: edited since the run was completed: its SHA-256 is not the '\
'one in MANIFEST.json; restore the file' \
    'the message names the edited recording, the manifest and the remedy'
rm -rf bad && whole_run bad/r && whole_run bad/s && sed -i 5s/^/x/ "$(recording bad/r 1 1)" \
    "$(recording bad/s 1 1)"
exits 1 'two damaged runs are refused' "$gradsync" reduce bad -o bad.csv
is "$(wc -l <<<"$err")" 2 'both damaged runs are named'
whole_run bad/t
ok 'the sound run is reduced if the others may be left out' \
    "$gradsync" reduce -q bad -o sound.csv --damaged list
is "$(<list)|$(cut -d, -f1 sound.csv/summary.csv | sort -u | xargs)" \
    $'bad/r\nbad/s|run_id t' 'the damaged runs are listed, and no table has a row of them'
mkdir empty
fails1 2 '' "$gradsync" reduce empty -o none.csv
fails 2 'nowhere: cannot be read: No such file' "$gradsync" reduce nowhere -o none.csv
: >file
fails 1 'file/csv/samples.csv: cannot be written' "$gradsync" reduce raw -o file/csv
is "$(find . -name '.*.csv*')" '' 'no half-written table is left'
# A limit on the size of a file stands in for a full disk: it fails in the same place.
fails 1 '^limited/.*: cannot be written: File too large' bash -c \
    'ulimit -f 1; trap "" XFSZ; exec "$0" reduce raw -o limited' "$gradsync"
is "$(find limited -name '*.csv*')" '' 'a file that hits the size limit leaves no table'
# Sample files of steps are the first to fill it, one after another.
mkdir full
run unshare -rm bash -c 'mount -t tmpfs -o size=16k none full || exit 77; exec "$0" reduce -q '\
'"$1" -o full' \
    "$gradsync" "$top/data/raw/h200-2gpu"
if [ $rc != 77 ] && [[ $err != *unshare* ]]; then
    is "$rc" 1 'a disk that is full ends the reduction with 1'
    one_line "$err" 'a full disk is told in one line'
    like "$err" 'No space left on device .the disk is full: free some space'
else
    skip 'a disk that is full ends the reduction with 1' 'needs a mount of its own'
fi
done_testing
