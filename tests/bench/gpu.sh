#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# T_ss beside all_reduce_perf of nccl-tests (NCCL_TESTS=DIR): same GPUs, same minutes, one process a
# GPU, graph against graph and stream against stream, buffers like for like: from ncclMemAlloc, and
# one of them (-e is the size itself, or nccl-tests would rotate over a window). Two launches of
# nccl-tests may differ by several per cent, so what is outside its bounds is measured once more, on
# both sides, and printed again.
#   SIZES     default: every power of two from 8 B to 1 GiB
#   LAUNCHES  default: graph stream
. "$(dirname "$0")/gpu_common.sh"

sizes=${SIZES:-$(for ((b = 8; b <= 1 << 30; b *= 2)); do printf '%d ' $b; done)}
bytes() { sed -e 's/GiB$/*1073741824/' -e 's/MiB$/*1048576/' -e 's/KiB$/*1024/' <<<"$1" | awk -F'*' '{ print $1 * ($2 ? $2 : 1) }'; }

ours() { # NAME LAUNCH SIZE…: "bytes microseconds", the median over blocks
    local name=$1 launch=$2
    shift 2
    cat >"$tmp/$name.ini" <<-END
	[launch]
	ranks = $gpus
	[measure]
	launches = 1
	blocks = 20
	max_blocks = 20
	samples = 1
	warmup = 50ms
	[nccl_allreduce]
	size = $(tr ' ' ',' <<<"$*")
	launch = $launch
	configs = ncclMemAlloc
	END
    "$gradsync" run -q "$tmp/$name.ini" -o "$tmp/data"
    "$gradsync" reduce -q "$tmp/data/$name" -o "$tmp/csv-$name"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
             { print $at["size_B"], 1e6 * $at["median_s"] }' "$tmp/csv-$name/summary.csv"
}

theirs() { # LAUNCH BYTES: microseconds, out of place
    local iterations=$(($2 > 33554432 ? 20 : $2 > 1048576 ? 100 : 1000)) graph=()
    if [ "$1" = graph ]; then graph=(-G 10) iterations=$((iterations > 100 ? 100 : iterations)); fi
    on_gpus "$perf" -b "$2" -e "$2" -g 1 -w 5 -c 0 -n "$iterations" "${graph[@]}" 2>/dev/null |
        awk -v b="$2" '$1 == b { print $6; exit }'
}

compare() { # TAG LAUNCH SIZE…: prints a line a size; keeps the sizes outside in $outside
    local tag=$1 launch=$2 size b line
    shift 2
    outside=()
    ours "$tag-$launch" "$launch" "$@" >"$tmp/$tag-$launch"
    for size in "$@"; do
        b=$(bytes "$size")
        line=$(awk -v b="$b" -v l="$launch" -v t="$(theirs "$launch" "$b")" '
            $1 == b { w = b < 1024 ? 0.05 : 0.02; r = t > 0 ? $2 / t : 0
                      printf "%s %s %.2f %.2f %.4f %.2f..%.2f %s", b, l, $2, t, r, 1 - w, 1 + w,
                             (r < 1 - w || r > 1 + w) ? "outside" : "within" }' "$tmp/$tag-$launch")
        echo "$tag $line"
        [[ $line == *within ]] || outside+=("$size")
    done
}

if [ -z "$perf" ]; then
    echo '# T_ss beside nccl-tests: not done, NCCL_TESTS names no folder with all_reduce_perf'
    exit 0
fi
echo '# T_ss: size_B launch gradsync_us nccl_tests_us ratio held_to (AUTO, fp32 sum, hot, out of place)'
for launch in ${LAUNCHES:-graph stream}; do
    # shellcheck disable=SC2086
    compare T_ss "$launch" $sizes
    [ ${#outside[@]} = 0 ] || compare T_ss_again "$launch" "${outside[@]}"
done
