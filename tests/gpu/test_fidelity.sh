#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On GPUs, with NCCL_TESTS=DIR: T_ss is what nccl-tests measures, graph against graph, at three
# sizes. Loose, for launches of nccl-tests itself have differed by a quarter: a wrong count of
# operations or bytes is off by more. make bench-gpu prints the real comparison.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/gpu/gpu.sh"
[ -x "${NCCL_TESTS:-}/all_reduce_perf" ] || skip_all \
    'NCCL_TESTS names no folder with all_reduce_perf'

ok 'gradsync and nccl-tests are measured side by side' \
    env WINDOWS='65536:4194304 67108864:67108864' FACTOR=64 LAUNCHES=graph ROUNDS=1 \
    COLLECTIVES='allreduce allgather' GPUS="$gpus" BUILD="$build" bash "$top/tests/bench/gpu.sh"
table=$(grep -v '^#' <<<"$out")
while read -r collective size _ _ _ ratio _; do
    ok "$collective of $size B takes 1/1.5 to 1.5 times what nccl-tests measures ($ratio)" \
        awk -v r="$ratio" 'BEGIN { exit !(r > 1 / 1.5 && r < 1.5) }'
done <<<"$table"
is "$(wc -l <<<"$table")" "$([ -x "$NCCL_TESTS/all_gather_perf" ] && echo 6 || echo 3)" \
    'every size is compared with nccl-tests'
done_testing
