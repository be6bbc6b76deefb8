#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What clusters do to jobs, on a real Slurm: preemption, a node that dies, scancel, the time limit,
# too little memory, a cell that fails. Nothing is lost, nothing doubled, status says why, and
# resume completes.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up
tasks_line() { grep -m 1 "$1" <<<"$out"; }

# ---- preempted, and queued again ----

slow slow.ini
submitted slow.ini
until_true 120 begun || flunk 'the campaign measures' "$(cat "$camp"/log/*)"
is "$("$gradsync" status "$camp" >/dev/null; echo $?)" 0 \
    'status exits with 0 while the campaign runs'
isnt "$(column running)" 0 'status counts running cells'
sbatch -Q -p prio -N 3 --exclusive --time=1 --wrap true -o /dev/null
preempted() { [ "$(jobs_in PD)" = 3 ]; }
until_true 120 preempted
status_is 0 'status exits with 0 after a preemption'
like "$out" 'waiting +[0-9]+ +queued again after a preemption'
is "$(column waiting)" 32 'all cells of a preempted campaign wait'
completes 'a preempted campaign'
is "$(grep -l '"restarts":"1"' raw/*/*/*/launch-*.jsonl | wc -l)" 3 \
    'a preempted campaign is measured by the same jobs, restarted'

# ---- its node is given up, and the old script goes on ----

# With mpirun: frozen steps of srun would be in the way of new ones, all nodes being one machine.
submitted slow.ini --set launch:launcher=mpirun
until_true 120 begun
node=$(squeue -h -t R -n "$(basename "$camp")" -o %N | head -n 1)
slurm_stop "$node" KILL
freeze() { # as if it had lost the network; it will go on later
    mapfile -t steps < <(node_steps "${node#n}")
    signal_all STOP "${steps[@]}"
    [ "$(node_steps "${node#n}" | sort)" = "$(printf '%s\n' "${steps[@]}" | sort)" ] &&
        [[ $(ps -o comm= "${steps[@]}") == *gradsync-rank* ]]
}
until_true 120 freeze || flunk 'the dead node has a process to stop' "$(ps -ef)"
# as Slurm does by itself after SlurmdTimeout
scontrol update nodename="$node" state=down reason=dead
# its reason comes a moment after its state
requeued() { "$gradsync" status "$camp" | grep -q 'queued again'; }
until_true 120 requeued || diag "$(squeue -r)"
status_is 0 'status exits with 0 after a node died'
like "$out" 'queued again' 'status says that the job of a dead node is queued again'
for job in $(squeue -h -r -t PD -n "$(basename "$camp")" -o %A); do scontrol update "jobid=$job" \
    StartTime=now; done
twice() { [ "$(ls "$camp"/runs/*/*/*/launch-0?.0[2-9].jsonl 2>/dev/null | wc -l)" -ge 1 ]; }
ok 'the launch of a dead node is measured anew' until_true 120 twice
signal_all CONT "${steps[@]}" # two at work on one launch
settled
alive() { [ -n "$(node_steps "${node#n}" | head -n 1)" ] && pgrep -f "run $camp" >/dev/null; }
until_true 120 eval '! alive' || diag 'the old script still runs'
completes 'a campaign whose node died'
node_start "${node#n}"
scontrol update nodename="$node" state=resume
until_true 120 slurm_idle || diag "$(sinfo)"

# ---- scancel in mid-cell ----

submitted slow.ini
until_true 120 begun
scancel --name="$(basename "$camp")" && settled
status_is 1 'status exits with 1 after scancel'
like "$out" 'lacking +[0-9]+ +cancelled: resume measures what is missing'
like "$out" "next: gradsync resume $camp" 'status gives the command that goes on after scancel'
fails 1 'left out' "$gradsync" collect -o early "$camp"
is "$(ls early/*/* 2>/dev/null)" '' 'collect makes no run final that is not whole'
exits 1 'collect --so-far of a cancelled campaign exits with 1' \
    "$gradsync" collect --so-far -o early "$camp"
"$gradsync" reduce -q early -o early.csv
is "$(($(wc -l <early.csv/summary.csv) > 1))" 1 'collect --so-far gives what was measured'
completes 'a campaign after scancel'

# ---- gradsync cancel, the time limit ----

submitted slow.ini
until_true 120 begun
ok 'gradsync cancel succeeds' "$gradsync" cancel "$camp"
settled
again() { [ "$(grep -ls '"type":"block"' "$camp"/runs/*/*/*/launch-0[123].02.jsonl | wc -l)" = 3 \
    ]; }
says '3 tasks were cancelled' "$gradsync" resume "$camp"
until_true 120 again || flunk 'a resumed campaign measures again' "$(cat "$camp"/log/*)"
scancel --batch --signal=USR1 --name="$(basename "$camp")" # as Slurm does before the time limit
settled
status_is 1 'status exits with 1 after the warning of a time limit'
like "$out" 'stopped before its time limit: resume measures'
is "$(grep -l '"status":"interrupted"' "$camp"/runs/*/*/*/launch-0[123].02.jsonl | wc -l)" 3 \
    'each job closed its block before its time limit'
completes 'a campaign stopped before its time limit'

# ---- out of memory ----

submitted slow.ini --set slurm:sbatch.mem=1
settled
status_is 1 'status exits with 1 when jobs ran out of memory'
like "$out" 'out of memory: raise --mem in array'
sed -i 's/--mem=1$/--mem=500/' "$camp/array-1.sh"
completes 'a campaign with more memory than before'

# ---- a cell fails ----

small fails.ini
sed -i 's/^config = a, b/config = a, b\nfault = none, fail/' fails.ini
submitted fails.ini
settled
status_is 1 'status exits with 1 when a cell fails'
is "$(column 'done') $(column failed)" '4 4' 'status counts the failed cells'
like "$out" 'null, launch 3: .*: failed: .*: correct the cause'
ok 'a campaign with a failed cell is collected' "$gradsync" collect -q -o raw "$camp"
ok 'check finds a run with a failed cell whole' "$gradsync" check raw/*/*/*
says 'nothing to do' "$gradsync" resume "$camp"

slurm_down
no_orphans 'no process is left'
done_testing
