#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# also under ASan
#
# gradsync train: a command that prints step times, launched anew for each config. ./steps takes a
# known time more for a larger value; its noise is drawn from the number of its starts. Faults and warnings are
# in tests/golden/train.cmd.
. "$(dirname "$0")/lib.sh"

train() { "$gradsync" train "$@" -o raw; }
run_of() { latest plan.json raw; }
lines() { jq -c "select(.type == \"$1\")" "$(run_of)"/launch-*.jsonl; }
starts() { wc -l <starts; }

cat >steps <<'END'
#!/bin/sh
# steps STEPS MICROSECONDS: slow at first, and a little faster or slower in each launch
echo start >>starts
awk -v n="$1" -v us="$2" -v seed="$(wc -l <starts)" 'BEGIN {
    srand(seed)
    level = us * (1 + 0.004 * (rand() - 0.5))
    for (i = 0; i < n; i++)
        printf "step %d of %d: took %.0f us\n", i, n,
            level * (1 + 0.02 * (rand() - 0.5)) * (i < 5 ? 3 : 1) }'
END
chmod +x steps
config() { # NAME, and more lines of [train] on stdin; its command is the first
    {
        printf '[platform]\nname = here\n[measure]\nlaunches = %s\nseed = 7\n' "${launches:-2}"
        echo '[train]'
        cat
    } >"$1.ini"
}
last='took ([^ ]+) us'

# ---- a known effect is found

launches=5 config effect <<END
command = ./steps 60 \$((100000 + {cost}))
time = $last
unit = us
cost = 0, 3000, 100
END
exits 0 'a train section is measured' train effect.ini
like "$err" 'more launches, if verdicts are inconclusive: gradsync train effect.ini --set measure:launches=10 -o raw \(a new run\)' \
    'the message says how to measure more launches'
like "$err" 'launch 1 of 5: cost=3000: 60 step times, median 10[23][0-9.]* ms, in .* left'
like "$err" "next: gradsync compare raw/here/train/"
run=$(run_of)
exits 0 'the recording of a training is sound' "$gradsync" check "$run"
prints 'against cost=0' "$gradsync" compare --all "$run" -o csv
like "$out" 'cost=3000 .*\+(2\.[5-9]|3\.[0-4]).*slower' 'an effect of 3% is found'
like "$out" 'cost=100 .*equivalent' 'an effect of 0.1% is equivalent'
exits 0 'the recording of a training is shown' "$gradsync" show "$run"
exits 0 'the recording of a training is reduced' "$gradsync" reduce raw -o csv
is "$(awk -F, 'NR > 1 { print $11, $12, ($14 >= 20) }' csv/summary.csv | sort -u)" '300 5 1' \
    'every step is recorded, and the slow ones at the start of each launch are warm-up'
is "$(lines header | jq -r '"\(.workload) \(.ranks) \(.seed)"' | sort -u)" 'train 1 7' \
    'the header has the workload and the seed'
is "$(lines cell | jq -r .prepared | sort | uniq -c | awk '{ print $1 }' | sort -u)" 5 \
    'the recording has each place of the order'
order() { jq -r 'select(.type == "cell") | "\(.config) \(.copy)"' "$run/launch-0$1.01.jsonl"; }
is "$(order 2)" "$(order 1 | tac)" 'the order of an even launch mirrors the one before'
isnt "$(order 3)" "$(order 1)" 'the next pair of launches has another order'
is "$(order 1 | grep -c 'cost=0')" 2 'the baseline runs twice in each launch'
like "$(cat "$run/launch-01.01.log")" 'step 59 of 60' 'the output of the command is kept'

# ---- variables, axes, formats

config variables <<'END'
command = 'echo "$PLAIN/${GONE-gone}/{launch}/{ranks}"; echo "iter 10: loss 2.1, time {ms}.5ms"'
ms = 10, 20
axes = ms
PLAIN = a b, c*d
GONE = unset
END
mkdir default && ( cd default && "$gradsync" train ../variables.ini 2>../default.err )
like "$(cat default.err)" ': 1 step time, median' 'one step time is singular'
like "$(cat default.err)" "launches=4 \(a new run; 'gradsync compare' then takes it instead of" \
    'more launches in the default folder replace the run for compare'
( cd default && "$gradsync" train -q ../variables.ini --set measure:launches=4 2>/dev/null
    "$gradsync" compare --all >../default.out 2>../default.err )
like "$(cat default.err default.out)" 'without 1 older run' 'and they do'
exits 0 'a command that prints a known format is measured' \
    env GONE=1 "$gradsync" train variables.ini -o raw --set launch:ranks=4
log=$(cat "$(run_of)"/launch-02.01.log)
like "$log" 'a b/gone/2/4' \
    'the command has the variables of its config and the placeholders of its launch'
like "$log" "c\*d/gone/2/4" 'variables may have any characters'
is "$(lines block | jq -r '.time_ns[0]' | sort -u | xargs)" '10500000 20500000' \
    'step times in a known format are read without a pattern'
groups=$(lines cell | jq -r '"\(.group) \(.config)"' | sort -u | cut -c1-16)
is "$(uniq -c <<<"$groups" | xargs -n2 | cut -c1)" \
    $'2\n2' 'values of axes make groups, and other values make configs in them'
run "$gradsync" compare --all "$(run_of)" -o csv
like "$out" 'PLAIN=c.d .*equivalent' 'one time per launch is enough for a verdict'
exits 0 'the baseline may be another config' train variables.ini --set "measure:baseline=PLAIN=c*d"
is "$(lines cell | jq -r 'select(.copy == 1) | .config' | sort -u)" "PLAIN=c*d" \
    'a baseline that was chosen is measured twice'

config file <<'END'
command = 'echo x=1 >>out-{n}; head -c 3 /dev/zero >>out-{n}; echo x=2 >>out-{n}; echo x=9'
time = x=([0-9]+)
file = out-{n}
n = 1, 2
END
echo 'x=7' >out-1
exits 0 'step times may come from a file' train file.ini
is "$(lines block | jq -r '.time_ns[0]' | sort | uniq -c | xargs)" '6 1000000000 6 2000000000' \
    'only lines that the launch added are read, and NULs between them hide none'

config alone <<'END'
command = printf 'x=\033[1m0.5\033[0m\r'
time = x=([0-9.]+)
unit = 1/s
END
exits 0 'a config with one time per launch is measured' train alone.ini
is "$(lines block | jq -c .time_ns | sort -u)" '[2000000000]' \
    'a time in colour and without a line end is read'

# ---- secrets

export HF_TOKEN=tok-0123456789
config secret <<'END'
command = 'echo "token $HF_TOKEN"; echo x=1; [ {n} = 1 ] || { echo "bad $HF_TOKEN"; exit 1; }'
time = x=([0-9.]+)
n = 1, 2
END
exits 1 'a command that prints a secret of the environment' train secret.ini
unlike "$(cat "$(run_of)"/*) $err" 'tok-0123456789' \
    'a secret that the command prints is neither recorded nor repeated'
like "$(cat "$(run_of)"/*.log)" 'token .hidden' 'the log has (hidden) in its place'
config argument <<'END'
command = 'echo "step time: 1 s" --api-key=qwertyuiop; [ -e again ] || { touch again; exit 1; }'
END
exits 1 'a command with a secret argument fails as it should' train argument.ini
unlike "$(cat "$(run_of)"/*.ini "$(run_of)"/*.json*)" qwertyuiop \
    'a secret argument of the command is not recorded'
fails 2 'export API_KEY=' "$gradsync" resume "$(run_of)"
exits 0 'resume with the secret argument completes the run' \
    env API_KEY=qwertyuiop "$gradsync" resume "$(run_of)"
# ---- what fails costs a launch

config crash <<'END'
command = '[ {n} != 2 ] || { echo boom; exit 3; }; ./steps 30 100000'
time = took ([0-9]+) us
unit = us
n = 1, 2, 3
END
fails 1 'n=2: crash: exit code 3; its last line: boom .launch-01.01.log' train crash.ini
is "$(lines fail | jq -r '"\(.kind) \(.copy)"' | xargs)" 'crash 0 crash 0' \
    'a crash is recorded once in each launch'
ok 'a run in which one config crashed is complete' test -e "$(run_of)/MANIFEST.json"
exits 0 'a run in which one config crashed is sound' "$gradsync" check "$(run_of)"
run "$gradsync" compare --all "$(run_of)" -o csv
like "$out" 'n=2 .*crash: exit code 3' 'a config that crashed has no verdict'
like "$out" 'n=3 .*(equivalent|inconclusive|slower|faster)'

config late <<'END'
command = './steps 30 100000; [ {n} != 2 ] || { echo bad end; exit 3; }'
time = took ([0-9]+) us
unit = us
n = 1, 2
END
exits 1 'a command that fails after its last step makes the exit code 1' train late.ini
printed='exit code 3; 30 step times recorded, not compared'
like "$err" "n=2: crash: $printed; its last line: bad end"
is "$(lines fail | jq '.printed_ns | length' | xargs)" '30 30' \
    'the times that a failed command printed are recorded'
like "$(lines fail | jq -c '.printed_ns[5:7]' | head -n 1)" '^\[(99|100)[0-9]{6},' \
    'the times of a failed command are in nanoseconds'
is "$(lines block | jq -r .cell | sort -u | wc -l)" 1 'a failed command has no block'
exits 0 'a run with the times of a failed command is sound' "$gradsync" check "$(run_of)"
run "$gradsync" compare --all "$(run_of)" -o csv
like "$(tr -s ' \n' ' ' <<<"$out")" "n=2 .*crash: $printed" \
    'compare names the exit code of a command that failed after its last step'

printf '#!/bin/sh\ntrap "" TERM\nexec sleep 1000\n' >deaf
chmod +x deaf
launches=1 config hang <<'END'
command = 'echo x=1; [ {n} = 1 ] || { echo on my way; setsid ./deaf & wait; }'
time = x=([0-9.]+)
n = 1, 2
timeout = 5s
END
fails 1 'n=2: hang: ended after 5 s .timeout.; 1 step time recorded, not compared; its last' train \
    hang.ini
no_orphans 'no process of a command that hangs is left'

launches=3 config all <<'END'
command = '[ -e fixed ] && echo x=1 || exit 4; : {n}'
time = x=(.*)
n = 1, 2
END
exits 1 'a command that fails with every config makes the exit code 1' train all.ini
is "$(find "$(run_of)" -name 'launch-*.jsonl' | wc -l)" 0 \
    'a launch in which every config failed is not recorded'
touch fixed
exits 0 'a run in which all failed is resumed once the cause is fixed' \
    "$gradsync" resume "$(run_of)"
is "$(lines block | wc -l)" 9 'a resumed run has all its launches'

# ---- interruptions

mkfifo gate
launches=2 config wait <<'END'
command = './steps 10 1000; [ "$(wc -l <starts)" != 4 ] || { touch waiting; cat gate; }; : {n}'
time = took ([0-9]+) us
n = 1, 2
END
rm -f starts
"$gradsync" train wait.ini -o raw >told 2>&1 &
pid=$!
until_true 60 test -e waiting
kill -KILL $pid
wait $pid 2>/dev/null
no_orphans 'a command does not survive a gradsync that was killed'
is "$(starts)" 4 'the run was killed during the fourth of six starts'
exits 0 'a run that was killed is resumed' "$gradsync" resume "$(run_of)"
is "$(starts)" 7 'only commands that had not ended start again'
exits 0 'a resumed run is complete and sound' "$gradsync" check "$(run_of)"
ok 'a resumed run is compared' "$gradsync" compare --all "$(run_of)" -o csv

rm -f starts waiting
"$gradsync" train wait.ini -o raw >told 2>&1 &
pid=$!
until_true 60 test -e waiting
kill -TERM $pid
told() { grep -q 'waiting for the command to end' told; }
ok 'after a signal gradsync waits for the command to end' until_true 60 told
: >gate
wait $pid
is "$? $(starts)" '1 4' 'after a signal no other command starts'
exits 0 'the rest of an interrupted run is resumed' "$gradsync" resume "$(run_of)"
is "$(starts)" 6 'an interrupted and resumed run measures nothing twice'
rm -f starts waiting
"$gradsync" train wait.ini -o raw >told 2>&1 &
pid=$!
until_true 60 test -e waiting
kill -TERM $pid
until_true 60 told
kill -TERM $pid
wait $pid
is "$? $(jq -r 'select(.type == "end") | .status' "$(run_of)"/launch-02.01.jsonl)" '1 interrupted' \
    'a second signal ends the command'
no_orphans 'a second signal leaves no process running'

# ---- the examples

exits 0 'the example for any command runs' \
    train "$top/docs/examples/train/any-command.ini" \
    --set measure:launches=2 --set train:lines=1000,2000
is "$(lines block | jq -r '.time_ns | length' | sort -u) $(lines group | wc -l)" '1 4' \
    'the example has two groups and ten times in each launch'

done_testing
