#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync watch: the logs of common trainers, trouble in them, following, and odd input.
. "$(dirname "$0")/lib.sh"
plan=$top/configs/wan-4site.ini
watch() { "$gradsync" watch --no-follow "$@"; }

# lines COUNT FORMAT: FORMAT (one %d) for 1 to COUNT
lines() {
    local i
    # shellcheck disable=SC2059
    for ((i = 1; i <= $1; i++)); do printf "$2\n" "$i"; done
}

# ---- trainers: their lines, and what they come to
lines 30 ' iteration %8d/  500000 | consumed samples:       125952 | elapsed time per iteration '\
'(ms): 34500.0 | learning rate: 9.225E-06 | global batch size:  1024 | lm loss: 2.49E+00 | '\
'number of nan iterations:   0 |' >megatron.log
lines 30 'iter %d: loss 3.1415, time 523.14ms, mfu 45.20%%' >nanogpt.log
lines 30 $'\033[31m[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step: %2d  '\
$'loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%%)  '\
$'tps: 10,050  tflops: 314.71  mfu: 13.99%%\033[0m' >titan.log
lines 30 'Epoch 0:   6%%|██   | %d/500 [6:28:43<94:39:17,  1.25it/s, v_num=95nc, loss=2.6]' | tr \
    '\n' '\r' >lightning.log
lines 30 ' 10%%|█         | %d/1000 [01:40<15:00,  1.60s/it]' | tr '\n' '\r' >hf.log
lines 30 'step %5d | loss: 3.29 | lr 6.0e-04 | norm: 0.3 | dt: 339.11ms | tok/sec: 1545123.45' \
    >gpt2.log
lines 30 'step %d tokens/sec: 1.2M' >generic.log
lines 30 'step %d | time/step: 412.3ms' >unit.log

prints '30 measurements'$'\n''step 30: 34.5 s per step' watch megatron.log
ok 'a log is compared with a config' watch megatron.log --config "$plan"
like "$out" 'step 25: 15197 tokens/s \(100% of the 15202 expected\), 34.5 s per step \(34.49 '\
'expected\)' 'a config adds the rate, and what the model expects'
printf 'CUDA error: \033]0;x\007 \302\233 \342\200\256 text\n' >odd.log
exits 1 'a log with control characters is read' watch odd.log
like "$out$err" 'CUDA error:  \]0;x  \? \? text' 'a line of a log is printed without control characters'
prints 'step 30: 0.52314 s per step' watch nanogpt.log
prints 'step 30: 10050 tokens/s' watch titan.log
run watch titan.log --config "$plan" --set model:mfu=25% --set model:every=1000
like "$out" ' 80400 tokens/s \(10[01]% of ' 'a rate of torchtitan is that of one of eight GPUs'
prints 'step 30: 0.8 s per step' watch lightning.log
prints 'step 30: 1.6 s per step' watch hf.log
prints 'step 30: 1545123 tokens/s, 0.33911 s per step' watch gpt2.log
prints 'step 30: 1200000 tokens/s' watch generic.log
prints 'step 30: 0.4123 s per step' watch unit.log
printf "{'loss': 2.1, 'train_tokens_per_second': 1234.5}\n%.0s" $(seq 9) >dict.log
prints '1234 tokens/s' watch dict.log
for _ in 1 2 3 4; do cat titan.log; done | sort -t: -k8 >ranks.log
prints '120 lines, 30 measurements' watch ranks.log

# ---- a pattern of one's own
printf 'speed=<%d tok>\n' 7000 7000 7000 7000 7000 7000 7000 >own.log
fails 2 '^own.log: no rate and no step time found: .* describe their format with --pattern$' \
    watch own.log
prints ' 7000 tokens/s' watch own.log --pattern 'speed=<([0-9]+)'
prints ' 7000 s per step' watch own.log --pattern 'step:speed=<([0-9]+)'
fails1 2 '' watch own.log --pattern '(('
fails 2 'add a \(group\)' watch own.log --pattern 'speed'

# ---- trouble
trouble() { # NAME LINE WHAT
    { cat gpt2.log && echo "$2"; } >trouble.log
    exits 1 "$1 makes the exit code 1" watch trouble.log
    like "$out" "line 31: $3: " "$1 is reported with its line"
}
trouble 'a watchdog' '[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] '\
'Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, '\
'Timeout(ms)=600000) ran for 600060 milliseconds before timing out.' time-out
trouble 'an NCCL warning' 'node3:534:1763 [3] NCCL WARN NET/Socket : peer sent wrong size' \
    'NCCL error'
trouble 'an NCCL error' \
    'torch.distributed.DistBackendError: NCCL error in: x.cpp:1970, unhandled system error, '\
'ncclSystemError' 'NCCL error'
trouble 'a peer that left' \
    'RuntimeError: [/pytorch/third_party/gloo] Connection closed by peer [10.0.0.2]:1234' \
    'connection lost'
trouble 'no memory' 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB' \
    'CUDA error'
trouble 'a loss of nan' 'step 31 | loss: nan | dt: 339.11ms' 'loss is not a number'
{ cat gpt2.log && echo 'n1:5:7 [3] NCCL INFO Channel 00/02 : 0 1 2 3 timeout 22 NCCL_IB_TIMEOUT'; \
    } >fine.log
ok 'a line of NCCL INFO is no trouble' watch fine.log
for _ in $(seq 50); do echo 'NCCL WARN x'; done >many.log
exits 1 'a log with much trouble makes the exit code 1' watch many.log
is "$(grep -c '^line ' <<<"$out")" 3 'the same trouble is printed three times at most'
like "$out" 'NCCL error: 50 lines' 'the same trouble is counted'

# ---- rates and first steps
{ lines 5 'step %d dt: 90000ms' && lines 30 'step 1%d dt: 34000ms'; } >slow.log
prints 'slow first steps: up to 90 s; 34 s per step since' watch slow.log --config "$plan"
exits 1 'a rate under the threshold makes the exit code 1' watch gpt2.log --threshold 2M
is "$(grep -c 'under the threshold' <<<"$out")" 1 'a rate under the threshold is reported once'
ok 'a rate above the threshold is no fault' watch gpt2.log --threshold 700k
{ lines 30 'step %d dt: 80000ms' && lines 30 'step 1%d dt: 34000ms'; } >recovers.log
exits 1 'a rate under 80% of what the model expects makes the exit code 1' \
    watch recovers.log --config "$plan"
like "$out" 'rate under the threshold: 6554 tokens/s, 12[0-9]+'
like "$out" 'above the threshold again'
ok 'a threshold below 80% can be set' watch recovers.log --config "$plan" --threshold 30%
# ---- what is not judged
none='no rate was judged: '
prints "${none}give --threshold or --config" watch gpt2.log
prints "${none}the log has step times only; give --config" watch unit.log --threshold 5
lines 7 'step %d tokens/sec: 1.2M' >few.log
prints "${none}2 measurements after the warm-up, 5 or more are needed" watch few.log --threshold \
    700k
watch gpt2.log --threshold 700k >judged
watch megatron.log --config "$plan" >>judged
is "$(grep -c "$none" judged)" 0 'watch does not say so of a log that was judged'
echo 'no time here' >timeless.log
fails 2 '^timeless.log: no rate and no step time found' watch timeless.log --threshold 700k
like "$out" '^1 line, 0 measurements$' 'the lines are counted'
exits 2 'a threshold in per cent without a config is refused' watch gpt2.log --threshold 80%
exits 2 'a threshold that is no rate is refused' watch gpt2.log --threshold fast
exits 2 'a window of zero is refused' watch gpt2.log --window 0

# ---- files, pipes, following
ok 'a log may come from a pipe' bash -c '"$1" watch - <gpt2.log' - "$gradsync"
like "$out" '30 measurements' 'a pipe is read to its end'
exits 2 'a log that does not exist is refused' watch none.log
exits 2 'a folder in place of a log is refused' watch "$tmp"
: >empty.log
exits 2 'an empty log is refused' watch empty.log
is "$err" 'empty.log: empty: give the log of a training' 'the message says that it is empty'
head -c 999 /dev/zero >binary.log
exits 2 'a binary file is refused' watch binary.log
is "$err" 'binary.log: not text: give the log of a training' 'the message says that it is not text'
exits 2 'an empty pipe is refused' bash -c '"$1" watch - </dev/null' - "$gradsync"
head -c 300000 /dev/zero | tr '\0' x >long.log
cat gpt2.log >>long.log
printf 'half a line tok/sec: 5' >>long.log
ok 'a log with an endless line is read' watch long.log
head -c 200000 /dev/urandom >noise.log
run watch noise.log
ok 'a log of noise does not crash watch' test $rc -le 2
fails 1 '^/proc/self/mem: cannot be read: ' "$gradsync" watch /proc/self/mem
cp gpt2.log live.log
"$gradsync" watch live.log >followed 2>&1 &
pid=$!
ok 'watch follows a log' until_true 20 grep -q 'step 25:' followed
lines 20 'step 5%d | dt: 339.11ms | tok/sec: 9000000' >>live.log
ok 'watch reads what is appended' until_true 20 grep -q 'step 515:' followed
mv live.log old.log
{ lines 25 'step 7%d | dt: 339.11ms | tok/sec: 9000000'; echo 'NCCL WARN late'; } >live.log
ok 'watch follows a log that is rotated' until_true 20 grep -q 'NCCL WARN late' followed
kill -TERM $pid
wait $pid
is $? 1 'after a signal the exit code tells of trouble'
like "$(tail -n 3 followed)" 'NCCL error: 1 line' 'a signal ends watch with a summary'
no_orphans 'no process is left'
done_testing
