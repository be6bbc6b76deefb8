#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What befalls gradsync itself, on a real Slurm: killed between any two steps of a submission, the
# controller gone or restarted, a full disk, what Slurm refuses, another user, links in its folders.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up
real_path=$PATH
small q.ini
fresh() { rm -rf campaigns raw; }

# Puts a program of this name in front of Slurm's: it runs a shell text that may call "$real".
in_front() { # NAME TEXT
    mkdir -p front
    printf '#!/bin/bash\nreal=%q\n%s\n' "$(PATH=$real_path command -v "$1")" "$2" >"front/$1"
    chmod +x "front/$1"
    PATH=$tmp/front:$real_path
}
as_before() {
    rm -rf front && PATH=$real_path
    camp=$(echo "$tmp"/campaigns/q-*) dir=$(echo "$tmp"/campaigns/q-*/*/*/*)
}
submit_killed() { "$gradsync" submit -q -o campaigns q.ini >/dev/null 2>&1; }
arrays() { squeue -h -t all -o '%F %k' | grep "gradsync:${dir##*/}" | sort -u | wc -l; }

# ---- killed at each step ----

in_front sbatch '[ "$1" = --test-only ] || { kill -KILL $PPID; exit 1; }'
submit_killed
as_before
status_is 1 'status works after submit was killed before sbatch'
like "$out" 'launches 1-3: not submitted'
run "$gradsync" submit -q -o campaigns q.ini
is "$out" "$camp" 'the same command goes on with the campaign'
completes 'submit killed before sbatch'

fresh
in_front sbatch '"$real" "$@" >/dev/null; [ "$1" = --test-only ] || kill -KILL $PPID'
submit_killed
as_before
is "$(grep -c '"job"' "$dir/jobs.jsonl")" 0 'a submit that is killed between sbatch and the ledger leaves no line'
status_is 1 'status finds the held job by its comment'
like "$out" 'job [0-9]+ PENDING \(JobHeldUser\)'$'\n'"next: $gradsync submit $camp"
says 'was held: released' "$gradsync" submit "$camp"
is "$(arrays) $(grep -c '"job"' "$dir/jobs.jsonl")" '1 1' 'submit takes the job over, and submits no second one'
settled
completes 'submit killed between sbatch and the ledger'

fresh
in_front scontrol '[ "$1" != release ] || { kill -KILL $PPID; exit 1; }; exec "$real" "$@"'
submit_killed
as_before
completes 'submit killed before the release'
is "$(arrays)" 1 'a campaign killed before the release is measured by one array alone'
printf '{"job":99,"lau' >>"$dir/jobs.jsonl"
ok 'status works with a torn line in the ledger' "$gradsync" status -o raw "$camp"

# ---- the controller ----

fresh
slow slow.ini
submitted slow.ini
until_true 120 begun
controller_stop
fails1 3 'Unable to contact slurm controller' impatient "$gradsync" status "$camp"
fails1 3 '' impatient "$gradsync" submit -o campaigns/none q.ini
is "$(ls -A campaigns/none 2>/dev/null)" '' 'submit without the controller makes no campaign'
controller_start
until_true 120 controller_answers
ok 'status works once the controller is restarted' "$gradsync" status "$camp"
settled
completes 'the controller restarted'

# ---- what Slurm refuses, in its words; a time above the partition's limit, which it accepts ----

refused() { # REGEX OPTION…
    local regex=$1
    shift
    fails1 3 "nothing was submitted: .*$regex" "$gradsync" submit -o none q.ini "$@"
}
refused 'Partition mian not found' --set slurm:partition=mian
refused 'node configuration is not available' --set launch:nodes=4 --set launch:ranks=4
refused 'Invalid feature' --set slurm:sbatch.constraint=nosuch
refused 'unrecognized option' --set slurm:sbatch.bogus=1
fails1 2 "more than the 30 min that partition 'main' allows" "$gradsync" submit -o none q.ini \
    --set slurm:time=99h
fails1 2 "a job takes .* at least, but partition 'main' ends it after" "$gradsync" submit -o none slow.ini \
    --set measure:warmup=1h
is "$(ls -A none)" '' 'what is refused leaves no campaign'

# ---- links, and recordings of another run ----

fresh
submitted q.ini
settled
mv "$dir/launch-01.01.jsonl" elsewhere && ln -s "$tmp/elsewhere" "$dir/launch-01.01.jsonl"
fails 1 'is a link' "$gradsync" status -o raw "$camp"
rm "$dir/launch-01.01.jsonl" && sed '5d' elsewhere >"$dir/launch-01.01.jsonl"
exits 1 'a recording that was edited is not copied' "$gradsync" status -o raw "$camp"
is "$(find raw -mindepth 3 2>/dev/null)" '' 'nothing is left of it in raw'
mv elsewhere "$dir/launch-01.01.jsonl"
mkdir theirs raw3 && ln -s "$tmp/theirs" raw3/p
fails 1 'raw3/p: is a link, which is not followed' "$gradsync" status -o raw3 "$camp"
is "$(ls theirs)" '' 'nothing is written where the link leads'
mv "$camp/p" theirs/p && ln -s "$tmp/theirs/p" "$camp/p"
fails 1 'p: is a link, which is not followed' "$gradsync" status -o raw "$camp"

# ---- another person's folder ----

fresh
submitted q.ini
settled
mkdir received && cp -r "$camp" received/
fails1 2 "its job.sh is commands: read it, then: $gradsync submit --commands " "$gradsync" submit received/*

# ---- a full disk ----

if unshare --mount true 2>/dev/null && mkdir full && mount -t tmpfs -o size=64k none full 2>/dev/null; then
    cat /dev/zero >full/fill 2>/dev/null
    fails 1 'full: free some space' "$gradsync" status -o full/raw "$camp"
    rm full/fill
    ok 'status copies once the disk has room' "$gradsync" status -o full/raw "$camp"
    is "$(find full -name '.*.[0-9]*' | wc -l)" 0 'the first try leaves nothing on the disk'
    umount full
else
    skip 'a full disk' 'no mounts for this user here'
fi

slurm_down
no_orphans 'no process is left'
done_testing
