#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On GPUs, with PyTorch: gradsync trial around an unmodified DDP job.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/gpu/gpu.sh"
python3 -c 'import torch, torch.distributed as d; exit(not d.is_nccl_available())' 2>/dev/null ||
    skip_all 'python3 has no torch with NCCL'

job() { # ARGUMENT…: to gradsync trial, then -- and the job's
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    timeout 120 "$gradsync" trial -o raw --warmup 10 --steps 8 "${options[@]}" -- \
        python3 -m torch.distributed.run --standalone --nproc-per-node "$gpus" \
        "$top/tests/bench/torch_train.py" --layers 6 --width 1024 "${@:2}"
}
request() { # CONFIG: what became of it
    jq -rs --arg c "$1" '(map(select(.type == "cell" and .config == $c))[0].cell) as $id |
        map(select(.key? == "request" and .cell == $id))[0].value' \
        raw/job/trial/*/launch-01.01.jsonl
}

exits 0 'a trial in a DDP job succeeds' job --arms ctas=1,ring/LL,ctas=64 -- --seconds 15
diag "$err"
like "$out" 'steps/s' 'the job has its output'
like "$err" 'a step of [0-9]+ collectives' 'trial finds the step of the DDP job'
like "$err" 'auto +NCCL ran ' 'NCCL reports what it ran'
is "$(request ctas=1) $(request ring/LL)" 'honoured honoured' 'NCCL took the settings of two arms'
like "$(request ctas=64)" '^clamped: NCCL ran fewer CTAs' \
    'NCCL clamps an arm with more CTAs than it has'
like "$err" 'ctas=1 .* slower' 'one CTA is slower'
exits 0 'check accepts the recording of the trial' "$gradsync" check raw/job/trial/*
fails 1 'captured its collectives in a CUDA graph; nothing could be switched' job --arms ctas=1 -- \
    --graph --seconds 5
like "$out" 'steps/s' 'the job with a CUDA graph runs to its end'
no_orphans 'no process is left running'
done_testing
