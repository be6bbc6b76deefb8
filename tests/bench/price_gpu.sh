#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The price of communication beside the same by changing the job: a DDP hook that communicates nothing, and one
# that halves the bytes (bf16). Both run on a communicator that the job makes for DDP (--config auto), since
# one may be faster than that of all ranks (56.2 and 54.6 ms a step, two H100s through host memory). On two
# GPUs with PyTorch, over three links of one host. Both in several launches. Needs about twenty minutes; each
# part is bounded.
#   LINKS   default: nvlink host sockets
#   MODES   default: ddp compile fsdp2 (fsdp2 has no hooks, and runs over the link "host" alone)
#   OUT     folder for the recordings and outputs; default: a temporary one
#   PYTHON  default: python3
#   MINUTES of launches for the price of each row, default 2
#   HOOKS   launches with hooks of each row, default 3
#   BUILD   the build folder with gradsync and libgradsync-engine.so; default: build
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)}
if [ "${gpus:-0}" -lt 2 ]; then
    echo "price_gpu: needs two GPUs, found ${gpus:-0}" >&2
    exit 3
fi
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/gradsync-price.XXXXXX")}
mkdir -p "$out"
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0} LC_ALL=C TZ=UTC PYTHONUNBUFFERED=1
job=("${PYTHON:-python3}" -m torch.distributed.run --standalone --nproc_per_node 2
    "$top/tests/bench/torch_train.py")

variables() { # LINK
    case $1 in
    nvlink) ;;
    host) echo NCCL_P2P_DISABLE=1 ;;
    sockets) echo NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 ;;
    *) echo "price_gpu: unknown link '$1'" >&2 && exit 2 ;;
    esac
}
options() { # MODE
    case $1 in
    ddp) echo --mode ddp ;;
    compile) echo --mode ddp --compile ;;
    fsdp2) echo --mode fsdp2 --layers 8 --width 2048 ;;
    *) echo "price_gpu: unknown mode '$1'" >&2 && exit 2 ;;
    esac
}
of() { sed -n "s/$2/\\1/p" "$1" | head -n 1; } # FILE REGEX
row() { printf '%-8s %-8s %-34s %-10s %-24s %s\n' "$@"; }
# The change of a hook in each launch: the mean, and Student's t over them, as the price has it over its launches.
of_hooks() { # FILE HOOK
    sed -n "s/^compare hook=$2 [0-9.]* ms \([-+0-9.]*\)%.*/\1/p" "$1" | awk '
        { x = log(1 + $1 / 100); n++; sum += x; squares += x * x }
        END {
            split("12.71 4.30 3.18 2.78 2.57 2.45 2.36", t, " ")
            if (!n) exit
            mean = sum / n
            half = n > 1 ? t[n < 8 ? n - 1 : 7] * sqrt((squares - n * mean * mean) / (n - 1) / n) : 0
            printf "%.1f%% [%.1f, %.1f]", 100 * (1 - exp(mean)), 100 * (1 - exp(mean + half)), 100 * (1 - exp(mean - half))
        }'
}

row link mode 'price' 'half' 'hook none' 'hook bf16'
for link in ${LINKS:-nvlink host sockets}; do
    for mode in ${MODES:-ddp compile fsdp2}; do
        [ "$mode" != fsdp2 ] || [ "$link" = host ] || continue
        read -ra set <<<"$(variables "$link")"
        read -ra how <<<"$(options "$mode")"
        log=$out/$link-$mode
        env "${set[@]}" "$build/gradsync" tune --proof 0 --only IGNORE_CPU_AFFINITY --minutes "${MINUTES:-2}" \
            --platform "price-$link-$mode" -o "$out/raw" -- \
            "${job[@]}" "${how[@]}" --config auto --seconds 600 --every 100000 >"$log.out" 2>"$log.err" </dev/null ||
            tail -n 3 "$log.err" | sed "s/^/# $link $mode: /"
        : >"$log.hooks"
        for _ in $(seq "${HOOKS:-3}"); do
            [ "$mode" != fsdp2 ] || break
            env "${set[@]}" timeout 120 "${job[@]}" "${how[@]}" --compare hook=none,hook=bf16 \
                --seconds 10 --warmup 15 >>"$log.hooks" 2>"$log.hooks.err" </dev/null ||
                tail -n 3 "$log.hooks.err" | sed "s/^/# $link $mode hooks: /"
        done
        row "$link" "$mode" "$(of "$log.out" '^.*ommunication costs \(.*\]\) of the step.*, in \([0-9]*\) launches.*')" \
            "$(of "$log.out" '^.*half the bytes the step is \([^ ]*\) .*')" \
            "$(of_hooks "$log.hooks" none)" "$(of_hooks "$log.hooks" bf16)"
    done
done
echo "# recordings and outputs: $out ($SECONDS s)"
