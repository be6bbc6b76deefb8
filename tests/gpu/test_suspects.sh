#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On GPUs: gradsync suspects names GPU 1 while another process takes a third of its time
# (tests/gpu/burn.cu), and by itself no GPU that is so much slower.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/gpu/gpu.sh"
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || skip_all 'needs nvcc'

ok 'the program that keeps a GPU busy compiles' "$nvcc" -arch=native -o burn \
    "$top/tests/gpu/burn.cu"
few=(--ranks "$gpus" -s pairs:backend=cuda
    -s "launch:args=-x NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}")

run "$gradsync" suspects -q -o data "${few[@]}"
unlike "$out" 'GEMM takes ([3-9][0-9]|[0-9]{3,})' 'no GPU computes a third slower by itself'
"$tmp/burn" 1 33 120 >burn.out &
burner=$!
ok 'the busy program runs' until_true 30 grep -q burning burn.out
run "$gradsync" suspects -q -o data "${few[@]}"
kill "$burner"
is "$rc" 1 'a busy GPU gives exit code 1'
like "$out" '^suspect: rank 1 \(GPU 1 ' 'the busy GPU is named'
unlike "$out" '^suspect: rank 0 ' 'no other GPU is named'
done_testing
