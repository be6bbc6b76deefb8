# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the GPU benchmarks share:
#   $top $build $gradsync   the checkout, the build folder, the program (absolute)
#   $gpus                   how many there are, or GPUS; exits 3 below 2
#   $tmp                    a folder of its own, removed at the end
#   $perf                   all_reduce_perf of nccl-tests, in NCCL_TESTS or its build/; '' without
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$top/build}
[[ $build == /* ]] || build=$top/$build
# shellcheck disable=SC2034 # for those that source this
gradsync=$build/gradsync
gpus=${GPUS:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)}
if [ "${gpus:-0}" -lt 2 ]; then
    echo "bench-gpu: needs two GPUs, found ${gpus:-0}" >&2
    exit 3
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/gradsync-bench.XXXXXX")
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0} LC_ALL=C TZ=UTC

# Their programs; where NCCL_TESTS holds only their source, they are built first (a few minutes).
nccl_tests() {
    local dir=${NCCL_TESTS:-none} cap mpi
    [ -x "$dir/all_reduce_perf" ] || dir+=/build
    if [ ! -x "$dir/all_reduce_perf" ] && [ -f "$dir/../src/all_reduce.cu" ]; then
        cap=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
        mpi=$(mpicc --showme:incdirs | tr ' ' '\n' | grep -m 1 '/include$')
        make -s -j "$(nproc)" -C "$dir/.." MPI=1 MPI_HOME="${mpi%/include}" \
            NVCC_GENCODE="-gencode=arch=compute_$cap,code=sm_$cap" >&2
    fi
    [ ! -x "$dir/all_reduce_perf" ] || echo "$dir/all_reduce_perf"
}
# shellcheck disable=SC2034 # for those that source this
perf=$(nccl_tests)

# COMMAND…: a process a GPU
on_gpus() { mpirun --bind-to none -n "$gpus" "$@"; }
