#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The time limit itself: Slurm warns a job before it, the job closes its block and leaves, and a
# resume with more time does the rest.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up
slow slow.ini
submitted slow.ini --set measure:budget=5s --set measure:launches=1 --set slurm:time=1min
settled
status_is 1 'status exits with 1 when a job has less time than it needs'
like "$out" \
    'stopped before its time limit: resume measures what is missing; to give it more time, edit --time in array'
is "$(tail -qn 1 "$camp"/runs/*/*/*/launch-01.01.jsonl | grep -o '"status":"[a-z]*"')" \
    '"status":"interrupted"' \
    'the recording is closed before the time limit'
closed=$(groups_closed "$camp"/runs/*/*/* | wc -l)
isnt "$closed" 0 'groups that the job had time for are kept'
ok 'a job that was stopped by its time limit is resumed' "$gradsync" resume -q "$camp"
ok 'resume measures only the groups that are missing' until_true 120 grep \
    -qs "$((16 - closed)) of 16 groups to measure" \
    "$camp/log/$(tail -n 1 "$camp/jobs.jsonl" | grep -o '"job":[0-9]*' | cut -d: -f2)_1.out"
ok 'gradsync cancel succeeds' "$gradsync" cancel -q "$camp"
settled
fails1 2 "a job takes .* at least, but partition 'main' ends it after" "$gradsync" submit -o \
    campaigns slow.ini --set measure:launches=100 --set slurm:launches=100
slurm_down
no_orphans 'no process is left'
done_testing
