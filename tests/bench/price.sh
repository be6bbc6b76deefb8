#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The price of communication: what the preloaded object costs a call, and how near the price is to the truth in MPI
# jobs whose all-reduces are left out by hand (comm=0), wholly exposed, half hidden and hidden; and in one
# with a rank that is late by 5 ms; and 20 jobs of which the second auto must not differ. Needs two idle
# processors and ten minutes. A row that was measured while others used the machine ends in "(load N)":
# its difference is that of the machine.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
train=$build/examples/mpi_train
[ -x "$train" ] || { echo 'bench price: built without MPI' >&2 && exit 3; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gradsync-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MOCK_QUIET=1
. "$top/tests/bench/load.sh"
row() { # WHAT VALUE TARGET UNIT
    awk -v w="$1" -v v="$2" -v t="$3" -v u="$4" -v load="$(load)" 'BEGIN {
        a = v < 0 ? -v : v
        printf "%-58s %8.2f %-4s <= %5s %-4s %s%s\n", w, v, u, t, u,
            v == "" ? "no answer" : a <= t ? "ok" : "MISSED", load }'
}

# ---- a call

"${CC:-gcc}" -shared -fPIC -O2 -w -Wl,-soname,libnccl.so.2 -o libnccl.so.2 "$top/tests/price/mock_nccl.c"
"${CC:-gcc}" -shared -fPIC -O2 -o job.so "$top/tests/price/job.c" -L. -Wl,--no-as-needed \
    -l:libnccl.so.2 -Wl,-rpath,"$tmp"
echo 'void run(int, char **); int main(int c, char **v) { run(c, v); return 0; }' >main.c
"${CC:-gcc}" -o main main.c -L. -l:job.so -Wl,-rpath,"$tmp"
mkdir -p out/agree
printf '%s\n' "out = $tmp/out" 'arm = auto' 'arm = half' 'steps = 256' 'warmup = 5' >price.txt
bare=$(./main cost 400000)
with=$(LD_PRELOAD=$build/libgradsync-price.so GRADSYNC_PRICE=$tmp/price.txt ./main cost 400000)
row 'the preloaded object, a call of NCCL (a mock of it)' "$(awk "BEGIN { print ($with - $bare) / 1000 }")" 1 us

# ---- known shares

# A round measures the job as it is, the job without communication by hand, and its price, one after the
# other, so that slow moments of the machine hit all of them. Each is a median: by hand of the lines that the job
# prints, the price over blocks. The difference is the median over rounds.
pair=(mpirun --bind-to none --oversubscribe -n 2 "$train")
median() { sort -n | awk '{ v[NR] = $1 } END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
step_ms() { "${pair[@]}" steps=600 "$@" | sed -n 's/^step .*: \(.*\) ms/\1/p' | tail -n 5 | median; }
price_of() { # prints nothing; leaves ./said
    "$build/gradsync" trial --arms none,one,half --steps 50 --blocks 6 -o raw -- "${pair[@]}" \
        steps=0 "$@" >/dev/null 2>said
}
of() { sed -n "s/$1/\\1/p" said; }
for overlap in none half all; do
    : >rounds
    for round in $(seq "${ROUNDS:-5}"); do
        if ((round % 2)); then
            all=$(step_ms "overlap=$overlap") without=$(step_ms "overlap=$overlap" comm=0)
            price_of "overlap=$overlap"
        else
            price_of "overlap=$overlap"
            without=$(step_ms "overlap=$overlap" comm=0) all=$(step_ms "overlap=$overlap")
        fi
        price=$(of '^price: Communication costs \([^%]*\)% .*')
        [ -z "$price" ] || awk "BEGIN { t = 100 * (1 - $without / $all); print $price, t, $price - t }" >>rounds
    done
    row "overlap=$overlap: price $(cut -d' ' -f1 rounds | median)%, by hand $(cut -d' ' -f2 rounds |
        median)%; difference" "$(cut -d' ' -f3 rounds | median)" 1 %
    echo "    its differences, by round: $(cut -d' ' -f3 rounds | xargs printf '%.1f ')"
done
price_of late_rank=1 late_ms=5
waits=$(of '.* waits longest: \([-0-9.]*\)%.*') step=$(of '.* of \([0-9.]*\) ms)\..*')
row 'a rank late by 5 ms: waiting less 5 ms' "$(awk "BEGIN { print $waits / 100 * $step - 5 }")" 1 ms

# ---- jobs in which nothing differs between auto and auto

differ=0 jobs=0
for seed in $(seq "${JOBS:-20}"); do
    "$build/gradsync" trial --arms none,one,half --steps 10 --blocks 12 --seed "$seed" -o raw -- \
        "${pair[@]}" steps=0 compute_ms=5 MiB=4 >/dev/null 2>said
    between=$(sed -n 's/^  auto again .*\[\([-+.0-9]*\), \([-+.0-9]*\)\].*/\1 \2/p' said)
    [ -n "$between" ] || continue
    jobs=$((jobs + 1))
    awk -v b="$between" 'BEGIN { split(b, x, " "); exit !(x[1] > 0 || x[2] < 0) }' && differ=$((differ + 1))
done
row "the second auto called different, of $jobs jobs" \
    "$(awk "BEGIN { print $jobs ? 100 * $differ / $jobs : 100 }")" 5 %
