#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The NCCL tuner plugin as NCCL sees it: build/tuner/job plays NCCL and the ranks of a training
# job, and fails when two ranks would have run a collective differently; also under ASan.
. "$(dirname "$0")/lib.sh"
. "$top/tests/tuner.sh"

is "$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | grep -x 'ncclTuner.*' | xargs)" \
    "$(printf 'ncclTunerPlugin_v%s\n' 3 4 5 6 7 | xargs)" \
    'the plugin exports five versions of a tuner'
is "$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | grep -x 'ncclProfiler.*' | xargs)" \
    'ncclProfiler_v2 ncclProfiler_v3 ncclProfiler_v4 ncclProfiler_v5' \
    'the plugin exports four versions of a profiler'
case $build in
*/asan) ;;
*) is "$(readelf -d "$plugin" | grep -c NEEDED) $(readelf -d "$plugin" | grep -o 'libc.so.6')" \
    '1 libc.so.6' 'the plugin needs libc alone' ;;
esac

plain=$("$build/tuner/job")
for abi in 3 4 5 6 7; do
    is "$(job abi=$abi)" "$plain" "v$abi: without a trial calls are left alone"
done

# ---- trials

for abi in 3 4 5 6 7; do
    trial 'steps = 4' 'warmup = 5' 'blocks = 6'
    exits 0 "v$abi: all ranks of a trial run every collective alike" \
        job abi=$abi steps=300 step_us=200 jitter_us=300
    is "$(orders | wc -l)" 1 "v$abi: all ranks visit the arms in the same order"
    is "$(last)" 'hold 30' "v$abi: six blocks visit four arms and the baseline's copy"
done
is "$(lines visit | jq -r '[.block, .arm, .copy] | @csv' | sort -u | wc -l)" 30 \
    'each block visits each arm once, the baseline twice'
is "$(lines visit | jq -c 'select((.at_ns | length) != 5 or .steps != 4 or .calls != 20)' | wc \
    -l)" 0 'each visit has four steps of five calls'
is "$(lines visit | jq -c 'select(.at_ns != (.at_ns | sort))' | wc -l)" 0 \
    'the times of a visit are in order'
is "$(lines visit | jq -r 'select(.arm == "nvls") | .unavailable' | sort -u)" 20 \
    'an arm that NCCL does not have is said to be unavailable'
is "$(lines visit | jq -r 'select(.arm != "nvls") | .unavailable' | sort -u)" 0 \
    'an arm that NCCL has is never unavailable'
is "$(lines visit | jq -c 'select(.arm == "ring/LL") | .taken' | sort -u)" '{"ring/LL":20}' \
    'a visit records what NCCL was told to run'
is "$(lines visit | jq -c 'select(.arm == "ring/LL") | .ran' | sort -u)" '{"ring/LL ctas=24":15}' \
    'a visit records what NCCL reports to have run, without the first step'
is "$(lines visit | jq -c 'select(.arm == "ctas=8") | .ran' | sort -u)" '{"ring/LL128 ctas=8":15}' \
    'a visit records the CTAs that NCCL reports'
for profiler in 2 3 4; do
    trial 'steps = 4' 'warmup = 5' 'blocks = 6'
    exits 0 "a trial works with version $profiler of the profiler" job steps=300 profiler=$profiler
    is "$(lines visit | jq -r 'select(.arm == "ctas=8") | .ran | keys[]' | sort -u)" \
        "$([ $profiler = 4 ] && echo 'ring/LL128 ctas=8' || echo ring/LL128)" \
        "version $profiler of the profiler records as much as NCCL reports to it"
done
trial 'steps = 4' 'warmup = 5' 'blocks = 6'
job steps=300 step_us=200 jitter_us=300 >calls
first=$(orders)
trial 'steps = 4' 'warmup = 5' 'blocks = 6'
job steps=300 >calls
is "$(orders)" "$first" 'the same seed gives the same order'
like "$(cat calls)" $'ring/LL channels=0 123\n' \
    'an arm gets six visits of 20 calls, and three calls before'
trial 'steps = 4' 'warmup = 5' 'blocks = 6' 'seed = 2'
job steps=300 >calls
isnt "$(orders)" "$first" 'another seed gives another order'

trial 'steps = 8' 'warmup = 5' 'blocks = 5'
exits 0 'all ranks agree when evaluations interrupt the steps' job steps=600 eval=29
is "$(last)" 'hold 25' 'a trial that evaluations interrupt makes all its visits'
ok 'visits that evaluations interrupt are dropped' test "$(lines dropped | wc -l)" -gt 4
is "$(lines visit | jq -r .calls | sort -u)" 40 'no visit contains calls of an evaluation'
trial 'steps = 13' 'warmup = 5' 'blocks = 5'
job steps=900 eval=29 >calls
is "$(lines dropped | jq -r .step | sort -un | tail -n 1)" 11 \
    'the first steps after other calls are not timed'
trial 'steps = 8' 'warmup = 5' 'blocks = 2'
job steps=900 eval=5 >calls
is "$(last)" 'hold 10' 'a trial with other calls every five steps makes all its visits'
trial 'steps = 64' 'blocks = 2'
exits 0 'all ranks agree when evaluations come more often than a visit takes' job steps=2000 eval=25
is "$(lines visit | jq -r .steps | sort -un | xargs)" 16 \
    'evaluations that come often make visits shorter'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'all ranks agree on FSDP of 90 layers' job kind=fsdp parts=90 steps=100
is "$(lines step | jq -c '[.number, .calls]' | sort -u) $(last)" '[1,272] hold 15' \
    'a layer of FSDP is not taken for a step'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'all ranks agree on steps of eight micro-batches' job kind=accumulate parts=8 steps=150
is "$(lines step | jq -c .calls | tail -n 1) $(lines visit | jq \
    -c 'select(.step == 2 and .calls == 4 * 97)' | wc -l)" '97 30' \
    'a micro-batch is not taken for a step'
trial 'steps = 4' 'warmup = 5' 'blocks = 3' 'calls = 10'
exits 0 'all ranks agree when the trial says how many calls a step has' job steps=400
is "$(lines step | jq -c .calls | sort -u) $(last)" '10 hold 15' \
    'the given number of calls is taken for a step'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'all ranks agree with two communicators' job second=1 steps=500
is "$(last)" 'hold 15' 'each communicator makes all visits of its own trial'
# ---- the end of a trial

trial 'steps = 4' 'warmup = 5'
logged() { grep -qs "\"type\":\"$1\"" out/*.jsonl; }
(until_true 100 logged visit && touch out/stop && until_true 100 logged over &&
    echo 1 >keep.new && mv keep.new out/keep) &
exits 0 'all ranks agree when a trial is stopped and told which arm to keep' \
    job steps=6000 step_us=500 factor=0.1 jitter_us=100
is "$(lines over | jq -r .why | sort -u)" stop \
    'a trial that is told to stop stops at the end of a block'
is "$(lines kept | jq -r '"\(.arm) \(.call)"' | sort -u | wc -l)" 1 \
    'all ranks keep the same arm from the same call on'
ok 'the kept arm runs to the end of the job' \
    test "$(sed -n 's/ring.LL128 channels=8 //p' "$tmp/.out")" -gt 5000
wait
trial 'steps = 4' 'warmup = 5'
exits 0 'all ranks agree when one rank alone sees the wish to stop in time' \
    job as=turns abi=5 steps=200 between='touch out/stop'
is "$(lines over | wc -l)" 0 'a wish to stop comes too late once the first rank has answered'
trial 'steps = 4' 'warmup = 5' 'blocks = 2'
exits 0 'all ranks agree when one rank alone sees the arm to keep in time' \
    job as=turns abi=5 steps=200 between='echo 1 >out/keep'
is "$(lines kept | wc -l) $(last)" '0 hold 10' \
    'an arm to keep comes too late once the first rank has answered'
trial 'steps = 4' 'blocks = 3'
exits 0 'a job with one rank without the plugin runs on' job steps=900 miss=1
is "$(lines over | jq -r .why) $(last)" 'the ranks did not find the same step off 0' \
    'no call is touched when one rank has no plugin'
trial 'steps = 4' 'blocks = 3' "ranks = 3"
exits 0 'a job with communicators of another size runs on' job steps=300
is "$(lines comm | jq -r .takes_part | sort -u) $(last)" 'false learn 0' \
    'communicators of another size are left alone'
trial 'steps = 4' 'blocks = 3'
rm -r out
run env NCCL_TUNER_PLUGIN="$plugin" "$build/tuner/job"
is "$rc $out" "0 $plain" 'a job whose trial folder does not exist runs as without a trial'
like "$err" 'out: cannot be written to: No such file.*; there is no trial'
one_line "$err" 'a trial folder that does not exist is reported in one line'
trial 'stps = 4'
run env NCCL_TUNER_PLUGIN="$plugin" "$build/tuner/job"
is "$rc $out" "0 $plain" 'a job with a bad trial file runs as without a trial'
like "$err" 'trial.txt:6: .*; there is no trial' 'the message names the bad line of the trial file'
trial 'steps = 4' 'blocks = 3'
exits 0 'all ranks agree with a CUDA graph after ten steps' job steps=300 graph=10 step_us=1000
is "$(lines end | jq -r '"\(.calls) \(.state) \(.visits) \(.at_ns - .last_call_ns > 250000000)"' |
    sort -u)" \
    '58 learn 0 true' 'the end says that calls stopped long before it'
is "$(lines captured | jq -c .call | sort -u)" 54 \
    'the recording says which call was the first to be captured'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'a job whose ranks see different collectives runs on' job steps=500 other=1
is "$(lines over | jq -r .why | sort -u) $(last)" 'the ranks did not find the same step off 0' \
    'ranks that see different collectives begin no trial'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'a job that destroys no communicator runs its trial' job steps=200 finalize=0
is "$(last)" 'hold 15' 'a job that destroys no communicator still ends its recording'

no_orphans 'nothing is left running'
done_testing
