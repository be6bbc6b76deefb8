#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a comparison costs on GPUs, each figure beside what it is held to: a launch of it, and the
# same by hand: nccl-tests once a config (NCCL_TESTS=DIR) and a training step in PyTorch once a
# config (python3 with torch). The comparison is that of configs/h200-NGPU.ini: its unlabelled
# sections, the training step at one GEMM and five sizes.
#   STEPS   of so many configs is PyTorch's time taken, and their mean for the rest; default: all
. "$(dirname "$0")/gpu_common.sh"

platform=$top/configs/h200-${gpus}gpu.ini
[ -f "$platform" ] || exit 0
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
# WHAT VALUE RELATION TARGET UNIT
row() {
    local verdict=ok
    awk "BEGIN { exit !($2 $3 $4) }" || verdict=MISSED
    printf '%-62s %8s %-4s %2s %-5s %s\n' "$1" "$2" "$5" "$3" "$4" "$verdict"
}

awk '/^\[/ { keep = !/ / } keep' "$platform" >"$tmp/core.ini"
core() { # WORKLOAD ARG…
    "$gradsync" run -q "$tmp/core.ini" --set measure:launches=1 -o "$tmp/data" -w "$@"
}
configs() { # WORKLOAD: its configs, one a line
    awk -v w="[$1]" '/^\[/ { in_it = $0 == w } in_it && sub(/^configs *= */, "")' \
        "$tmp/core.ini" | tr -s ', ' '\n'
}
start=$(now)
core nccl_allreduce
reduced=$(since "$start")
core iter_proxy --set iter_proxy:gemms=1 --set iter_proxy:size=256KiB:64MiB:x4
all=$(since "$start")
row "one launch of the comparison, $gpus GPUs (all-reduce alone $reduced s)" "$all" '<=' 60 s

recording=$(find "$tmp/data" -path '*/nccl_allreduce/*' -name 'launch-01.01.jsonl')
n=$(configs nccl_allreduce | wc -l)
# Of the first group: the baseline is in it twice, by one communicator.
row "$n communicators ready" "$(grep -h '"key":"communicator_ms"' "$recording" | head \
    -n $((n + 1)) |
    sed 's/.*"value":"\([0-9.]*\)".*/\1/' | awk \
    'NR > 1 { s += $1 } END { printf "%.2f", s / 1e3 }')" '<=' 1.5 s

. "$top/tests/bench/runner_cost.sh"
read -r _ cost < <(runner_cost "$gradsync" "$tmp")
row 'runner, a sample beside the collective' "$(awk -v c="$cost" 'BEGIN { printf "%.2f", c }')" \
    '<=' 5 us

# ---- the same by hand

# CONFIG: the variables by which NCCL is told the same
told() {
    local part
    for part in ${1//\// }; do
        case $part in
        auto) ;;
        ctas=*) printf 'NCCL_MIN_CTAS=%s NCCL_MAX_CTAS=%s ' "${part#*=}" "${part#*=}" ;;
        ring) printf 'NCCL_ALGO=Ring ' ;;
        tree) printf 'NCCL_ALGO=Tree ' ;;
        *) printf 'NCCL_PROTO=%s ' "$part" ;;
        esac
    done
}
by_nccl_tests() { on_gpus "$perf" -b 8 -e 1G -f 2 -g 1 -n 100; }
by_torch() { on_gpus python3 "$top/tests/bench/torch_proxy.py"; }
# COMMAND WORKLOAD [N]: "seconds for all configs, of how many it was taken"
by_hand() {
    local config taken=0 count begin
    count=$(configs "$2" | wc -l)
    begin=$(now)
    for config in $(configs "$2" | awk -v n="$count" -v m="${3:-$count}" \
        'int(NR * m / n) > int((NR - 1) * m / n)'); do
        (
            while read -r -d ' ' variable; do export "${variable?}"; done < <(told "$config")
            "$1"
        ) >"$tmp/$1-$taken" 2>"$tmp/err" || return 1
        taken=$((taken + 1))
    done
    awk -v s="$(since "$begin")" -v n="$count" -v m="$taken" \
        'BEGIN { printf "%.1f %d of %d", s * n / m, m, n }'
}
if [ -z "$perf" ] || ! python3 -c 'import torch' 2>/dev/null; then
    echo '# the price beside doing it by hand: not taken, it wants NCCL_TESTS and python3 with '\
'torch'
    exit 0
fi
bandwidth=$(by_hand by_nccl_tests nccl_allreduce)
steps=$(by_hand by_torch iter_proxy "${STEPS:-}")
echo "# nccl-tests once a config: ${bandwidth%% *} s (taken of ${bandwidth#* } configs); PyTorch \
once a config: ${steps%% *} s (of ${steps#* })"
row 'GPU-seconds by hand over those of the comparison' \
    "$(awk -v a="${bandwidth%% *}" -v b="${steps%% *}" -v c="$all" \
    'BEGIN { printf "%.1f", (a + b) / c }')" '>=' 5 x
