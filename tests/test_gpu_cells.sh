#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Waits
#
# Every kind of GPU cell on pretended GPUs: two copies of a baseline, all collectives, training
# steps, sites, and a peer that dies.
. "$(dirname "$0")/lib.sh"
. "$top/tests/pretended.sh"

# The second copy of a baseline has a communicator of its own. Each launch prepares the cells in an
# order of its own.
communicators() { # NAME: one line a launch, cell and copy: "LAUNCH CELL COPY COMMUNICATOR"
    local i=0 file note='"type":"note".*"cell":"\([^"]*\)","copy":\([01]\)'
    note+=',"key":"communicator","value":"\([0-9]*\)"'
    for file in "data-$1"/*/*/*/launch-*.jsonl; do
        sed -n "s/.*$note.*/$((++i)) \1 \2 \3/p" "$file"
    done
}
both_copies() { # NAME: of each cell that has two: how many, and how many share a communicator
    communicators "$1" |
        awk '{ k = $1 " " $2; if (k in of) { n++; same += of[k] == $4 } of[k] = $4 }
            END { print n + 0, same + 0 }'
}
{ begin 2 && printf '%s\n' '[nccl_allreduce]' 'size = 1KiB' 'configs = auto, ring, tree'; } \
    >copies.ini
exits 0 'a run with two copies of its baseline succeeds' env LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" run -q copies.ini -o data-copies --set measure:launches=5
# A disturbed launch is replaced: there may be more than 5.
launches=$(ls data-copies/*/*/*/launch-*.jsonl | wc -l)
is "$(both_copies copies)" "$launches 0" \
    'the copies of a baseline share a communicator in no launch'
is "$(communicators copies | awk '{ n[$1 " " $4]++ } END { print length(n) }')" $((4 * launches)) \
    'each of 4 cells has a communicator of its own in each launch'
is "$(grep -h '"type":"cell"' data-copies/*/*/*/launch-*.jsonl | grep -o '"prepared":[1-4]}' |
    sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" \
    "$launches $launches $launches $launches" \
    'the cells of each launch are numbered in the order of preparation'
isnt "$(grep -h '"copy":0,"config":"auto"' data-copies/*/*/*/launch-*.jsonl | grep -o \
    '"prepared":.' | sort -u | wc -l)" 1 \
    'the order of preparation is not the same in every launch'
run env PRETEND_REFUSES=Ring LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q copies.ini -o \
    data-lost \
    --set measure:launches=5 --set measure:baseline=ring
is "$(grep -c '"type":"fail"' data-lost/*/*/*/launch-*.jsonl | sed 's/.*://' | sort -u)" 1 \
    'a baseline that is refused is recorded once a launch, whichever copy is prepared first'
{ begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' 'size = 64KiB' 'gemm = 64' 'gemms = 2' \
    'mode = compute, comm, sequential, overlapped' 'configs = auto, ring'; } >modes.ini
exits 0 'a run of steps with two copies of the baseline succeeds' env LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" run -q modes.ini -o data-modes
is "$(both_copies modes)" '3 0' 'in no mode do the copies share a communicator'
is "$(communicators modes | awk '$3 { print $4 }' | sort -u | wc -l)" 1 \
    'the modes of the second copy share one communicator'

exits 0 'check succeeds without peer access' env PRETEND_NO_PEER=1 LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" check "$build/plugins/nccl_allreduce.so"

on registered $'size = 1KiB, 256MiB\nmemory = ncclMemAlloc' PRETEND_MEMORY=400
but_one 'too little memory for ncclMemAlloc' \
    '512\.0 MiB of device memory needed, but [0-9.]+ MiB of 400\.0 MiB are free: use smaller sizes'

# ---- other collectives ----

others='collective = allgather, reducescatter'
on others "size = 1KiB"$'\n'"$others"$'\nlaunch = graph, stream\nbuffers = hot, cold'
is "$rc:$(grep -c '"type":"group"' "$recording")" 0:8 \
    'the other collectives are measured in graphs and on a stream, hot and cold'
on inplace "size = 1KiB"$'\n'"$others"$'\nin_place = yes\nmetric = T_ss, L_iso'
is "$(grep -c '"type":"fail"' "$recording")" 0 'they are done in place too'
# ---- training steps ----

recorded 'gemm = 64' 'size = 64KiB' 'issue = after, beside' 'precision = fp32, bf16' \
    'configs = auto, ring, tree/LL, ctas=8'
is "$rc $(grep -c '"type":"group"' "$recording") $(grep -c '"type":"fail"' "$recording")" '0 4 0' \
    'steps run in every mode, order and precision, and every result is right'
memory=700 recorded 'gemm = 4096, 8192'
like "$(cat "$(dirname "$recording")"/*.jsonl)" \
    '"kind":"skip","why":"[^"]*256\.0 MiB of device memory needed' 'a GEMM too large for the device is skipped'

# ---- sites whose GPUs sum first ----

sites $'strategy = hierarchical\nsize = 4, 1MiB, 3000004\ninside = mpi, nccl'
is "$rc $(blocks)" '0 18' 'each sum is right with NCCL inside a site'
flowing=$'wire = int4\ncompute = 1ms\nevery = 4\nfragments = 2\noverlap = 0'
sites $'strategy = hierarchical\nsize = 1MiB\ninside = nccl\n'"$flowing"
is "$rc $(grep -c 'inside=nccl has no overlap' <<<"$err")" '3 1' \
    'overlapped fragments with inside=nccl are refused'
sites $'strategy = ring, hierarchical\nsize = 1MiB\ninside = nccl, mpi'
like "$(grep -h '"kind":"skip"' "$recording")" \
    'strategy=ring sums nothing inside a site: it has no inside=nccl' \
    'a ring with inside=nccl is skipped with a reason'
sites $'strategy = hierarchical\nsize = 1MiB, 256MiB\ninside = nccl' PRETEND_MEMORY=100
but_one 'too little memory for a gradient' \
    '256\.0 MiB of device memory needed, but [0-9.]+ MiB of 100\.0 MiB are free'
sites $'strategy = hierarchical\nsize = 1MiB\ninside = nccl, mpi' PRETEND_GPUS=1
but_one 'no GPU for each rank of a site' 'shares GPU 0000:01:00\.0 with rank'
is "$(ls /dev/shm/pretended-* 2>/dev/null)" '' 'no pretended shared memory is left'

on dead 'size = 1KiB' PRETEND_DEAD=40
isnt "$rc" 0 'a run whose peer died fails'
like "$(grep -h '"type":"fail"' "$recording")" 'a peer died or cannot be reached' \
    'the recording says that a peer died'
no_orphans 'no process is left after a peer died'
done_testing
