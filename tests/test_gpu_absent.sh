#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The GPU plugins without a GPU: their tables load and are checked everywhere, every platform config
# is accepted, and a run says in one line why it cannot be made here, with exit code 3.
. "$(dirname "$0")/lib.sh"
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then skip_all 'there is a GPU: make check-gpu'; fi

exits 3 'nccl_allreduce: its dry run exits with 3 without a GPU' "$gradsync" check \
    "$build/plugins/nccl_allreduce.so"
like "$out$err" 'the tables are correct' 'nccl_allreduce: its tables are good without a GPU'
ok 'iter_proxy: check passes with its host backend' "$gradsync" check "$build/plugins/iter_proxy.so"
prints 'algorithm.*auto, ring, tree' "$gradsync" help nccl_allreduce

for config in "$top"/configs/{l40s,a100,h100,h200,aws}-*.ini; do
    name=$(basename "$config" .ini)
    ok "$name: check accepts the config without the hardware" "$gradsync" check "$config"
    ok "$name: plan accepts the config without the hardware" "$gradsync" plan "$config"
    like "$(sed -n '/^\[limits\]/,/^\[/p' "$config")" 'source = ' "$name: the limits have a source"
done
run "$gradsync" plan "$top/configs/h200-4gpu.ini" --all
for config in auto ring/LL ring/LL128 ring/Simple tree/LL tree/LL128 tree/Simple ctas=4 ctas=32; do
    like "$out" "$config" "h200-4gpu compares $config"
done

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

cat >one.ini <<'END'
[launch]
ranks = 1
[nccl_allreduce]
END
fails 2 '2 ranks or more' "$gradsync" plan one.ini
cat >odd.ini <<'END'
[nccl_allreduce]
size = 1001
END
fails 2 'not a multiple of the 4 bytes of dtype=fp32' "$gradsync" plan odd.ini
cat >typo.ini <<'END'
[nccl_allreduce]
algorithm = rign
END
fails 2 "did you mean 'ring'" "$gradsync" plan typo.ini

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
