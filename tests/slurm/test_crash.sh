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
status_is 1 'status works after submit was killed before sbatch'
like "$out" 'lacking +0 +never submitted: resume submits it'
completes 'submit killed before sbatch'

in_front sbatch '"$real" "$@" >/dev/null; kill -KILL $PPID'
"$gradsync" submit -q -o campaigns q.ini >/dev/null 2>&1
as_before && camp=$(newest)
is "$(cat "$camp/jobs.jsonl" 2>/dev/null)" '' \
    'a submit that is killed between sbatch and the ledger leaves no line'
status_is 0 'status works after submit was killed between sbatch and the ledger'
like "$out" 'waiting +[0-9]+ +held: resume releases it' 'status finds the held job by its comment'
like "$out" '1 jobs; resume takes them over' 'status says that the ledger lacks a job'
run "$gradsync" resume "$camp"
like "$err" 'taken over.*released' 'resume takes over the job that the ledger lacks'
is "$(squeue -h -t all -n "$(basename "$camp")" -o %F | sort -u | wc -l)" 1 \
    'resume submits no second job in its place'
settled
completes 'submit killed between sbatch and the ledger'

in_front scontrol '[ "$1" != release ] || { kill -KILL $PPID; exit 1; }; exec "$real" "$@"'
"$gradsync" submit -q -o campaigns q.ini >/dev/null 2>&1
as_before && camp=$(newest)
like "$(cat "$camp/jobs.jsonl")" '"tasks":"1-3"' \
    'a submit that is killed before the release leaves its line in the ledger'
status_is 0 'status works after submit was killed before the release'
like "$out" 'held: resume releases it' 'status says that the job is held'
completes 'submit killed before the release'
is "$(squeue -h -t all -n "$(basename "$camp")" -o %F | sort -u | wc -l)" 1 \
    'a campaign killed before the release is measured by one job alone'

printf '{"type":"job","jo' >>"$camp/jobs.jsonl"
status_is 0 'status works with a torn line in the ledger'

# ---- the controller ----

slow slow.ini
submitted slow.ini
until_true 120 begun
controller_stop
fails1 3 'controller does not answer' impatient "$gradsync" status "$camp"
fails1 3 '' impatient "$gradsync" submit -o campaigns/none q.ini
is "$(ls campaigns/none 2>/dev/null)" '' 'submit without the controller makes no campaign'
controller_start
until_true 120 controller_answers
status_is 0 'status works once the controller is restarted'
is "$(column cells)" 32 'status after a restart of the controller knows every cell'
settled
completes 'the controller restarted'

# ---- what Slurm refuses ----

refused() { # NAME REGEX COMMAND…
    local name=$1 regex=$2
    shift 2
    fails1 2 "$regex" "$@"
}
refused 'a partition that is not there' 'Partition mian not found .*sinfo -s lists them' \
    "$gradsync" submit -o none q.ini --set slurm:partition=mian
is "$(ls none 2>/dev/null)" '' 'a refused partition leaves no folder'
refused 'more nodes than there are' 'allows at most 3 per job' "$gradsync" submit -o none q.ini \
    --set launch:nodes=4 --set launch:ranks=4
run "$gradsync" submit -o none q.ini --set slurm:constraint=nosuch
is "$rc" 2 'a constraint that no node has is refused'
like "$err" 'names no feature of the nodes' 'the message says that no node has the constraint'
like "$err" 'correct the cause, then: gradsync resume'

run "$gradsync" submit -o none q.ini --set slurm:sbatch.bogus=1
is "$rc" 2 'an option that sbatch does not have is refused'
like "$err" 'sbatch.NAME is not an option of this sbatch'
submitted q.ini --set slurm:gres=gpu:other:4
constrained() { "$gradsync" status "$camp" | grep -q 'that no node has: see sinfo'; }
ok 'status says what to do when no node can run a job' until_true 120 constrained
"$gradsync" cancel -q "$camp"

# ---- who else writes there ----

submitted q.ini
settled
rm -rf raw
dir=$(ls -d "$camp"/runs/*/*/*)
mv "$dir/launch-01.01.jsonl" elsewhere && ln -s "$tmp/elsewhere" "$dir/launch-01.01.jsonl"
fails 1 'is a link' "$gradsync" collect -o raw "$camp"
# Without the hashes of the lines, as in older recordings, the other checks see the damage.
sed -i 's/"chain":"[^"]*",//; 1s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/' elsewhere
rm "$dir/launch-01.01.jsonl" && sed 's/"run_id":"[^"]*"/"run_id":"another"/' elsewhere \
    >"$dir/launch-01.01.jsonl"
fails 1 'foreign' "$gradsync" collect -o raw "$camp"
is "$(ls raw/p/null)" '' 'a refused recording leaves no run'
is "$(find raw -name '.*.[0-9]*' | wc -l)" 0 'a refused recording leaves no hidden folder'

sed '0,/"type":"cell"/{/"type":"cell"/d}' elsewhere >"$dir/launch-01.01.jsonl"
fails 1 'launch-01.01.jsonl:2: a block of cell .* before its cell line' "$gradsync" collect -o raw \
    "$camp"
is "$(find raw -name MANIFEST.json)" '' 'a run with a damaged recording gets no manifest'

mv elsewhere "$dir/launch-01.01.jsonl"
mkdir theirs raw3 && ln -s "$tmp/theirs" raw3/p
fails 1 'raw3/p: is a link, which is not followed' "$gradsync" collect -o raw3 "$camp"
one_line "$err"
is "$(ls theirs)" '' 'nothing is written where the link leads'

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 1777 campaigns
    run setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/ bash \
        -c 'umask 022; exec "$0" submit -q -o "$1/campaigns" "$1/q.ini"' "$gradsync" "$tmp"
    is "$rc" 0 'another user may submit a campaign in the same folder'
    diag "$err"
    camp=$out
    settled
    status_is 0 "status of another user's campaign is for all to see"
    ok "another user's campaign is collected" "$gradsync" collect -q -o raw2 "$camp"
else
    skip 'another user may submit a campaign in the same folder' 'not root'
fi

slurm_down
no_orphans 'no process is left'
done_testing
