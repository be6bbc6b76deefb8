#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# T_ss beside all_reduce_perf of nccl-tests (NCCL_TESTS=DIR): same GPUs, same minutes, one process a
# GPU, graph against graph of as many operations, stream against stream, buffers like for like: from
# ncclMemAlloc, out of place, and hot. nccl-tests rotates over a window as large as its -e, so that
# sizes share a call only where that is no matter: from 16 B to 4 MiB the window stays in the cache,
# and it is the second cycle (-N 2) that counts, when all of it has been used before; from 128 MiB on
# nothing stays in the cache, hot or not. The others have a call each. Two launches of nccl-tests may differ by several per cent, so what is outside its bounds is measured
# once more, on both sides, a call a size, and printed again.
#   SIZES     default: every power of two from 8 B to 1 GiB
#   LAUNCHES  default: graph stream
. "$(dirname "$0")/gpu_common.sh"

sizes=${SIZES:-$(for ((b = 8; b <= 1 << 30; b *= 2)); do printf '%d ' $b; done)}
# First and last bytes of the sizes that share a call
small=(16 4194304)
large=(134217728 1073741824)
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

# LAUNCH FIRST LAST ARG…: "bytes microseconds" of every power of two, out of place. A graph of theirs
# has as many operations as one of ours.
theirs() {
    local launch=$1 first=$2 last=$3 n
    shift 3
    if [ "$launch" = graph ]; then
        n=$((last > 268435456 ? 8 : last > 33554432 ? 16 : last > 8388608 ? 32 : 64))
        set -- -G 10 "$@"
    else
        n=$((last > 33554432 ? 20 : last > small[1] ? 100 : 1000))
    fi
    on_gpus "$perf" -b "$first" -e "$last" -f 2 -g 1 -w 5 -c 0 -n "$n" "$@" 2>/dev/null |
        awk '$1 ~ /^[0-9]+$/ && $6 ~ /^[0-9.]+$/ { print $1, $6 }'
}

# HOW LAUNCH SIZE…: the same of these sizes; together: in as few calls as may be, or a call each.
all_of_theirs() {
    local how=$1 launch=$2 b in_small='' in_large=''
    shift 2
    for size in "$@"; do
        b=$(bytes "$size")
        if [ "$how" = alone ] || (((b & (b - 1)) != 0)); then
            theirs "$launch" "$b" "$b"
        elif ((b >= small[0] && b <= small[1])); then
            in_small=yes
        elif ((b >= large[0] && b <= large[1])); then
            in_large=yes
        else
            theirs "$launch" "$b" "$b"
        fi
    done
    [ -z "$in_small" ] || theirs "$launch" "${small[@]}" -N 2
    [ -z "$in_large" ] || theirs "$launch" "${large[@]}"
}

# HOW TAG LAUNCH SIZE…: prints a line a size; keeps the sizes outside in $outside
compare() {
    local how=$1 tag=$2 launch=$3 size b line
    shift 3
    outside=()
    ours "$tag-$launch" "$launch" "$@" >"$tmp/$tag-ours"
    all_of_theirs "$how" "$launch" "$@" >"$tmp/$tag-theirs"
    for size in "$@"; do
        b=$(bytes "$size")
        line=$(awk -v b="$b" -v l="$launch" '
            $1 == b && FNR == NR { ours = $2 }
            $1 == b && FNR != NR { theirs = $2 }
            END { w = b < 1024 ? 0.05 : 0.02; r = theirs > 0 ? ours / theirs : 0
                  printf "%s %s %.2f %.2f %.4f %.2f..%.2f %s", b, l, ours, theirs, r, 1 - w, 1 + w,
                         (r < 1 - w || r > 1 + w) ? "outside" : "within" }' "$tmp/$tag-ours" "$tmp/$tag-theirs")
        echo "$tag $line"
        [[ $line == *within ]] || outside+=("$size")
    done
}

if [ -z "$perf" ]; then
    echo '# T_ss beside nccl-tests: not done, NCCL_TESTS names no folder with all_reduce_perf'
    exit 0
fi
echo '# T_ss: size_B launch gradsync_us nccl_tests_us ratio held_to (AUTO, fp32 sum, hot, out of place)'
SECONDS=0
for launch in ${LAUNCHES:-graph stream}; do
    # shellcheck disable=SC2086
    compare together T_ss "$launch" $sizes
    [ ${#outside[@]} = 0 ] || compare alone T_ss_again "$launch" "${outside[@]}"
done
echo "# T_ss: took $SECONDS s"
