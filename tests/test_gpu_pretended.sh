#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Machines that cannot run the GPU plugins, pretended (tests/gpu/pretend.c): a driver older than the
# runtime, fewer GPUs than ranks, an NCCL too old, none at all. Each is one line that names the remedy,
# and exit code 3.
. "$(dirname "$0")/lib.sh"
[ -e "$build/plugins/nccl_allreduce/cuda.so" ] || skip_all 'built without CUDA or NCCL'
ok 'the pretence is compiled' "${CC:-gcc}" -std=c11 -Wall -Wextra -shared -fPIC -o pretend.so "$top/tests/gpu/pretend.c"

cannot() { # NAME REGEX RANKS VARIABLE=VALUE…
    local name=$1 regex=$2 ranks=$3
    shift 3
    printf '[launch]\nranks = %d\noversubscribe = yes\n[measure]\nlaunches = 1\n[nccl_allreduce]\n' "$ranks" >run.ini
    exits 3 "$name: cannot run here" env "$@" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q run.ini -o "data-$1"
    one_line "$err" "$name: one line"
    like "$err" "$regex" "$name: with the remedy"
}
cannot 'a driver too old' 'driver is for CUDA 11\.8, older than the runtime [0-9.]+: update it' 2 PRETEND_DRIVER=11080
cannot 'one GPU for two ranks' 'shares GPU 0000:01:00\.0 with rank .*a GPU for each of its 2 ranks, or fewer ranks in \[launch\]' 2 PRETEND_GPUS=1
cannot 'two GPUs for three ranks' '3 ranks on this node and 2 GPUs: set ranks in \[launch\] to 2' 3 PRETEND_GPUS=2
cannot 'an NCCL too old' 'NCCL 2\.17 is too old, 2\.18 is the first .*install a newer one' 2 PRETEND_NCCL=21700

mkdir -p alone && cp "$build/plugins/nccl_allreduce.so" alone/
exits 3 'no NCCL: cannot run here' "$gradsync" check alone/nccl_allreduce.so
like "$err" 'cuda\.so.*install CUDA.s and NCCL.s libraries' 'and what to install'
done_testing
