#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# T_ss of every collective beside its program of nccl-tests (NCCL_TESTS=DIR): the same GPUs, the
# same minutes, one process a GPU, graph against graph with the same number of operations, stream
# against stream, hot buffers from ncclMemAlloc, out of place. The two take turns in rounds, because
# launches of one program differ by some per cent (on a stream by half, where the host's time to
# launch counts). The medians over the rounds are compared.
#   COLLECTIVES  default: allreduce allgather reducescatter
#   LAUNCHES     default: graph stream
#   WINDOWS      FIRST:LAST in bytes; the sizes between share a call of nccl-tests, which rotates
#                over a buffer of LAST bytes. So the sizes of a window must all stay in the cache,
#                or none. Default: to 4 MiB, to 16 MiB, 32 MiB, to 128 MiB
#   FACTOR       from one size of a window to the next; default 2
#   ROUNDS       default 3
#   LIMIT        seconds; no call begins later
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
gradsync=$build/gradsync
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)}
if [ "${gpus:-0}" -lt 2 ]; then
    echo "bench-gpu: needs two GPUs, found ${gpus:-0}" >&2
    exit 3
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gradsync-bench.XXXXXX")
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0} LC_ALL=C TZ=UTC

# Their programs; where NCCL_TESTS holds only their source, they are built first (a few minutes).
nccl_tests() {
    local dir=${NCCL_TESTS:-none} cap mpi
    [ -x "$dir/all_reduce_perf" ] || dir+=/build
    if [ ! -x "$dir/all_reduce_perf" ] && [ -f "$dir/../src/all_reduce.cu" ]; then
        cap=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
        mpi=$(mpicc --showme:incdirs | tr ' ' '\n' | grep -m 1 '/include$')
        make -s -j "$(nproc)" -C "$dir/.." MPI=1 MPI_HOME="${mpi%/include}" \
            NVCC_GENCODE="-gencode=arch=compute_$cap,code=sm_$cap" >&2
    fi
    [ ! -x "$dir/all_reduce_perf" ] || echo "$dir/all_reduce_perf"
}
perf=$(nccl_tests)

collectives=${COLLECTIVES:-allreduce allgather reducescatter}
windows=${WINDOWS:-8:4194304 8388608:16777216 33554432:33554432 67108864:134217728}
factor=${FACTOR:-2}
programs=$(dirname "$perf")
declare -A program=([allreduce]=all_reduce_perf [allgather]=all_gather_perf [reducescatter]=reduce_scatter_perf)

sizes() { # LEAST: of all windows
    local window b
    for window in $windows; do
        for ((b = ${window%:*}; b <= ${window#*:}; b *= factor)); do
            ((b < $1)) || echo -n "$b, "
        done
    done | sed 's/, $//'
}
in_time() { ((SECONDS < ${LIMIT:-1000000})); }

# LAUNCH: every collective; nccl-tests gives a rank 16 bytes or more where ranks share the size
config() {
    cat <<-END
	[launch]
	ranks = $gpus
	[measure]
	launches = 1
	blocks = 5
	max_blocks = 5
	samples = 1
	warmup = 5ms
	END
    local collective least
    for collective in $collectives; do
        [ "$collective" != allreduce ] && least=$((16 * gpus)) || least=1
        printf '%s\n' "[nccl_allreduce $collective]" "collective = $collective" "launch = $1" \
            "size = $(sizes $least)" 'configs = ncclMemAlloc'
    done
}

ours() { # LAUNCH ROUND: "ours COLLECTIVE LAUNCH bytes microseconds" a line
    local name=$1-$2
    config "$1" >"$tmp/$name.ini"
    "$gradsync" run -q "$tmp/$name.ini" -o "$tmp/data" >&2 || return 0
    "$gradsync" query -q "$tmp/data/$name" --export "$tmp/csv-$name" >&2
    awk -v launch="$1" -f "$top/tests/csv.awk" -f <(echo '
        FNR == 1 { header(); next }
        { csv($0, f)
          what = get("param_collective")
          print "ours", what == "" ? "allreduce" : what, launch, get("size_B"),
              1e6 * get("median_s") }') \
        "$tmp/csv-$name/launches.csv"
}

# COLLECTIVE LAUNCH FIRST LAST: "theirs COLLECTIVE LAUNCH bytes microseconds", out of place. Of two
# cycles the second counts: the first brings the window into the cache. A graph has as many
# operations as one of ours; the time of its upload is spread over a hundred launches.
theirs() {
    local launch=$2 first=$3 last=$4 n graph=()
    if [ "$launch" = graph ]; then
        n=$((last > 33554432 ? 16 : last > 8388608 ? 32 : 64))
        graph=(-G $((last > 4194304 ? 10 : 100)))
    else
        n=$((last > 33554432 ? 20 : last > 4194304 ? 100 : 1000))
    fi
    mpirun --bind-to none -n "$gpus" "$programs/${program[$1]}" -b "$first" -e "$last" -f "$factor" -g 1 -w 5 -c 0 -N 2 \
        -n "$n" "${graph[@]}" 2>/dev/null | awk -v what="theirs $1 $launch" \
        '$1 ~ /^[0-9]+$/ && $1 > 0 && $6 ~ /^[0-9.]+$/ { t[$1] = $6 }
         END { for (b in t) print what, b, t[b] }' | sort -g -k 4
}

one_round() { # ROUND
    local launch collective window
    for launch in ${LAUNCHES:-graph stream}; do
        in_time || return 0
        ours "$launch" "$1"
        for collective in $collectives; do
            [ -x "$programs/${program[$collective]}" ] || continue
            for window in $windows; do
                ! in_time || theirs "$collective" "$launch" "${window%:*}" "${window#*:}"
            done
        done
    done
}

if [ -z "$perf" ]; then
    echo '# T_ss beside nccl-tests: not done, NCCL_TESTS names no folder with all_reduce_perf'
    exit 0
fi
SECONDS=0
for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
    one_round "$round"
done >"$tmp/times"
echo '# T_ss: collective size_B launch gradsync_us nccl_tests_us ratio target verdict' \
    'nccl_tests_us_by_round (auto, fp32 sum, hot, out of place)'
awk -f "$top/tests/bench/gpu_table.awk" "$tmp/times"
echo "# T_ss: took $SECONDS s"
