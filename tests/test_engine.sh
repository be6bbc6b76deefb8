#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Waits
#
# The engine on a pretended CUDA and NCCL (tests/engine): real processes, threads, streams with an order, and real sums; and
# real ranks of MPI. Which arms are visited, that the job's results stay right, and what is said of an arm that
# fails. The job binds NCCL by dlsym, as JAX does, so the audit object is needed.
. "$(dirname "$0")/lib.sh"

pretended=$build/engine/pretended folder=$tmp/launch job=$build/engine/pretended/job
[ -x "$job" ] || skip_all 'the pretended NCCL is not built'
object=LD_PRELOAD=$build/libgradsync-engine.so audit=LD_AUDIT=$build/libgradsync-audit.so
export PRETEND_NS_PER_KIB=20000

config() { # ARMS, with ';' between their lines
    rm -rf "$folder" && mkdir -p "$folder/agree"
    printf '%s\n' "out = $folder" 'wait_s = 3' 'margin_MiB = 100' 'visit_ms = 40' ${kept:+'keep = 1'} 'arm auto' \
        "${1//;/$'\n'}" >"$folder/config"
    [ -z "${kept:-}" ] || echo "$kept" >"$folder/keep"
}
engine() { # ARMS RANKS STEPS...: of the job
    config "$1"
    run timeout 60 env "LD_LIBRARY_PATH=$pretended" "GRADSYNC_ENGINE=$folder/config" "$object" "$audit" "$job" "${@:2}"
    ended=$rc verdict=$(tail -n 1 <<<"$out") said=$err
}
journals() { cat "$folder"/*-[0-9]*.jsonl; }
visited() { journals | grep '"type":"visit"' | grep -o '"arm":"[^"]*"' | cut -d'"' -f4 | sort -u | xargs; }
dead() { readlink "$folder/agree/dead.$1"; }
median_us() { # ARM: of its steps, without the first of a visit
    journals | grep "\"visit\".*\"arm\":\"$1\"" | sed 's/.*at_ns":\[//; s/\].*//' |
        awk -F, '{ print ($NF - $2) / (NF - 2) / 1e3 }' | sort -n | awk '{ v[NR] = $1 } END { printf "%d", v[int((NR + 1) / 2)] }'
}

copies='arm control;copy;arm fast;copy;set NCCL_SOCKET_NTHREADS=4;set NCCL_NSOCKS_PERTHREAD=4'

# ---- arms

PRETEND_NS_PER_KIB=80000 engine "arm none;part none;$copies" 2 500
is "$ended" 0 'the job ends well'
is "$(visited)" 'auto control fast none' 'every arm is visited'
ok 'a copy with faster variables has shorter steps' test "$(median_us fast)" -lt "$(($(median_us control) * 3 / 4))"
ok 'without collectives they are shorter than in the job' test "$(median_us none)" -lt "$(($(median_us auto) * 3 / 4))"
is "$verdict" 'right, not exact' 'small sums are right without the large collectives'

# A copy that is not ordered behind the job's NCCL hangs in comms=2; ranks that switch at other steps hang in log=7,
# which only two of three ranks see.
for how in '2 250 comms=2' '2 250 group=1' '2 250 one=1' '2 250 one=2' '3 500 comms=2 log=7' '2 250 fork=1'; do
    # shellcheck disable=SC2086
    engine "$copies" $how
    is "$ended, $verdict" '0, right, exact' "$how: all sums are right, in copies too"
    is "$(visited)" 'auto control fast' "$how: the copies are visited"
done

# A step takes 20 ms on the GPU and no time on the host: a visit of 40 ms has four steps, not the 256 that the host could send.
PRETEND_NS_PER_KIB=80000 engine 'arm none;part none' 2 300 ms=0 ahead=50
is "$(journals | grep '"begin"' | grep -o '"steps":[0-9]*' | sort -u)" '"steps":4' 'the host may be far ahead of its GPU'
# The third visit begins on the host once the GPU has passed the first one: NCCL's threads wait for what the host has sent, and
# may take processors from the visit that runs.
ok 'the host sends no visit before the GPU has passed the one before the last' awk -F'[][,]' '
    /"visit".*"block":0,"visit":0,/ { match($0, /at_ns":\[/); split(substr($0, RSTART + RLENGTH), at, /[],]/); from = at[1]; took = at[5] - at[1] }
    /"visit".*"block":0,"visit":2,/ { match($0, /at_ns":\[/); split(substr($0, RSTART + RLENGTH), at, /[],]/); if (at[1] < from + took) bad = 1; n++ }
    END { exit bad || !n }' <(journals)

# JAX makes each communicator of a process in a thread of its own; tune gives the arms once the first one is connected.
config 'later = 1'
printf '%s\n' 'arm auto' "${copies//;/$'\n'}" >"$folder/arms"
run timeout 60 env "LD_LIBRARY_PATH=$pretended" "GRADSYNC_ENGINE=$folder/config" "$object" "$audit" "$job" 2 250 one=1
is "$rc, $(tail -n 1 <<<"$out"), $(visited)" '0, right, exact, auto control fast' \
    'both threads of a process connect the communicator of the job'

mkdir -p conf && echo 'NCCL_SOCKET_NTHREADS=4' >conf/nccl.conf
PRETEND_NS_PER_KIB=80000 NCCL_CONF_FILE=$tmp/conf/nccl.conf engine 'arm less;copy;without NCCL_SOCKET_NTHREADS' 2 300
ok 'a copy can be without what nccl.conf sets' test "$(median_us less)" -gt "$(($(median_us auto) * 5 / 4))"

# ---- an arm is kept: after the first block all calls go by it

for kept in fast auto; do
    engine "$copies" 2 300
    is "$ended, $verdict" '0, right, exact' "$kept is kept: all sums are right"
    is "$(journals | grep -c '"over","why":"keep"') $(journals | grep -c '"visit".*"block":[1-9]')" '2 0' 'and visits are over after a block'
    is "$(dead control)" 'another setting is kept' 'communicators made later get no shadow of another arm'
done
# The host of rank 1 is up to 50 steps behind. At the end of the visits the GPU of rank 0 waits for what that host has not sent.
kept=fast engine "$copies" 2 300 one=1 ahead=50 lag=4
is "$ended, $(visited)" '0, auto control fast' 'the host of one rank may be far behind'
engine 'arm none;part none' 2 20
like "$said" "arm 'none' makes results worthless, so it cannot be kept" 'an arm without communication cannot be kept'
kept=''

# ---- arms that fail: the rest goes on

while IFS='|' read -r fault why; do
    engine "arm bad;copy;set NCCL_PRETEND=$fault;arm good;copy" 2 150
    is "$ended, $verdict" '0, right, exact' "$fault: the job is right"
    is "$(visited)" 'auto good' "$fault: the other copy is visited"
    like "$(dead bad)" "$why" "$fault: the reason has rank and cause"
done <<'END'
wrong|rank 0: wrong sums: 1 of 1 elements
refuse1|rank 1: its communicator failed with code 3
stuck1|rank [01]: an all-reduce of 4 bytes hung for 3 s
END
engine 'arm bad;copy /nowhere/libnccl.so;arm none;part none' 2 150
like "$(dead bad)" 'rank [01]: /nowhere/libnccl.so: No such file' 'a library that is not there'
PRETEND_MEMORY_MIB=950 engine 'arm one;copy;arm two;copy' 2 150
is "$(visited), $(dead two)" 'auto one, the memory of the GPU is not enough for another copy' 'no copy takes the memory of the job'
NCCL_PRETEND=pending engine 'arm c;copy' 2 600
is "$ended, $(visited), $(dead c)" '0, auto, the job uses a communicator that has no copy' \
    'a communicator that is not ready in time is used without copies'
engine 'arm c;copy' 2 150 capture=100
like "$(journals)" '"captured".*"why":"a collective was captured in a CUDA graph"' 'a captured collective ends the visits'

# ---- a profiler that is preloaded, in a job that is linked to NCCL

cat >profiler.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static long calls;
int ncclAllReduce(const void *s, void *r, size_t n, int t, int o, void *c, void *st)
{
    int (*real)(const void *, void *, size_t, int, int, void *, void *) = dlsym(RTLD_NEXT, "ncclAllReduce");
    calls++;
    return real(s, r, n, t, o, c, st);
}
__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "profiled %d\n", calls > 300);
}
END
ok 'a profiler compiles' gcc -shared -fPIC -o profiler.so profiler.c
ok 'so does a job that is linked to NCCL' gcc -std=c11 -DLINKED -w -o linked "$top/tests/engine/job.c" -L"$pretended" \
    -l:libnccl.so.2 -l:libcuda.so.1
for with in "$audit" AUDIT=; do
    job=./linked object=LD_PRELOAD=$build/libgradsync-engine.so:$tmp/profiler.so audit=$with engine "$copies" 2 250
    is "$ended, $verdict" '0, right, exact' "${with%%=*}: the job is right"
    is "$(visited)" 'auto control fast' 'its copies are visited'
    is "$(grep -c 'profiled 1' <<<"$said")" 2 'its profiler is called'
    like "$(journals)" '"before","object":"[^"]*profiler.so"' 'the journal names it'
done

# ---- long steps

engine 'arm none;part none' 2 16 ms=900 calls=1
like "$(journals)" '"step","number":1,"call":[0-9],' 'three long steps are a step'
like "$(journals)" '"begin".*"step_s":(0\.9|1\.)' 'their time is known before the first visit, which may take longer than a job may be silent'
ok 'and are visited two by two' test "$(journals | grep -c '"visit".*"steps":2,')" -ge 4

# ---- bad configs

while IFS='|' read -r arms why; do
    engine "$arms" 2 10
    is "$ended" 0 "'$arms': the job goes on"
    like "$said" "$why" "'$arms': one line says what is wrong"
done <<'END'
arm auto|config:[0-9]+: unknown key, or invalid value; no collective is changed
part most|config:[0-9]+: unknown key
arm a/b|config:[0-9]+: unknown key
END

# ---- MPI

if [ -x "$build/examples/mpi_train" ]; then
    config 'arm none;part none;arm ring;mpi coll_tuned_allreduce_algorithm=4;arm bad;mpi coll_no_such_variable=1'
    run timeout 60 env OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_mpi_yield_when_idle=1 mpirun --bind-to none --oversubscribe -n 2 \
        -x "GRADSYNC_ENGINE=$folder/config" -x "$object" "$build/examples/mpi_train" steps=400 compute_ms=1 MiB=1
    is "$rc" 0 'MPI: the job ends well'
    is "$(visited)" 'auto none ring' 'MPI: a communicator with another algorithm is visited'
    like "$(dead bad)" 'this MPI has no control variable coll_no_such_variable' 'MPI: an unknown variable'

    config 'arm none;part none;arm ring;mpi coll_tuned_allreduce_algorithm=4'
    run timeout 60 mpirun --bind-to none --oversubscribe -n 1 -x "GRADSYNC_ENGINE=$folder/config" -x "$object" \
        "$build/examples/mpi_train" steps=100 compute_ms=1 MiB=1 : -n 1 "$build/examples/mpi_train" steps=100 compute_ms=1 MiB=1
    is "$rc, $(journals | grep -c '"visit"')" '0, 0' 'MPI: a job is left alone where a rank has no engine'

    cat >mpi_profiler.c <<'END'
#include <mpi.h>
#include <stdio.h>
static long calls;
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    calls++;
    return PMPI_Allreduce(s, r, n, t, o, c);
}
int MPI_Finalize(void)
{
    fprintf(stderr, "profiled %d\n", calls > 20);
    return PMPI_Finalize();
}
END
    ok 'a profiler of MPI compiles' mpicc -shared -fPIC -o mpi_profiler.so mpi_profiler.c
    config 'arm none;part none;arm ring;mpi coll_tuned_allreduce_algorithm=4'
    run timeout 60 env OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_mpi_yield_when_idle=1 mpirun --bind-to none --oversubscribe -n 2 \
        -x "GRADSYNC_ENGINE=$folder/config" -x "$object:$tmp/mpi_profiler.so" "$build/examples/mpi_train" steps=400 compute_ms=1 MiB=1
    is "$rc, $(grep -c 'profiled 1' <<<"$err")" '0, 2' 'it is called'
    is "$(visited)" 'auto none ring' 'and all arms are visited'

    cat >churn.c <<'END'
#include <mpi.h>
#include <unistd.h>
static double v[40000];
int main(int argc, char **argv)
{
    MPI_Comm d;
    MPI_Init(&argc, &argv);
    for (int s = 0; s < 1000; s++) {
        usleep(1000);
        MPI_Comm_dup(MPI_COMM_WORLD, &d);
        MPI_Allreduce(MPI_IN_PLACE, v, 20000, MPI_DOUBLE, MPI_SUM, d);
        MPI_Allreduce(MPI_IN_PLACE, v, 40000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        s % 2 ? MPI_Comm_free(&d) : MPI_Comm_disconnect(&d);
    }
    MPI_Finalize();
}
END
    ok 'a job that makes a communicator in each step compiles' mpicc -O1 -o churn churn.c
    config 'arm none;part none;arm ring;mpi coll_tuned_allreduce_algorithm=4'
    run timeout 60 env OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_mpi_yield_when_idle=1 mpirun --bind-to none --oversubscribe -n 2 \
        -x "GRADSYNC_ENGINE=$folder/config" -x "$object" ./churn
    is "$rc" 0 'it ends well'
    is "$(visited)" 'auto none ring' 'its arms are visited'
    is "$(journals | grep -c '"made".*"arm":"ring","ready":true')" 18 'only the first communicators, of two ranks, have shadows'
else
    skip 'MPI' 'built without it'
fi
no_orphans 'nothing runs on'
done_testing
