#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# also under ASan
#
# The NCCL tuner plugin as NCCL sees it: build/tuner/job plays NCCL and the ranks of a training job,
# and fails when two ranks would have run a collective differently.
. "$(dirname "$0")/lib.sh"

plugin=$build/libnccl-tuner-gradsync.so
job() { NCCL_TUNER_PLUGIN=$plugin NCCL_PROFILER_PLUGIN=$plugin "$build/tuner/job" "$@"; }
is "$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | grep -x 'ncclTuner.*' | xargs)" \
    'ncclTunerPlugin_v3 ncclTunerPlugin_v4 ncclTunerPlugin_v5 ncclTunerPlugin_v6' 'exports four versions of a tuner'
is "$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | grep -x 'ncclProfiler.*' | xargs)" \
    'ncclProfiler_v2 ncclProfiler_v3 ncclProfiler_v4 ncclProfiler_v5' 'and of a profiler'
case $build in
*/asan) ;;
*) is "$(readelf -d "$plugin" | grep -c NEEDED) $(readelf -d "$plugin" | grep -o 'libc.so.6')" '1 libc.so.6' 'needs libc alone' ;;
esac

# ---- rules

plain=$("$build/tuner/job")
printf '%s\n' '# rules' 'allreduce,2000000,-1,tree,simple,4,-1,-1' 'broadcast,0,-1,-1,-1,1,1,2' >rules.csv
printf '%s\n' 'allreduce,0,-1,ring,ll,4,-1,-1' 'allreduce,0,-1,rign,ll,4,-1,-1' >bad.csv
for abi in 3 4 5 6; do
    is "$(job abi=$abi)" "$plain" "v$abi: without a file calls are left alone"
    is "$(NCCL_TUNER_CONFIG_FILE=rules.csv job abi=$abi | tail -n +2 | xargs)" \
        'tree/Simple channels=4 800 ring/LL channels=1 3 ring/LL128 channels=0 200' "v$abi: calls that match a rule, and no others"
    run env NCCL_TUNER_CONFIG_FILE=bad.csv NCCL_TUNER_PLUGIN="$plugin" "$build/tuner/job" abi=$abi
    is "$rc $out" "0 $plain" "v$abi: a bad file is refused as a whole, and the job goes on"
    one_line "$err" "v$abi: it is refused in one line, by one rank"
    like "$err" "bad.csv:2: algorithm 'rign': must be tree, ring, .*; no rule of this file is used" "v$abi: which names the place"
done
run env NCCL_TUNER_CONFIG_FILE=/nowhere NCCL_TUNER_PLUGIN="$plugin" "$build/tuner/job"
like "$rc $err" '^0 .*/nowhere: cannot be read: No such file' 'so is one that is not there'

# ---- trials

trial() { # LINE…: a fresh folder, the usual arms
    rm -rf out
    mkdir -p out/agree
    printf '%s\n' "out = $tmp/out" 'arm = auto' 'arm = ctas=8' 'arm = ring/LL' 'arm = nvls' "$@" >trial.txt
    export GRADSYNC_TRIAL=$tmp/trial.txt
}
lines() { cat out/*.jsonl | jq -c "select(.type == \"$1\")"; }
# The arms in their order, as each rank has them: one line when they are the same.
orders() { for f in out/[!l]*.jsonl; do jq -r 'select(.type == "visit") | "\(.block) \(.arm) \(.copy)"' "$f" | xargs; done | sort -u; }
last() { jq -r 'select(.type == "end") | "\(.state) \(.visits)"' out/*.jsonl | sort -u | xargs; }

for abi in 3 4 5 6; do
    trial 'steps = 4' 'warmup = 5' 'blocks = 6'
    exits 0 "v$abi: a trial, all ranks alike" job abi=$abi steps=300 step_us=200 jitter_us=300
    is "$(orders | wc -l)" 1 "v$abi: in the same order"
    is "$(last)" 'hold 30' "v$abi: six blocks of four arms and the second baseline"
done
is "$(lines visit | jq -r '[.block, .arm, .copy] | @csv' | sort -u | wc -l)" 30 'each block visits each arm once, the baseline twice'
is "$(lines visit | jq -c 'select((.at_ns | length) != 5 or .steps != 4 or .calls != 20)' | wc -l)" 0 'each of four steps of five calls'
is "$(lines visit | jq -c 'select(.at_ns != (.at_ns | sort))' | wc -l)" 0 'in the order of time'
is "$(lines visit | jq -r 'select(.arm == "nvls") | .unavailable' | sort -u)" 20 'an arm that NCCL does not have is said to be unavailable'
is "$(lines visit | jq -r 'select(.arm != "nvls") | .unavailable' | sort -u)" 0 'the others are not'
is "$(lines visit | jq -c 'select(.arm == "ring/LL") | .taken' | sort -u)" '{"ring/LL":20}' 'what NCCL will run is written'
is "$(lines visit | jq -c 'select(.arm == "ring/LL") | .ran' | sort -u)" '{"ring/LL ctas=24":15}' \
    'and what it reports, without the first step'
is "$(lines visit | jq -c 'select(.arm == "ctas=8") | .ran' | sort -u)" '{"ring/LL128 ctas=8":15}' 'with its CTAs'
for profiler in 2 3 4; do
    trial 'steps = 4' 'warmup = 5' 'blocks = 6'
    exits 0 "profiler v$profiler" job steps=300 profiler=$profiler
    is "$(lines visit | jq -r 'select(.arm == "ctas=8") | .ran | keys[]' | sort -u)" \
        "$([ $profiler = 4 ] && echo 'ring/LL128 ctas=8' || echo ring/LL128)" 'reports as much as it knows'
done
trial 'steps = 4' 'warmup = 5' 'blocks = 6'
job steps=300 step_us=200 jitter_us=300 >calls
first=$(orders)
trial 'steps = 4' 'warmup = 5' 'blocks = 6'
job steps=300 >calls
is "$(orders)" "$first" 'the same seed gives the same order'
like "$(cat calls)" $'ring/LL channels=0 123\n' 'six visits of 20 calls, and three before'
trial 'steps = 4' 'warmup = 5' 'blocks = 6' 'seed = 2'
job steps=300 >calls
isnt "$(orders)" "$first" 'another seed another one'

trial 'steps = 8' 'warmup = 5' 'blocks = 5'
exits 0 'with evaluations' job steps=600 eval=29
is "$(last)" 'hold 25' 'all visits are made'
ok 'what they interrupted was dropped' test "$(lines dropped | wc -l)" -gt 4
is "$(lines visit | jq -r .calls | sort -u)" 40 'no visit has calls of an evaluation'
trial 'steps = 64' 'blocks = 2'
exits 0 'evaluations more often than a visit takes' job steps=2000 eval=25
is "$(lines visit | jq -r .steps | sort -un | xargs)" 16 'make visits shorter'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'FSDP of 90 layers' job kind=fsdp parts=90 steps=100
is "$(lines step | jq -c '[.number, .calls]' | sort -u) $(last)" '[1,272] hold 15' 'the step is not a layer'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'eight micro-batches a step' job kind=accumulate parts=8 steps=150
is "$(lines step | jq -c .calls | tail -n 1) $(lines visit | jq -c 'select(.step == 2 and .calls == 4 * 97)' | wc -l)" '97 30' 'the step is not a micro-batch'
trial 'steps = 4' 'warmup = 5' 'blocks = 3' 'calls = 10'
exits 0 'calls a step that were given' job steps=400
is "$(lines step | jq -c .calls | sort -u) $(last)" '10 hold 15' 'are believed'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'two communicators' job second=1 steps=500
is "$(last)" 'hold 15' 'each has its own'
trial 'blocks = 2' 'visit_s = 1' 'warmup = 10'
exits 0 'visits as long as they are to be' job steps=900 step_us=20000 parts=20 ranks=2
is "$(lines visit | jq '(.steps >= 25 and .steps <= 51)' | sort -u)" true 'in steps'

# ---- the end of a trial

trial 'steps = 4' 'warmup = 5'
(sleep 0.7 && touch out/stop && sleep 0.3 && echo 1 >keep.new && mv keep.new out/keep) &
exits 0 'stopped, and told which arm to keep' job steps=3000 step_us=500 jitter_us=100
is "$(lines over | jq -r .why | sort -u)" stop 'it stops at the end of a block'
is "$(lines kept | jq -r '"\(.arm) \(.call)"' | sort -u | wc -l)" 1 'all ranks keep the same arm from the same call on'
ok 'and it is kept to the end' test "$(sed -n 's/ring.LL128 channels=8 //p' "$tmp/.out")" -gt 1500
wait
trial 'steps = 4' 'warmup = 5'
exits 0 'a wish to stop that only one rank sees in time' job as=turns abi=5 steps=200 between='touch out/stop'
is "$(lines over | wc -l)" 0 'is not heard: the first to come has answered for all'
trial 'steps = 4' 'warmup = 5' 'blocks = 2'
exits 0 'nor is an arm to keep' job as=turns abi=5 steps=200 between='echo 1 >out/keep'
is "$(lines kept | wc -l) $(last)" '0 hold 10' 'by either of them'
trial 'steps = 4' 'blocks = 3'
exits 0 'one rank without the plugin' job steps=900 miss=1
is "$(lines over | jq -r .why) $(last)" 'the ranks did not find the same step off 0' 'no call is touched'
trial 'steps = 4' 'blocks = 3' "ranks = 3"
exits 0 'communicators of another size' job steps=300
is "$(lines comm | jq -r .takes_part | sort -u) $(last)" 'false learn 0' 'are left alone'
trial 'steps = 4' 'blocks = 3'
rm -r out
run env NCCL_TUNER_PLUGIN="$plugin" "$build/tuner/job"
is "$rc $out" "0 $plain" 'a folder that is not there: the job goes on'
like "$err" 'out: cannot be written to: No such file.*; there is no trial' 'and says so'
one_line "$err" 'in one line'
trial 'stps = 4'
run env NCCL_TUNER_PLUGIN="$plugin" "$build/tuner/job"
is "$rc $out" "0 $plain" 'a bad trial file: the job goes on'
like "$err" 'trial.txt:6: .*; there is no trial' 'and says where'
trial 'steps = 4' 'blocks = 3'
exits 0 'a CUDA graph after ten steps' job steps=300 graph=10 step_us=1000
is "$(lines end | jq -r '"\(.calls) \(.state) \(.visits) \(.at_ns - .last_call_ns > 250000000)"' | sort -u)" \
    '58 learn 0 true' 'the end says that calls stopped long before'
is "$(lines captured | jq -c .call | sort -u)" 54 'and which was the first to be captured'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'ranks that see other collectives' job steps=500 other=1
is "$(lines over | jq -r .why | sort -u) $(last)" 'the ranks did not find the same step off 0' 'begin no trial'
trial 'steps = 4' 'warmup = 5' 'blocks = 3'
exits 0 'a program that destroys no communicator' job steps=200 finalize=0
is "$(last)" 'hold 15' 'ends its file all the same'

# ---- many calls, threads

trial 'steps = 64' 'ranks = 2'
run "$build/bench/usage" "$build/bench/tuner_calls" "$plugin" 10000000
memory=$(tail -n 1 <<<"$out" | cut -d' ' -f3)
case $build in
*/asan) is "$rc" 0 '10^7 calls' ;;
*) ok '10^7 calls in 32 MiB' test "$rc $((memory <= 32 << 20))" = '0 1' ;;
esac
unset GRADSYNC_TRIAL
tsan=$tmp/tsan
if [[ $build == */asan ]]; then
    skip 'under TSan' 'that is another build'
elif ! echo 'int main(void) { return 0; }' | gcc -fsanitize=thread -x c -o tsan.ok - 2>/dev/null || ! ./tsan.ok; then
    skip 'under TSan' 'gcc has none here'
else
    ok 'is built with TSan' make -s -C "$top" BUILD="$tsan" TELL='>/dev/null' CFLAGS='-O1 -g -fsanitize=thread' \
        "$tsan/libnccl-tuner-gradsync.so" "$tsan/tuner/job"
    trial 'steps = 4' 'warmup = 5' 'blocks = 3'
    plugin=$tsan/libnccl-tuner-gradsync.so build=$tsan
    exits 0 'four ranks as threads, two communicators each' job as=threads ranks=4 second=1 steps=400 abi=5
    is "$err" '' 'without a race'
    is "$(last)" 'hold 15' 'and with all visits'
fi
no_orphans 'nothing is left running'
done_testing
