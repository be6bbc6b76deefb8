#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Waits
#
# What clusters do to jobs, on a real Slurm: preemption, a node that dies, scancel, the time limit,
# too little memory, a cell that fails. Nothing is lost, nothing doubled, status shows Slurm's words,
# and submit again completes it.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up

# ---- preempted, and queued again ----

slow slow.ini
submitted slow.ini
until_true 120 begun || flunk 'the campaign measures' "$(cat "$dir"/*.out)"
status_is 0 'status exits with 0 while the campaign runs'
like "$out" '0 of 3 launches measured, 32 cells'$'\n''  launches 1-3: job [0-9]+ RUNNING'
sbatch -Q -p prio -N 3 --exclusive --time=1 --wrap true -o /dev/null
preempted() { [ "$(jobs_in PD)" = 3 ]; }
until_true 120 preempted
status_is 0 'status exits with 0 after a preemption'
like "$out" 'launches 1-3: job [0-9]+ PENDING \(BeginTime\)'
says 'nothing to submit: a job waits or runs' "$gradsync" submit "$camp"
completes 'a preempted campaign'
is "$(grep -l '"restarts":"1"' raw/*/*/*/launch-*.jsonl | wc -l)" 3 \
    'a preempted campaign is measured by the same jobs, restarted'
is "$(grep -c '"job"' "$dir/jobs.jsonl")" 1 'no second job was submitted'

# ---- its node is given up, and the old script goes on ----

# With mpirun: frozen steps of srun would be in the way of new ones, all nodes being one machine.
submitted slow.ini --set launch:launcher=mpirun
until_true 120 begun
node=$(squeue -h -t R -n gradsync -o %N | head -n 1)
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
requeued() { [ "$(jobs_in PD)" -ge 1 ]; }
ok 'the job of a dead node is queued again' until_true 120 requeued
status_is 0 'status exits with 0 after a node died'
start_now
twice() { [ "$(ls "$dir"/launch-0?.0[2-9].jsonl 2>/dev/null | wc -l)" -ge 1 ]; }
ok 'the launch of a dead node is measured anew' until_true 120 twice
signal_all CONT "${steps[@]}" # two at work on one launch
settled
alive() { [ -n "$(node_steps "${node#n}" | head -n 1)" ] && pgrep -f "$dir" >/dev/null; }
until_true 120 eval '! alive' || diag 'the old script still runs'
completes 'a campaign whose node died'
node_start "${node#n}"
scontrol update nodename="$node" state=resume
until_true 120 slurm_idle || diag "$(sinfo)"

# ---- scancel in mid-cell, and the warning of a time limit ----

submitted slow.ini --set measure:seed=8
until_true 120 begun
scancel --name=gradsync && settled
rm -rf raw
status_is 1 'status exits with 1 after scancel'
like "$out" 'launches? .*: job [0-9]+ CANCELLED \(.*'
like "$out" "next: $gradsync submit $camp" 'status gives the command that goes on'
is "$(ls raw/*/* 2>/dev/null)" '' 'status copies no run that is not whole'
run "$gradsync" submit "$camp"
again() { [ "$(grep -ls '"type":"block"' "$dir"/launch-0[123].02.jsonl | wc -l)" = 3 ]; }
until_true 120 again || flunk 'a campaign measures again' "$(cat "$dir"/*.out)"
scancel --batch --signal=USR1 --name=gradsync # as Slurm does before the time limit
settled
status_is 1 'status exits with 1 after the warning of a time limit'
like "$out" "job [0-9]+ FAILED \(gradsync: interrupted; finished groups are recorded. Continue with: $gradsync submit $dir\)"
is "$(grep -l '"status":"interrupted"' "$dir"/launch-0[123].02.jsonl | wc -l)" 3 \
    'each job closed its block before its time limit'
completes 'a campaign stopped before its time limit'

# ---- out of memory: the script may be edited ----

submitted slow.ini --set slurm:sbatch.mem=1
settled
status_is 1 'status exits with 1 when jobs ran out of memory'
like "$out" 'job [0-9]+ (OUT_OF_MEMORY|FAILED|CANCELLED) \(.*([Ee]xceeded job memory limit|exceeded memory limit|oom|CANCELLED)'
sed -i 's/--mem=1$/--mem=500/' "$dir/job.sh"
completes 'a campaign with more memory than before'

# ---- a cell fails; a module that is not there ----

small fails.ini
sed -i 's/^config = a, b/config = a, b\nfault = none, fail/' fails.ini
submitted fails.ini
settled
status_is 1 'status exits with 1 when a cell fails'
like "$out" "3 of 3 launches measured, 8 cells, 4 failed \($gradsync show $dir\)"$'\n''  verified and copied'
submitted fails.ini --set slurm:setup=false
settled
status_is 1
like "$out" 'job [0-9]+ FAILED \(gradsync: \[slurm\] setup ended with code 1; nothing was measured\)'

slurm_down
no_orphans 'no process is left'
done_testing
