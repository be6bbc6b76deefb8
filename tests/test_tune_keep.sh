#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Takes minutes
#
# tune --keep: a real job compares settings while it runs, and goes on with the best. The job's results, exit code and signals are its own,
# whatever happens to an arm or to the process that watches. On a pretended NCCL (tests/engine), and with ranks of MPI.
. "$(dirname "$0")/lib.sh"

pretended=$build/engine/pretended job=$build/engine/pretended/job
[ -x "$job" ] || skip_all 'the pretended NCCL is not built'
export LD_LIBRARY_PATH=$pretended PRETEND_NS_PER_KIB=40000 PRETEND_MEMORY_MIB=80000

keep() { # OPTIONS -- COMMAND: in $out what the job printed, in $err what tune said, to the end of its watcher
    rm -rf raw && mkdir raw
    run timeout 600 "$gradsync" tune --keep yes -o raw "$@"
    until_true 30 tap_alone
    err=$(cat "$tmp/.err")
}
nothing_left() {
    no_orphans "$1 leaves no process"
    is "$(find raw -name '.trial*' | wc -l)" 0 "$1 leaves no file of the ranks"
}
right='0, right, exact'
verdict() { echo "$rc, $(tail -n 1 <<<"$out")"; }
fast='any: NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4'
how=(ms=4 calls=4 kib=1024)

printf '%s\n' "$fast" 'any: NCCL_PRETEND=wrong' 'any: NCCL_PRETEND=refuse' >mine
keep -m 0.5 --arms mine -- bash -c 'sleep 31; exec "$@"' - "$job" 2 1200 "${how[@]}" # its start is not counted
is "$(verdict)" "$right" 'the job ends well, and all its sums are right'
like "$err" 'tune: NCCL_SOCKET_NTHREADS=4 NCCL_NSOCKS_PERTHREAD=4: steps [0-9.]+% shorter \[[0-9., ]+\] in [0-9]+ blocks of this job, which now goes on with it; comparing took' \
    'it goes on with the setting that is faster'
like "$err" 'NCCL_PRETEND=wrong: cannot be compared in the job: rank [0-9]: .*wrong' 'a copy with wrong sums is not used'
like "$err" 'NCCL_PRETEND=refuse: cannot be compared in the job: ' 'nor one that refuses'
ok 'there are steps at the end that are shorter than those at the beginning' awk '/step time/ { v[++n] = $3 }
    END { for (i = n > 44 ? n - 40 : 4; i <= n; i++) if (v[i] < 0.7 * v[3]) short++; exit !short }' <<<"$out"
exits 0 'its recording is sound' "$gradsync" check raw
nothing_left 'a job that was kept'

echo 'any: NCCL_BUFFSIZE=1' >useless
PRETEND_NS_PER_KIB=4000 keep -m 0.2 --arms useless -- "$job" 2 2000 "${how[@]}" # so many steps that a busy machine has enough
is "$(verdict)" "$right" 'without a winner the job ends as it began'
like "$err" 'tune: (no setting of [01] makes the step shorter by more than 1% for certain; the job goes on as it was|the job ended before a setting was chosen)' 'tune says so'

# The process that watches is killed: nothing decides any more, and visits end when their time is over.
"$gradsync" tune --keep yes -m 0.1 -o raw --arms mine -- "$job" 2 600 "${how[@]}" >told 2>/dev/null &
pid=$!
watcher() { pgrep -f "$gradsync tune --keep yes -m 0.1" | grep -vx $pid; }
ok 'there are visits' until_true 60 eval 'grep -qs "\"visit\"" raw/.trial*/*.jsonl'
kill -KILL "$(watcher)"
wait $pid
is "$?, $(tail -n 1 told)" "$right" 'kill -9 of the watcher: the job ends well'
no_orphans 'and leaves no process'

# A setting that hangs in a collective of the job: it is named, and the job is left to its user.
echo 'any: NCCL_PRETEND=late-stuck' >stuck
"$gradsync" tune --keep 30 -o raw --arms stuck -- "$job" 2 3000 "${how[@]}" >/dev/null 2>told &
pid=$!
ok 'a hang is seen' until_true 90 grep -q 'no step of the job was seen' told
like "$(cat told)" "in 'NCCL_PRETEND=late-stuck'; if it hangs, end it: what it computed since its last checkpoint is lost, at most 30 minutes" \
    'with the name of the setting'
ok 'the job was not ended' kill -0 $pid
pkill -KILL -P $pid
kill -KILL $pid
no_orphans 'once it is killed, nothing is left'

keep -m 0.1 --arms mine -- bash -c 'trap "echo saved; exit 5" TERM; read -r line; echo "$line"; kill -TERM $$' <<<'its input'
is "$rc, $(xargs <<<"$out")" '5, its input saved' 'input, signals and the exit code are those of the job'
like "$err" 'tune: the job ended before a step was seen: ' 'of a job without collectives tune says that it saw none'

train=$build/examples/mpi_train
if [ -x "$train" ] && command -v mpirun >/dev/null; then
    keep -m 0.5 --only algorithm=3,algorithm=4 -- mpirun --oversubscribe -n 2 "$train" steps=1500 compute_ms=4 rest=1 MiB=1 buckets=2
    is "$rc" 0 'a job with MPI ends well'
    like "$err" 'tune: (no setting of [12]|OMPI_MCA_coll_tuned_(use_dynamic_rules|allreduce_algorithm)=|the job ended before a setting was chosen)' 'its algorithms are compared inside it'
    nothing_left 'a job with MPI'
fi

fails1 2 "tune: --keep 'often': must be the minutes between checkpoints of the job, or 'yes'" "$gradsync" tune --keep often -- "$job" 2 5
fails1 2 'tune: --keep compares inside the job only: without --launches' "$gradsync" tune --keep yes --launches mine -- "$job" 2 5
done_testing
