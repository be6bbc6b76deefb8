#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Machines that are not here are pretended (tests/gpu/pretend.h). One that cannot run GPU plugins
# (a driver older than the runtime, fewer GPUs than ranks, an NCCL too old, no GPU at all) gives one
# line that names the remedy, and exit code 3. On one that can run most of a plan (too little
# memory, a dtype or an algorithm that its NCCL lacks) the rest is measured, and what is not is
# recorded with its reason. tests/test_gpu_cells.sh measures the other kinds of cells.
. "$(dirname "$0")/lib.sh"
. "$top/tests/pretended.sh"

cannot() { # NAME REGEX RANKS VARIABLE=VALUE…
    local name=$1 regex=$2 ranks=$3
    shift 3
    { begin "$ranks" && echo '[nccl_allreduce]'; } >run.ini
    fails1 3 "$regex" env "$@" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q run.ini -o \
        "data-$1"
}
cannot 'a driver too old' 'driver is for CUDA 11\.8, older than the runtime [0-9.]+: update it' 2 \
    PRETEND_DRIVER=11080
remedy='a GPU for each of its 2 ranks, or fewer ranks in \[launch\]'
cannot 'one GPU for two ranks' "shares GPU 0000:01:00\.0 with rank .*$remedy" 2 PRETEND_GPUS=1
cannot 'two GPUs for three ranks' '3 ranks on this node, but 2 GPUs: lower \[launch\] ranks to 2' \
    3 PRETEND_GPUS=2
cannot 'an NCCL too old' 'NCCL 2\.17 is too old, 2\.19 is the first .*install a newer one' 2 \
    PRETEND_NCCL=21700

cannot 'a GPU whose memory is full' \
    'GPU [01]: cudaErrorMemoryAllocation; its memory is full: nvidia-smi lists who uses it' 2 \
    PRETEND_ERROR=2
cannot 'NVSwitch not up' 'cudaErrorSystemNotReady; start nvidia-fabricmanager' 2 PRETEND_ERROR=802

# No GPU at all is found before anything starts: one line for all sections, and no folder.
{ begin 64 && printf '%s\n' '[nccl_allreduce]' '[nccl_allreduce again]' '[iter_proxy]' \
    'backend = cuda'; } >none.ini
sed -i '/^oversubscribe/d' none.ini
remedy='.*run where nvidia-smi lists'
for gpus in 0 driver; do
    preload=$tmp/pretend.so
    [ $gpus != driver ] || preload=
    fails1 3 "^none\.ini:[0-9]+: \[nccl_allreduce\] and 2 more sections need a GPU: $remedy" env \
        PRETEND_GPUS=0 LD_PRELOAD="$preload" "$gradsync" run none.ini -o data-none
    ok "$gpus GPUs: no folder is made" test ! -e data-none
done
unlike "$("$gradsync" plan none.ini 2>&1)" slots \
    'plan does not speak of slots where there is no GPU'
printf '%s\n' '[null]' 'size = 8' 'config = a' >>none.ini
sed -i 's/^ranks.*/ranks = 2/' none.ini
exits 3 'a run exits with 3 when only some of its sections need a GPU' env PRETEND_GPUS=0 \
    LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q none.ini -o data-none
is "$(cd data-none/* && ls)" null 'the section that needs no GPU is measured, and no other'

# A machine that skips every cell leaves nothing that counts, and the folder is for one that can.
{ begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' 'size = 1MiB' 'gemm = 64' \
    'mode = comm'; } >later.ini
exits 3 'a run whose cells are all skipped exits with 3' env PRETEND_ERROR=802 \
    LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q later.ini -o data-later
later=$(echo data-later/*/*/*)
is "$(cd "$later" && echo launch-* skipped-*)" 'launch-* skipped-01.01.jsonl' \
    'a run whose cells are all skipped keeps the reasons and no launch'
ok 'resume measures the skipped cells on a machine that can' env LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" resume -q "$later"
ok 'a run that resume completed is final' test -e "$later/MANIFEST.json"

printf '%s\n' '[launch]' 'ranks = 2' '[nccl_allreduce]' 'hosts = 3' >hosts.ini
fails 2 'hosts = 3 is more than the 2 ranks' "$gradsync" plan hosts.ini

mkdir -p alone && cp "$build/plugins/nccl_allreduce.so" alone/
fails 3 'cuda\.so.*install CUDA.s and NCCL.s libraries' env LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" check alone/nccl_allreduce.so

on whole 'size = 1KiB'
is "$rc" 0 'a run on a machine that lacks nothing succeeds'
like "$(cat "$recording")" '"peer_access","value":"2 of 2 ways' \
    'the recording says that the GPUs reach each other'
unlike "$err" 'no peer access' 'there is no warning where the GPUs reach each other'

on peers $'size = 1KiB' PRETEND_NO_PEER=1
is "$rc" 0 'a run without peer access between its GPUs succeeds'
told='warning: no peer access from GPU 0000:01:00\.0 to 0000:02:00\.0 .*nvidia-smi topo -p2p r '
is "$(grep -c "$told.*IOMMU" <<<"$err")" 1 \
    'one warning names the GPUs without peer access and the remedy'
like "$(cat "$recording")" '"key":"warning","value":"no peer access' \
    'the warning about peer access is recorded'

on memory 'size = 1KiB, 256MiB' PRETEND_MEMORY=200
but_one 'too little device memory' \
    '512\.0 MiB of device memory needed, but [0-9.]+ MiB of 200\.0 MiB are free: use smaller sizes'
on algorithm $'size = 1KiB\nalgorithm = auto, pat' PRETEND_REFUSES=PAT
but_one 'an algorithm that NCCL refuses' 'ncclAllReduce: NCCL refuses it here'
{ begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' 'size = 1MiB' 'gemm = 64' 'gemms = 2' \
    'configs = auto, LL' \
    'mode = compute, comm, sequential, overlapped'; } >step.ini
says 'iter_proxy: warning: no peer access' env PRETEND_NO_PEER=1 LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" run step.ini -o data-step
is "$(grep -h '"type":"cell"' data-step/*/*/*/launch-01.01.jsonl | sed \
    's/.*"mode":"\([a-z]*\)","p.*/\1/' | sort -u | wc -l)" 4 'every mode of the step is recorded'
# ---- an error that CUDA keeps for the rest of the process ----

closed() { cat "$(dirname "$recording")"/launch-*.jsonl | grep '"type":"group"' |
    grep -o '"cell":"[0-9a-f]*"' | sort -u | wc -l; }
lost() { cat "$(dirname "$recording")"/launch-*.jsonl | grep '"type":"fail"'; }
for after in 1:prepare 4:sample; do
    on "kept${after%:*}" $'size = 1KiB, 2KiB, 4KiB\nlaunch = stream\nconfigs = auto, ring, tree' \
        "PRETEND_KEEPS=Tree 256 1 ${after%:*}"
    is "$rc $(closed)" '1 8' "a lost GPU in ${after#*:}() costs one of nine cells"
    is "$(lost | wc -l)" 1 "a lost GPU in ${after#*:}() is recorded once"
    like "$(lost)" '"kind":"lost","why":"[^"]* on GPU 1: [^"]*cudaErrorIllegalAddress\); try '\
'nvidia-smi, and the kernel.s log for NVRM","rank":1,"host":"[^"]+","phase":"[a-z]+"' \
        "a lost GPU in ${after#*:}() is recorded with CUDA's error, the remedy and the rank"
    like "$err" 'launch 1 attempt 1: lost: .*size=1KiB.* \(rank 1 on [^ ]+\)'
done

# ---- sites whose GPUs sum first ----

sites $'strategy = hierarchical\nsize = 1MiB\ninside = nccl'
is "$rc $(blocks)" '0 2' 'each sum is right with NCCL inside a site'

no_orphans 'no process is left'
done_testing
