#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# gradsync tune keeps to its minutes, in two cases: the job prints one line for ten steps; the job is slowest without
# any setting. Launches sleep for a known time. The test reads what tune plans: the number of lines, and the time
# that it leaves for the proof. A busy machine changes neither.
. "$(dirname "$0")/lib.sh"

tune() { "$gradsync" tune -o raw --seed 3 "$@"; }

# ---- one line for ten steps

cat >tens <<'END2'
#!/bin/sh
[ "$FASTER" ] && ms=24 || ms=30
for i in $(seq 1000); do
    sleep 0.3
    echo "step time: $ms.$((i % 7)) ms"
done
END2
chmod +x tens
echo 'FASTER=1' >faster
exits 0 'tune answers in 24 s for a job that prints the mean of ten steps of 30 ms' \
    tune -m 0.4 -l 2 -c faster --only FASTER -- ./tens
like "$out" '^Set FASTER=1: steps (19|2[01])\.[0-9]% shorter' 'the answer is right'
blocks=$(cat raw/job/train/*/launch-*.jsonl |
    jq -r 'select(.type == "note" and .key == "launched") | .value | split(" ")[0]' | sort -n)
ok 'a launch has five lines that count, or more' test "$(head -n 1 <<<"$blocks")" -ge 5
ok 'it does not wait for as many lines as of a job that prints each step' \
    test "$(tail -n 1 <<<"$blocks")" -lt 16

# ---- the job as it is takes longest: in the proof it is launched twice as often as the winner

cat >slowest <<'END2'
#!/bin/sh
[ "$A$B$C$D$E$F" ] && ms=80 s=0.1 || ms=100 s=4
sleep $s
for i in $(seq 50); do echo "iter $i: loss 1.0, time $ms.$((i % 7))ms"; done
END2
chmod +x slowest
printf '%s=1\n' A B C D E F >alike
exits 0 'tune answers where the default is slowest' tune -m 1 -l 3 -c alike --only A=1,B=1,C=1,D=1,E=1,F=1 -- ./slowest
like "$out" '^Set [A-F]=1: steps (19|20)\.[0-9]% shorter .*, proven in [23] launches' \
    'the proof has its launches'
done_testing
