#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# What clusters do to jobs, on a real Slurm: preemption, a node that dies, scancel, the time limit,
# too little memory, a cell that fails. Nothing is lost, nothing doubled, status says why, and resume
# completes.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up
tasks_line() { grep -m 1 "$1" <<<"$out"; }

# ---- preempted, and queued again ----

slow slow.ini
submitted slow.ini
until_true 120 begun || flunk 'it measures' "$(cat "$camp"/log/*)"
is "$("$gradsync" status "$camp" >/dev/null; echo $?)" 0 'while it runs nothing is wrong'
isnt "$(column running)" 0 '… and cells are running'
sbatch -Q -p prio -N 3 --exclusive --time=1 --wrap true -o /dev/null
preempted() { [ "$(jobs_in PD)" = 3 ]; }
until_true 120 preempted
status_is 0 'preempted: status'
like "$out" 'waiting +[0-9]+ +queued again after a preemption' '… says that it is queued again'
is "$(column waiting)" 32 '… its cells wait'
completes 'preempted'
is "$(grep -l '"restarts":"1"' raw/*/*/*/launch-*.jsonl | wc -l)" 3 '… by the same jobs, restarted'

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
until_true 120 freeze || flunk 'the dead node has nothing to stop' "$(ps -ef)"
# as Slurm finds by itself half a minute later
scontrol update nodename="$node" state=down reason=dead
# its reason comes a moment after its state
requeued() { "$gradsync" status "$camp" | grep -q 'queued again'; }
until_true 120 requeued || diag "$(squeue -r)"
status_is 0 'a node dies: status'
like "$out" 'queued again' '… says that its job is queued again'
for job in $(squeue -h -r -t PD -n "$(basename "$camp")" -o %A); do scontrol update "jobid=$job" \
    StartTime=now; done
twice() { [ "$(ls "$camp"/runs/*/*/*/launch-0?.0[2-9].jsonl 2>/dev/null | wc -l)" -ge 1 ]; }
ok '… and is measured anew' until_true 120 twice
signal_all CONT "${steps[@]}" # two at work on one launch
settled
alive() { [ -n "$(node_steps "${node#n}" | head -n 1)" ] && pgrep -f "run $camp" >/dev/null; }
until_true 120 eval '! alive' || diag 'the old script still runs'
completes 'a node dies'
node_start "${node#n}"
scontrol update nodename="$node" state=resume
until_true 120 slurm_idle || diag "$(sinfo)"

# ---- scancel in mid-cell ----

submitted slow.ini
until_true 120 begun
scancel --name="$(basename "$camp")" && settled
status_is 1 'scancel: status'
like "$out" 'lacking +[0-9]+ +cancelled: resume measures what is missing' \
    '… says so, and the remedy'
like "$out" "next: gradsync resume $camp" '… and the command'
exits 1 '… collect' "$gradsync" collect -o early "$camp"
like "$err" 'left out' '… leaves out what is not whole'
is "$(ls early/*/* 2>/dev/null)" '' '… and makes nothing final'
exits 1 '… collect --so-far' "$gradsync" collect --so-far -o early "$camp"
"$gradsync" reduce -q early -o early.csv
is "$(($(wc -l <early.csv/summary.csv) > 1))" 1 '… gives what there is to be drawn'
completes 'scancel'

# ---- gradsync cancel, the time limit ----

submitted slow.ini
until_true 120 begun
ok 'cancel' "$gradsync" cancel "$camp"
settled
again() { [ "$(grep -ls '"type":"block"' "$camp"/runs/*/*/*/launch-0[123].02.jsonl | wc -l)" = 3 \
    ]; }
ok '… and resume' "$gradsync" resume "$camp"
like "$err" '3 tasks: cancelled' '… which says why'
until_true 120 again || flunk 'it measures again' "$(cat "$camp"/log/*)"
scancel --batch --signal=USR1 --name="$(basename "$camp")" # as Slurm does before the time limit
settled
status_is 1 'warned of the time limit: status'
like "$out" 'stopped before its time limit: resume measures' '… says so'
is "$(grep -l '"status":"interrupted"' "$camp"/runs/*/*/*/launch-0[123].02.jsonl | wc -l)" 3 \
    '… each closed its block'
completes 'after the warning'

# ---- out of memory ----

submitted slow.ini --set slurm:sbatch.mem=1
settled
status_is 1 'out of memory: status'
like "$out" 'out of memory: raise --mem in array' '… says so, and the remedy'
sed -i 's/--mem=1$/--mem=500/' "$camp/array-1.sh"
completes 'out of memory, with more of it'

# ---- a cell fails ----

small fails.ini
sed -i 's/^config = a, b/config = a, b\nfault = none, fail/' fails.ini
submitted fails.ini
settled
status_is 1 'a cell fails: status'
is "$(column 'done') $(column failed)" '4 4' '… counts it'
like "$out" 'null, launch 3: .*: failed: .*: correct the cause' '… says why and what to do'
ok '… collect' "$gradsync" collect -q -o raw "$camp"
ok '… to a whole run' "$gradsync" check raw/*/*/*
ok '… resume' "$gradsync" resume "$camp"
like "$err" 'nothing to do' '… has nothing to do'

slurm_down
no_orphans 'nothing is left'
done_testing
