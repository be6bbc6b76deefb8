# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the GPU benchmarks share:
#   $top $build $gradsync   the checkout, the build folder, the program (absolute)
#   $gpus                   how many there are, or GPUS; exits 3 below 2
#   $tmp                    a folder of its own, removed at the end
#   $perf                   all_reduce_perf of nccl-tests, below NCCL_TESTS; '' without
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
perf=${NCCL_TESTS:-}/all_reduce_perf
[ -x "$perf" ] || perf=''

# COMMAND…: a process a GPU
on_gpus() { mpirun --bind-to none -n "$gpus" "$@"; }
