#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The GPU plugins without a GPU: their tables load and lint everywhere, every platform config is
# accepted, and a run says in one line why it cannot be made here, with exit code 3.
. "$(dirname "$0")/lib.sh"
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then skip_all 'there is a GPU: make check-gpu'; fi

exits 3 'nccl_allreduce: its dry run cannot be made here' "$gradsync" check "$build/plugins/nccl_allreduce.so"
like "$out$err" 'the tables are good' 'but it loads, and its tables are good'
ok 'iter_proxy: conforms, with its host backend' "$gradsync" check "$build/plugins/iter_proxy.so"
ok 'help is printed from its tables' "$gradsync" help nccl_allreduce
like "$out" 'algorithm.*auto, ring, tree' 'with the algorithms'

for config in "$top"/configs/{l40s,a100,h100,h200,aws}-*.ini; do
    name=$(basename "$config" .ini)
    ok "$name: checked without the hardware" "$gradsync" check "$config"
    ok "$name: planned without the hardware" "$gradsync" plan "$config"
    like "$(sed -n '/^\[limits\]/,/^\[/p' "$config")" 'source = ' "$name: its limits have a source"
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
    exits 3 "$workload: cannot run here" "$gradsync" run -q $workload.ini -o data
    one_line "$err" "$workload: says so in one line"
    like "$err" 'NVIDIA driver|NVIDIA GPU|CUDA|cuda\.so' "$workload: names what is missing"
done

cat >one.ini <<'END'
[launch]
ranks = 1
[nccl_allreduce]
END
exits 2 'one rank is refused' "$gradsync" plan one.ini
like "$err" '2 ranks or more' 'and why'
cat >odd.ini <<'END'
[nccl_allreduce]
size = 1001
END
exits 2 'a size that does not divide by the element is refused' "$gradsync" plan odd.ini
like "$err" 'not a multiple of the 4 bytes of dtype=fp32' 'and why'
cat >typo.ini <<'END'
[nccl_allreduce]
algorithm = rign
END
exits 2 'an unknown algorithm is refused' "$gradsync" plan typo.ini
like "$err" "did you mean 'ring'" 'with the nearest name'

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
