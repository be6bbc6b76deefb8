#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The baselines of one machine with several GPUs, the most valuable first: two calls of ten minutes for
# eight GPUs, the second with the PARTS that the first names as not done. A part that fails is named and
# the next one begins; none begins after LIMIT. Exits 1 if a part failed or was not done.
#   GPUS        how many to use (default: all)
#   OUT         folder for recordings, logs and the table of parts (needed)
#   LIMIT       seconds after which no part begins (default 540)
#   PARTS       default: those of $parts below
#   MINUTES     for each tune (default 5)
#   NCCL_TESTS  folder of nccl-tests, for the part nccl_tests
#   NANOGPT     folder of nanoGPT with tokens in data/random, for the prices
#   HOST        1: without GPUs, to try this script: MPI instead of NCCL, JOB instead of nanoGPT
if [ -n "${HOST:-}" ]; then export GPUS=${GPUS:-2}; fi
. "$(dirname "$0")/gpu_common.sh"
out=$(realpath -m "${OUT:?a folder}") host=${HOST:-}
mkdir -p "$out"
limit=${LIMIT:-540}
parts=${PARTS:-baseline nccl_tests groups price_nvlink price_host tune_sockets}
card=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | grep -oE '[A-Z][0-9]+S?' | head -n 1 || true)
card=${card,,} # h100
box=${card:-host}-${gpus}gpu pairs=${card:-host}-2x$((gpus / 2))-sock

run_config() { # CONFIG OPTION…
    [ -e "$top/configs/$1.ini" ] || { echo "no config for $gpus GPUs: configs/$1.ini" && return 1; }
    "$gradsync" run -q "$top/configs/$1.ini" -o "$out/raw" "${@:2}"
}

baseline() {
    if [ -n "$host" ]; then run_config local -w mpi_allreduce -s launch:ranks="$gpus" -s launch:oversubscribe=yes \
        -s measure:launches=1 -s mpi_allreduce:size=1MiB
    else run_config "$box"; fi
}

nccl_tests() { # beside it in the same minutes, from 1 KiB
    [ -n "$perf" ] || { echo 'NCCL_TESTS names no folder with all_reduce_perf' && return 1; }
    COLLECTIVES=allreduce LAUNCHES=stream ROUNDS=2 WINDOWS='1024:4194304 134217728:134217728' FACTOR=8 \
        GPUS=$gpus BUILD=$build bash "$top/tests/bench/gpu.sh"
}

groups() { # two groups of GPUs that reach each other through sockets only
    [ -z "$host" ] || { echo 'no sockets of NCCL without GPUs' && return 1; }
    run_config "$pairs"
}

# The job, in $command; its recordings are those of platform $box-LINK.
job() {
    if [ -n "$host" ]; then
        eval "command=(${JOB:?})"
    else
        cd "${NANOGPT:?the folder of nanoGPT}"
        command=(torchrun --standalone --nproc-per-node "$gpus" train.py --dataset=random --compile=False
            --gradient_accumulation_steps="$gpus" --batch_size=12 --eval_interval=100000 --eval_iters=1
            --max_iters=100000)
    fi
}
tune() { # LINK VARIABLE…: the same, and the setting. It ends with 1 where the time is too short for one.
    local command
    job
    env "${@:2}" "$gradsync" tune --minutes "${MINUTES:-5}" --platform "$box-$1" -o "$out/raw" -- \
        "${command[@]}" || true
    grep -q '^Communication costs' "$log"
}
tune_sockets() { tune sock NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1; }
tune_host() { tune host NCCL_P2P_DISABLE=1; }

SECONDS=0
for part in $parts; do
    from=$SECONDS
    if [ "$from" -ge "$limit" ]; then
        state='not done: no time left'
    elif log=$out/$part.log && (set -e; "$part") >"$log" 2>&1; then
        state=ok
    else
        state="failed: $(grep -v '^ *$' "$log" | tail -n 1)"
    fi
    echo "box: $part: $((SECONDS - from)) s, $state"
done | tee "$out/parts"
! grep -qv ', ok$' "$out/parts"
