#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From recordings made by hand to tables.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

# ---- the tables of a whole run
whole_run raw/p/null/r1
ok 'a run is reduced' "$gradsync" reduce raw -o csv
is "$(head -n 3 csv/samples.csv)" "run_id,launch,block,cell_id,platform,workload,config,mode,copy,ranks,nodes,size_B,sample,time_s
r1,1,1,$A,p,null,a,,0,2,1,8,1,0.0000010001
r1,1,1,$A,p,null,a,,0,2,1,8,2,0.00000101" 'samples are exact and in order'
is "$(wc -l <csv/samples.csv)" $((1 + 2 * (2 * 9 + 3))) 'every sample has a row, copies too'
is "$(grep -c ",a,,1,2,1,8," csv/samples.csv)" 12 "the baseline's second copy is told apart"
is "$(head -n 1 csv/summary.csv)" 'run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,n,launches,blocks,warmup_blocks,median_s,ci_low_s,ci_high_s,p95_s,p99_s,min_s,algbw_Bps,busbw_Bps,limit_Bps,limit_fraction,skew_s,converged,status,reason,ran,iterations,throttled,note' \
    'summary.csv has its columns'
is "$(cut -d, -f5 csv/summary.csv)" "cell_id
$A
$B
$C
$S" 'a row a cell, in the order of the plan'
is "$(of csv $A median_s) $(of csv $A n) $(of csv $A launches) $(of csv $A blocks)" '1.01e-06 12 2 4' 'the median and its counts'
is "$(of csv $A min_s) $(of csv $A skew_s) $(of csv $A limit_Bps)" '1.0001e-06 3e-08 10000000000.0' 'minimum, skew, limit'
# 8 B / 1.01 us, and that over 10 GB/s
is "$(of csv $A busbw_Bps | cut -c1-10) $(of csv $A limit_fraction | cut -c1-10)" '7920792.07 0.00079207' 'bus bandwidth and its share of the limit'
# A limit is known of the hardware: that of the platform's config today holds for every table.
mkdir configs
printf '[limits]\nbusbw = 20GB/s\n' >configs/p.ini
"$gradsync" reduce -q raw -o today
is "$(of today $A limit_Bps) $(of today $A median_s)" '20000000000.0 1.01e-06' "the limit of the platform's config, where there is one"
printf '[limits]\nmemory = 1TB/s\n' >configs/p.ini
"$gradsync" reduce -q raw -o today
is "$(of today $A limit_Bps)$(of today $A limit_fraction)" '' 'and none where that gives none any more'
rm -r configs
is "$(of csv $A converged) $(of csv $C converged)" 'yes yes' 'converged is of the interval in the row, whatever a group said when it was closed'
is "$(tail -n 1 csv/summary.csv)" "r1,p,null,,$S,b,,2,1,16,size=16 config=b,,,,,,,,,,,,,,,,no,skip,\"no \"\"b\"\", here\",,,," 'a skipped cell has its row and reason'
is "$(grep -c . csv/metrics.csv)" 4 'metrics beyond the time have rows'
is "$(sed -n 2p csv/metrics.csv)" "r1,p,null,,$A,a,,2,1,8,steps,1,4,1.5,1.0,2.0" 'with median and interval'
is "$(wc -l <csv/iteration.csv)" 1 'no step, no decomposition'
like "$(cat csv/classic/p/null/r1/allreduce.txt)" $'config b\n.*\n +8 +8 +- +- +-1 +2.01 +0.00 +0.00 +0' "nccl-tests' table"

whole_run told/p/null/r1 # what was 16 bytes is 8, by another metric
sed -i "/$C/{ s/\"params\": \"size=16 config=a\"/\"params\": \"size=8 config=a metric=L\"/; s/\"size_B\": 16/\"size_B\": 8/
    s/{\"size\":\"16\",\"config\":\"a\"}/{\"size\":\"8\",\"config\":\"a\",\"metric\":\"L\"}/; s/\"size_B\":16/\"size_B\":8/ }" told/p/null/r1/*.json*
ok 'two metrics of one size' "$gradsync" reduce -q told -o told.csv
is "$(grep -A 4 '^# config a' told.csv/classic/p/null/r1/allreduce.txt | grep -E '^# config|^ +8 ' | sed 's/^ *//; s/  .*//')" \
    $'# config a\n8\n# config a, metric=L\n8' 'are two tables'

# ---- the same bytes
cp -r csv first
ok 'reduced again' "$gradsync" reduce raw -o csv
ok 'gives the same bytes' diff -r first csv
whole_run raw/p/null/r0
sed 's/"platform":"p"/"platform":"a-b"/; s/"run_id":"[^"]*"/"run_id":"r9"/' -i "$(recording raw/p/null/r0 1 1)" "$(recording raw/p/null/r0 2 1)"
mv raw/p/null/r0 raw/p/null/r9
ok 'two runs at once' "$gradsync" reduce raw -o both
ok 'one run into a part' "$gradsync" reduce --run raw/p/null/r1 -o 'part 1'
ok 'the other one' "$gradsync" reduce --run raw/p/null/r9/ -o 'part 9'
ok 'parts are merged' "$gradsync" reduce --merge 'part 1' 'part 9' -o merged
ok 'to the bytes of the direct way' diff -r both merged
like "$(sed -n 2p both/summary.csv)" '^r9,a-b,null' 'rows are in the order of the platforms'
ok 'a part is what one run alone gives' diff first/samples.csv 'part 1/samples.csv'
exits 2 'the same run twice is refused' "$gradsync" reduce raw raw -o twice
like "$err" 'the same run as' 'and named'
exits 2 'a part that is none is refused' "$gradsync" reduce --merge raw -o csv
rm -rf raw/p/null/r9
mkdir locale && (cd locale && LC_ALL=de_DE.UTF-8 LC_NUMERIC=de_DE.UTF-8 "$gradsync" reduce ../raw -o csv)
ok 'whatever the locale' diff -r first locale/csv

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
ok 'three attempts at a group' "$gradsync" reduce two -o two.csv
is "$(of two.csv $A median_s) $(of two.csv $A n) $(of two.csv $A status)" '1e-06 1 ok' 'the one that closed it counts'
sed -i '/"type":"group"/d' "$(recording two/a 1 2)"
ok 'none closed it' "$gradsync" reduce two -o two.csv
is "$(of two.csv $A median_s) $(of two.csv $A converged) $(of two.csv $A status)" '7e-06 no partial' 'the latest counts, not converged'
is "$(of two.csv $B median_s)|$(of two.csv $B status)|$(of two.csv $B reason)" '|partial|not measured' 'what was never reached is said'
line two/a 1 3 '{"type":"fail","cell":"'$A'","copy":0,"kind":"wrong","why":"sum off","rank":1,"host":"h","phase":"verify"}'
ok 'a wrong result' "$gradsync" reduce two -o two.csv
is "$(of two.csv $A median_s)|$(of two.csv $A status)|$(of two.csv $A reason)" '|wrong|sum off' 'has no numbers'
new_run died/a 2
for launch in 1 2; do
    header died/a $launch 1
    cell died/a $launch 1 $G $A 0 a 8
    block died/a $launch 1 $A 0 1 '10000'
    line died/a $launch 1 '{"type":"fail","cell":"'$A'","copy":0,"kind":"crash","why":"SIGSEGV","rank":1,"host":"h","phase":"sample"}'
    header died/a $launch 2
    cell died/a $launch 2 $G $B 0 b 8
    block died/a $launch 2 $B 0 1 '20000'
    [ $launch = 2 ] && cell died/a $launch 2 $G $A 0 a 8 && block died/a $launch 2 $A 0 1 '30000'
    closed died/a $launch 2 $G $B true
done
ok 'crashes' "$gradsync" reduce died -o died.csv
is "$(of died.csv $A median_s) $(of died.csv $A status)" '3e-06 partial' 'only the launch where it was measured in the end counts'
is "$(of died.csv $A reason)" '1 of 2 launches; crash: SIGSEGV' 'with the reason of the other'
is "$(of died.csv $B median_s) $(of died.csv $B status)" '2e-06 ok' 'the neighbour is whole'

# ---- a cell without a bandwidth
whole_run notraffic/r
sed -i 's/"busbw_factor":1.0/"busbw_factor":0.0/' notraffic/r/launch-*.jsonl
ok 'a cell whose size is no traffic is reduced' "$gradsync" reduce notraffic -o notraffic.csv
is "$(of notraffic.csv $A algbw_Bps)$(of notraffic.csv $A busbw_Bps)" '' 'it has no bandwidth'
fail_line() { # WHY
    line notraffic/r 2 1 '{"type":"fail","cell":"'"$S"'","copy":0,"kind":"skip","why":"'"$1"'","rank":0,"host":"h","phase":"prepare"}'
}
sed -i '/"type":"end"/d' notraffic/r/launch-02.01.jsonl
fail_line first && fail_line last
"$gradsync" reduce -q notraffic -o notraffic.csv
is "$(of notraffic.csv $S reason)" last 'of failures of one kind the last is the reason'

# ---- warm-up
new_run warm/w 1
header warm/w 1 1
cell warm/w 1 1 $G $A 0 a 8
for n in 1 2; do block warm/w 1 1 $A 0 $n 50000; done
for n in 3 4 5 6 7 8 9 10 11 12; do block warm/w 1 1 $A 0 $n $((10000 + n * 5 % 9)); done
closed warm/w 1 1 $G $A true
ok 'warm-up' "$gradsync" reduce warm -o warm.csv
is "$(of warm.csv $A warmup_blocks) $(of warm.csv $A blocks) $(of warm.csv $A n)" '2 10 12' 'is found and counted'
is "$(of warm.csv $A median_s)|$(of warm.csv $A ci_low_s)|$(of warm.csv $A ci_high_s)" '1.00045e-06||' 'and not in the median, which has no interval in one launch'
is "$(grep steps warm.csv/metrics.csv | cut -d, -f13-)" '10,7.5,,' 'nor in those of other metrics'

# ---- a change of level: more than a fifth of the values, so nothing is dropped
rm -r warm && new_run warm/w 1
header warm/w 1 1
cell warm/w 1 1 $G $A 0 a 8
for n in {1..13}; do block warm/w 1 1 $A 0 "$n" 50000; done
for n in {14..30}; do block warm/w 1 1 $A 0 "$n" $((10000 + n % 3)); done
closed warm/w 1 1 $G $A true
ok 'a change of level' "$gradsync" reduce warm -o warm.csv
is "$(of warm.csv $A warmup_blocks) $(of warm.csv $A blocks) $(of warm.csv $A converged)" '13 17 no' 'is warm-up of a launch of ours'
is "$(of warm.csv $A note)" 'launch 1 changes level after block 13 of 30: 5.00 us before and 1.00 us after' 'but is noted, with both levels'
is "$(sed -n 2p warm.csv/launches.csv | cut -d, -f13,14,16-)" '17,1.0001e-06,13,5e-06,1.0001e-06' 'in launches.csv too'
ok 'it is shown' "$gradsync" show warm
like "$out" 'us  -  .*ok; launch 1 changes level after block 13 of 30: 5.00 us before and 1.00 us after' 'without an interval'

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
ok 'launches that differ by 4%' "$gradsync" reduce wide -o wide.csv
is "$(of wide.csv $A converged)" no 'are no interval of 1%, though each launch said that it had converged'
printf '[measure]\nprecision = 5%%\n' >>wide/w/config.ini
sed -i "s/\"config_sha256\": \"[0-9a-f]*/\"config_sha256\": \"$(sha256sum <wide/w/config.ini | cut -d' ' -f1)/" wide/w/plan.json
"$gradsync" reduce -q wide -o wide.csv
is "$(of wide.csv $A converged)" yes 'but of 5%'

# ---- clocks that are held down, and a steady state of few operations
health() { # LAUNCH BLOCK REASONS
    line wide/w "$1" 1 '{"type":"health","group":"'$G'","block":'"$2"',"before":{"0":{"load1":1,"gpu":{"throttle":['"$3"']}},"1":{"load1":1}},"after":{"0":{"gpu":{"throttle":["power_cap"]}}}}'
}
rm -r wide && wide wide/w 100000
sed -i '/"type":"group"/d; s/"params":{/"params":{"metric":"T_ss",/' wide/w/launch-0?.01.jsonl
for launch in 1 2; do
    health $launch 1 '"power_cap"'
    health $launch 2 '"idle"'
    closed wide/w $launch 1 $G $A true
done
ok 'readings of throttle reasons' "$gradsync" reduce wide -o wide.csv
is "$(of wide.csv $A iterations) $(of wide.csv $A throttled)" '10 0.75' 'are counted, and the operations of a sample'
like "$(sed -n 2p wide.csv/summary.csv)" ',"?T_ss over 10 operations, fewer than 16; power cap or clock throttle in 75% of readings: compare inside this group only"?$' 'and noted'
like "$("$gradsync" show wide 2>/dev/null)" 'ok; T_ss over 10 operations, fewer than 16; power cap' 'and shown'

# ---- steps
step() { # LAUNCH CELL CONFIG MODE
    line steps/s "$1" 1 '{"type":"cell","cell":"'"$2"'","group":"'$G'","copy":0,"config":"'"$3"'","mode":"'"$4"'","params":{"size":"1024"},"size_B":1024,"busbw_factor":0.0,"iters":1,"metrics":[],"baseline":false}'
}
mkdir -p steps/s
for launch in 1 2; do
    header steps/s $launch 1
    step $launch c0 '' compute
    step $launch b1 ring/LL comm
    step $launch s1 ring/LL sequential
    step $launch o1 ring/LL overlapped
    for n in 1 2 3; do # clocks drift from block to block: what is inside one block does not mind
        line steps/s $launch 1 '{"type":"block","cell":"c0","copy":0,"block":'$n',"iters":1,"skew_ns":0,"metrics":{},"time_ns":['$((10000000 * n))']}'
        line steps/s $launch 1 '{"type":"block","cell":"b1","copy":0,"block":'$n',"iters":1,"skew_ns":0,"metrics":{},"time_ns":[4000000]}'
        line steps/s $launch 1 '{"type":"block","cell":"s1","copy":0,"block":'$n',"iters":1,"skew_ns":0,"metrics":{},"time_ns":['$((10000000 * n + 4000000))']}'
        line steps/s $launch 1 '{"type":"block","cell":"o1","copy":0,"block":'$n',"iters":1,"skew_ns":0,"metrics":{},"time_ns":['$((10000000 * n + 1000000))','$((10000000 * n + 1000000))']}'
    done
    closed steps/s $launch 1 $G o1 true
done
ok 'a step, imported without a plan' "$gradsync" reduce steps -o steps.csv
decomposition=$(awk -F, 'NR == 2 { printf "%s", $1; for (i = 5; i <= NF; i++) printf " %s", $i + 0 == 0 || i < 10 ? $i : sprintf("%.6g", $i) }' steps.csv/iteration.csv)
# A = 10, 20, 30 ms, B = 4 ms, C = A + B, D = A + 1 ms: exposed 1 ms, hidden 3 ms, overlap (C - D)/B
is "$decomposition" 's ring/LL 2 1 1024 size=1024 2 6 0.02 0.004 0.024 0.021 0.011 0.031 0.001 0.001 0.001 0.003 0.75 0.75 0.75  ' 'is decomposed block by block'
is "$(cat steps.csv/classic/p/null/s/iteration_times_ring-LL.txt)" "$(printf '%s\n' 11 11 21 21 31 31 11 11 21 21 31 31)" 'iteration times, in ms, as measured'

# B = 50 us, 0.3% of A: what C - D is of it is noise
perl -pi -e 's/\[4000000\]/[50000]/ if /"cell":"b1"/' steps/s/*.jsonl
ok 'a step with next to no communication' "$gradsync" reduce steps -o steps.csv
is "$(sed -n 2p steps.csv/iteration.csv | cut -d, -f12,13,21-)" '0.02,5e-05,0.0,,,,,' 'has no overlap'

rm -r steps && mkdir -p steps/s
header steps/s 1 1
for mode in compute comm sequential overlapped; do step 1 "$mode" a $mode; done
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    for mode in compute comm sequential overlapped; do
        time=$((10000000 + n * 5 % 9))
        [ $mode = compute ] && [ $n -le 2 ] && time=50000000
        line steps/s 1 1 '{"type":"block","cell":"'$mode'","copy":0,"block":'$n',"iters":1,"skew_ns":0,"metrics":{},"time_ns":['$time']}'
    done
done
ok 'a step whose compute warms up' "$gradsync" reduce steps -o steps.csv
is "$(sed -n 2p steps.csv/iteration.csv | cut -d, -f11)" 10 'is decomposed in the blocks where all are warm'

# ---- damage
whole_run torn/r
printf '{"type":"block","cell":"%s","copy":0,"blo' $C >>"$(recording torn/r 2 1)"
ok 'a torn last line is left out' "$gradsync" reduce torn -o torn.csv
like "$err" 'launch-02.01.jsonl: ignoring the incomplete last line' 'and said'
: >"$(recording torn/r 2 2)"
ok 'an attempt killed before its first line is no fault' "$gradsync" reduce torn -o torn.csv
ok 'and adds nothing' diff <(sed s/r1/r/ first/summary.csv) torn.csv/summary.csv
for damage in '5s/^/x/' '5s/\[/[x/' '5d;1d' '5s/"iters":10/"iters":0/' '5s/'$A'/'$C'/' '1s/"schema":1/"schema":2/' '2s/'$G'/cccccccccccccccc/' '1s/"run_id":"r"/"run_id":"q"/' \
    '1s/"workload":"null"/"workload":"other"/'; do
    rm -rf bad && whole_run bad/r && "$gradsync" reduce -q bad -o bad.csv && cp -r bad.csv before
    sed -i "$damage" "$(recording bad/r 2 1)"
    exits 1 "damaged by $damage" "$gradsync" reduce bad -o bad.csv
    like "$err" '^bad/r/launch-02.01.jsonl:[0-9]+: ' 'the file and line are named'
    ok 'and no table is touched' diff -r before bad.csv
    rm -rf before
done
rm -rf bad && whole_run bad/r && manifest bad/r
ok 'a final run' "$gradsync" reduce bad -o bad.csv
sed -i 's/10100,/10101,/' "$(recording bad/r 1 1)"
exits 1 'edited since' "$gradsync" reduce bad -o bad.csv
is "$err" 'bad/r/launch-01.01.jsonl: edited since the run was completed: its SHA-256 is not the one in MANIFEST.json' 'is refused by name'
rm -rf bad && whole_run bad/r && whole_run bad/s && sed -i 5s/^/x/ "$(recording bad/r 1 1)" "$(recording bad/s 1 1)"
exits 1 'two damaged runs' "$gradsync" reduce bad -o bad.csv
is "$(wc -l <<<"$err")" 2 'are both named'
mkdir empty
exits 2 'an empty folder' "$gradsync" reduce empty -o none.csv
one_line "$err" 'is one line of error'
exits 2 'a folder that is not there' "$gradsync" reduce nowhere -o none.csv
like "$err" 'nowhere: cannot be read: No such file' 'is named'
: >file
exits 1 'a folder that cannot be made' "$gradsync" reduce raw -o file/csv
like "$err" 'file/csv/samples.csv: cannot be written' 'is named'
is "$(find . -name '.*.csv*')" '' 'nothing half-written is left'
exits 2 'a verb of its own for each way' "$gradsync" reduce --run raw/p/null/r1 --merge x -o y
# A limit on the size of a file stands in for a full disk: it fails in the same place.
exits 1 'a disk that is full' bash -c 'ulimit -f 1; trap "" XFSZ; exec "$0" reduce raw -o limited' "$gradsync"
like "$err" '^limited/.*: cannot be written: File too large' 'is named'
is "$(find limited -name '*.csv*')" '' 'and leaves no table'
# Sample files of steps are the first to fill it, one after another.
mkdir full
run unshare -rm bash -c 'mount -t tmpfs -o size=16k none full || exit 77; exec "$0" reduce -q "$1" -o full' \
    "$gradsync" "$top/data/raw/h200-2gpu"
if [ $rc != 77 ] && [[ $err != *unshare* ]]; then
    is "$rc" 1 'one that is full before'
    one_line "$err" 'is told in one line'
    like "$err" 'No space left on device .the disk is full: free some space' 'with what to do'
else
    skip 'one that is full before' 'needs a mount of its own'
fi
done_testing
