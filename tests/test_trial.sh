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
like "$err" 'launch 3: a step of 5 collectives and 105.9 MB; 30 visits, 0 dropped' 'what was found is said'
like "$err" 'ctas=8 +\+[0-9.]+%  \[\+[0-9.]+, \+[0-9.]+\]' 'so is the difference, with its interval'
like "$err" 'nvls +not available in this job' 'and what NCCL does not have'
like "$err" 'auto again' 'and the A/A difference'
raw=$(run_of)
exits 0 'the recording is sound' "$gradsync" check "$raw"
is "$err" "$raw: ok" 'without a warning'
exits 0 'it is compared' "$gradsync" compare --all "$raw" -o csv
like "$out" 'ctas=8 .* slower' 'the slower arm is slower'
like "$out" 'nvls .* skip: NCCL does not have it' 'one that NCCL does not have has no verdict'
unlike "$(grep ring/LL <<<"$out")" 'slower|faster' 'one that makes no difference is not'
exits 0 'it is shown' "$gradsync" show "$raw"
exits 0 'it is reduced' "$gradsync" reduce raw -o csv
is "$(jq -r 'select(.type == "header") | "\(.trial.command) \(.trial.step_calls) \(.trial.over) \(.ranks)"' "$raw/launch-01.01.jsonl")" \
    'job 5 blocks 2' 'its header says what it was'
is "$(jq -r 'select(.type == "block") | .iters' "$raw"/*.jsonl | sort -u)" 7 'the first step of a visit is left out'
ok 'with its time: a step takes 2 ms' test "$(jq -s '[.[] | select(.type == "block") | .time_ns[0] / .iters] | min | floor' "$raw"/*.jsonl)" -lt 2250000
is "$(find raw -name '.trial*' | wc -l)" 0 'nothing else is left'

exits 0 'a trial in a job that goes on' trial --arms ctas=8 --steps 4 --blocks 3 -- "$job" steps=3000 step_us=2000 exit=0
like "$err" "trial: raw/.*; next: gradsync compare" 'is recorded'
is "$(jq -r 'select(.type == "end") | .status' "$(run_of)"/*.jsonl)" complete 'as complete'
exits 0 'a job that keeps the best arm' trial --arms ctas=8,ring/LL --steps 8 --blocks 6 --keep-best -- \
    "$job" steps=6000 step_us=2000 factor=0.6
like "$err" 'the job goes on with ctas=8' 'goes on with it'
ok 'to its end' test "$(sed -n 's/ring.LL128 channels=8 //p' <<<"$out")" -gt 10000
exits 0 'a job with no better arm' trial --arms ctas=8 --steps 8 --blocks 6 --keep-best -- "$job" steps=2500 step_us=2000 factor=1.3
like "$err" 'the job goes on with auto' 'goes on without one'
exits 0 'a job that ends before its trial' trial --arms ctas=8 --steps 4 -- "$job" steps=150 eval=40
is "$(jq -r 'select(.type == "end") | .status' "$(run_of)"/*.jsonl)" interrupted 'is recorded as interrupted'
like "$err" ' [1-9][0-9]* dropped' 'with what was dropped'

# ---- the command's own ways

exits 7 "the command's exit code" trial --arms ctas=8 --steps 4 --blocks 2 -- "$job" steps=200 exit=7
exits 127 'a command that is not there' trial --arms ctas=8 -- ./nowhere
one_line "$err" 'is said once'
exits 143 'a signal that ends it' trial --arms ctas=8 -- bash -c 'kill -TERM $$'
"$gradsync" trial -o raw --arms ctas=8 -- bash -c 'trap "echo got it; exit 9" TERM; echo ready >ready; while :; do sleep 0.1; done' >told 2>&1 &
until_true 10 test -e ready
pid=$!
kill -TERM $pid
ended() { [[ $(ps -o stat= -p $pid) =~ ^(Z|$) ]]; }
until_true 10 ended || kill -KILL $pid $(pgrep -P $pid)
wait $pid
is "$? $(head -n 1 told)" '9 got it' 'a signal is passed on'

# ---- what cannot be

exits 2 'another tuner' env NCCL_TUNER_PLUGIN=/x.so "$gradsync" trial --arms ctas=8 -- true
one_line "$err" 'is refused'
exits 2 'a misspelt arm' trial --arms rign/LL -- true
like "$err" "--arms: 'rign/LL': must be auto, ctas=1 to 64, an algorithm" 'is refused'
exits 2 'no arm but auto' trial --arms auto -- true
exits 2 'no arms' trial -- true
exits 2 'no command' trial --arms ctas=8
exits 2 'a number out of range' trial --arms ctas=8 --steps 300 -- true
like "$err" "^gradsync: trial: --steps: '300'.* 0 to 256\$" 'is refused with its range'
exits 1 'a job without NCCL' trial --arms ctas=8 -- true
like "$err" 'no rank asked the tuner plugin' 'says so'
exits 1 'a CUDA graph' trial --arms ctas=8 -- "$job" steps=60 graph=10 step_us=120000
like "$err" 'was not asked any more in the last [0-9]+ s of the job, after 53 collectives: .* CUDA graph' 'says so'
exits 1 'a rank without the plugin' trial --arms ctas=8 -- "$job" steps=400 miss=1
like "$err" '1 of 2 ranks run without the plugin' 'says so'
exits 1 'a job that is too short' trial --arms ctas=8 -- "$job" steps=20
like "$err" 'ended before a visit was complete: 103 collectives, 5 of them a step' 'says so'
exits 1 'communicators of other sizes alone' trial --arms ctas=8 --ranks 5 -- "$job" steps=200
like "$err" 'no communicator has .*: --ranks 2' 'says which there are'
is "$(find raw -name '.trial*' | wc -l)" 0 'nothing is left of them'

no_orphans 'nothing is left running'
done_testing
