#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A recording of tune that somebody else sent, or altered: `resume` runs nothing of it, and refuses what
# tune cannot have written.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016
echo 'for i in $(seq 60); do echo "step time: 20 ms"; sleep 0.02; done' >job
exits 0 'tune answers' "$gradsync" tune -q -o raw -m 0.4 --only IGNORE_CPU -- bash job
run=$(dirname raw/job/train/*/tune.json)
exits 0 'who began a tune may resume it' "$gradsync" resume "$run"

# ---- two at once

# shellcheck disable=SC2016
echo 'for i in $(seq 400); do echo "step time: 20 ms"; sleep 0.02; done' >long
(exec "$gradsync" tune -o both -m 1 --only IGNORE_CPU -- bash long) >told 2>&1 &
pid=$!
until_true 30 eval 'grep -qs "step time" both/job/train/*/launch-01.01.log'
fails1 1 'both/.*: is measured by another gradsync, or belongs to another user: wait for its end' \
    "$gradsync" resume both/job/train/*
says 'another tune measures on this host' "$gradsync" tune -o third -m 0.4 --only IGNORE_CPU -- bash job
kill -TERM $pid
wait $pid

cp -r "$run" begun
# ---- received

altered() { # NAME FILTER: raw has this state; the run was begun here
    jq "$2" begun/tune.json >"$run"/tune.json
}
altered command '.command = ["touch ran; true"] | .step_s = 0 | .settings = [] | .winner = 0'
fails1 2 "tune.json: you did not begin this in this folder, and it holds a command: read it, then: $gradsync resume --commands $run$" \
    "$gradsync" resume "$run"
ok 'the command of an altered state does not run' test ! -e ran
altered setting '.settings[0] = "BASH_ENV=x"'
fails1 2 'it holds a command' "$gradsync" resume "$run"
altered same .
cp -r raw received
fails1 2 'it holds a command' "$gradsync" resume "${run/raw/received}"
exits 0 'resume --commands runs it' "$gradsync" resume --commands "${run/raw/received}"
exits 0 'and not asked again' "$gradsync" resume "${run/raw/received}"

while IFS='|' read -r filter why; do
    altered number "$filter"
    fails1 1 "tune.json: damaged: $why; restore the file" "$gradsync" resume --commands "$run"
done <<'END'
.calls = -1|'calls' is out of range, or of another type
.winner = 100|'winner' is none of its settings
.link = 99|'link' is out of range, or of another type
.launches = -1|'launches' is out of range, or of another type
.launches = 100000000000|'launches' is out of range, or of another type
.spent_s = -1e300|'spent_s' is out of range, or of another type
.minutes = "x"|'minutes' is out of range, or of another type
.proof = "/etc/passwd"|'proof' is out of range, or of another type
.settings = ["a;touch ran=1"]|'settings': 'a;touch ran=1' is no setting, or is there twice
.settings += .settings|'settings': '.*' is no setting, or is there twice
.command = [3]|'command' is no list of texts
.command = []|it has no command
END
ok 'nothing of these states ran' test ! -e ran
done_testing
