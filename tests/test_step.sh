#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Recorded steps, replayed by real MPI ranks; also under ASan. tests/golden/step.cmd has what becomes of
# traces of torch.profiler.
. "$(dirname "$0")/lib.sh"
make=$top/tests/make_torch_trace

"$make" >ddp.json && "$make" comms=fsdp >fsdp.json && "$make" marks=0 optimizer=1 >cut.json
for name in ddp fsdp cut; do ok "the trace $name becomes a step" "$gradsync" import --step $name.json; done

# ---- replayed ----

cat >mixed.step <<'END'
gradsync-step 1
all_gather 1001 bf16 dp   # padded to 1002 on 3 ranks
all_gather 4099 bf16 dp
wait 1
gemm nt 16* 32 8 bf16
gemm tn 16 32 8 fp32 x3*
wait
kernel 4096* 1us
reduce_scatter 1001 fp32 dp
gemm nn 7* 5 3 fp16
gradient 3000 bf16
gradient 5000 fp32
reduce_scatter 4099 fp32 dp
gemm tt 9 8 7 tf32
gradient 1 fp32
all_reduce 77 fp16 dp
END
config mixed.ini 3 '[iter_proxy]' 'backend = host' 'step = mixed.step, cut.step, fsdp.step' 'batch = 1, 2' \
    'mode = compute, comm, sequential, overlapped' 'configs = auto, bucket_cap=8KiB/bucket_first=4'
measure mixed.ini
is "$rc" 0 'every kind of operation is replayed on 3 ranks, and every result is right'
is "$(count '"type":"group"')" 6 'three steps of two batches make six groups'
is "$(grep '"type":"fail"' <<<"$lines" | grep -vc 'has no gradient lines: bucket_cap')" 0 \
    'no cell fails but those with buckets and no gradients'
is "$(grep '"type":"fail"' <<<"$lines" | grep -c 'fsdp\.step has no gradient lines')" 6 \
    'buckets of a step without gradients are skipped'
like "$lines" '"key":"step","value":"[0-9]+ GEMMs and kernels, [0-9]+ collectives, id '\
'[0-9a-f]{16}"' \
    'the recording says what the step came to'

config algorithms.ini 2 '[iter_proxy]' 'backend = host' 'step = ddp.step' \
    'algorithm = auto, ring, tree, recursive_doubling, rabenseifner'
measure algorithms.ini
is "$rc:$(count '"type":"fail"')" 0:0 'buckets are reduced right by every algorithm'
config gathers.ini 2 '[iter_proxy]' 'backend = host' 'step = fsdp.step' 'algorithm = auto, ring'
measure gathers.ini
like "$lines" '"kind":"skip","why":"fsdp\.step:[0-9]: backend=host has no all-gather or '\
'reduce-scatter by algorithm=ring \(auto\)' \
    'a gather has no ring on the host'

config large.ini 2 '[iter_proxy]' 'backend = host' "step = $top/configs/steps/gpt2-124m-ddp.step" 'scale = 0.05'
sed -i "s,$top/,," large.ini && ln -s "$top/configs" configs
measure large.ini
is "$rc:$(count '"type":"fail"')" 0:0 'a scaled step runs on a small machine'
prints 'memory' "$gradsync" plan large.ini

# ---- synthetic GEMMs have shapes and layouts ----

config shapes.ini 2 '[iter_proxy]' 'backend = host' 'size = 4KiB' 'gemm = 16' 'gemm_m = 0, 24' 'gemm_n = 40' \
    'gemms = 3' 'layout = nn, nt, tn'
measure shapes.ini
is "$rc:$(count '"type":"group"'):$(count '"type":"fail"')" 0:6:0 \
    'synthetic GEMMs give the right product in every layout'

no_orphans 'no process is left running'
done_testing
