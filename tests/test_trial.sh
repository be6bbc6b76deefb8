#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# also under ASan
#
# gradsync trial: a job (build/tuner/job, which plays NCCL and its ranks) whose settings are switched
# as it runs, and the recording that comes of it. A step takes a known time more with ctas=8.
. "$(dirname "$0")/lib.sh"

job=$build/tuner/job
trial() { "$gradsync" trial --warmup 5 --seed 3 -o raw "$@"; }
run_of() { find raw -name MANIFEST.json -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2; }

# ---- what is compared

exits 0 'a trial in three launches' trial --arms 'ctas=8, ring/LL, nvls' --steps 8 --blocks 6 --launches 3 -- \
    "$job" steps=400 step_us=2000 factor=1.5
is "$(head -n 1 <<<"$out")" 'calls 2003' 'the job has its output'
like "$err" 'launch 3: a step of 5 collectives and 105.9 MB; 30 visits, 0 dropped' \
    'what was found is said'
like "$err" 'ctas=8 +\+[0-9.]+%  \[\+[0-9.]+, \+[0-9.]+\]' 'so is the difference, with its interval'
like "$err" 'nvls +not available: NCCL does not have it' 'and what NCCL does not have'
like "$err" 'auto again' 'and the A/A difference'
like "$err" 'auto +NCCL ran ring/LL128 ctas=24' 'and what auto ran'
raw=$(run_of)
exits 0 'the recording is sound' "$gradsync" check "$raw"
is "$err" "$raw: ok" 'without a warning'
exits 0 'it is compared' "$gradsync" compare --all "$raw" -o csv
like "$out" 'ctas=8 .* slower' 'the slower arm is slower'
like "$out" 'nvls .* skip: not available: NCCL does not have it' \
    'one that NCCL does not have has no verdict'
unlike "$(grep ring/LL <<<"$out")" 'slower|faster' 'one that makes no difference is not'
exits 0 'it is shown' "$gradsync" show "$raw"
exits 0 'it is reduced' "$gradsync" reduce raw -o csv
is "$(jq -r 'select(.type == "header") | "\(.trial.command) \(.trial.step_calls) \(.trial.over) \(.ranks)"' "$raw/launch-01.01.jsonl")" \
    'job 5 blocks 2' 'its header says what it was'
is "$(jq -r 'select(.type == "block") | .iters' "$raw"/*.jsonl | sort -u)" 7 'the first step of a visit is left out'
ok 'with its time: a step takes 2 ms' test "$(jq -s '[.[] | select(.type == "block") | .time_ns[0] / .iters] | min | floor' "$raw"/*.jsonl)" -lt 2250000
is "$(jq -r 'select(.key == "request" and .copy == 0) | .value' "$raw"/launch-01*.jsonl | sort | uniq -c | xargs)" \
    '3 honoured 1 not available: NCCL does not have it for any collective of the step' 'with what became of each request'
is "$(find raw -name '.trial*' | wc -l)" 0 'nothing else is left'

# ---- what NCCL really ran

short() { trial --steps 4 --blocks 4 "$@"; }
fate() { jq -r 'select(.type == "note" and .key == "request" and .value != "honoured") | .value' "$(run_of)"/*.jsonl | sort -u; }
measured() { # CONFIG: blocks
    jq -s --arg c "$1" '(map(select(.type == "cell" and .config == $c) | .cell)) as $ids |
        [.[] | select(.type == "block" and (.cell | IN($ids[])))] | length' "$(run_of)"/*.jsonl
}
exits 0 'more CTAs than the communicator has' short --arms ctas=32,ctas=8,ctas=24 --launches 2 \
    -- "$job" steps=200 step_us=2000
like "$err" 'ctas=32 +clamped: NCCL ran fewer CTAs, at most 24' 'are not listed as these'
is "$(fate)" 'clamped: NCCL ran fewer CTAs, at most 24' 'nor recorded'
is "$(measured ctas=32) $(measured ctas=8)" '0 8' 'without a block'
like "$err" 'ctas=24 .* same operation as auto' 'as many as auto has make the same operation'
exits 0 'so' "$gradsync" compare "$(run_of)" -o csv
like "$out" 'ctas=24 .* same operation' 'compare says'
exits 0 'an NCCL that takes no algorithm' short --arms ring/LL,ring/LL128 --keep-best \
    -- "$job" steps=600 step_us=1000 stubborn=1
like "$err" 'ring/LL +ignored: NCCL ran ring/LL128 ctas=24' 'is found out'
is "$(measured ring/LL)" 0 'and nothing is recorded under its name'
for v in 4 3 2; do
    exits 0 "profiler v$v" short --arms ring/LL,ctas=32 -- "$job" steps=200 stubborn=1 profiler=$v
    like "$err" 'ring/LL +ignored: NCCL ran ring/LL128' "v$v: an ignored algorithm is found out"
    [ $v = 4 ] && want='ctas=32 +clamped' || want='not known whether NCCL took'
    like "$err" "$want" "v$v: CTAs as far as it reports them"
done
for how in profiler=0 NCCL_PROFILER_PLUGIN=libc.so.6; do
    exits 0 "$how" short --arms ring/LL -- env "$how" "$job" steps=200 "${how/NCCL*/exit=0}"
    like "$err" 'it is not known whether NCCL took these settings' "$how: is said to be unproven"
    is "$(fate)" 'unknown: this NCCL does not report what it ran' "$how: and recorded"
done

exits 0 'a trial in a job that goes on' trial --arms ctas=8 --steps 4 --blocks 3 \
    -- "$job" steps=3000 step_us=2000 exit=0
like "$err" "trial: raw/.*; next: gradsync compare" 'is recorded'
is "$(jq -r 'select(.type == "end") | .status' "$(run_of)"/*.jsonl)" complete 'as complete'
exits 0 'a job that keeps the best arm' trial --arms ctas=8,ring/LL --steps 8 --blocks 6 --keep-best -- \
    "$job" steps=6000 step_us=2000 factor=0.6
like "$err" 'the job goes on with ctas=8' 'goes on with it'
ok 'to its end' test "$(sed -n 's/ring.LL128 channels=8 //p' <<<"$out")" -gt 10000
exits 0 'a job with no better arm' trial --arms ctas=8 --steps 8 --blocks 6 --keep-best \
    -- "$job" steps=2500 step_us=2000 factor=1.3
like "$err" 'the job goes on with auto' 'goes on without one'
exits 0 'a job that ends before its trial' trial --arms ctas=8 --steps 4 -- "$job" steps=150 eval=40
is "$(jq -r 'select(.type == "end") | .status' "$(run_of)"/*.jsonl)" interrupted 'is recorded as interrupted'
like "$err" ' [1-9][0-9]* dropped' 'with what was dropped'

# ---- the command's own ways

exits 7 "the command's exit code" trial --arms ctas=8 --steps 4 --blocks 2 \
    -- "$job" steps=200 exit=7
exits 127 'a command that is not there' trial --arms ctas=8 -- ./nowhere
one_line "$err" 'is said once'
exits 143 'a signal that ends it' trial --arms ctas=8 -- bash -c 'kill -TERM $$'
"$gradsync" trial -o raw --arms ctas=8 \
    -- bash -c 'trap "echo got it; exit 9" TERM; echo ready >ready; while :; do sleep 0.1; done' >told 2>&1 &
until_true 10 test -e ready
pid=$!
kill -TERM $pid
ended() { [[ $(ps -o stat= -p $pid) =~ ^(Z|$) ]]; }
until_true 10 ended || kill -KILL $pid $(pgrep -P $pid)
wait $pid
is "$? $(head -n 1 told)" '9 got it' 'a signal is passed on'

mkfifo gate
"$gradsync" trial -q --warmup 5 -o killed --arms ctas=8 --steps 4 \
    -- bash -c '"$0" steps=100 && read -r <gate && "$0" steps=100' "$job" >told 2>&1 &
pid=$!
until_true 30 grep -qs calls told
kill -KILL $pid
wait $pid 2>/dev/null
echo go >gate
lines() { [ "$(grep -c '^calls 503' told)" = 2 ]; }
ok 'the job goes on to its end without a trial that was killed' until_true 30 lines

# ---- what cannot be

exits 2 'another tuner' env NCCL_TUNER_PLUGIN=/x.so "$gradsync" trial --arms ctas=8 -- true
one_line "$err" 'is refused'
mkdir -p libs net
ln -s "$build/libnccl-tuner-gradsync.so" libs/libnccl-tuner.so
ln -s "$build/libnccl-tuner-gradsync.so" net/libnccl-net-x.so
for found in LD_LIBRARY_PATH=$PWD/libs "LD_LIBRARY_PATH=$PWD/net NCCL_NET_PLUGIN=x"; do
    # shellcheck disable=SC2086
    exits 2 'a tuner that NCCL would load by itself' env $found "$gradsync" trial --arms ctas=8 \
        -- true
    one_line "$err" 'is refused in one line'
    like "$err" 'brings a tuner, .* set NCCL_TUNER_PLUGIN=none' 'that says what to do'
done
exits 0 'unless the user wants that' env LD_LIBRARY_PATH="$PWD/libs" NCCL_TUNER_PLUGIN=none "$gradsync" trial --warmup 5 \
    -o raw --arms ctas=8 --steps 4 --blocks 4 -- "$job" steps=200
exits 2 'a misspelt arm' trial --arms rign/LL -- true
like "$err" "--arms: 'rign/LL': must be auto, ctas=1 to 64, an algorithm" 'is refused'
exits 2 'no arm but auto' trial --arms auto -- true
exits 2 'no arms' trial -- true
exits 2 'no command' trial --arms ctas=8
exits 2 'a number out of range' trial --arms ctas=8 --steps 300 -- true
like "$err" "^gradsync: trial: --steps: '300'.* 0 to 256\$" 'is refused with its range'
exits 1 'a job without NCCL' trial --arms ctas=8 -- true
like "$err" 'no rank loaded the tuner plugin' 'says so'
exits 1 'an NCCL before 2.22' trial --arms ctas=8 -- "$job" abi=2
like "$err" 'NCCL loaded the tuner plugin but never asked it: NCCL is older than 2.22' 'says so'
is "$out" "$("$job")" 'and the job is as without'
echo 'int ncclGetVersion(int *v) { return *v = 22105, 0; }' | gcc -shared -Wl,-soname,libnccl.so.2 -o libnccl.so.2 -x c -
exits 1 'one whose version is known' trial --arms ctas=8 \
    -- env LD_PRELOAD="$PWD/libnccl.so.2" ASAN_OPTIONS=verify_asan_link_order=0 "$job" abi=2
like "$err" 'this is NCCL 2.21.5; a trial needs 2.22 or newer: use gradsync train' 'says that'
captured='the job captured its collectives in a CUDA graph; nothing could be switched; use gradsync train'
exits 1 'a CUDA graph' trial --arms ctas=8 -- "$job" steps=60 graph=10 step_us=120000
is "$err" "trial: $captured; the job continues
gradsync: trial: $captured" 'says so, as soon as it is known'
is "$out" "$("$job" steps=11)" 'and the job runs to its end untouched'
exits 1 'a CUDA graph, of an NCCL that does not report it' trial --arms ctas=8 \
    -- "$job" steps=60 graph=10 step_us=120000 profiler=0
is "$err" "gradsync: trial: $captured" 'says so at the end'
exits 1 'a CUDA graph, and small collectives beside it' trial --arms ctas=8 --steps 4 --blocks 3 -- \
    "$job" steps=3000 graph=20 eval=2 eval_calls=1
is "$err" "gradsync: trial: $captured" 'is not taken for a step of these'
exits 1 'a rank that sees other collectives' trial --arms ctas=8 -- "$job" steps=600 other=1
like "$err" 'only 1 of 2 ranks found the same step .* nothing was switched' 'says so'
is "$(grep -c ctas=8 <<<"$out")" 0 'and nothing was'
exits 1 'a rank without the plugin' trial --arms ctas=8 -- "$job" steps=400 miss=1
like "$err" '1 of 2 ranks run without the plugin' 'says so'
exits 1 'a job that is too short' trial --arms ctas=8 -- "$job" steps=20
like "$err" 'ended before a visit was complete: 103 collectives, 5 of them a step' 'says so'
exits 1 'communicators of other sizes alone' trial --arms ctas=8 --ranks 5 -- "$job" steps=200
like "$err" 'no communicator has .*: --ranks 2' 'says which there are'
is "$(find raw -name '.trial*' | wc -l)" 0 'nothing is left of them'

no_orphans 'nothing is left running'
done_testing
