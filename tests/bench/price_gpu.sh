#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The price of communication beside the same by changing the job: a DDP hook that communicates nothing, and one
# that halves the bytes (bf16). Both run on a communicator that the job makes for DDP (--config auto), since
# one may be faster than that of all ranks (56.2 and 54.6 ms a step, two H100s through host memory). On two
# GPUs with PyTorch, over three links of one host. Needs about eight minutes; each part is bounded.
#   LINKS   default: nvlink host sockets
#   MODES   default: ddp compile fsdp2 (fsdp2 has no hooks, and runs over the link "host" alone)
#   OUT     folder for the recordings and outputs; default: a temporary one
#   PYTHON  default: python3
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
row() { printf '%-8s %-8s %9s %-22s %-22s %-22s %-22s %-24s %s\n' "$@"; }

row link mode 'step ms' 'price none' 'hook none' 'price half' 'hook bf16' 'waiting' 'auto again (longer)'
for link in ${LINKS:-nvlink host sockets}; do
    for mode in ${MODES:-ddp compile fsdp2}; do
        [ "$mode" != fsdp2 ] || [ "$link" = host ] || continue
        read -ra set <<<"$(variables "$link")"
        read -ra how <<<"$(options "$mode")"
        log=$out/$link-$mode
        env "${set[@]}" timeout 120 "$build/gradsync" trial --arms none,one,half --visit 1 \
            --minutes 1 --warmup 10 --deadline 40 --platform "price-$link-$mode" -o "$out/raw" -- \
            "${job[@]}" "${how[@]}" --config auto --seconds 600 --every 100000 >"$log.out" 2>"$log.err" </dev/null ||
            tail -n 3 "$log.err" | sed "s/^/# $link $mode: /"
        if [ "$mode" != fsdp2 ]; then
            env "${set[@]}" timeout 120 "${job[@]}" "${how[@]}" --compare hook=none,hook=bf16 \
                --seconds 20 --warmup 15 >"$log.hooks" 2>"$log.hooks.err" </dev/null ||
                tail -n 3 "$log.hooks.err" | sed "s/^/# $link $mode hooks: /"
        else
            : >"$log.hooks"
        fi
        row "$link" "$mode" \
            "$(of "$log.err" '^price: Comm[^(]*([^)]* of \([^)]*\))\..*')" \
            "$(of "$log.err" '^price: Communication costs \([^]]*\]\) of the step.*')" \
            "$(of "$log.hooks" '^compare hook=none [0-9.]* ms \(.*\]\).*')" \
            "$(of "$log.err" '^price: .* the step is \([^ ]*\) shorter\..*')" \
            "$(of "$log.hooks" '^compare hook=bf16 [0-9.]* ms \(.*\]\).*')" \
            "$(of "$log.err" '^price: .* waits longest: \(.*\)\.$')" \
            "$(of "$log.err" '^  auto again *\(.*\]\).*')"
    done
done
echo "# recordings and outputs: $out ($SECONDS s)"
