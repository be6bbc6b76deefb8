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
lines 30 $'\033[31m[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step: %2d  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%%)  tps: 10,050  tflops: 314.71  mfu: 13.99%%\033[0m' >titan.log
lines 30 'Epoch 0:   6%%|██   | %d/500 [6:28:43<94:39:17,  1.25it/s, v_num=95nc, loss=2.6]' | tr \
    '\n' '\r' >lightning.log
lines 30 ' 10%%|█         | %d/1000 [01:40<15:00,  1.60s/it]' | tr '\n' '\r' >hf.log
lines 30 'step %5d | loss: 3.29 | lr 6.0e-04 | norm: 0.3 | dt: 339.11ms | tok/sec: 1545123.45' \
    >gpt2.log
lines 30 'step %d tokens/sec: 1.2M' >generic.log
lines 30 'step %d | time/step: 412.3ms' >unit.log

ok 'Megatron-LM' watch megatron.log
like "$out" '30 measurements'$'\n''step 30: 34.5 s per step' 'has its step time'
ok 'with a config' watch megatron.log --config "$plan"
like "$out" 'step 25: 15197 tokens/s \(100% of the 15202 expected\), 34.5 s per step \(34.49 '\
'expected\)' 'its rate too, against the model'
ok 'nanoGPT' watch nanogpt.log
like "$out" 'step 30: 0.5231 s per step' 'has milliseconds'
ok 'torchtitan' watch titan.log
like "$out" 'step 30: 10050 tokens/s' 'has the rate, colours and commas or not'
run watch titan.log --config "$plan" --set model:mfu=25% --set model:every=1000
like "$out" ' 80400 tokens/s \(10[01]% of ' 'which is that of one of eight GPUs'
ok 'Lightning' watch lightning.log
like "$out" 'step 30: 0.8 s per step' 'has iterations a second in a progress bar'
ok 'HF Trainer' watch hf.log
like "$out" 'step 30: 1.6 s per step' 'has seconds an iteration'
ok 'a rate and a step time' watch gpt2.log
like "$out" 'step 30: 1545123 tokens/s, 0.3391 s per step' 'are both read'
ok 'a rate alone' watch generic.log
like "$out" 'step 30: 1200000 tokens/s' 'with its unit'
ok 'a time of a step' watch unit.log
like "$out" 'step 30: 0.4123 s per step' 'with its own: m is not mega'
printf "{'loss': 2.1, 'train_tokens_per_second': 1234.5}\n%.0s" $(seq 9) >dict.log
ok 'a rate in a dict' watch dict.log
like "$out" '1234 tokens/s' 'is read'
for _ in 1 2 3 4; do cat titan.log; done | sort -t: -k8 >ranks.log
ok 'four ranks in one log' watch ranks.log
like "$out" '120 lines, 30 measurements' 'count a step once'

# ---- a pattern of one's own
printf 'speed=<%d tok>\n' 7000 7000 7000 7000 7000 7000 7000 >own.log
run watch own.log
like "$out" 'no rate and no step time found; describe their format with --pattern' \
    'what no pattern fits is said'
ok 'a pattern' watch own.log --pattern 'speed=<([0-9]+)'
like "$out" ' 7000 tokens/s' 'finds the rate'
ok 'a pattern of step times' watch own.log --pattern 'step:speed=<([0-9]+)'
like "$out" ' 7000 s per step' 'finds them'
exits 2 'a pattern that is none' watch own.log --pattern '(('
one_line "$err" 'is one line'
exits 2 'a pattern without a group' watch own.log --pattern 'speed'
like "$err" 'add a \(group\)' 'is refused'

# ---- trouble
trouble() { # NAME LINE WHAT
    { cat gpt2.log && echo "$2"; } >trouble.log
    exits 1 "$1" watch trouble.log
    like "$out" "line 31: $3: " 'is flagged, with its line'
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
ok 'what NCCL only tells is no trouble' watch fine.log
for _ in $(seq 50); do echo 'NCCL WARN x'; done >many.log
exits 1 'much trouble' watch many.log
is "$(grep -c '^line ' <<<"$out")" 3 'is not printed over and over'
like "$out" 'NCCL error: 50 lines' 'but counted'

# ---- rates and first steps
{ lines 5 'step %d dt: 90000ms' && lines 30 'step 1%d dt: 34000ms'; } >slow.log
ok 'slow first steps are no fault' watch slow.log --config "$plan"
like "$out" 'slow first steps: up to 90 s; 34 s per step since' 'but named'
exits 1 'a rate under the threshold' watch gpt2.log --threshold 2M
is "$(grep -c 'under the threshold' <<<"$out")" 1 'is flagged once'
ok 'a rate above it' watch gpt2.log --threshold 700k
{ lines 30 'step %d dt: 80000ms' && lines 30 'step 1%d dt: 34000ms'; } >recovers.log
exits 1 'less than 80% of what the model expects' watch recovers.log --config "$plan"
like "$out" 'rate under the threshold: 6554 tokens/s, 12[0-9]+' 'is flagged without being asked'
like "$out" 'above the threshold again' 'and its end said'
ok 'a lower share' watch recovers.log --config "$plan" --threshold 30%
exits 2 'a share of nothing' watch gpt2.log --threshold 80%
exits 2 'a threshold that is no rate' watch gpt2.log --threshold fast
exits 2 'a window of nothing' watch gpt2.log --window 0

# ---- files, pipes, following
ok 'a pipe' bash -c '"$1" watch - <gpt2.log' - "$gradsync"
like "$out" '30 measurements' 'is read to its end'
exits 2 'no such file' watch none.log
exits 2 'a folder' watch "$tmp"
: >empty.log
ok 'an empty log' watch empty.log
head -c 300000 /dev/zero | tr '\0' x >long.log
cat gpt2.log >>long.log
printf 'half a line tok/sec: 5' >>long.log
ok 'a line without end' watch long.log
head -c 200000 /dev/urandom >noise.log
run watch noise.log
ok 'noise is no crash' test $rc -le 1
exits 1 'a log that cannot be read' "$gradsync" watch /proc/self/mem
like "$err" '^/proc/self/mem: cannot be read: ' '… is an error'
cp gpt2.log live.log
"$gradsync" watch live.log >followed 2>&1 &
pid=$!
ok 'a log is followed' until_true 20 grep -q 'step 25:' followed
lines 20 'step 5%d | dt: 339.11ms | tok/sec: 9000000' >>live.log
ok 'what is appended is read' until_true 20 grep -q 'step 515:' followed
mv live.log old.log
{ lines 25 'step 7%d | dt: 339.11ms | tok/sec: 9000000'; echo 'NCCL WARN late'; } >live.log
ok 'a rotated log too' until_true 20 grep -q 'NCCL WARN late' followed
kill -TERM $pid
wait $pid
is $? 1 'a signal ends it, and what was flagged is its exit code'
like "$(tail -n 3 followed)" 'NCCL error: 1 line' 'after a summary'
no_orphans 'nothing is left'
done_testing
