#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The price of communication: the object that is preloaded, in front of MPI (real ranks: build/examples/mpi_train)
# and of a mock of NCCL; and what `gradsync trial --arms none,one,half` makes of it. What a job costs by the
# clock is not tested here: make bench prints it.
. "$(dirname "$0")/lib.sh"

object=$build/libgradsync-price.so train=$build/examples/mpi_train
[ -x "$train" ] || skip_all 'built without MPI'
mpirun=(mpirun --bind-to none --oversubscribe -n 2)
export OMPI_MCA_mpi_yield_when_idle=1
price() { "$gradsync" trial --arms none,one,half --warmup 3 --seed 3 --steps 4 -o raw "$@"; }
job() { LD_PRELOAD=$object "$@"; }
run_of() { find raw -name MANIFEST.json -printf '%T@ %h\n' | sort -n | tail -n 1 | cut -d' ' -f2; }

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
fails 1 \
    'captured its collectives in a CUDA graph; .*; take the price with gradsync tune' \
    env MOCK_QUIET=1 "$gradsync" trial -o raw --arms none,one,half -- ./main graph 400
# tune compares whole launches then. The steps are those that the job prints, half as long without communication.
cat >graphed <<'END'
#!/bin/sh
./main graph 200 >/dev/null 2>&1
awk -v ms=$([ "$GRADSYNC_PRICE_ARM" = none ] && echo 20 || echo 40) 'BEGIN {
    for (i = 0; i < 200; i++)
        printf "iter %d: loss 1.0, time %.3fms\n", i, ms * (1 + 0.001 * (i % 7)) }'
END
chmod +x graphed
exits 0 'tune succeeds with a captured job' env MOCK_QUIET=1 "$gradsync" tune -o graphs -m 0.5 \
    --only IGNORE_CPU -- ./graphed
like "$out" '^Communication costs 50\.0% \[50\.0, 50\.0\] of the step \(20\.[0-9] ms of 40\.[0-9] ms\)\.' \
    'the price of a captured job is taken by whole launches'
like "$err" 'in a CUDA graph, so whole launches are compared; those without .* are thrown away' 'tune says so'
priced=$(find graphs -name '*-price-*')
is "$(find "$priced" -name 'launch-*.jsonl' | wc -l)" 3 'three launches of each kind are recorded'
exits 0 'check accepts the recording' "$gradsync" check "$priced"
like "$("$gradsync" compare "$priced" 2>&1)" '^Communication costs 50\.0%' 'compare prints the price again'
unlike "$("$gradsync" advise graphs 2>&1)" 'none' 'no advice comes of launches without communication'
# Jobs of known share. Some blocks are slow, so a mean over blocks gives about 56% for the first.
"$cc" -shared -fPIC -O2 -o clock.so "$top/tests/price/mock_clock.c"
while IFS='|' read -r beside late want name; do
    exits 0 "$name: the price succeeds" env MOCK_QUIET=1 LD_PRELOAD="$PWD/clock.so" "$gradsync" trial -o raw \
        --arms none,one,half --warmup 3 --steps 4 --blocks 12 --seed 1 -- ./main known 20000 "$beside" "$late"
    like "$err" "price: Communication costs $want" "$name: the price is that share"
done <<'END'
0|0|50\.0% \[.* of the step \(4\.00 ms of 8\.00 ms\)\. With half the bytes the step is 25\.0% shorter\. Waiting .*: 0\.0%|wholly exposed
50|0|33\.3% \[.* of the step \(2\.00 ms of 6\.00 ms\)\. With half the bytes the step is 16\.7% shorter\. Waiting .*: 0\.0%|half hidden
100|0|0\.0% \[0\.0, 0\.0\] of the step \(0 ns of 4 ms\)\. With half the bytes the step is 0\.0% shorter\. Waiting .*: 0\.0%|wholly hidden
0|5|30\.8% \[.* of the step \(4\.00 ms of 13\.0 ms\)\. With half the bytes the step is 15\.4% shorter\. Waiting .*: 38\.5%|a rank late by 5 of 13 ms
END
exits 0 'a trial of four blocks' env MOCK_QUIET=1 LD_PRELOAD="$PWD/clock.so" "$gradsync" trial -o few \
    --arms none,one,half --warmup 3 --steps 4 --blocks 4 -- ./main known 20000 0 0
like "$("$gradsync" compare few/job/trial/* 2>&1)" 'no price: .* after 4 of the 6 blocks' 'compare says that it has no price'
# The same command with another price: the answer shows how far the two differ. Prices of other commands do not count.
launch_is='The interval is that of one launch' known=()
for beside in 0 50; do
    echo $beside >beside
    exits 0 "a launch of the job, $beside" env MOCK_QUIET=1 LD_PRELOAD="$PWD/clock.so" "$gradsync" trial -o raw \
        --arms none,one,half --warmup 3 --steps 4 --blocks 12 --seed 1 -- sh -c \
        'exec ./main known 20000 $(cat beside) 0'
    known+=("$(run_of)")
    [ $beside = 50 ] || like "$err" "price: $launch_is; another launch can differ by more\\." \
        'the answer says that it is from one launch'
done
like "$err" "price: $launch_is\\. The 2 recorded prices of this job: 33\\.3% to 50\\.0%\\." \
    'the answer shows how far the prices of a job differ'
is "$("$gradsync" compare "${known[0]}" 2>/dev/null | tail -n 1)" \
    "$launch_is. The 2 recorded prices of this job: 33.3% to 50.0%." 'so does compare, of each of them'
exits 0 'another environment is another job' env MOCK_QUIET=1 LD_PRELOAD="$PWD/clock.so" NCCL_MAX_CTAS=1 "$gradsync" \
    trial -o raw --arms none,one,half --warmup 3 --steps 4 --blocks 12 -- sh -c \
    'exec ./main known 20000 $(cat beside) 0'
like "$err" "price: $launch_is; another" 'its price stands alone'
fails 1 'price: the job has one rank only' env MOCK_QUIET=1 "$gradsync" trial -o raw --arms \
    none,one,half -- ./main alone
echo 'int main(void) { extern int cuInit(int); return cuInit(0); }' >static.c
echo 'int cuInit(int x) { return x; }' | "$cc" -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 -x c -
"$cc" -o static static.c -L. -Wl,--no-as-needed -l:libcuda.so.1 -Wl,-rpath,"$PWD"
fails 1 'uses CUDA but loads no libnccl.so.2: .* linked to it statically' price -- ./static

# ---- trial

exits 0 'a price succeeds' price --blocks 12 -- "${mpirun[@]}" "$train" steps=0 \
    compute_ms=2 MiB=1 loss=1
is "$(head -n 1 <<<"$err")" 'price: this launch is thrown away: its results are worthless, and it ends once '\
'the price is known' 'the first line says that the launch is thrown away'
like "$err" 'price: Communication costs -?[0-9.]+% \[-?[0-9.]+, -?[0-9.]+\] of the step .* With half the bytes the step is .* Waiting and latency, of the rank that waits longest: ' 'the price is printed'
raw=$(run_of) priced=$err
exits 0 'check accepts the recording of a price' "$gradsync" check "$raw"
exits 0 'compare accepts the recording of a price' "$gradsync" compare --all "$raw" -o csv
is "$("$gradsync" compare "$raw" 2>/dev/null)" "$(sed -nE 's/^price: (Comm|The interval)/\1/p' <<<"$priced")" \
    'compare prints the same sentences'
exits 0 'show accepts the recording of a price' "$gradsync" show "$raw"
is "$(jq -r 'select(.key == "ran" and .copy == 0) | .value' "$raw"/launch-*.jsonl | sort | xargs -d '\n')" \
    "all all 20%, half 80% all 20%, none 80% all 20%, one 80%" \
    'the recording says what each arm communicated, and that small calls were whole'
run "$gradsync" advise "$raw"
unlike "$out" 'none|half' 'advise does not advise to leave communication out'

exits 1 'a price of a job that ends early ends with 1' price -- "${mpirun[@]}" \
    "$train" steps=25 compute_ms=1 MiB=1
fails 1 'no collective of MPI was seen' price -- "${mpirun[@]}" "$train" steps=20 compute_ms=1 \
    MiB=1 comm=0
fails 1 'price: no rank used NCCL or MPI' price -- true
fails 1 'price: the job completed no visit for [0-9]+ s and was killed: .* depend on values' price \
    --deadline 4 -- mpirun --bind-to none --oversubscribe -n 2 "$train" steps=0 compute_ms=1 MiB=1 \
    need=2
fails 127 'price: the command failed: exit code 127; its last line: .*nowhere: not found' price -- ./nowhere
exits 0 'LD_PRELOAD of the user stays' env LD_PRELOAD="$(ldconfig -p | sed -n 's/.*libm.so.6.*=> //p' |
    head -n 1)" "$gradsync" trial --arms none --warmup 3 --steps 4 --blocks 12 -o raw \
    -- "${mpirun[@]}" "$train" steps=0 compute_ms=2 MiB=1 buckets=6 eval=40
like "$err" 'price: LD_PRELOAD is set, and stays' 'trial says that LD_PRELOAD stays'
like "$err" '[1-9][0-9]* dropped' 'evaluation between steps drops visits, and the price is still there'
# A small collective after every tenth step leaves room for visits of 4 steps, one after every fourth for none.
exits 0 'a price with --calls of a job that logs after every tenth step' price --calls 6 --steps 13 --blocks 12 -- \
    "${mpirun[@]}" "$train" steps=0 compute_ms=1 MiB=1 buckets=6 eval=10
like "$err" 'a step of 6 collectives .* [1-9][0-9]* dropped' 'its visits become shorter until they fit between two logs'
fails 1 'price: the job completed no visit .*: other collectives interrupt every few of its steps' price \
    --calls 6 --deadline 3 -- "${mpirun[@]}" "$train" steps=0 compute_ms=1 MiB=1 buckets=6 eval=4
fails 2 "'none' and 'ctas=8' cannot be in one trial" price --arms none,ctas=8 -- true
exits 2 'a price with --keep-best is refused' price --keep-best -- true

# ---- what a killed trial leaves

mkdir -p left
"$gradsync" trial -q --arms none -o left -- sleep 300 &
pid=$!
until_true 100 compgen -G 'left/.trial.*/trial.txt' >folders
kill -KILL $pid
wait $pid 2>/dev/null
is "$(find left -name '.trial.*' | wc -l)" 1 'a trial that was killed leaves its folder'
run "$gradsync" trial --arms none -o left -- true
is "$(find left -name '.trial.*' | wc -l)" 0 'the next trial removes it'
# shellcheck disable=SC2046
kill $(marked) 2>/dev/null
until_true 100 eval '[ -z "$(marked)" ]'
no_orphans 'no process is left running'
done_testing
