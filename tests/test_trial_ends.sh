#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# gradsync trial: jobs that go on after it, that keep the baseline, and that use CUDA graphs.
. "$(dirname "$0")/lib.sh"

job=$build/tuner/job
trial() { "$gradsync" trial --warmup 5 --seed 3 -o raw "$@"; }

says 'ctas=8 .*no verdict: 3 of 6 blocks' trial --arms ctas=8 --steps 4 --blocks 3 -- "$job" \
    steps=3000 step_us=2000 exit=0
like "$err" "trial: raw/.*; next: gradsync compare" 'a trial is recorded while its job goes on'
is "$(jq -r 'select(.type == "end") | .status' "$(run_of)"/*.jsonl)" complete \
    'a trial whose job goes on is recorded as complete'
exits 0 'a trial without --blocks succeeds' \
    trial --arms ctas=8 --steps 4 -- "$job" steps=6000 step_us=2000 factor=1.5
is "$(jq -r 'select(.type == "header") | .trial.over' "$(run_of)"/*.jsonl)" stop \
    'a trial ends before its job once each arm has a verdict'
like "$err" 'ctas=8 .*slower' 'a trial that ends by itself prints the verdict'
says 'the job continues with auto' trial --arms ctas=8 --steps 8 --blocks 16 --keep-best -- "$job" \
    steps=2500 step_us=2000 factor=1.3
captured='the job captured its collectives in a CUDA graph; nothing could be switched; use '\
'gradsync train'
exits 1 'a trial of a job with a CUDA graph ends with 1' \
    trial --arms ctas=8 -- "$job" steps=60 graph=10 step_us=120000
is "$err" "trial: $captured; the job continues
gradsync: trial: $captured" 'the message about a CUDA graph comes as soon as it is known'
is "$out" "$("$job" steps=11)" 'a job with a CUDA graph runs to its end untouched'
exits 1 'a trial ends with 1 when NCCL does not report a CUDA graph' trial --arms ctas=8 \
    -- "$job" steps=60 graph=10 step_us=120000 profiler=0
is "$err" "gradsync: trial: $captured" 'the message about an unreported CUDA graph comes at the end'
exits 3 'the exit code of a command that fails is kept' trial --arms ctas=8 -- bash -c 'exit 3'
is "$err" 'trial: the command exited with 3; no trial was recorded' \
    'trial says that a command that failed left no recording'
fails 2 "trial: --platform 'a b' is not a name" trial --arms ctas=8 -p 'a b' -- touch \
    "$tmp/started"
ok 'a wrong platform is refused before the command starts' test ! -e "$tmp/started"
no_orphans 'no process is left running'
done_testing
