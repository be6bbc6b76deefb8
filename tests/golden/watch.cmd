# Logs of common trainers and what they come to, trouble in them, rates that are judged, odd input.
plan=$top/configs/wan-4site.ini
watch() { gradsync watch --no-follow "$@"; }
# lines COUNT FORMAT: FORMAT (one %d) for 1 to COUNT
lines() { for ((i = 1; i <= $1; i++)); do printf "$2\n" "$i"; done; }
lines 30 ' iteration %8d/  500000 | consumed samples:       125952 | elapsed time per iteration (ms): 34500.0 | learning rate: 9.225E-06 | global batch size:  1024 | lm loss: 2.49E+00 | number of nan iterations:   0 |' >megatron.log
lines 30 $'\033[31m[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step: %2d  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%%)  tps: 10,050  tflops: 314.71  mfu: 13.99%%\033[0m' >titan.log
lines 30 ' 10%%|█         | %d/1000 [01:40<15:00,  1.60s/it]' | tr '\n' '\r' >hf.log
lines 30 'step %5d | loss: 3.29 | lr 6.0e-04 | norm: 0.3 | dt: 339.11ms | tok/sec: 1545123.45' >gpt2.log
lines 30 'step %d | time/step: 412.3ms' >unit.log
for _ in 1 2 3 4; do cat titan.log; done | sort -t: -k8 >ranks.log
$ watch megatron.log
$ watch megatron.log --config $plan
$ watch titan.log --config $plan --set model:mfu=25% --set model:every=1000
$ for log in hf ranks; do watch $log.log; done
# A format that is not known.
printf 'speed=<%d tok>\n' 7000 7000 7000 7000 7000 7000 7000 >own.log
$ watch own.log
# Trouble; a line of NCCL INFO is none, and a line with control characters is printed without them.
trouble() { # what watch says of it, beside the rate
    { cat gpt2.log && printf '%s\n' "$@"; } >trouble.log && watch trouble.log >said
    echo "exit $?" && grep '^line\|: [0-9]* lines*$' said
}
$ trouble '[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600060 milliseconds before timing out.'
$ trouble 'node3:534:1763 [3] NCCL WARN NET/Socket : peer sent wrong size'
$ trouble 'torch.distributed.DistBackendError: NCCL error in: x.cpp:1970, unhandled system error, ncclSystemError'
$ trouble 'RuntimeError: [/pytorch/third_party/gloo] Connection closed by peer [10.0.0.2]:1234'
$ trouble 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB'
$ trouble 'step 31 | loss: nan | dt: 339.11ms'
$ trouble 'n1:5:7 [3] NCCL INFO Channel 00/02 : 0 1 2 3 timeout 22 NCCL_IB_TIMEOUT'
$ trouble {1..50}'NCCL WARN x'
$ trouble $'CUDA error: \e]0;x\a \302\233 \342\200\256 text'
# Rates and slow first steps.
{ lines 5 'step %d dt: 90000ms' && lines 30 'step 1%d dt: 34000ms'; } >slow.log
{ lines 30 'step %d dt: 80000ms' && lines 30 'step 1%d dt: 34000ms'; } >recovers.log
$ watch slow.log --config $plan
$ watch gpt2.log --threshold 2M
$ watch gpt2.log --threshold 700k
$ watch recovers.log --config $plan
$ watch recovers.log --config $plan --threshold 30%
# What is not judged, and what is refused.
lines 7 'step %d tokens/sec: 1.2M' >few.log
echo 'no time here' >timeless.log
: >empty.log
head -c 999 /dev/zero >binary.log
$ watch unit.log --threshold 5
$ watch few.log --threshold 700k
$ watch timeless.log --threshold 700k
$ watch gpt2.log --threshold 80%
$ watch gpt2.log --threshold fast
$ watch gpt2.log --window 0
$ watch none.log
$ watch .
$ watch empty.log
$ watch binary.log
$ watch - </dev/null
$ watch - <gpt2.log
$ gradsync watch /proc/self/mem
