#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# On GPUs: two sites in a lab, at each a rank for each GPU of this machine, whose gradients are
# summed on the GPUs before and after the exchange between the sites.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/gpu/gpu.sh"

between_sites() { # NAME BODY…
    config "$1" '[platform]' 'name = lab' '[sites]' "north = gpus=$gpus" "south = gpus=$gpus" \
        '[links]' 'rate = 1Gbit/s' 'rtt = 2ms' 'queue = 1MB' '[wan_sync]' \
        'strategy = hierarchical' "${@:2}"
    sed -i "s/^ranks = .*/ranks = $((2 * gpus))\nnodes = 2\nhosts = north, south\nbind = none/" \
        "$1.ini"
    run timeout 240 "$gradsync" lab -q "$1.ini" -- "$gradsync" run -q "$1.ini" -o "data-$1"
    [ "$rc" != 3 ] || skip_all "no lab on this machine: $err"
    recording=$(find "data-$1" -name 'launch-01.01.jsonl' | sort | head -n 1)
    [ "$rc" = 0 ] || diag "$err" "$(grep -h '"type":"fail"' "$recording" | head -n 5)"
}
# Cells that were measured: a block in which the lab was late is measured again.
cells() { grep '"type":"block"' "$recording" | grep -o '"cell":"[0-9a-f]*"' | sort -u | wc -l; }

between_sites sums 'size = 4, 65540, 16777216' 'wire = fp32, bf16, int8, int4' 'inside = nccl, mpi'
is "$rc $(lost wrong)" '0 0' 'every sum is right, whatever is on the wire'
is "$(cells)" 24 'every cell of 3 sizes, 4 wires and 2 ways inside is measured'

between_sites steps 'size = 1048576' 'inside = nccl' 'compute = 2ms' 'every = 1, 8' 'overlap = 0'
is "$rc $(lost wrong) $(cells)" '0 0 2' 'sums between the steps of a training are right'

between_sites large 'size = 67108864' 'inside = nccl, mpi'
is "$rc $(lost wrong) $(cells)" '0 0 2' 'sums of 64 MiB are right'

done_testing
