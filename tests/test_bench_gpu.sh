#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# make bench-gpu beside nccl-tests, without GPUs: its script on pretended GPUs (tests/gpu/pretend.h,
# 10 us an operation) and on a stand-in for the programs of nccl-tests.
. "$(dirname "$0")/lib.sh"

[ -e "$build/plugins/nccl_allreduce/cuda.so" ] || {
    skip 'the script runs' 'built without CUDA or NCCL'
    done_testing
}
ok 'the library that pretends compiles' "${CC:-gcc}" -std=gnu11 -shared -fPIC \
    -Wl,-soname,libcuda.so.1 -o pretend.so "$top"/tests/gpu/pretend_*.c
mkdir -p perf/build
cat >perf/build/all_reduce_perf <<'END'
#!/usr/bin/env bash
while getopts b:e:f:g:w:c:N:n:G: o; do
    case $o in b) b=$OPTARG ;; e) e=$OPTARG ;; f) f=$OPTARG ;; *) ;; esac
done
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
for ((; b <= e; b *= f)); do echo "$b $((b / 4)) float sum -1 10.1 1 1 0 20 1 1 0"; done
END
chmod +x perf/build/all_reduce_perf
ln -s all_reduce_perf perf/build/all_gather_perf
exits 0 'the script ends well' env BUILD="$build" LD_PRELOAD="$tmp/pretend.so" GPUS=2 \
    NCCL_TESTS="$tmp/perf" FACTOR=16 WINDOWS='8:1024 4096:4096' ROUNDS=1 LAUNCHES=graph \
    COLLECTIVES='allreduce allgather' bash "$top/tests/bench/gpu.sh"
is "$(grep -v '^#' <<<"$out" | cut -d' ' -f1-6)" "allreduce 8 graph 10.00 10.10 0.9901
allreduce 128 graph 10.00 10.10 0.9901
allreduce 4096 graph 10.00 10.10 0.9901
allgather 128 graph 10.00 10.10 0.9901
allgather 4096 graph 10.00 10.10 0.9901" 'each collective that both have is a line for each size'
done_testing
