#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync trial: a job (build/tuner/job, which plays NCCL and its ranks) whose settings are
# switched as it runs, and the recording that comes of it. With ctas=8 a step takes a known time
# more; also under ASan.
. "$(dirname "$0")/lib.sh"

job=$build/tuner/job
trial() { "$gradsync" trial --warmup 5 --seed 3 -o raw "$@"; }
run_of() { find raw -name MANIFEST.json -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2; }

# ---- what is compared

exits 0 'a trial in three launches succeeds' \
    trial --arms 'ctas=8, ring/LL, nvls' --steps 8 --blocks 6 --launches 3 -- \
    "$job" steps=400 step_us=2000 factor=3
is "$(head -n 1 <<<"$out")" 'calls 2003' "the job's output stays as it is"
like "$err" 'launch 3: a step of 5 collectives and 105.9 MB; 30 visits, 0 dropped' \
    'trial says what a step is and how many visits it made'
like "$err" 'ctas=8 +\+[0-9.]+%  \[\+[0-9.]+, \+[0-9.]+\]' \
    'trial prints the difference of an arm with its interval'
like "$err" 'nvls +not available: NCCL does not have it' 'trial says which arm NCCL does not have'
like "$err" 'auto again' 'trial prints the A/A difference'
like "$err" 'auto +NCCL ran ring/LL128 ctas=24' 'trial says what auto ran'
raw=$(run_of)
exits 0 'check accepts the recording of a trial' "$gradsync" check "$raw"
is "$err" "$raw: ok" 'check has no warning about the recording of a trial'
exits 0 'compare accepts the recording of a trial' "$gradsync" compare --all "$raw" -o csv
like "$out" 'ctas=8 .* slower' 'the slower arm has the verdict slower'
like "$out" 'nvls .* skip: not available: NCCL does not have it' \
    'an arm that NCCL does not have has no verdict'
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
like "$err" 'ctas=32 +clamped: NCCL ran fewer CTAs, at most 24' \
    'trial says that NCCL ran fewer CTAs than asked for'
is "$(fate)" 'clamped: NCCL ran fewer CTAs, at most 24' \
    'the recording says that NCCL ran fewer CTAs than asked for'
is "$(measured ctas=32) $(measured ctas=8)" '0 8' \
    'an arm that NCCL did not run as asked has no block'
like "$err" 'ctas=24 .* same operation as auto' \
    'an arm with the CTAs of auto is the same operation as auto'
exits 0 'compare accepts an arm that is the same operation as auto' \
    "$gradsync" compare --all "$(run_of)" -o csv
like "$out" 'ctas=24 .* same operation' 'compare says which arm is the same operation as auto'
exits 0 'a trial with an NCCL that ignores algorithms succeeds' \
    short --arms ring/LL,ring/LL128 --keep-best \
    -- "$job" steps=600 step_us=1000 stubborn=1
like "$err" 'ring/LL +ignored: NCCL ran ring/LL128 ctas=24' \
    'trial says which algorithm NCCL ignored'
is "$(measured ring/LL)" 0 'nothing is recorded under the name of an ignored algorithm'
for v in 4 3 2; do
    exits 0 "v$v: a trial works with this version of the profiler" \
        short --arms ring/LL,ctas=32 -- "$job" steps=200 stubborn=1 profiler=$v
    like "$err" 'ring/LL +ignored: NCCL ran ring/LL128' "v$v: an ignored algorithm is found out"
    [ $v = 4 ] && want='ctas=32 +clamped' || want='not known whether NCCL took'
    like "$err" "$want" "v$v: what became of the CTAs is said as far as the profiler reports it"
done
for how in profiler=0 NCCL_PROFILER_PLUGIN=libc.so.6; do
    exits 0 "$how: a trial without the profiler succeeds" \
        short --arms ring/LL -- env "$how" "$job" steps=200 "${how/NCCL*/exit=0}"
    like "$err" 'it is not known whether NCCL took these settings' \
        "$how: trial says that NCCL may not have taken the settings"
    is "$(fate)" 'unknown: this NCCL does not report what it ran' \
        "$how: the recording says that what NCCL ran is unknown"
done

exits 0 'a job with --keep-best and a better arm succeeds' \
    trial --arms ctas=8,ring/LL --steps 8 --blocks 16 --keep-best -- \
    "$job" steps=5000 step_us=6000 factor=0.1
like "$err" 'the job continues with ctas=8' 'a job with --keep-best goes on with the best arm'
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

exits 7 'trial exits with the exit code of the command' trial --arms ctas=8 --steps 4 --blocks 2 \
    -- "$job" steps=200 exit=7
exits 127 'trial exits with 127 when the command does not exist' trial --arms ctas=8 -- ./nowhere
one_line "$err" 'a command that does not exist is reported in one line'
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

exits 2 'trial refuses to replace another tuner' \
    env NCCL_TUNER_PLUGIN=/x.so "$gradsync" trial --arms ctas=8 -- true
one_line "$err" 'another tuner is refused in one line'
mkdir -p libs net
ln -s "$build/libnccl-tuner-gradsync.so" libs/libnccl-tuner.so
ln -s "$build/libnccl-tuner-gradsync.so" net/libnccl-net-x.so
for found in LD_LIBRARY_PATH=$PWD/libs "LD_LIBRARY_PATH=$PWD/net NCCL_NET_PLUGIN=x"; do
    # shellcheck disable=SC2086
    exits 2 "trial refuses when NCCL would load a tuner by itself ($found)" \
        env $found "$gradsync" trial --arms ctas=8 \
        -- true
    one_line "$err" "a tuner that NCCL would load by itself is refused in one line ($found)"
    like "$err" 'has a tuner, .* set NCCL_TUNER_PLUGIN=none' \
        "the message says how to turn that tuner off ($found)"
done
exits 0 'NCCL_TUNER_PLUGIN=none lets a trial run beside another tuner' \
    env LD_LIBRARY_PATH="$PWD/libs" NCCL_TUNER_PLUGIN=none "$gradsync" trial --warmup 5 \
    -o 'ra w' --arms ctas=8 --steps 4 --blocks 4 -- "$job" steps=200
like "$err" "next: gradsync compare 'ra w/" 'trial quotes the folder in the next command'
exits 2 'trial refuses a misspelt arm' trial --arms rign/LL -- true
like "$err" "--arms: 'rign/LL': must be auto, ctas=1 to 64, an algorithm" \
    'the message names the misspelt arm and what an arm may be'
exits 2 'trial refuses an arm that is given twice' \
    trial --arms ring/LL128,auto,ll128/ring -- true
one_line "$err" 'an arm that is given twice is refused in one line'
like "$err" "--arms: 'll128/ring': sets the same as 'ring/LL128'; remove one" \
    'the message names both forms of an arm that is given twice'
exits 2 'trial refuses auto as the only arm' trial --arms auto -- true
exits 2 'trial refuses to run without arms' trial -- true
exits 2 'trial refuses to run without a command' trial --arms ctas=8
exits 2 'trial refuses a number out of range' trial --arms ctas=8 --steps 300 -- true
like "$err" "^gradsync: trial: --steps: '300'.* 0 to 256\$" \
    'the message has the number out of range and its range'
exits 1 'a trial of a job without NCCL ends with 1' trial --arms ctas=8 -- true
like "$err" 'no rank loaded the tuner plugin' \
    'the message says that no rank loaded the tuner plugin'
exits 1 'a trial with an NCCL before 2.22 ends with 1' trial --arms ctas=8 -- "$job" abi=2
like "$err" 'NCCL loaded the tuner plugin but never called it: NCCL is older than 2.22' \
    'the message says that NCCL is older than 2.22'
is "$out" "$("$job")" 'a job with an old NCCL has the output that it has without a trial'
echo 'int ncclGetVersion(int *v) { return *v = 22105, 0; }' | gcc -shared -Wl,-soname,libnccl.so.2 \
    -o libnccl.so.2 -x c -
exits 1 'a trial with an old NCCL of known version ends with 1' trial --arms ctas=8 \
    -- env LD_PRELOAD="$PWD/libnccl.so.2" ASAN_OPTIONS=verify_asan_link_order=0 "$job" abi=2
like "$err" 'this is NCCL 2.21.5; a trial needs 2.22 or newer: use gradsync train' \
    'the message names the version of the old NCCL'
captured='the job captured its collectives in a CUDA graph; nothing could be switched; use '\
'gradsync train'
exits 1 'a trial of a CUDA graph beside small collectives ends with 1' \
    trial --arms ctas=8 --steps 4 --blocks 3 -- \
    "$job" steps=3000 graph=20 eval=2 eval_calls=1
is "$err" "gradsync: trial: $captured" \
    'small collectives beside a CUDA graph are not taken for a step'
exits 1 'a trial whose ranks see different collectives ends with 1' \
    trial --arms ctas=8 -- "$job" steps=600 other=1
like "$err" 'only 1 of 2 ranks found the same step .* nothing was switched' \
    'the message says how many ranks found the same step'
is "$(grep -c ctas=8 <<<"$out")" 0 'a job whose ranks see different collectives is not switched'
exits 1 'a trial with a rank without the plugin ends with 1' \
    trial --arms ctas=8 -- "$job" steps=400 miss=1
like "$err" '1 of 2 ranks run without the plugin' \
    'the message says how many ranks run without the plugin'
exits 1 'a trial of a job that is too short ends with 1' trial --arms ctas=8 -- "$job" steps=20
like "$err" 'ended before a visit was complete: 103 collectives, 5 of them a step' \
    'the message says how many collectives a short job had'
exits 1 'a trial with a wrong number of calls ends with 1' \
    trial --arms ctas=8 --calls 7 -- "$job" steps=200
like "$err" 'no step of 7 collectives was found in 1003: .* another number, or --calls 0 to detect it' \
    'the message has the wrong number of calls'
exits 1 'a trial without a communicator of the given size ends with 1' \
    trial --arms ctas=8 --ranks 5 -- "$job" steps=200
like "$err" 'no communicator has .*: --ranks 2' \
    'the message says which size of communicator there is'
is "$(find raw -name '.trial*' | wc -l)" 0 'failed trials leave no file'

no_orphans 'no process is left running'
done_testing
