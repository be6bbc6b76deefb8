#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync trial: a job (build/tuner/job, which plays NCCL and its ranks) whose settings are
# switched as it runs, and the recording that comes of it. With ctas=8 a step takes a known time
# more; also under ASan.
. "$(dirname "$0")/lib.sh"

job=$build/tuner/job
trial() { "$gradsync" trial --warmup 5 --seed 3 -o raw "$@"; }

"$gradsync" trial -o without.raw --arms ctas=8 -- sleep 34 >without 2>&1 & # looked at below
without=$!

# ---- what is compared

exits 0 'a trial in three launches succeeds' \
    trial --arms 'ctas=8, ring/LL, nvls' --steps 8 --blocks 6 --launches 3 -- \
    "$job" steps=400 step_us=2000 factor=3
is "$(head -n 1 <<<"$out")" 'calls 2003' "the job's output stays as it is"
like "$err" 'launch 3: a step of 5 collectives and 105.9 MB; 30 visits, 0 dropped'
like "$err" 'ctas=8 +\+[0-9.]+%  \[\+[0-9.]+, \+[0-9.]+\]'
like "$err" 'nvls +not available: NCCL does not have it' 'trial says which arm NCCL does not have'
like "$err" 'auto again' 'trial prints the A/A difference'
like "$err" 'auto +NCCL ran ring/LL128 ctas=24' 'trial says what auto ran'
raw=$(run_of)
exits 0 'check accepts the recording of a trial' "$gradsync" check "$raw"
is "$err" "$raw: ok" 'check has no warning about the recording of a trial'
prints 'ctas=8 .* slower' "$gradsync" compare --all "$raw" -o csv
like "$out" 'nvls .* skip: not available: NCCL does not have it'
unlike "$(grep ring/LL <<<"$out")" 'slower|faster' \
    'an arm that makes no difference is neither slower nor faster'
exits 0 'show accepts the recording of a trial' "$gradsync" show "$raw"
exits 0 'reduce accepts the recording of a trial' "$gradsync" reduce raw -o csv
is "$(jq -r 'select(.type == "header") | "\(.trial.command) \(.trial.step_calls) \(.trial.over) '\
'\(.ranks)"' "$raw/launch-01.01.jsonl")" \
    'job 5 blocks 2' 'the header says which command ran and how the trial ended'
is "$(jq -r 'select(.type == "block") | .iters' "$raw"/*.jsonl | sort -u)" 7 \
    'the first step of a visit is left out'
is "$(jq -r 'select(.key == "request" and .copy == 0) | .value' "$raw"/launch-01*.jsonl | sort |
    uniq -c | xargs)" \
    '3 honoured 1 not available: NCCL does not have it for any collective of the step' \
    'the recording says what became of each requested arm'
is "$(find raw -name '.trial*' | wc -l)" 0 'a trial leaves no file beside its recording'

# ---- what NCCL really ran

short() { trial --steps 4 --blocks 4 "$@"; }
fate() { jq -r 'select(.type == "note" and .key == "request" and .value != "honoured") | .value' \
    "$(run_of)"/*.jsonl | sort -u; }
measured() { # CONFIG: blocks
    jq -s --arg c "$1" '(map(select(.type == "cell" and .config == $c) | .cell)) as $ids |
        [.[] | select(.type == "block" and (.cell | IN($ids[])))] | length' "$(run_of)"/*.jsonl
}
exits 0 'a trial with more CTAs than the communicator has succeeds' \
    short --steps 2 --arms ctas=32,ctas=8,ctas=24 --launches 2 \
    -- "$job" steps=200 step_us=2000
# Each visit times one step; two would take 4 ms. A busy machine does not disturb every visit.
is "$(jq -s '[.[] | select(.type == "block") | .time_ns[0] / .iters] | min |
    . >= 2e6 and . < 3.5e6' "$(run_of)"/*.jsonl)" true \
    'a step of the recording takes 2 ms, as in the job'
like "$err" 'ctas=32 +clamped: NCCL ran fewer CTAs, at most 24'
is "$(fate)" 'clamped: NCCL ran fewer CTAs, at most 24' \
    'the recording says that NCCL ran fewer CTAs than asked for'
is "$(measured ctas=32) $(measured ctas=8)" '0 8' \
    'an arm that NCCL did not run as asked has no block'
like "$err" 'ctas=24 .* same operation as auto'
prints 'ctas=24 .* same operation' "$gradsync" compare --all "$(run_of)" -o csv
says 'ring/LL +ignored: NCCL ran ring/LL128 ctas=24' short --arms ring/LL,ring/LL128 --keep-best \
    -- "$job" steps=600 step_us=1000 stubborn=1
is "$(measured ring/LL)" 0 'nothing is recorded under the name of an ignored algorithm'
for v in 4 3 2; do
    says 'ring/LL +ignored: NCCL ran ring/LL128' short --arms ring/LL,ctas=32 -- "$job" steps=200 \
        stubborn=1 profiler=$v
    [ $v = 4 ] && want='ctas=32 +clamped' || want='not known whether NCCL took'
    like "$err" "$want" "v$v: what became of the CTAs is said as far as the profiler reports it"
done
for how in profiler=0 NCCL_PROFILER_PLUGIN=libc.so.6; do
    says 'it is not known whether NCCL took these settings' short --arms ring/LL -- env "$how" \
        "$job" steps=200 "${how/NCCL*/exit=0}"
    is "$(fate)" 'unknown: this NCCL does not report what it ran' \
        "$how: the recording says that what NCCL ran is unknown"
done

says 'the job continues with ctas=8' trial --arms ctas=8,ring/LL --steps 8 --blocks 16 --keep-best \
    -- "$job" steps=5000 step_us=6000 factor=0.1
ok 'the best arm is kept to the end of the job' \
    test "$(sed -n 's/ring.LL128 channels=8 //p' <<<"$out")" -gt 10000
exits 0 'a trial whose job ends first succeeds' \
    trial --arms ctas=8 --steps 4 -- "$job" steps=150 eval=40
is "$(jq -r 'select(.type == "end") | .status' "$(run_of)"/*.jsonl)" interrupted \
    'a trial whose job ends first is recorded as interrupted'
like "$err" ' [1-9][0-9]* dropped' 'trial says how many visits were dropped'

cat >second <<END
#!/bin/sh
[ ! -e again ] || exit 4
touch again
exec "$job" steps=300 step_us=1000
END
chmod +x second
exits 4 'a trial whose second launch fails exits with its exit code' \
    trial --arms ctas=8 --steps 4 --blocks 8 --launches 3 -- ./second
exits 0 'the launches before one that fails are a complete recording' "$gradsync" check "$(run_of)"

# ---- the command's own ways

wait $without
like "$(head -n 1 without)" 'no rank loaded the tuner plugin in 30 s: .*use gradsync tune or train; the job continues' \
    'trial says during the job that it uses no NCCL'
is "$(grep -c continues without)" 1 'it says so once'


exits 7 'trial exits with the exit code of the command' trial --arms ctas=8 --steps 4 --blocks 2 \
    -- "$job" steps=200 exit=7
fails1 127 "trial: './nowhere' cannot be run: No such file" trial --arms ctas=8 -- ./nowhere
fails1 127 "trial: 'nowhere': no such command in PATH" trial --arms ctas=8 -- nowhere
exits 143 'trial exits with 143 when SIGTERM ends the command' \
    trial --arms ctas=8 -- bash -c 'kill -TERM $$'
"$gradsync" trial -o raw --arms ctas=8 \
    -- bash -c 'trap "echo got it; exit 9" TERM; echo ready >ready; while :; do sleep 0.1; done' \
    >told 2>&1 &
until_true 100 test -e ready || flunk 'the command starts' "$(cat told)"
pid=$!
kill -TERM $pid
ended() { [[ $(ps -o stat= -p $pid) =~ ^(Z|$) ]]; }
until_true 100 ended || kill -KILL $pid $(pgrep -P $pid)
wait $pid
is "$? $(head -n 1 told)" '9 got it' 'trial passes a signal on to the command'

mkfifo gate
"$gradsync" trial -q --warmup 5 -o killed --arms ctas=8 --steps 4 \
    -- bash -c '"$0" steps=100 && read -r <gate && "$0" steps=100' "$job" >told 2>&1 &
pid=$!
until_true 100 grep -qs calls told || flunk 'the job makes its first calls' "$(cat told)"
kill -KILL $pid
wait $pid 2>/dev/null
echo go >gate
lines() { [ "$(grep -c '^calls 503' told)" = 2 ]; }
ok 'the job goes on to its end without a trial that was killed' until_true 100 lines

# ---- what cannot be

fails1 2 '' env NCCL_TUNER_PLUGIN=/x.so "$gradsync" trial --arms ctas=8 -- true
mkdir -p libs net
ln -s "$build/libnccl-tuner-gradsync.so" libs/libnccl-tuner.so
ln -s "$build/libnccl-tuner-gradsync.so" net/libnccl-net-x.so
for found in LD_LIBRARY_PATH=$PWD/libs "LD_LIBRARY_PATH=$PWD/net NCCL_NET_PLUGIN=x"; do
    # shellcheck disable=SC2086
    fails1 2 'has a tuner, .* set NCCL_TUNER_PLUGIN=none' env $found "$gradsync" trial --arms \
        ctas=8 -- true
done
says "next: gradsync compare 'ra w/" env LD_LIBRARY_PATH="$PWD/libs" NCCL_TUNER_PLUGIN=none \
    "$gradsync" trial --warmup 5 -o 'ra w' --arms ctas=8 --steps 4 --blocks 4 -- "$job" steps=200
fails 2 "--arms: 'rign/LL': must be auto, ctas=1 to 64, an algorithm" trial --arms rign/LL -- true
fails1 2 "--arms: 'll128/ring': sets the same as 'ring/LL128'; remove one" trial --arms \
    ring/LL128,auto,ll128/ring -- true
exits 2 'trial refuses auto as the only arm' trial --arms auto -- true
exits 2 'trial refuses to run without arms' trial -- true
exits 2 'trial refuses to run without a command' trial --arms ctas=8
fails 2 "^gradsync: trial: --steps: '300'.* 0 to 256\$" trial --arms ctas=8 --steps 300 -- true
fails 1 'no rank loaded the tuner plugin' trial --arms ctas=8 -- true
fails 1 'NCCL loaded the tuner plugin but never called it: NCCL is older than 2.22' trial --arms \
    ctas=8 -- "$job" abi=2
is "$out" "$("$job")" 'a job with an old NCCL has the output that it has without a trial'
echo 'int ncclGetVersion(int *v) { return *v = 22105, 0; }' | gcc -shared -Wl,-soname,libnccl.so.2 \
    -o libnccl.so.2 -x c -
fails 1 'this is NCCL 2.21.5; a trial needs 2.22 or newer: use gradsync train' trial --arms ctas=8 \
    -- env LD_PRELOAD="$PWD/libnccl.so.2" ASAN_OPTIONS=verify_asan_link_order=0 "$job" abi=2
captured='the job captured its collectives in a CUDA graph; nothing could be switched; use '\
'gradsync train'
exits 1 'a trial of a CUDA graph beside small collectives ends with 1' \
    trial --arms ctas=8 --steps 4 --blocks 3 -- \
    "$job" steps=3000 graph=20 eval=2 eval_calls=1
is "$err" "gradsync: trial: $captured" \
    'small collectives beside a CUDA graph are not taken for a step'
fails 1 'only 1 of 2 ranks found the same step .* nothing was switched' trial --arms ctas=8 -- \
    "$job" steps=600 other=1
is "$(grep -c ctas=8 <<<"$out")" 0 'a job whose ranks see different collectives is not switched'
fails 1 '1 of 2 ranks run without the plugin' trial --arms ctas=8 -- "$job" steps=400 miss=1
fails 1 'ended before a visit was complete: 103 collectives, 5 of them a step' trial --arms ctas=8 \
    -- "$job" steps=20
fails 1 'no step of 7 collectives was found in 1003: .* another number, or --calls 0 to detect it' \
    trial --arms ctas=8 --calls 7 -- "$job" steps=200
fails 1 'no communicator has .*: --ranks 2' trial --arms ctas=8 --ranks 5 -- "$job" steps=200
is "$(find raw -name '.trial*' | wc -l)" 0 'failed trials leave no file'

no_orphans 'no process is left running'
done_testing
