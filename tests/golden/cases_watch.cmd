# Logs of trainings in the forms of public ones: the last line with a step or a measurement, and how many there are.
cases=$top/tests/cases
watch() { gradsync watch --no-follow "$@" >out || echo "exit $?"; grep -E '^(step|measurement) ' out | tail -n 1; grep -oE '[0-9]+ lines.*measurements?' out; }
# A total counts, and not the rate of a device beside it.
d=$cases/watch_device_and_total
$ watch $d/composer.log --threshold 30k
$ watch $d/nanotron.log --threshold 30k
sed '/device/!s/.*tokens_per_sec.*//' $d/composer.log >device.log
$ watch device.log --window 5
# Units, in the name and behind the number.
$ watch $cases/watch_seconds/megatron_deepspeed.log --warmup 0
$ watch $cases/watch_seconds/modded.txt --warmup 0
same() { # of lines on stdin, %d the step: six times, and the same behind any of some prefixes
    local line i prefix
    while IFS= read -r line; do
        echo "$line"
        for prefix in '' '3: ' '[default0]:' '2026-03-04T05:06:07.1Z stdout F ' '[rank0]:[titan] INFO - '; do
            for i in 1 2 3 4 5 6; do echo "$prefix${line//%d/$i}"; done >line.log
            watch line.log --warmup 0 | xargs
        done | uniq -c
    done
}
cat >lines <<'END'
step %d step_time_ms=120
step %d | iter time (s): 0.450 samples/sec: 70
train_step_timing in s=1.23, global_step=%d
completed step: %d, seconds: 1.25, TFLOP/s/device: 200, Tokens/s/device: 5000
iter %d step %d | loss train: 3, iter time: 512.32 ms (step) remaining
step=%d time/step: 2.5 sec
{"step": %d, "step_time": 0.75, "tokens_per_second": 12000}
Epoch: [0][ %d/90] Time  0.250 ( 0.130)  Data 0.1
eta: 0:01:33  iter: %d  loss: 3  time: 0.4512  last_time: 0.44  data_time: 0.01
%d/90 ━━━━ 12s 120ms/step - loss: 0.5
step %d: 4 steps/s
iteration %d 1.5 it/s, tgs (tokens/gpu/second): 4000
step %d tokens/sec/gpu: 3k
step %d throughput/device/tokens_per_sec: 3000 tokens_per_sec: 24000
step %d 24k tokens/s (3,000 tokens/s/GPU)
Step %d per GPU tokens/s: 3000
step: %d, ms/step: 80
step %d took 80 ms/step
END
$ same <lines
# A step of four ranks, and one in two lines, is one measurement.
for i in 1 2 3 4 5 6 7 8; do for rank in 0 1 2 3; do echo "[rank$rank]: step $i step_time: 2.$rank s"; done; done >ranks.log
for i in 1 2 3 4 5 6; do printf '%s\n' "step $i | dt: 500 ms" "step $i | tok/sec: 8000"; done >split.log
$ watch ranks.log --warmup 0
$ watch split.log --warmup 0
# Bars of loading and evaluation are no steps, whatever their length; those of each epoch are.
$ watch $cases/watch_other_bars/hf.log --warmup 0
bar() { echo "$1 50%|## | $2/$3 [00:01<00:09,  $4]"; }
{ for i in 1 2 3; do bar '' $i 3 2.00s/it; done # loading
    for i in {1..30}; do
        bar '' $i 90 4.00s/it
        bar '' $i 90 4.00s/it # drawn again
        [ $((i % 10)) != 0 ] || for k in {1..40}; do bar '' $k 500 50.00it/s; done
    done; } >eval.log
{ for i in {1..30}; do bar Training $i 30 4.00s/it; done
    echo "{'train_runtime': 120.0, 'train_steps_per_second': 0.25}"
    for i in {1..30}; do bar '' $i 60 50.00it/s; done; } >end.log
for e in 1 2 3; do for i in 1 2 3 4 5 6; do bar "Epoch $e:" $i 6 2.00it/s; done
    for i in 1 2; do bar 'Validation DataLoader 0:' $i 2 90.00it/s; done; done >epochs.log
{ for i in {1..30}; do bar '' $i 30 4.00s/it; done && echo '***** Running Evaluation *****'
    for i in {1..60}; do bar '' $i 60 50.00it/s; done; } >said.log
{ for i in {1..30}; do bar '' $i 30 4.00s/it; done && for i in {1..30}; do bar Evaluating $i 30 50.00it/s; done; } >named.log
$ for log in eval end epochs said named; do watch $log.log --warmup 0; done
for i in 1 2 3 4 5 6 7; do echo "step $i dt: 0.0000000000000000001 ms tok/sec: 1e400"; done >inf.log
$ watch inf.log --warmup 0 --config $top/configs/wan-4site.ini
# Counters are no times, micro-batches no steps, and the exact one of two values counts.
for i in 1 2 3 4 5 6; do printf '[batch=%d/500]:\n\t Train time/batch: %d\n\t Train throughput/batches_per_sec: 0.2000\n' $i $((i - 1)); done >batches.log
for i in 1 2 3 4 5 6; do echo "step: $((i * 10)), time_per_batch: $((i * 10))"; done >counter.log
for i in 1 2 3 4 5 6; do echo "step $i, step_time: 2"; done >whole.log
for i in 1 2 3 4 5 6; do echo "iter $((i * 8 - 4)) step $((i - 1)) | iter time: 100 ms"; echo "iter $((i * 8)) step $i | iter time: 250.00 ms"; done >micro.log
for i in 1 2 3 4 5 6; do echo "micro_step=$((i * 4))/global_step=$i micro_step_time=0.5"; done >micro2.log
for i in 1 2 3 4 5 6; do echo "step $i, micro_batch_time: 0.5"; done >micro3.log
for i in 1 2 3 4 5 6; do echo "step $i, 0.2 it/s, step_time: 4.9875 s, 8k tokens/s (8,020 tokens/s)"; done >rounded.log
for i in 1 2 3 4 5 6; do echo "step $i, throughput per GPU: 3000 tokens/s"; done >each.log
$ for log in batches counter whole micro micro2 micro3 rounded each; do watch $log.log --warmup 0; done
# Words are judged by what follows: nothing, a step, some steps of other ranks, many steps.
steps() { for i in $(seq "$1" "$2"); do echo "step $i dt: 500 ms"; done; }
refused='connect to [node-a]:29500 (errno: 111 - Connection refused).'
{ echo "$refused"; steps 1 1; } >before.log
{ steps 1 6; echo "$refused"; } >end.log
{ steps 1 6; echo "$refused"; steps 7 8; } >late.log
{ steps 1 6; echo "a NCCL WARN Call failed: Connection timed out"; steps 7 12; } >on.log
{ steps 1 6; echo "[rank1]: DistBackendError: NCCL error"; steps 7 12; } >fault.log
$ for log in before end late on fault; do echo $log; gradsync watch --no-follow --warmup 0 $log.log | grep -E '^line|^[a-zA-Z -]*: [0-9]+ line'; done
# Rows of one's own.
printf '%s\n' '[mine]' 'pattern = took {time} ?{unit} for a round' 'means = step' 'example = took 30 ms for a round' 'gives = 0.03' >mine
for i in 1 2 3 4 5 6; do echo "round $i took 25 ms for a round"; done >mine.log
$ watch mine.log --warmup 0 --patterns mine
sed 's/0.03/0.3/' mine >wrong1; sed 's/{unit}/{units}/' mine >wrong2; sed 's/= step/= speed/' mine >wrong3; sed '1d' mine >wrong4; sed 's/({time}/(/; s/took/(took/' mine >wrong5
$ for n in 1 2 3 4 5; do gradsync watch --no-follow mine.log --patterns wrong$n; done
