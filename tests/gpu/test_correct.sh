#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On GPUs: every dtype, in place and not, at odd sizes, by every way to launch and
# every kind of buffer, gives the right result; the proxy's GEMMs and buckets too.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/gpu/gpu.sh"

for plugin in nccl_allreduce iter_proxy; do
    ok "$plugin passes its check" "$gradsync" check "$build/plugins/$plugin.so"
done

config types '[nccl_allreduce]' 'size = 8, 1000, 123456' \
    'dtype = fp32, fp16, bf16' 'in_place = no, yes' 'configs = auto' 'launch = stream'
measure types
is "$rc" 0 'every dtype is right'
is "$(lost wrong)" 0 'no type gives a wrong result'

config ways '[nccl_allreduce]' 'size = 4, 65540, 4194308' 'metric = T_ss, L_iso' \
    'launch = graph, stream' 'buffers = hot, cold' 'in_place = no, yes' \
    'configs = auto, ring/LL, ring/LL128, ring/Simple, tree/LL, tree/LL128, tree/Simple, ctas=1, ctas=4'
measure ways
is "$rc" 0 'every launch, buffer and config is right'
is "$(grep -c '"key":"ran","value":"[A-Z]' "$recording")" \
    "$(grep -c '"key":"communicator_ms"' "$recording")" 'NCCL reports what ran in every cell'
for config in RING/LL RING/LL128 RING/SIMPLE TREE/LL TREE/LL128 TREE/SIMPLE; do
    ok "NCCL ran $config" grep -q "\"key\":\"ran\",\"value\":\"$config " "$recording"
done

config collectives '[nccl_allreduce]' 'size = 480, 983040, 7864320' 'metric = T_ss, L_iso' \
    'launch = graph, stream' \
    'buffers = hot, cold' 'in_place = no, yes' \
    'collective = allgather, reducescatter' \
    'configs = auto, ring/Simple, ctas=4'
measure collectives
is "$rc" 0 'every collective is right by every launch and buffer'
is "$(lost wrong)" 0 'no collective gives a wrong result'

config proxy '[iter_proxy]' 'backend = cuda' 'size = 100004' 'buckets = 3' 'gemm = 512' \
    'gemms = 1, 6' \
    'precision = fp32, tf32, bf16' 'issue = after, beside' \
    'mode = compute, comm, sequential, overlapped' 'configs = auto, Simple, LL128'
measure proxy
is "$rc" 0 'the proxy is right in every mode and precision'
done_testing
