#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The speed of the GPU plugins, each number beside what it is held to. With NCCL_TESTS=DIR, T_ss
# beside all_reduce_perf: same GPUs, same minutes, one process a GPU, one buffer (-e is the size
# itself, or nccl-tests would rotate over a window), graph against graph and stream against stream.
#   SIZES     default: every power of two from 8 B to 1 GiB
#   LAUNCHES  default: graph stream
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)}
if [ "${gpus:-0}" -lt 2 ]; then
    echo "bench-gpu: needs two GPUs, found ${gpus:-0}" >&2
    exit 3
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}

sizes=${SIZES:-$(for ((b = 8; b <= 1 << 30; b *= 2)); do printf '%d ' $b; done)}
launches=${LAUNCHES:-graph stream}
bytes() { sed -e 's/GiB$/*1073741824/' -e 's/MiB$/*1048576/' -e 's/KiB$/*1024/' <<<"$1" | awk -F'*' '{ print $1 * ($2 ? $2 : 1) }'; }

ours() { # LAUNCH: "bytes microseconds", the median over blocks
    cat >"$tmp/$1.ini" <<-END
	[launch]
	ranks = $gpus
	[measure]
	launches = 1
	blocks = 20
	max_blocks = 20
	samples = 1
	warmup = 50ms
	[nccl_allreduce]
	size = $(tr ' ' ',' <<<"${sizes% }")
	launch = $1
	configs = auto
	END
    "$build/gradsync" run -q "$tmp/$1.ini" -o "$tmp/data"
    "$build/gradsync" reduce -q "$tmp/data/$1" -o "$tmp/csv-$1"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
             { print $at["size_B"], 1e6 * $at["median_s"] }' "$tmp/csv-$1/summary.csv"
}

theirs() { # LAUNCH BYTES: microseconds, out of place
    local iterations=$(($2 > 33554432 ? 20 : $2 > 1048576 ? 100 : 1000)) graph=()
    if [ "$1" = graph ]; then graph=(-G 10) iterations=$((iterations > 100 ? 100 : iterations)); fi
    mpirun --bind-to none -n "$gpus" "$NCCL_TESTS/all_reduce_perf" -b "$2" -e "$2" -g 1 -w 5 -c 0 \
        -n "$iterations" "${graph[@]}" 2>/dev/null | awk -v b="$2" '$1 == b { print $6; exit }'
}

if [ -x "${NCCL_TESTS:-}/all_reduce_perf" ]; then
    echo '# T_ss: size launch gradsync_us nccl_tests_us ratio held_to (AUTO, fp32 sum, hot, out of place)'
    for launch in $launches; do
        ours "$launch" >"$tmp/ours-$launch"
        for size in $sizes; do
            b=$(bytes "$size")
            awk -v b="$b" -v l="$launch" -v t="$(theirs "$launch" "$b")" \
                '$1 == b { printf "T_ss %s %s %.2f %.2f %.4f %s\n", b, l, $2, t, $2 / t, b < 1024 ? "0.95..1.05" : "0.98..1.02" }' \
                "$tmp/ours-$launch" | awk '{ print $1, $2, $4, $5, $6, $3, $7 }'
        done
    done
else
    echo '# T_ss beside nccl-tests: not done, NCCL_TESTS names no folder with all_reduce_perf'
fi

# The comparison that the platform config of this machine makes, once.
platform=$top/configs/h200-${gpus}gpu.ini
if [ -f "$platform" ]; then
    start=$(date +%s.%N)
    "$build/gradsync" run -q "$platform" -o "$tmp/core" --set measure:launches=1 -w nccl_allreduce
    middle=$(date +%s.%N)
    "$build/gradsync" run -q "$platform" -o "$tmp/core" --set measure:launches=1 -w iter_proxy \
        --set iter_proxy:gemms=1 --set iter_proxy:size=256KiB:64MiB:x4
    end=$(date +%s.%N)
    awk -v a="$start" -v b="$middle" -v c="$end" -v g="$gpus" 'BEGIN {
        printf "one launch of the comparison, %d GPUs: %.1f s (all-reduce %.1f, proxy %.1f); held to 60 s on 4\n", g, c - a, b - a, c - b }'
    grep -h '"key":"communicator_ms"' "$tmp"/core/*/nccl_allreduce/*/launch-01.01.jsonl | head -n 12 |
        sed 's/.*"value":"\([0-9.]*\)".*/\1/' |
        awk 'NR > 1 { s += $1 } END { printf "eleven communicators: %.2f s; held to 1.5 s\n", s / 1e3 }'
fi
