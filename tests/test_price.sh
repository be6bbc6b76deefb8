#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The object that is preloaded into a job, in front of MPI (real ranks: build/examples/mpi_train) and of a mock
# of NCCL. What a job costs by the clock is not tested here: make bench prints it.
. "$(dirname "$0")/lib.sh"

object=$build/libgradsync-price.so train=$build/examples/mpi_train
[ -x "$train" ] || skip_all 'built without MPI'
mpirun=(mpirun --bind-to none --oversubscribe -n 2)
export OMPI_MCA_mpi_yield_when_idle=1
job() { LD_PRELOAD=$object "$@"; }

# ---- MPI, one arm for the whole launch

fixed() { run env LD_PRELOAD="$object" GRADSYNC_PRICE_ARM="$1" "${mpirun[@]}" \
    "$train" steps=3 compute_ms=1 MiB=1 need=1 "${@:2}"; }
fixed auto
is "$rc" 0 'with the arm auto, sums are right'
for arm in none one half; do
    for overlap in none all; do
        fixed $arm overlap=$overlap
        [ "$arm" = none ] && want=1 || want=0
        is "$rc" "$want" "$arm, overlap=$overlap: the first element is summed as far as it is communicated"
    done
done
if command -v mpicc >/dev/null; then
    cat >gather.c <<'END'
#include <mpi.h>
#include <stdio.h>
enum { N = 50000 };
static int send[2 * N], recv[3 * N];
static long right(int rank)
{
    long n = 0;
    for (int i = 0; i < 3 * N; i++, recv[i - 1] = 0)
        n += recv[i] == (i < N ? 1 : 2);
    return rank ? 0 : n;
}
int main(int argc, char **argv)
{
    const int counts[] = {N, 2 * N}, places[] = {0, N};
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2 * N; i++)
        send[i] = rank + 1;
    MPI_Allgatherv(send, counts[rank], MPI_INT, recv, counts, places, MPI_INT, MPI_COMM_WORLD);
    long blocking = right(rank);
    MPI_Iallgatherv(send, counts[rank], MPI_INT, recv, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!rank)
        printf("%ld %ld\n", blocking, right(rank));
    return MPI_Finalize();
}
END
    ok 'a job that gathers uneven parts compiles' mpicc -o gather gather.c
    for want in 'auto 150000 150000' 'half 75000 75000' 'one 2 2' 'none 0 0'; do
        is "${want%% *} $(LD_PRELOAD=$object GRADSYNC_PRICE_ARM=${want%% *} "${mpirun[@]}" ./gather)" "$want" \
            "${want%% *}: as many elements of uneven parts are gathered"
    done
fi
fixed nothing
like "$err" "gradsync price: GRADSYNC_PRICE_ARM='nothing': must be auto, none, one or half; no collective" \
    'a misspelt arm is refused in one line'
is "$rc" 0 'a misspelt arm changes nothing'

# ---- the mock of NCCL

cc=${CC:-gcc}
ok 'the mock compiles' "$cc" -shared -fPIC -w -Wl,-soname,libnccl.so.2 -o libnccl.so.2 \
    "$top/tests/price/mock_nccl.c"
"$cc" -shared -fPIC -w -Wl,-soname,libcuda.so.1 -o libcuda.so.1 "$top/tests/price/mock_nccl.c"
ok 'the job compiles' "$cc" -shared -fPIC -Wall -o job.so "$top/tests/price/job.c" -L. \
    -Wl,--no-as-needed -l:libnccl.so.2 -l:libcuda.so.1 -Wl,-rpath,"$PWD"
cat >main.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *so = dlopen("./job.so", RTLD_NOW | RTLD_LOCAL);
    void (*run)(int, char **) = so ? (void (*)(int, char **))dlsym(so, "run") : 0;
    if (!run)
        return 9;
    run(argc, argv);
    return 0;
}
END
ok 'the program compiles' "$cc" -o main main.c -ldl
nccl() { env LD_PRELOAD="$object" "${@:2}" GRADSYNC_PRICE_ARM="$1" RANK=1 ./main calls; }
is "$(nccl auto)" "$(RANK=1 ./main calls)" 'with the arm auto, NCCL gets what the job asks for'
is "$(nccl half | xargs -d '\n' | tr '\n' ' ')" \
    "allreduce 4 broadcast 100000 allreduce 50000 allreduce 50000 reduce 50000 broadcast 50000 \
allgather 50000 allgather in place 50000 reducescatter 50000 reducescatter in place 50000 alltoall 50000 \
send 50000 recv 10 destroy 0 " \
    'half: half of the elements, still in place, small calls and those that set the job up whole'
is "$(nccl one | grep -c ' 1$')" 10 'one: one element of every large call'
is "$(nccl none | xargs -d '\n' | tr '\n' ' ')" \
    "allreduce 4 broadcast 100000 copy bytes 400000 copy bytes 400000 copy bytes 400000 recv 10 destroy 0 " \
    'none: no large call; the own part is copied unless it is in place'

journals() { cat out/r*.jsonl | jq -c "select(.type == \"$1\")"; }
trial_file() {
    rm -rf out && mkdir -p out/agree
    printf '%s\n' "out = $PWD/out" 'arm = auto' 'arm = none' 'arm = one' 'arm = half' 'warmup = 3' \
        'steps = 4' 'blocks = 3' >price.txt
}
trial_file
GRADSYNC_PRICE=$PWD/price.txt MOCK_QUIET=1 job ./main steps 400
is "$(journals visit | wc -l)" 30 'two ranks make three blocks of five visits each'
is "$(for f in out/r*.jsonl; do jq -r 'select(.type == "visit") | "\(.block) \(.arm) \(.copy)"' "$f" |
    xargs; done | sort -u | wc -l)" 1 'both ranks have the same order, with an uneven all-to-all'
is "$(journals visit | jq -c 'select(.arm == "none") | .ran' | sort -u)" '{"all":4,"none":12}' \
    'none leaves out three of four calls of a step'
trial_file
GRADSYNC_PRICE=$PWD/price.txt MOCK_QUIET=1 job ./main graph 400
is "$(journals captured | wc -l) $(journals visit | wc -l)" '2 0' 'a CUDA graph is seen'
done_testing
