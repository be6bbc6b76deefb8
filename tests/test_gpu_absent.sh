#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The GPU plugins without a GPU: their tables load and are checked everywhere, and a run says in one line why it cannot be made here, with exit code 3.
. "$(dirname "$0")/lib.sh"
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then skip_all 'there is a GPU: make check-gpu'; fi

exits 3 'nccl_allreduce: its dry run exits with 3 without a GPU' "$gradsync" check \
    "$build/plugins/nccl_allreduce.so"
like "$out$err" 'the tables are correct' 'nccl_allreduce: its tables are good without a GPU'
ok 'iter_proxy: check passes with its host backend' "$gradsync" check "$build/plugins/iter_proxy.so"
prints 'algorithm.*auto, ring, tree' "$gradsync" help nccl_allreduce

for workload in nccl_allreduce iter_proxy; do
    cat >$workload.ini <<-END
	[launch]
	ranks = 2
	oversubscribe = yes
	[measure]
	launches = 1
	[$workload]
	END
    [ $workload = nccl_allreduce ] || echo 'backend = cuda' >>$workload.ini
    fails1 3 'NVIDIA driver|NVIDIA GPU|CUDA|cuda\.so' "$gradsync" run -q $workload.ini -o data
done

# Backends are built wherever their headers are; elsewhere the build says what it left out.
if [ -e "$build/plugins/nccl_allreduce/cuda.so" ]; then
    for backend in nccl_allreduce iter_proxy; do
        is "$(nm -D --defined-only "$build/plugins/$backend/cuda.so" | wc -l)" 1 \
            "$backend/cuda.so shows one symbol"
    done
else
    skip 'the backends show one symbol each' 'built without CUDA or NCCL'
fi
done_testing
