# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# GPUs that are not here are pretended (tests/gpu/pretend.h), and NCCL too.
#   begin RANKS                    a config's first lines
#   on NAME BODY VARIABLE=VALUE…   measures [nccl_allreduce] with that body on a machine described by
#                                  the variables: $rc, $out, $err; $recording
#   but_one NAME REGEX             one cell was skipped for that reason, the others were measured
#   recorded LINE…                 measures [iter_proxy] in every mode: $rc, $out, $err; $recording
#   sites BODY VARIABLE=VALUE…     measures [wan_sync] on four ranks, two a site: the same
#   blocks                         number of blocks in $recording
# After sourcing lib.sh.
# shellcheck disable=SC2154 # lib.sh's
[ -e "$build/plugins/nccl_allreduce/cuda.so" ] || skip_all 'built without CUDA or NCCL'
ok 'the library that pretends compiles' "${CC:-gcc}" -std=gnu11 -Wall -Wextra -shared -fPIC \
    -Wl,-soname,libcuda.so.1 -o pretend.so "$top"/tests/gpu/pretend_*.c

begin() {
    printf '%s\n' '[launch]' "ranks = $1" 'oversubscribe = yes' '[measure]' 'launches = 1' \
        'blocks = 2' \
        'max_blocks = 2' 'samples = 1' 'warmup = 1ms' 'warmup_ops = 1' 'retries = 0' \
            'deadline = 20s'
}
on() {
    local name=$1 body=$2
    shift 2
    { begin 2 && printf '%s\n' '[nccl_allreduce]' "$body"; } >"$name.ini"
    run env "$@" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run "$name.ini" -o "data-$name"
    recording=$(find "data-$name" -name 'launch-01.01.jsonl')
}
but_one() {
    is "$rc" 0 "$1: the run succeeds"
    is "$(grep -h '"type":"fail"' "$recording" | grep -c '"kind":"skip"')" 1 \
        "$1: one cell is skipped"
    like "$(grep -h '"kind":"skip"' "$recording")" "$2" "$1: the reason is recorded"
    ok "$1: the other cells have blocks" grep -q '"type":"block"' "$recording"
}
recorded() {
    { begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' \
        'mode = compute, comm, sequential, overlapped' "$@"; } >recorded.ini
    rm -rf data-recorded
    run env PRETEND_MEMORY="${memory:-8000}" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run \
        recorded.ini -o data-recorded
    recording=$(find data-recorded -name 'launch-01.01.jsonl')
}
sites() {
    { begin 4 && printf '%s\n' '[wan_sync]' 'site_ranks = 2' "$1"; } >sites.ini
    rm -rf data-sites
    run env PRETEND_GPUS=4 "${@:2}" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run sites.ini -o \
        data-sites
    recording=$(find data-sites -name 'launch-01.01.jsonl')
}
blocks() { grep -c '"type":"block"' "$recording"; }
