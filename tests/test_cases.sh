#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Small inputs in the forms of public logs and reports: tests/cases has a folder for each kind, and
# further inputs of each kind are made here. Import, watch and submit must read what they say.
. "$(dirname "$0")/lib.sh"
cases=$top/tests/cases

import() { rm -rf raw && "$gradsync" import -o raw "$@"; }
# $(cells COLUMN…): the columns of all cells of the last import, by size, out of place first
cells() {
    "$gradsync" reduce -q raw -o csv && csv csv/summary.csv \
        '{ printf "%d %d ", get("size_B"), get("params") ~ /in_place=yes/ } 1' "$@" |
        sort -s -n -k1,1 -k2,2 | cut -d' ' -f3-
}
collective() { sed -nE 's/.*"collective":"([a-z]*)".*/\1/p' raw/*/*/*/launch-*.jsonl | sort -u; }
first() { cells "$@" | head -n 1; }
# as_table NAME FILE ARGUMENT…: six cells, two ranks, 1 MiB out of place in 300 us
as_table() {
    ok "$1 is imported" import "${@:2}"
    is "$(cells ranks | wc -l) $(first ranks median_s workload)" '6 2 0.0003 nccl_allreduce' \
        "$1: six cells of two ranks, 1 MiB in 300 us"
}

# ---- lines with a prefix, without a '#', behind other lines
for f in "$cases"/line_prefix/*.txt; do as_table "line_prefix/${f##*/}" "$f"; done
as_table hash_eaten "$cases/hash_eaten/issue.txt"
as_table json_line_first "$cases/json_line_first/t.txt"
plain() { tail -n +2 "$cases/json_line_first/t.txt"; }
n=0
while IFS= read -r prefix; do
    n=$((n + 1))
    plain | awk -v p="$prefix" '{ q = p; gsub(/%d/, NR + 7, q); print q $0 }' >"prefix.$n.txt"
    as_table "the prefix '$prefix'" "prefix.$n.txt"
done <<'END'
0: 
 0: 
[1,%d]<stdout>:
[1,0]<stderr>: 
[rank0]:
[default0]: [rank0]:
launcher-1  | 
node%d: 
2026-03-04 05:06:%d,123 - INFO - root - 
2026-03-04 05:06:07.%d | INFO     | __main__:run:42 - 
Mar  4 05:06:%d node-a job[123]: 
2026-03-04T05:06:%dZ stdout F 
[2026-03-04 05:06:%d+00:00] [INFO] 
[  %d.123456] 
INFO:root:
(RayTrainWorker pid=%d, ip=10.0.0.1) 
> 
END
plain | sed $'s/^/\033[36mlauncher |\033[0m /' >colour.txt
as_table 'a prefix in colour' colour.txt
plain | sed 's/nThread/NTHREAD/; s/Rank/RANK/; s/size  /SIZE  /; s/ time / TIME /g; s/busbw/BusBW/g' >case.txt
as_table 'a head in capitals' case.txt
plain | sed 's/^/0: /; 1s/^/0: + mpirun x\n/' >srun.txt
as_table 'a command before the table, with its prefix' srun.txt
awk '{ print (NR < 9 ? "[pod/a]" : "?!") $0 }' "$cases/hash_eaten/issue.txt" >odd.txt
fails 1 'unknown prefix' import odd.txt
{ cat "$cases/json_line_first/t.txt" && echo 12; } | sed '1s/.*/17/' >number.txt
as_table 'a number in the first line' number.txt

# ---- a table without its head
ok 'a table without its head is imported' import --platform p --set ranks=4 \
    "$cases/table_without_head/table.txt"
is "$(cells ranks | wc -l) $(first ranks busbw_Bps workload | sed -E 's/(524|525)[0-9.]+/5.24G/')" \
    '6 4 5.24G nccl_allreduce' 'it has six cells, with the bus bandwidth of four ranks'
fails 2 '--set ranks=N' import --platform p "$cases/table_without_head/table.txt"
exits 1 'with another number of ranks it is refused' import --platform p --set ranks=8 \
    "$cases/table_without_head/table.txt"

# ---- other collectives
ok 'an older table of all_gather is imported' import "$cases/old_all_gather_zero_rows/all_gather.txt"
is "$(collective) $(cells ranks | wc -l) $(first ranks median_s busbw_Bps | cut -c 1-15)" \
    'allgather 6 4 6.4e-05 12288' 'it is an all-gather of four ranks, without the rows of 0 bytes'
ok 'a broadcast of two ranks is imported' import "$cases/two_ranks_not_allreduce/broadcast.txt"
is "$(collective)" broadcast 'it is a broadcast'
# table PROGRAM OP ROOT PARTS WRONG_IN_PLACE: of two ranks; PARTS: elements are of one rank's part
table() {
    [ -z "$1" ] || echo "$ mpirun -np 2 ./build/$1 -b 1M -e 4M -f 2 -g 1"
    sed -n '4,12p' "$cases/json_line_first/t.txt" | sed '/nccl-tests version/d; /Collective/d'
    awk -v op="$2" -v root="$3" -v parts="$4" -v wrong="$5" 'BEGIN {
        for (s = 1048576; s <= 4194304; s *= 2) {
            us = 100 + s / 5000; a = s / us / 1e3; f = parts == 1 ? 1 : 0.5
            printf "%12d %12d float %6s %6d %8.1f %6.2f %6.2f 0 %8.1f %6.2f %6.2f %s\n", s, \
                s / 4 / parts, op, root, us, a, a * f, us, a, a * f, wrong
        }
        print "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 9.5"
    }'
}
while read -r want op root parts wrong program; do
    table "$program" "$op" "$root" "$parts" "$wrong" >"c.txt"
    ok "a table of $want of two ranks is imported (${program:-not named})" import c.txt
    is "$(collective):$(first ranks | tr -d '\n')" "$want:2" 'it is recorded as that collective'
done <<'END'
broadcast none 0 1 0
broadcast none 1 1 0 broadcast_perf
reduce sum 0 1 0
reduce sum 0 1 0 reduce_perf
sendrecv sum -1 1 N/A
sendrecv sum -1 1 0 sendrecv_perf
sendrecv none -1 1 N/A
allgather none -1 2 0
allgather none -1 2 N/A all_gather_perf
alltoall none -1 2 N/A
alltoall none -1 2 0 alltoall_perf
reducescatter sum -1 2 0
reducescatter sum -1 2 0 reduce_scatter_perf
END
table '' none 0 2 0 >gather.txt
fails 1 'not an all-reduce.*--set collective=gather or scatter' import gather.txt
for name in gather scatter; do
    ok "--set collective=$name imports it" import --set collective=$name gather.txt
    like "$(ls raw/*)" "nccl_$name" 'it has a workload of its own'
    table ${name}_perf none 0 2 0 >named.txt
    ok "the command ${name}_perf imports it" import named.txt
    like "$(ls raw/*)" "nccl_$name" 'it has the same workload'
done
table '' none -1 1 0 >unknown.txt
fails 1 'not an all-reduce.*--set collective=NAME' import unknown.txt
exits 2 'an unknown collective is refused' import --set collective=allreduced unknown.txt
table all_gather_perf sum -1 1 0 >other.txt # the command is of another table
ok 'a table that contradicts the command before it is imported' import other.txt
is "$(collective)" '' 'its rows say that it is an all-reduce'

# ---- two ranks on one GPU
ok 'two ranks on one GPU are imported' import "$cases/two_ranks_one_gpu/t.txt"
like "$err" 'warning: ranks 0 and 1 share one GPU \(node-a, device 0, 0x1a\)' 'a warning names them'
unlike "$out" '2gpu' 'the platform is not called by two GPUs'
sed 's/Rank  1 \(.*\)device  0/Rank  1 \1device  1/' "$cases/two_ranks_one_gpu/t.txt" >two.txt
ok 'two devices are imported' import two.txt
unlike "$err" 'share one GPU' 'two devices with one bus are two GPUs'

# ---- several settings in one log
ok 'a log of two settings is imported' import "$cases/two_settings_one_log/log.txt"
is "$(cells config median_s | grep -E ' 0.0(003|052)$' | sort | paste -sd' ')" 'LL 0.0052 Simple 0.0003' 'it has two configs with their times'
body() { sed -n "3,9p" "$cases/two_settings_one_log/log.txt"; }
other() { sed -n "12,18p" "$cases/two_settings_one_log/log.txt"; }
while IFS='|' read -r a b want; do
    { printf '%b\n' "$a" && body && printf '%b\n' "$b" && other; } >log.txt
    ok "a log of two settings is imported: $b" import log.txt
    is "$(cells config | sort -u | paste -sd' ')" "$want" 'it has these configs'
done <<'END'
$ NCCL_ALGO=Ring ./all_reduce_perf -b 8|$ NCCL_ALGO=Tree ./all_reduce_perf -b 8|ring tree
$ ./all_reduce_perf|$ env NCCL_PROTO=LL128 ./all_reduce_perf|LL128 unstated
+ NCCL_PROTO=LL\n+ ./all_reduce_perf|+ ./all_reduce_perf|LL unstated
export NCCL_PROTO=LL|unset NCCL_PROTO|LL unstated
$ export NCCL_ALGO=Ring NCCL_PROTO=LL|$ export NCCL_PROTO=Simple|ring/LL ring/Simple
[u@node dir]$ mpirun -x NCCL_MAX_NCHANNELS=4 all_reduce_perf|[u@node dir]$ mpirun -x NCCL_MAX_NCHANNELS=8 all_reduce_perf|NCCL_MAX_NCHANNELS=4 NCCL_MAX_NCHANNELS=8
$ mpirun --mca btl tcp,self all_reduce_perf|$ mpirun --mca btl self,vader all_reduce_perf|OMPI_MCA_btl=self,vader OMPI_MCA_btl=tcp,self
$ mpiexec -genv NCCL_PROTO LL all_reduce_perf|$ mpiexec -genv NCCL_PROTO Simple all_reduce_perf|LL Simple
$ srun --export=ALL,NCCL_ALGO=Ring ./all_reduce_perf|$ srun --export=ALL,NCCL_ALGO=Tree ./all_reduce_perf|ring tree
$ mpirun -np 2 \\\n  -x NCCL_PROTO=LL \\\n  ./all_reduce_perf|$ mpirun -np 2 \\\n  -x NCCL_PROTO=Simple \\\n  ./all_reduce_perf|LL Simple
$ CUDA_VISIBLE_DEVICES=0,1 ./all_reduce_perf|$ CUDA_VISIBLE_DEVICES=0,2 ./all_reduce_perf|CUDA_VISIBLE_DEVICES=0,1 CUDA_VISIBLE_DEVICES=0,2
== NCCL_PROTO=LL ==|== NCCL_PROTO=Simple ==|LL Simple
$ ./all_reduce_perf -R 0|$ ./all_reduce_perf -R 1|local_register=0 local_register=1
$ NCCL_DEBUG=INFO ./all_reduce_perf|$ NCCL_DEBUG=WARN ./all_reduce_perf|unstated
setenv NCCL_PROTO LL|setenv NCCL_PROTO Simple|LL Simple
# NCCL_PROTO=LL|# NCCL_PROTO=Simple|LL Simple
END
{ echo '$ NCCL_NVLS_ENABLE=0 ./all_reduce_perf' && body; } >nvls.txt
ok 'a table with a variable is imported' import nvls.txt
like "$(cat raw/*/*/*/*.jsonl)" '"NCCL_NVLS_ENABLE":"0"' 'the recording has the variable by its name'

# ---- OSU
osu() { # NAME FILE RANKS WANT: cells, and the first median
    ok "$1 is imported" import --platform p --set ranks="$3" "$2"
    is "$(cells ranks | wc -l) $(cells workload launches median_s | sed -n "${5:-1}p")" "$4" \
        "$1 has these cells"
}
osu osu_nccl "$cases/osu_nccl/xccl.txt" 2 '2 nccl_allreduce 1 0.00069025' 2
osu osu_prefix "$cases/osu_prefix/srun_l.txt" 4 '2 mpi_allreduce 1 3.1e-06'
osu osu_suite_log "$cases/osu_suite_log/suite.out" 4 '2 mpi_allreduce 2 3.2e-06'
like "$err" '2 tables of other benchmarks left out' 'the tables that are left out are counted'
sed 's/NCCL-CUDA/RCCL-ROCM/' "$cases/osu_nccl/xccl.txt" >rccl.txt
osu 'a build for RCCL' rccl.txt 2 '2 nccl_allreduce 1 7.15e-05'
sed 's/^0: /   /' "$cases/osu_prefix/srun_l.txt" >blank.txt
osu 'a table behind blanks' blank.txt 4 '2 mpi_allreduce 1 3.1e-06'
sed 's/^0: # */ /; s/^0: //' "$cases/osu_prefix/srun_l.txt" >eaten.txt
osu 'a table without its #' eaten.txt 4 '2 mpi_allreduce 1 3.1e-06'
sed 's/^0: /2026-03-04T05:06:07.5Z [1,0]<stdout>: /' "$cases/osu_prefix/srun_l.txt" >time.txt
osu 'a table behind times' time.txt 4 '2 mpi_allreduce 1 3.1e-06'
{ echo '$ mpirun --mca coll_tuned_allreduce_algorithm 3 ./osu_allreduce' && cat blank.txt; \
    echo '$ mpirun --mca coll_tuned_allreduce_algorithm 4 ./osu_allreduce' && cat blank.txt; } >mca.txt
ok 'two algorithms of Open MPI in one log are imported' import --platform p --set ranks=4 mca.txt
is "$(cells config | sort -u | paste -sd' ')" 'OMPI_MCA_coll_tuned_allreduce_algorithm=3 '\
'OMPI_MCA_coll_tuned_allreduce_algorithm=4' 'they are two configs'

# ---- traces
for name in trace_kernels_launched_before trace_stub_step; do
    rm -f t.step
    ok "$name becomes a step" "$gradsync" import --step "$cases/$name/trace.json" -o t.step
    is "$(grep -v '^#' t.step | tail -n +2 | paste -sd';')" \
        'gemm nn 64 256 128 fp32;all_reduce 32768 fp32 default_pg' "$name: one GEMM, one all-reduce"
    like "$err" 'step 0\.4 ms in the trace: GEMMs 0\.3 ms .*, other kernels 0\.0 ms .*, '\
'collectives 0\.1 ms, no kernel 0\.0 ms' "$name: the times of its kernels"
    is "$(tail -n 1 <<<"$err")" 'communication is exposed for 0.1 ms, 25% of the step' \
        "$name ends with the exposed communication"
done
like "$(cat t.step)" 'ProfilerStep#1,' 'the step without a kernel is not the median'

# ---- logs of trainings
watch() { "$gradsync" watch --no-follow "$@"; }
# said NAME REGEX FILE ARGUMENT…: exit 0, and the last line with a step or a measurement matches
said() {
    ok "$1 is watched" watch "${@:3}"
    like "$(grep -E '^(step|measurement) ' <<<"$out" | tail -n 1)" "$2" "$1: $2"
}
d=$cases/watch_device_and_total
said 'a total beside the rate of a device' ' 40008 tokens/s$' "$d/composer.log" --threshold 30k
like "$out" ' 8 measurements' 'the rates of a device are no measurements'
said 'a total and the rate of a GPU in one line' ' 40000 tokens/s, 1.31 s per step' \
    "$d/nanotron.log" --threshold 30k
sed '/device/!s/.*tokens_per_sec.*//' "$d/composer.log" >device.log
said 'the rate of a device alone' ' 5001 tokens/s per GPU$' device.log --window 5
s=$cases/watch_other_bars
said 'bars of evaluation' 'step 8: 5 s per step' "$s/hf.log" --warmup 0
like "$out" '8 measurements' 'bars of another length are no steps'
s=$cases/watch_seconds
said 'seconds in the name' ' 12.04 s per step' "$s/megatron_deepspeed.log" --warmup 0
said 'milliseconds behind the number' ' 0.12004 s per step' "$s/modded.txt" --warmup 0
said 'a pattern with a unit' ' 0.12004 s per step' "$s/modded.txt" --warmup 0 --pattern \
    'step:step_avg:([0-9.]+)ms'
said 'a pattern with the unit behind it' ' 0.12004 s per step' "$s/modded.txt" --warmup 0 --pattern \
    'step:step_avg:([0-9.]+)'
said 'a pattern in milliseconds' ' 0.12004 s per step' "$s/modded.txt" --warmup 0 --pattern \
    'ms:step_avg:([0-9.]+)'
while IFS='@' read -r line want; do
    for prefix in '' '3: ' '[default0]:' '2026-03-04T05:06:07.1Z stdout F ' '[rank0]:[titan] INFO - '; do
        for i in 1 2 3 4 5 6; do echo "$prefix${line//%d/$i}"; done >line.log
        said "'$prefix$line'" " $want\$" line.log --warmup 0
        like "$out" '6 measurements' 'each line is a measurement'
    done
done <<'END'
step %d step_time_ms=120@0.12 s per step
step %d | iter time (s): 0.450 samples/sec: 70@0.45 s per step
train_step_timing in s=1.23, global_step=%d@1.23 s per step
completed step: %d, seconds: 1.25, TFLOP/s/device: 200, Tokens/s/device: 5000@5000 tokens/s per GPU, 1.25 s per step
iter %d step 1 | loss train: 3, iter time: 512.32 ms (step) remaining@0.51232 s per step
step=%d time/step: 2.5 sec@2.5 s per step
{"step": %d, "step_time": 0.75, "tokens_per_second": 12000}@12000 tokens/s, 0.75 s per step
Epoch: [0][ %d/90] Time  0.250 ( 0.130)  Data 0.1@0.25 s per step
eta: 0:01:33  iter: %d  loss: 3  time: 0.4512  last_time: 0.44  data_time: 0.01@0.4512 s per step
%d/90 ━━━━ 12s 120ms/step - loss: 0.5@0.12 s per step
step %d: 4 steps/s@0.25 s per step
iteration %d 1.5 it/s, tgs (tokens/gpu/second): 4000@4000 tokens/s per GPU, 0.66667 s per step
step %d tokens/sec/gpu: 3k@3000 tokens/s per GPU
step %d throughput/device/tokens_per_sec: 3000 tokens_per_sec: 24000@24000 tokens/s
step %d 24k tokens/s (3,000 tokens/s/GPU)@24000 tokens/s
Step %d per GPU tokens/s: 3000@3000 tokens/s per GPU
step: %d, ms/step: 80@0.08 s per step
step %d took 80 ms/step@0.08 s per step
END
for i in 1 2 3 4 5 6 7 8; do
    for rank in 0 1 2 3; do echo "[rank$rank]: step $i step_time: 2.$rank s"; done
done >ranks.log
said 'a step of four ranks' 's per step' ranks.log --warmup 0
like "$out" '32 lines, 8 measurements' 'four ranks report eight steps'
{ for i in 1 2 3 4 5 6; do
    echo "step $i | dt: 500 ms"
    echo "step $i | tok/sec: 8000"
done; } >split.log
said 'a step in two lines' 'step 6: 8000 tokens/s, 0.5 s per step' split.log --warmup 0
like "$out" ' 6 measurements' 'the two lines are one measurement'
bar() { echo "$1 50%|## | $2/$3 [00:01<00:09,  $4]"; }
{ for i in 1 2 3; do bar '' $i 3 2.00s/it; done # loading
    for i in {1..30}; do
        bar '' $i 90 4.00s/it
        bar '' $i 90 4.00s/it # drawn again
        [ $((i % 10)) != 0 ] || for k in {1..40}; do bar "${labels:-}" "$k" 500 50.00it/s; done
    done; } >eval.log
said 'an evaluation longer than the training' ' 4 s per step' eval.log --warmup 0
like "$out" ' 30 measurements' 'it has the steps of the training'
{ for i in {1..30}; do bar Training $i 30 4.00s/it; done
    echo "{'train_runtime': 120.0, 'train_steps_per_second': 0.25}"
    for i in {1..30}; do bar '' $i 60 50.00it/s; done; } >end.log
said 'an evaluation after the training' 'step 30: 4 s per step' end.log --warmup 0
{ for e in 1 2 3; do for i in 1 2 3 4 5 6; do bar "Epoch $e:" $i 6 2.00it/s; done
    for i in 1 2; do bar 'Validation DataLoader 0:' $i 2 90.00it/s; done; done; } >epochs.log
said 'epochs of six steps' 'step 6: 0.5 s per step' epochs.log --warmup 0
like "$out" ' 18 measurements' 'each epoch counts'
for i in 1 2 3 4 5 6 7; do echo "step $i dt: 0.0000000000000000001 ms tok/sec: 1e400"; done >inf.log
exits 2 'a log of absurd numbers has no rate' watch inf.log --warmup 0 --config \
    "$top/configs/wan-4site.ini"
unlike "$out" 'inf' 'no rate is infinite'

# ---- Slurm's own words
# line OPTION FILE ARGUMENT…: the option in the job script
line() {
    "$gradsync" submit --dry-run -o camps "${@:2}" 2>/dev/null | sed -n "s/^#SBATCH --$1=//p"
}
is "$(line time "$cases/slurm_words/t.ini")" 0-02:00:00 'time = 02:00:00 is two hours'
while read -r time want; do
    is "$(line time "$cases/slurm_words/t.ini" --set "slurm:time=$time")" "$want" "time = $time"
done <<'END'
1-00:00:00 1-00:00:00
30:00 0-00:30:00
2-12 2-12:00:00
1-02:30 1-02:30:00
00:90:00 0-01:30:00
90min 0-01:30:00
END
for time in 1:2:3:4 1-1-1 -1:00 1: :30 1:x 99-00:00:00 UNLIMITED; do
    exits 2 "time = $time is refused" "$gradsync" submit --dry-run "$cases/slurm_words/t.ini" \
        --set "slurm:time=$time"
done
is "$(line gpus-per-node "$cases/slurm_words/g.ini")" h100:4 'gpus_per_node = h100:4 is taken'
is "$(line gpus-per-node "$cases/slurm_words/g.ini" --set slurm:gpus_per_node=2)" 2 \
    'gpus_per_node = 2 is taken'
fails 2 'gpus_per_node.*e\.g\. 4 or h100:4' "$gradsync" submit --dry-run \
    "$cases/slurm_words/g.ini" --set slurm:gpus_per_node=four
is "$(line clusters "$cases/slurm_words/t.ini" --set slurm:clusters=east)" east \
    'the key clusters reaches sbatch'
fails 2 'use \[slurm\] clusters' "$gradsync" submit --dry-run "$cases/slurm_words/t.ini" --set \
    slurm:sbatch.clusters=east
fails 2 'for another option of sbatch: sbatch\.mem' "$gradsync" submit --dry-run \
    "$cases/slurm_words/t.ini" --set slurm:mem=0

# ---- a platform with GPUs asks for them
for config in $(grep -l '^device' "$top"/configs/*.ini); do
    ok "submit takes $(basename "$config")" "$gradsync" submit --dry-run -o camps "$config"
done
sed '/^gpus_per_node/d' "$top/configs/h200-4gpu.ini" >no_gpus.ini
gpus() { "$gradsync" submit --dry-run -o camps no_gpus.ini "$@"; }
fails 2 'gpus_per_node.*set gpus_per_node = 4, or gres' gpus
for set in gpus_per_node=4 gpus_per_node=h200:4 gres=gpu:4 sbatch.gpus=4 sbatch.gpus-per-task=1 \
    gpus_per_node=0; do
    ok "with $set it is accepted" gpus --set "slurm:$set"
done
unlike "$out" 'gpus' 'with gpus_per_node = 0 the script asks for no GPU'
done_testing
