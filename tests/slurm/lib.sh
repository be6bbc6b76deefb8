# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# A Slurm of a test's own, on one machine and without root: a controller and three nodes of two
# processors and two pretended GPUs, partitions `main` and `prio`, the second of which preempts.
# Source it after ../lib.sh, and call
#   slurm_up                 starts it, on four ports that nobody listens at
#   slurm_down               at the end
#   controller_stop, controller_start
#   impatient COMMAND…       its Slurm waits a second for the controller
#   node_start N; slurm_stop nN KILL
#   node_steps N             pids of all that the node runs;   signal_all SIGNAL PID…
#   jobs_in STATE            how many array tasks of $camp are in that state; '': have not ended
#   small FILE LINE…         a config of four cells, three launches of two ranks, half a
#                            second each; more lines as arguments
#   slow FILE LINE…          32 cells, one rank, about 8 s a launch
#   submitted OPTION…        gradsync submit, the campaign's folder in $camp, its run's in $dir
#   settled                  waits until no job of $camp waits or runs
#   status_is N              exit code of status, which copies to raw; $out holds what it prints
#   start_now                what is queued again does not wait for its two minutes
#   completes NAME           submitted again, everything is measured, once; copied, and checked
# shellcheck disable=SC2034,SC2154 # for the tests; from ../lib.sh

for tool in slurmctld slurmd munged sbatch; do
    command -v $tool >/dev/null || skip_all "no $tool here (make setup-slurm installs it)"
done
slurm=$tmp/slurm camp='' dir=''

slurm_conf() { # PORT
    local host
    host=$(hostname -s)
    printf 'Name=gpu Type=fake File=/dev/zero\nName=gpu Type=fake File=/dev/full\n' \
        >"$slurm/gres.conf"
    cat >"$slurm/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$1
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm/run/munge.sock
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/run/slurmctld.pid
SlurmdPidFile=$slurm/run/%n.pid
SlurmctldLogFile=$slurm/log/slurmctld.log
SlurmdLogFile=$slurm/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=400
TmpFS=$slurm/tmp/%n
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
JobRequeue=1
MinJobAge=3600
KillWait=3
ReturnToService=2
SlurmdTimeout=300
GresTypes=gpu
NodeName=n[1-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$(($1 + 1))-$(($1 + 3))] CPUs=2 RealMemory=2000 Gres=gpu:fake:2 State=UNKNOWN
PartitionName=main Nodes=n[1-3] Default=YES MaxTime=30:00 PriorityTier=1
PartitionName=prio Nodes=n[1-3] MaxTime=30:00 PriorityTier=10
END
    # Of a client that gives a controller up sooner.
    { cat "$slurm/slurm.conf" && echo MessageTimeout=2; } >"$slurm/impatient.conf"
}
slurm_daemon() { # NAME COMMAND…
    local name=$1
    shift
    "$@" >>"$slurm/log/$name.out" 2>&1 </dev/null &
    echo $! >"$slurm/run/$name.daemon"
}
slurm_stop() { # NAME [SIGNAL]
    local pid
    pid=$(cat "$slurm/run/$1.daemon") && rm "$slurm/run/$1.daemon"
    kill "-${2:-TERM}" "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    return 0
}
controller_start() { slurm_daemon slurmctld slurmctld -D -i -f "$slurm/slurm.conf"; }
controller_stop() { slurm_stop slurmctld; }
impatient() { SLURM_CONF=$slurm/impatient.conf "$@"; }
controller_answers() { scontrol ping 2>/dev/null | grep -q 'is UP'; }
node_start() { slurm_daemon "n$1" slurmd -D -N "n$1" -f "$slurm/slurm.conf"; }
node_family() { # PID…
    local pid
    for pid; do
        echo "$pid"
        # shellcheck disable=SC2046
        node_family $(pgrep -P "$pid")
    done
}
# N ('': any): what the node's daemon (each daemon) has started: steps, and all below them
node_steps() {
    local p
    for p in $(pgrep -x slurmstepd); do
        # shellcheck disable=SC2046
        [[ $(readlink "/proc/$p/fd"/* 2>/dev/null) == *"$slurm/log/n$1"* ]] && node_family "$p"
    done
}
signal_all() { # SIGNAL PID…
    local signal=$1
    shift
    [ $# = 0 ] || kill "-$signal" "$@" 2>/dev/null
    return 0
}
# The steps' environment is not the test's, so lib.sh does not know them.
slurm_end() {
    local status=$?
    # shellcheck disable=SC2046
    signal_all KILL $(node_steps '')
    return $status
}
trap 'slurm_end; tap_end' EXIT
slurm_idle() { [ "$(sinfo -h -o %t 2>/dev/null | sort -u)" = idle ]; }

listens() { (: >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
free_ports() { # of four in a row, the first; below those that the kernel hands out
    local first=$((RANDOM % 1000 * 8 + 20000)) n
    for n in 0 1 2 3; do
        listens $((first + n)) && { free_ports && return; }
    done
    echo $first
}

slurm_up() {
    local n
    mkdir -p "$slurm"/{run,state,log,tmp/n1,tmp/n2,tmp/n3,spool/n1,spool/n2,spool/n3}
    chmod 755 "$tmp" "$slurm" "$slurm/run"
    (umask 077 && head -c 1024 /dev/urandom >"$slurm/munge.key")
    slurm_conf "$(free_ports)"
    export SLURM_CONF=$slurm/slurm.conf
    slurm_daemon munged munged --force --foreground --key-file="$slurm/munge.key" \
        --socket="$slurm/run/munge.sock" --pid-file="$slurm/run/munged.pid" \
        --log-file="$slurm/log/munged.log" --seed-file="$slurm/run/munge.seed"
    until_true 60 test -S "$slurm/run/munge.sock"
    controller_start
    until_true 120 controller_answers
    for n in 1 2 3; do node_start $n; done
    until_true 120 slurm_idle || {
        diag "$(sinfo -R; tail -n 5 "$slurm"/log/*)"
        skip_all 'Slurm does not start here'
    }
}
slurm_down() {
    local n
    controller_answers && scancel --user="$(id -un)" 2>/dev/null && until_true 60 slurm_quiet
    for n in n3 n2 n1 slurmctld munged; do [ ! -e "$slurm/run/$n.daemon" ] || slurm_stop $n; done
    slurm_end
}
slurm_quiet() { [ -z "$(squeue -h 2>/dev/null)" ]; }

# ---- campaigns ----

base_config() {
    printf '%s\n' '[platform]' 'name = p' '[launch]' 'ranks = 2' '[slurm]' 'exclusive = no' \
        "setup = export GRADSYNC_PLUGIN_PATH=$GRADSYNC_PLUGIN_PATH" '[measure]' 'launches = 3' 'blocks = 2' \
        'warmup = 0' 'warmup_ops = 1' 'precision = 0.01%' 'seed = 7'
}
small() {
    local file=$1
    shift
    { base_config && printf '%s\n' 'max_blocks = 2' "$@" '[null]' 'size = 8, 16' 'config = a, b'; \
        } >"$file"
}
slow() {
    local file=$1
    shift
    {
        base_config
        printf '%s\n' 'max_blocks = 100000' 'budget = 500ms' 'sample_time = 2ms' "$@" '[null]' \
            'size = 8:128:+8' \
            'config = a, b' 'noise = 5%' 'spin = yes' 'time = 100us'
    } | sed 's/^ranks = 2/ranks = 1/' >"$file"
}
submitted() {
    run "$gradsync" submit -q -o "$tmp/campaigns" "$@"
    camp=$out
    [ "$rc" = 0 ] || flunk "submit $*" "$err"
    dir=$(echo "$camp"/*/*/*)
}
jobs_in() { # a squeue that fails has not said that there are none
    local list
    list=$(squeue -h -r ${1:+-t "$1"} -o %Z 2>/dev/null) || list=$camp/unknown
    grep -c "^$camp/" <<<"$list"
}
# Without a list of states squeue shows each job that has not ended. A list leaves out a running job
# while Slurm signals it, which it does before the time limit.
no_jobs() { [ "$(jobs_in '')" = 0 ]; }
settled() { until_true 600 no_jobs || diag "still there: $(squeue -r)"; }
status_is() { exits "$1" "${2:-status exits with $1}" "$gradsync" status -o raw "$camp"; }
begun() { # blocks of each of its three launches on disk
    [ "$(grep -ls '"type":"block"' "$dir"/launch-0[123].*.jsonl | wc -l)" -ge 3 ]
}
start_now() {
    local job
    for job in $(squeue -h -r -t PD -o %A); do scontrol update "jobid=$job" StartTime=now 2>/dev/null; done
}
groups_closed() { # launch and group of each line that closes one
    local f
    for f in "$1"/launch-*.jsonl; do
        sed -n 's/^{"type":"group",.*"group":"\([0-9a-f]*\)".*/'"$(basename "$f" | cut \
            -c8-9)"' \1/p' "$f"
    done
}
completes() { # NAME
    local copy want try
    for try in 1 2 3; do
        run "$gradsync" submit -q "$camp"
        [ "$rc" = 0 ] || flunk "$1: submit again succeeds" "$err"
        start_now
        settled
        rm -rf raw
        run "$gradsync" status -o raw "$camp"
        [ "$rc" != 0 ] || break
    done
    is "$rc" 0 "$1: status exits with 0 in the end"
    for copy in raw/*/*/*; do
        ok "$1: check finds the copy whole" "$gradsync" check "$copy"
        want=$((3 * $(grep -o '"group": *"[0-9a-f]*"' "$copy/plan.json" | sort -u | wc -l)))
        is "$(groups_closed "$copy" | sort -u | wc -l)" "$want" \
            "$1: each group is closed once in each launch"
        # Of the recording: the tables leave out a launch that others disturbed.
        is "$(cells_of_launches "$copy" | cut -d ' ' -f 1 | uniq -c | awk '{ print $1 }' | sort -u)" \
            3 "$1: each cell in each launch"
    done
}
cells_of_launches() { # "CELL LAUNCH" of all that were measured
    local file
    for file in "$1"/launch-*.jsonl; do
        jq -r --arg launch "${file##*/}" \
            'select(.type == "block") | .cell + " " + $launch[7:9]' "$file"
    done | sort -u
}
