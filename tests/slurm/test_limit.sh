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
status_is 1 'a job with less time than it needs: status'
like "$out" 'stopped before its time limit: resume measures what is missing; to give it more '\
'time, edit --time in array' \
    '… says why and what to do'
is "$(tail -qn 1 "$camp"/runs/*/*/*/launch-01.01.jsonl | grep -o '"status":"[a-z]*"')" \
    '"status":"interrupted"' \
    '… and the recording was closed in good order'
closed=$(groups_closed "$camp"/runs/*/*/* | wc -l)
isnt "$closed" 0 '… groups that it had time for are kept'
ok '… resume refuses nothing' "$gradsync" resume -q "$camp"
ok '… and measures only the others' until_true 120 grep \
    -qs "$((16 - closed)) of 16 groups to measure" \
    "$camp/log/$(tail -n 1 "$camp/jobs.jsonl" | grep -o '"job":[0-9]*' | cut -d: -f2)_1.out"
ok 'cancel' "$gradsync" cancel -q "$camp"
settled
exits 2 'a config that no job of the partition has time for' \
    "$gradsync" submit -o campaigns slow.ini --set slurm:time=40min
like "$err" "a job takes .* at least, but partition 'main' ends it after" '… is refused'
one_line "$err" '… in one line'
slurm_down
no_orphans 'nothing is left'
done_testing
