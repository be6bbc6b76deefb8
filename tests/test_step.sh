#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Recorded steps: made from a trace of torch.profiler, and replayed by real MPI ranks; also under
# ASan.
. "$(dirname "$0")/lib.sh"
make=$top/tests/make_torch_trace

import() { "$gradsync" import --step "$@"; }
lines() { grep -v '^#' "$1" | tail -n +2 | paste -sd';'; }

# ---- from a trace ----

"$make" >ddp.json
ok 'a trace becomes a step' import ddp.json
is "$out" ddp.step 'the step file is named after its trace'
like "$err" 'next: step = ddp\.step in an \[iter_proxy\] section'
like "$(cat ddp.step)" 'From ddp\.json, ProfilerStep#3, the median of 3 steps: 12 ms' \
    'a trace of several steps gives the median step'
is "$(lines ddp.step)" \
    "gemm nt 64 512 256 fp32;kernel 7200000 3.6us;gemm nt 64 256 512 fp32;gemm tn 256 512 64 fp32;\
gradient 256 fp32;gradient 131072 fp32;gemm nn 64 512 256 fp32;gemm tn 512 256 64 fp32;\
gradient 512 fp32;gradient 131072 fp32" \
'the step has the shapes, layouts, bytes and gradients of the trace in their order'
fails 2 '^ddp\.step: exists: give another name with -o' import ddp.json
ok 'a trace becomes a step of another name' import ddp.json -o other.step
ok 'a step of another name has the same lines' cmp ddp.step other.step

"$make" gpu='NVIDIA H200' >h200.json
ok 'a trace of a known GPU becomes a step' import h200.json
like "$(cat h200.step)" 'kernel 14169600 3\.6us' \
    'without large copies in the trace, kernels move what the data sheet of the GPU says'

unlike "$err" schemaVersion 'a trace in the format of PyTorch 2.11 gives no warning about it'
"$make" schema=2 >next.json
ok 'a trace of an unknown schemaVersion becomes a step' import next.json
is "$(grep -c schemaVersion <<<"$err")" 1 'a trace of an unknown schemaVersion gives one warning'
like "$err" 'next.json: warning: schemaVersion 2 was never tried, only 1; compare the step'
is "$(lines next.step)" "$(lines ddp.step)" \
    'a trace of an unknown schemaVersion is read as the known'

"$make" comms=fsdp >fsdp.json
ok 'a trace of FSDP becomes a step' import fsdp.json
is "$(grep -E '^(all|red|wait|gradient)' fsdp.step | paste -sd';')" \
    'all_gather 131840 fp32 default_pg;wait;reduce_scatter 262912 fp32 default_pg' \
    'a step of FSDP gathers, waits and scatters, without gradients'

"$make" comms=none >alone.json
says 'no collectives; its 4 gradients are all-reduced as DDP would' import alone.json
"$make" strides=0 >guessed.json
says 'layouts of 5 of 5 GEMMs are guessed' import guessed.json
"$make" marks=0 >unmarked.json
ok 'a trace without step marks becomes a step' import unmarked.json
is "$(grep -c '^gemm' unmarked.step)" 15 'a trace without step marks is taken for one step'
like "$err" 'no ProfilerStep marks, and no two Optimizer\.step: all of it counts as one step'

"$make" marks=0 optimizer=1 >cut.json
says 'the GPU waited for the CPU in 91% of the step' import cut.json
like "$(cat cut.step)" 'up to Optimizer\.step#AdamW\.step, the median of 2 steps: 10 ms' \
    'a trace without step marks is cut where the optimizer ends'
is "$(grep -c '^gemm' cut.step)" 5 'a trace that is cut gives the GEMMs of one step'
is "$(grep '^kernel' cut.step | cut -d' ' -f2,3 | paste -sd';')" \
    '9679163 8us;1209895 1us;10889058 9us;36296862 30us' \
    'kernels, copies and fills move what the copies of the trace move in their time'
is "$(tail -n 2 cut.step | paste -sd';')" 'wait;kernel 36296862 30us' \
    'the optimizer waits for the buckets'
like "$err" 'step 10\.7 ms in the trace: GEMMs 0\.8 ms .* collectives 0\.2 ms, no kernel 9\.7 ms'
like "$err" 'a replay on this GPU should take [0-9.]+ to 1\.0 ms' 'import says what a replay should take'

refused() { # REGEX FILE OPTION…
    fails1 1 "^$2:[0-9]*:? ?$1" import "${@:2}" -o refused.step
}
"$make" shapes=0 >shapes.json
refused '.*"Input Dims" .*record with record_shapes=True' shapes.json
head -c 4000 ddp.json >torn.json
refused 'truncated or not JSON: .*record it again' torn.json
"$make" comms=old >old.json
refused 'record_param_comms without "Collective name": record with PyTorch 2\.2' old.json
"$make" comms=none gradients=0 >none.json
refused 'neither collectives .* nor gradients: record a training step' none.json
"$make" type=int >int.json
refused "aten::addmm .*no dtype 'int': float, c10::BFloat16" int.json
gzip -c ddp.json >ddp.json.gz
refused 'refused: compressed; run gunzip' ddp.json.gz
printf '\0\1' >binary.json
refused 'refused: binary; text has no NUL byte' binary.json
truncate -s 2G large.json
refused 'refused: larger than 512 MiB; record fewer steps' large.json
rm large.json
ok 'a refused trace leaves no file' test ! -e refused.step

"$make" groups=2 gradients=0 >groups.json
says 'groups default_pg and tensor: a replay has one group; remove the lines of the others' import \
    groups.json

is "$(ls "$top"/configs/steps/*.step | wc -l)" 12 'twelve steps come with gradsync'

# ---- replayed ----

config() { # FILE RANKS LINE…
    printf '%s\n' '[launch]' "ranks = $2" 'oversubscribe = yes' 'bind = none' '[measure]' \
        'launches = 1' 'blocks = 2' \
        'max_blocks = 2' 'samples = 1' 'budget = 100ms' 'warmup = 1ms' 'warmup_ops = 1' \
        '[iter_proxy]' "${@:3}" >"$1"
}
measure() { # FILE: $lines is the recording
    rm -rf data
    run "$gradsync" run -q -o data "$1"
    lines=$(cat data/*/*/*/{launch,skipped}-*.jsonl 2>/dev/null)
}
count() { grep -c "$1" <<<"$lines"; }

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
config mixed.ini 3 'backend = host' 'step = mixed.step, cut.step, fsdp.step' 'batch = 1, 2' \
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

config algorithms.ini 2 'backend = host' 'step = ddp.step' \
    'algorithm = auto, ring, tree, recursive_doubling, rabenseifner'
measure algorithms.ini
is "$rc:$(count '"type":"fail"')" 0:0 'buckets are reduced right by every algorithm'
config gathers.ini 2 'backend = host' 'step = fsdp.step' 'algorithm = auto, ring'
measure gathers.ini
like "$lines" '"kind":"skip","why":"fsdp\.step:[0-9]: backend=host has no all-gather or '\
'reduce-scatter by algorithm=ring \(auto\)' \
    'a gather has no ring on the host'

config large.ini 2 'backend = host' "step = $top/configs/steps/gpt2-124m-ddp.step" 'scale = 0.05'
sed -i "s,$top/,," large.ini && ln -s "$top/configs" configs
measure large.ini
is "$rc:$(count '"type":"fail"')" 0:0 'a scaled step runs on a small machine'
prints 'memory' "$gradsync" plan large.ini

# ---- synthetic GEMMs have shapes and layouts ----

config shapes.ini 2 'backend = host' 'size = 4KiB' 'gemm = 16' 'gemm_m = 0, 24' 'gemm_n = 40' \
    'gemms = 3' 'layout = nn, nt, tn'
measure shapes.ini
is "$rc:$(count '"type":"group"'):$(count '"type":"fail"')" 0:6:0 \
    'synthetic GEMMs give the right product in every layout'

no_orphans 'no process is left running'
done_testing
