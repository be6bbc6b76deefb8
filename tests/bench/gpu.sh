#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# T_ss beside all_reduce_perf and its siblings of nccl-tests (NCCL_TESTS=DIR): same GPUs, same
# minutes, one process a GPU, graph against graph of as many operations, stream against stream,
# buffers like for like: from ncclMemAlloc, out of place, and hot. nccl-tests rotates over a window
# as large as its -e, so that sizes share a call only where that is no matter: from 16 B to 4 MiB
# the window stays in the cache, once a first cycle (-N 2) has used all of it; from 128 MiB on
# nothing stays in the cache, hot or not. The others have a call each. The time of its graphs'
# upload is spread over a hundred of them. Launches of one program differ by some per cent, on a
# stream by half where the host's time to launch is what is measured. So the median of three
# launches stands for either side up to 4 MiB (of nccl-tests beyond, of one); what is outside its
# bounds is measured once more, on both sides, and printed again. "among": outside, but between the
# fastest and the slowest launch of nccl-tests, which it therefore cannot be told from.
#   SIZES        default: every power of two from 8 B to 1 GiB
#   LAUNCHES     default: graph stream
#   COLLECTIVES  the others, in graphs, each beside its program of nccl-tests where that is found;
#                default: all of them; SIZES_OF_OTHERS default: 1 KiB, 64 KiB, 1, 16 and 128 MiB
. "$(dirname "$0")/gpu_common.sh"

sizes=${SIZES:-$(for ((b = 8; b <= 1 << 30; b *= 2)); do printf '%d ' $b; done)}
launches=3
others=${COLLECTIVES-allgather reducescatter alltoall broadcast reduce sendrecv}
sizes_of_others=${SIZES_OF_OTHERS:-1024 65536 1048576 16777216 134217728}
collective=allreduce # that is being compared
# First and last bytes of the sizes that share a call
small=(16 4194304)
large=(134217728 1073741824)
bytes() { sed -e 's/GiB$/*1073741824/' -e 's/MiB$/*1048576/' -e 's/KiB$/*1024/' <<<"$1" | awk \
    -F'*' '{ print $1 * ($2 ? $2 : 1) }'; }

ours() { # NAME LAUNCH SIZE…: "bytes microseconds" a launch, the median over its blocks
    local name=$1 launch=$2
    shift 2
    cat >"$tmp/$name.ini" <<-END
	[launch]
	ranks = $gpus
	[measure]
	launches = $launches
	blocks = 8
	max_blocks = 8
	samples = 1
	warmup = 20ms
	[nccl_allreduce]
	size = $(tr ' ' ',' <<<"$*")
	launch = $launch
	collective = $collective
	configs = ncclMemAlloc
	END
    "$gradsync" run -q "$tmp/$name.ini" -o "$tmp/data" >&2
    "$gradsync" reduce -q "$tmp/data/$name" -o "$tmp/csv-$name"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
             { print $at["size_B"], 1e6 * $at["median_s"] }' "$tmp/csv-$name/launches.csv"
}

# LAUNCH FIRST LAST ARG…: "bytes microseconds" of every power of two, out of place, of the last
# cycle. A graph of theirs has as many operations as one of ours.
theirs() {
    local launch=$1 first=$2 last=$3 n
    shift 3
    if [ "$launch" = graph ]; then
        n=$((last > 268435456 ? 8 : last > 33554432 ? 16 : last > 8388608 ? 32 : 64))
        set -- -G $((last > small[1] ? 10 : 100)) "$@"
    else
        n=$((last > 33554432 ? 20 : last > small[1] ? 100 : 1000))
    fi
    on_gpus "${program:-$perf}" -b "$first" -e "$last" -f 2 -g 1 -w 5 -c 0 -n "$n" "$@" \
        2>/dev/null |
        awk '$1 ~ /^[0-9]+$/ && $6 ~ /^[0-9.]+$/ { t[$1] = $6 } END { for (b in t) print b, t[b] }'
}

all_of_theirs() { # LAUNCH SIZE…: the same of these sizes, in as few calls as may be
    local launch=$1 b in_small='' in_large=''
    shift
    for size in "$@"; do
        b=$(bytes "$size")
        if (((b & (b - 1)) == 0 && b >= small[0] && b <= small[1])); then
            in_small=yes
        elif (((b & (b - 1)) == 0 && b >= large[0] && b <= large[1])); then
            in_large=yes
        else
            theirs "$launch" "$b" "$b"
        fi
    done
    for ((i = 0; i < launches; i++)); do [ -z "$in_small" ] || theirs "$launch" "${small[@]}" \
        -N 2; done
    [ -z "$in_large" ] || theirs "$launch" "${large[@]}"
}

compare() { # TAG LAUNCH SIZE…: prints a line a size; keeps the sizes outside in $outside
    local tag=$1 launch=$2 size b line
    shift 2
    outside=()
    ours "$tag-$launch" "$launch" "$@" >>"$tmp/ours-$collective-$launch"
    all_of_theirs "$launch" "$@" >>"$tmp/theirs-$collective-$launch"
    for size in "$@"; do
        b=$(bytes "$size")
        line=$(sort -g -k 2 "$tmp/ours-$collective-$launch" | awk -v b="$b" \
            '$1 == b { print "ours", $2 }'
            sort -g -k 2 "$tmp/theirs-$collective-$launch" | awk -v b="$b" \
                '$1 == b { print "theirs", $2 }')
        line=$(awk -v b="$b" -v l="$launch" '
            { t[$1, ++n[$1]] = $2 }
            function median(side, k) { k = n[side]; return k ? (t[side, int((k + 1) / 2)] + '\
't[side, int(k / 2) + 1]) / 2 : 0 }
            END { w = b < 1024 ? 0.05 : 0.02; ours = median("ours"); theirs = median("theirs")
                  r = theirs > 0 ? ours / theirs : 0; low = t["theirs", 1]; high = t["theirs", '\
'n["theirs"]]
                  verdict = r >= 1 - w && r <= 1 + w ? "within" : r > 0 && ours >= low && ours '\
'<= high ? "among" : "outside"
                  printf "%s %s %.2f %.2f %.4f %.2f..%.2f %s %.2f..%.2f of %d", b, l, ours, '\
'theirs, r, 1 - w, 1 + w,
                         verdict, low, high, n["theirs"] }' <<<"$line")
        echo "$tag $line"
        [[ $line == *within* ]] || outside+=("$size")
    done
}

if [ -z "$perf" ]; then
    echo '# T_ss beside nccl-tests: not done, NCCL_TESTS names no folder with all_reduce_perf'
    exit 0
fi
echo '# T_ss: size_B launch gradsync_us nccl_tests_us ratio held_to verdict '\
'launches_of_nccl_tests_us (AUTO, fp32 sum, hot, out of place)'
SECONDS=0
for launch in ${LAUNCHES:-graph stream}; do
    # shellcheck disable=SC2086
    compare T_ss "$launch" $sizes
    [ ${#outside[@]} = 0 ] || compare T_ss_again "$launch" "${outside[@]}"
done
declare -A programs=([allgather]=all_gather_perf [reducescatter]=reduce_scatter_perf \
    [alltoall]=alltoall_perf
    [broadcast]=broadcast_perf [reduce]=reduce_perf [sendrecv]=sendrecv_perf)
for collective in $others; do
    program=$(dirname "$perf")/${programs[$collective]:-none}
    if [ ! -x "$program" ]; then
        echo "# $collective beside nccl-tests: not done, ${program##*/} is not beside \
all_reduce_perf"
        continue
    fi
    # shellcheck disable=SC2086
    compare "$collective" graph $sizes_of_others
    [ ${#outside[@]} = 0 ] || compare "${collective}_again" graph "${outside[@]}"
done
echo "# T_ss: took $SECONDS s"
