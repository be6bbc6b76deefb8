#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What is wrong with a cluster's disks, in a real Slurm whose nodes have mounts of their own: a
# full quota, a folder that the nodes do not see, a spool that they cannot write. One line says
# what to do.
if [ -z "${GRADSYNC_MOUNTS:-}" ]; then
    unshare --mount true 2>/dev/null || { echo \
        '1..0 # SKIP no mounts for this user here (root has them)' && exit; }
    GRADSYNC_MOUNTS=yes exec unshare --mount bash "$0"
fi
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
unmount() {
    local status=$?
    cd "$tmp" && umount quota full 2>/dev/null
    return $status
}
trap 'unmount; slurm_end; tap_end' EXIT
small q.ini

# ---- a full quota, which needs no Slurm yet ----

mkdir quota full
mount -t tmpfs -o size=256k none quota
fill() { cat /dev/zero >"$1/fill" 2>/dev/null; }
in_line() { # NAME REGEX: $err is one line that says it
    one_line "$err" "$1 is one line"
    like "$err" "$2" "$1 says what to do"
}

slurm_up

fill quota
exits 1 'submit onto a full disk ends with 1' "$gradsync" submit -q -o quota q.ini
in_line 'the message of submit onto a full disk' \
    'No space left on device \(the disk is full: free some space, or choose '\
'another place with -o\)'
is "$(squeue -h -t all | wc -l)" 0 'submit onto a full disk submits nothing'
rm -rf quota/*

# Full only when the ledger is written: the job is there, held, and is not lost.
mkdir front
cat >front/sbatch <<END
#!/bin/bash
$(command -v sbatch) "\$@"
cat /dev/zero >"$tmp/quota/fill" 2>/dev/null || true
END
chmod +x front/sbatch
exits 1 'a disk that fills between sbatch and the ledger ends submit with 1' \
    env PATH="$tmp/front:$PATH" "$gradsync" submit -o quota q.ini
camp=$(ls -d "$tmp"/quota/gs-*)
like "$err" 'jobs.jsonl: cannot be written: No space left.*free some space'
like "$err" "correct the cause, then: gradsync resume $camp"
rm quota/fill
says 'taken over' "$gradsync" resume "$camp"
settled
ok 'the job that was taken over is measured' "$gradsync" status "$camp"

mount -t tmpfs -o size=64k none full
fill full
exits 1 'collect onto a full disk ends with 1' "$gradsync" collect -o full/raw "$camp"
in_line 'the message of collect onto a full disk' 'full: free some space'
rm full/fill
ok 'collect works once the disk has room' "$gradsync" collect -q -o full/raw "$camp"
ok 'check finds the run whole that was collected at the second try' "$gradsync" check full/raw/*/*/*
is "$(find full -name '.*.[0-9]*' | wc -l)" 0 'the first try leaves nothing on the disk'

# ---- a folder that compute nodes do not see ----

in_node() { # N COMMAND…: with the mounts of that node
    local pid
    pid=$(cat "$slurm/run/n$1.daemon")
    shift
    nsenter --mount --target "$pid" "$@"
}
apart() { # N: the node with mounts of its own
    slurm_stop "n$1"
    slurm_daemon "n$1" unshare --mount --propagation private slurmd -D -N "n$1" \
        -f "$slurm/slurm.conf"
    until_true 120 slurm_idle
}
apart 1
mkdir unseen
in_node 1 mount -t tmpfs none "$tmp/unseen"
cd unseen && cd .. || exit
run "$gradsync" submit -q -o unseen q.ini --set slurm:sbatch.nodelist=n1
camp=$out
settled
status_is 1 "status exits with 1 when the node does not see the campaign's folder"
like "$out" 'could not write its log: put the campaign where compute nodes can write \(submit '\
'-o\)' 'status says to put the campaign where nodes can write'
is "$("$gradsync" status "$camp" | grep -c lacking)" 2 'status says of each cell that it is lacking'
in_node 1 umount "$tmp/unseen"
completes 'a campaign whose folder is seen now'

# ---- a spool that cannot be written ----

in_node 1 mount -t tmpfs -o ro none "$slurm/spool/n1"
run "$gradsync" submit -q -o campaigns q.ini --set slurm:sbatch.nodelist=n1
camp=$out
held() { "$gradsync" status "$camp" | grep -q 'is held'; }
until_true 120 held || diag "$(squeue -r; "$gradsync" status "$camp")"
status_is 0 'status exits with 0 when a node cannot write its spool'
like "$out" 'could not be started on its node, and is held: resume releases it.*sinfo -R'
in_node 1 umount "$slurm/spool/n1"
scontrol update nodename=n1 state=resume 2>/dev/null
completes 'a campaign whose spool can be written again'

slurm_down
no_orphans 'no process is left'
done_testing
