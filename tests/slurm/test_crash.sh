#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What befalls gradsync itself, on a real Slurm: killed between any two steps of a submission, the
# controller gone or restarted, another user beside it.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up
real_path=$PATH
small q.ini
newest() { ls -dt "$tmp"/campaigns/gs-* | head -n 1; }

# Puts a program of this name in front of Slurm's: it runs a shell text that may call "$real".
in_front() { # NAME TEXT
    mkdir -p front
    printf '#!/bin/bash\nreal=%q\n%s\n' "$(PATH=$real_path command -v "$1")" "$2" >"front/$1"
    chmod +x "front/$1"
    PATH=$tmp/front:$real_path
}
as_before() { rm -rf front && PATH=$real_path; }

# ---- killed at each step ----

in_front sbatch 'kill -KILL $PPID; exit 1'
"$gradsync" submit -q -o campaigns q.ini >/dev/null 2>&1
as_before && camp=$(newest)
status_is 1 'killed before sbatch: status'
like "$out" 'lacking +0 +never submitted: resume submits it' '… says that nothing was submitted'
completes 'killed before sbatch'

in_front sbatch '"$real" "$@" >/dev/null; kill -KILL $PPID'
"$gradsync" submit -q -o campaigns q.ini >/dev/null 2>&1
as_before && camp=$(newest)
is "$(cat "$camp/jobs.jsonl" 2>/dev/null)" '' 'killed between sbatch and the ledger: it has no line'
status_is 0 '… status'
like "$out" 'waiting +[0-9]+ +held: resume releases it' '… finds the held job by its comment'
like "$out" '1 jobs: resume takes them over' '… and says that the ledger lacks it'
run "$gradsync" resume "$camp"
like "$err" 'taken over.*released' '… resume takes it over'
is "$(squeue -h -t all -n "$(basename "$camp")" -o %F | sort -u | wc -l)" 1 \
    '… and submits no second one'
settled
completes 'killed between sbatch and the ledger'

in_front scontrol '[ "$1" != release ] || { kill -KILL $PPID; exit 1; }; exec "$real" "$@"'
"$gradsync" submit -q -o campaigns q.ini >/dev/null 2>&1
as_before && camp=$(newest)
like "$(cat "$camp/jobs.jsonl")" '"tasks":"1-3"' \
    'killed before the release: the ledger has its line'
status_is 0 '… status'
like "$out" 'held: resume releases it' '… says that it is held'
completes 'killed before the release'
is "$(squeue -h -t all -n "$(basename "$camp")" -o %F | sort -u | wc -l)" 1 '… by that job alone'

printf '{"type":"job","jo' >>"$camp/jobs.jsonl"
status_is 0 'a torn line in the ledger: status'

# ---- the controller ----

slow slow.ini
submitted slow.ini
until_true 120 begun
controller_stop
exits 3 'without the controller: status' impatient "$gradsync" status "$camp"
one_line "$err" '… says so in one line'
like "$err" 'controller does not answer' '… and what to do'
exits 3 '… submit' impatient "$gradsync" submit -o campaigns/none q.ini
one_line "$err" '… says so in one line'
is "$(ls campaigns/none 2>/dev/null)" '' '… and makes no campaign'
controller_start
until_true 120 controller_answers
status_is 0 'the controller restarted: status'
is "$(column cells)" 32 '… knows the campaign'
settled
completes 'the controller restarted'

# ---- what Slurm refuses ----

refused() { # NAME REGEX COMMAND…
    local name=$1 regex=$2
    shift 2
    exits 2 "$name is refused" "$@"
    one_line "$err" '… in one line'
    like "$err" "$regex" '… that says what to do'
}
refused 'a partition that is not there' "no partition 'mian' here, did you mean 'main'" \
    "$gradsync" submit -o none q.ini --set slurm:partition=mian
is "$(ls none 2>/dev/null)" '' '… and nothing is made'
refused 'more nodes than there are' 'allows at most 3 per job' "$gradsync" submit -o none q.ini \
    --set launch:nodes=4 --set launch:ranks=4
run "$gradsync" submit -o none q.ini --set slurm:constraint=nosuch
is "$rc" 2 'a constraint that no node has'
like "$err" 'names no feature of the nodes' '… is refused with a remedy'
like "$err" 'correct the cause, then: gradsync resume' '… and the campaign is kept'

run "$gradsync" submit -o none q.ini --set slurm:sbatch.bogus=1
is "$rc" 2 'an option that sbatch does not have'
like "$err" 'sbatch.NAME is no option of this sbatch' '… is refused with a remedy'
submitted q.ini --set slurm:gres=gpu:other:4
constrained() { "$gradsync" status "$camp" | grep -q 'that no node has: see sinfo'; }
ok 'status of what no node can run, with a remedy' until_true 120 constrained
"$gradsync" cancel -q "$camp"

# ---- who else writes there ----

submitted q.ini
settled
rm -rf raw
dir=$(ls -d "$camp"/runs/*/*/*)
mv "$dir/launch-01.01.jsonl" elsewhere && ln -s "$tmp/elsewhere" "$dir/launch-01.01.jsonl"
exits 1 'a recording that is a link' "$gradsync" collect -o raw "$camp"
like "$err" 'is a link' '… is not followed'
rm "$dir/launch-01.01.jsonl" && sed 's/"run_id":"[^"]*"/"run_id":"another"/' elsewhere \
    >"$dir/launch-01.01.jsonl"
exits 1 'a recording of another run' "$gradsync" collect -o raw "$camp"
like "$err" 'foreign' '… is said to be foreign'
is "$(ls raw/p/null)" '' '… and nothing is left of the attempt'
is "$(find raw -name '.*.[0-9]*' | wc -l)" 0 '… not even hidden'

sed '0,/"type":"cell"/{/"type":"cell"/d}' elsewhere >"$dir/launch-01.01.jsonl"
exits 1 'a recording that check refuses' "$gradsync" collect -o raw "$camp"
like "$err" 'a block of cell .* before its cell line.*cannot be completed: a recording is damaged' \
    '… is not collected'
is "$(find raw -name MANIFEST.json)" '' '… and gets no manifest'

mv elsewhere "$dir/launch-01.01.jsonl"
mkdir theirs raw3 && ln -s "$tmp/theirs" raw3/p
exits 1 'a link in the folder of recordings' "$gradsync" collect -o raw3 "$camp"
one_line "$err" '… is said in one line'
like "$err" 'raw3/p: is a link, which is not followed' '… and not followed'
is "$(ls theirs)" '' '… and nothing is written where it leads'

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 1777 campaigns
    run setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ bash \
        -c 'umask 022; exec "$0" submit -q -o "$1/campaigns" "$1/q.ini"' "$gradsync" "$tmp"
    is "$rc" 0 "another user's campaign in the same folder"
    diag "$err"
    camp=$out
    settled
    status_is 0 '… is measured, and its status is for all to see'
    ok '… and collected by this one' "$gradsync" collect -q -o raw2 "$camp"
else
    skip "another user's campaign in the same folder" 'not root'
fi

slurm_down
no_orphans 'nothing is left'
done_testing
