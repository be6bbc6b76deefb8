#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Machines that are not here are pretended (tests/gpu/pretend.c). One that cannot run GPU plugins
# (a driver older than the runtime, fewer GPUs than ranks, an NCCL too old, no GPU at all) gives one
# line that names the remedy, and exit code 3. On one that can run most of a plan (too little
# memory, a dtype or an algorithm that its NCCL lacks) the rest is measured, and what is not is
# recorded with its reason. GPUs that cannot reach each other give a warning.
. "$(dirname "$0")/lib.sh"
[ -e "$build/plugins/nccl_allreduce/cuda.so" ] || skip_all 'built without CUDA or NCCL'
ok 'the library that pretends compiles' "${CC:-gcc}" -std=gnu11 -Wall -Wextra -shared -fPIC \
    -Wl,-soname,libcuda.so.1 -o pretend.so "$top/tests/gpu/pretend.c"

begin() { # RANKS: a config's first lines
    printf '%s\n' '[launch]' "ranks = $1" 'oversubscribe = yes' '[measure]' 'launches = 1' \
        'blocks = 2' \
        'max_blocks = 2' 'samples = 1' 'warmup = 1ms' 'warmup_ops = 1' 'retries = 0' \
            'deadline = 20s'
}
cannot() { # NAME REGEX RANKS VARIABLE=VALUE…
    local name=$1 regex=$2 ranks=$3
    shift 3
    { begin "$ranks" && echo '[nccl_allreduce]'; } >run.ini
    exits 3 "$name: the run exits with 3" env "$@" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q \
        run.ini -o "data-$1"
    one_line "$err" "$name: the error is one line"
    like "$err" "$regex" "$name: the error names the remedy"
}
cannot 'a driver too old' 'driver is for CUDA 11\.8, older than the runtime [0-9.]+: update it' 2 \
    PRETEND_DRIVER=11080
remedy='a GPU for each of its 2 ranks, or fewer ranks in \[launch\]'
cannot 'one GPU for two ranks' "shares GPU 0000:01:00\.0 with rank .*$remedy" 2 PRETEND_GPUS=1
cannot 'two GPUs for three ranks' '3 ranks on this node and 2 GPUs: set ranks in \[launch\] to 2' \
    3 PRETEND_GPUS=2
cannot 'an NCCL too old' 'NCCL 2\.17 is too old, 2\.18 is the first .*install a newer one' 2 \
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
    exits 3 "$gpus GPUs: the run exits with 3" env PRETEND_GPUS=0 LD_PRELOAD="$preload" \
        "$gradsync" run none.ini -o data-none
    one_line "$err" "$gpus GPUs: the error is one line for all sections"
    like "$err" "^none\.ini:[0-9]+: \[nccl_allreduce\] and 2 more sections need a GPU: $remedy" \
        "$gpus GPUs: the error names the sections and where to run them"
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
exits 2 'a plan with more make-believe hosts than ranks is refused' "$gradsync" plan hosts.ini
like "$err" 'hosts = 3 is more than the 2 ranks' 'the error names the hosts and the ranks'

mkdir -p alone && cp "$build/plugins/nccl_allreduce.so" alone/
exits 3 'check exits with 3 where NCCL is missing' "$gradsync" check alone/nccl_allreduce.so
like "$err" 'cuda\.so.*install CUDA.s and NCCL.s libraries' \
    'the error says which libraries to install'

# NAME BODY VARIABLE=VALUE…: $rc, $out, $err; $recording
on() {
    local name=$1 body=$2
    shift 2
    { begin 2 && printf '%s\n' '[nccl_allreduce]' "$body"; } >"$name.ini"
    run env "$@" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run "$name.ini" -o "data-$name"
    recording=$(find "data-$name" -name 'launch-01.01.jsonl')
}
# What is told of the one cell that was skipped, beside others that were measured
but_one() { # NAME REGEX
    is "$rc" 0 "$1: the run succeeds"
    is "$(grep -h '"type":"fail"' "$recording" | grep -c '"kind":"skip"')" 1 \
        "$1: one cell is skipped"
    like "$(grep -h '"kind":"skip"' "$recording")" "$2" "$1: the reason is recorded"
    ok "$1: the other cells have blocks" grep -q '"type":"block"' "$recording"
}
on whole 'size = 1KiB'
is "$rc" 0 'a run on a machine that lacks nothing succeeds'
like "$(cat "$recording")" '"peer_access","value":"2 of 2 ways' \
    'the recording says that the GPUs reach each other'
unlike "$err" 'no peer access' 'there is no warning where the GPUs reach each other'

# The second copy of a baseline has a communicator of its own. Each launch prepares the cells in an
# order of its own.
communicators() { # NAME: one line a launch, cell and copy: "LAUNCH CELL COPY COMMUNICATOR"
    local i=0 file note='"type":"note".*"cell":"\([^"]*\)","copy":\([01]\)'
    note+=',"key":"communicator","value":"\([0-9]*\)"'
    for file in "data-$1"/*/*/*/launch-*.jsonl; do
        sed -n "s/.*$note.*/$((++i)) \1 \2 \3/p" "$file"
    done
}
both_copies() { # NAME: of each cell that has two: how many, and how many share a communicator
    communicators "$1" |
        awk '{ k = $1 " " $2; if (k in of) { n++; same += of[k] == $4 } of[k] = $4 }
            END { print n + 0, same + 0 }'
}
{ begin 2 && printf '%s\n' '[nccl_allreduce]' 'size = 1KiB' 'configs = auto, ring, tree'; } \
    >copies.ini
exits 0 'a run with two copies of its baseline succeeds' env LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" run -q copies.ini -o data-copies --set measure:launches=5
is "$(both_copies copies)" '5 0' \
    'the copies of a baseline share a communicator in none of 5 launches'
is "$(communicators copies | awk '{ n[$1 " " $4]++ } END { print length(n) }')" 20 \
    'each of 4 cells has a communicator of its own in each launch'
is "$(grep -h '"type":"cell"' data-copies/*/*/*/launch-*.jsonl | grep -o '"prepared":[1-4]}' |
    sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" \
    '5 5 5 5' 'the cells of each launch are numbered in the order of preparation'
isnt "$(grep -h '"copy":0,"config":"auto"' data-copies/*/*/*/launch-*.jsonl | grep -o \
    '"prepared":.' | sort -u | wc -l)" 1 \
    'the order of preparation is not the same in every launch'
run env PRETEND_REFUSES=Ring LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q copies.ini -o \
    data-lost \
    --set measure:launches=5 --set measure:baseline=ring
is "$(grep -c '"type":"fail"' data-lost/*/*/*/launch-*.jsonl | sed 's/.*://' | paste -sd' ')" \
    '1 1 1 1 1' \
    'a baseline that is refused is recorded once a launch, whichever copy is prepared first'
{ begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' 'size = 64KiB' 'gemm = 64' 'gemms = 2' \
    'mode = compute, comm, sequential, overlapped' 'configs = auto, ring'; } >modes.ini
exits 0 'a run of steps with two copies of the baseline succeeds' env LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" run -q modes.ini -o data-modes
is "$(both_copies modes)" '3 0' 'in no mode do the copies share a communicator'
is "$(communicators modes | awk '$3 { print $4 }' | sort -u | wc -l)" 1 \
    'the modes of the second copy share one communicator'

on peers $'size = 1KiB' PRETEND_NO_PEER=1
is "$rc" 0 'a run without peer access between its GPUs succeeds'
told='warning: no peer access from GPU 0000:01:00\.0 to 0000:02:00\.0 .*nvidia-smi topo -p2p r '
is "$(grep -c "$told.*IOMMU" <<<"$err")" 1 \
    'one warning names the GPUs without peer access and the remedy'
like "$(cat "$recording")" '"key":"warning","value":"no peer access' \
    'the warning about peer access is recorded'
exits 0 'check succeeds without peer access' env PRETEND_NO_PEER=1 LD_PRELOAD="$tmp/pretend.so" \
    "$gradsync" check "$build/plugins/nccl_allreduce.so"
like "$out$err" 'warning: no peer access' 'check warns of missing peer access'

on memory 'size = 1KiB, 256MiB' PRETEND_MEMORY=200
but_one 'too little device memory' \
    '512\.0 MiB of device memory asked for, [0-9.]+ MiB of 200\.0 MiB free: smaller sizes'
on registered $'size = 1KiB, 256MiB\nmemory = ncclMemAlloc' PRETEND_MEMORY=400
but_one 'too little memory for ncclMemAlloc' \
    '512\.0 MiB of device memory asked for, [0-9.]+ MiB of 400\.0 MiB free: smaller sizes'
on contention $'size = 1KiB\ncontention = none, low' PRETEND_MEMORY=150
but_one 'too little memory for contention' \
    '64\.0 MiB of device memory asked for, [0-9.]+ MiB of 150\.0 MiB free: smaller sizes'
on dtype $'size = 1KiB\ndtype = fp32, fp8_e4m3' PRETEND_NCCL=22304
but_one 'a dtype that this NCCL lacks' \
    'this NCCL, 2\.23, has no fp8_e4m3: 2\.24 is the first that has'
on algorithm $'size = 1KiB\nalgorithm = auto, pat' PRETEND_REFUSES=PAT
but_one 'an algorithm that NCCL refuses' 'ncclAllReduce: NCCL refuses it here'
on symmetric $'size = 1KiB\nmemory = plain, symmetric' PRETEND_NCCL=22604
but_one 'a kind of memory that this NCCL lacks' \
    'this NCCL, 2\.26, has no ncclCommWindowRegister: memory = plain, or NCCL 2\.27'

# ---- other collectives, and CTA policies ----

values() { grep -h '"key":"ran"' "$recording" | sed 's/.*"value":"\([^"]*\)".*/\1/' | sort -u |
    paste -sd'|'; }
others='collective = allgather, reducescatter, alltoall, broadcast, reduce, sendrecv'
on others "size = 1KiB"$'\n'"$others"$'\nlaunch = graph, stream\nbuffers = hot, cold'
is "$rc:$(grep -c '"type":"group"' "$recording")" 0:24 \
    'the other collectives are measured in graphs and on a stream, hot and cold'
like "$(values)" 'SendRecv ctas=8' 'the kernel of sends and receives is found in a graph'
on inplace "size = 1KiB"$'\n'"$others"$'\nin_place = yes\nmetric = T_ss, L_iso'
is "$(grep -h '"type":"fail"' "$recording" | grep -c 'cannot be done in place: use in_place=no')" \
    4 'four collectives are done in place; all-to-all and send-receive say they cannot be'
on zero \
    $'size = 1KiB\ncollective = allgather\nconfigs = auto, efficiency, symmetric, symmetric/zero'
is "$rc:$(grep -c '"type":"fail"' "$recording")" '0:0' 'each CTA policy is measured'
like "$(values)" 'copy-engine ctas=0' 'a graph without kernels is recorded as copy engines'
on ignored $'size = 1KiB\ncollective = allgather\nconfigs = auto, symmetric/zero' \
    PRETEND_NO_COPIES=1
but_one 'a policy that NCCL ignores' \
    'NCCL ran SendRecv ctas=8 where policy=zero was asked: it uses copy engines for'
on oldpolicy $'size = 1KiB\ncollective = allgather\nconfigs = auto, symmetric/zero' \
    PRETEND_NCCL=22703
but_one 'a policy that this NCCL lacks' \
    'this NCCL, 2\.27, has no policy=zero: use policy=default, or NCCL 2\.28'
{ begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' 'size = 1MiB' 'gemm = 64' 'gemms = 2' \
    'collective = allgather, reducescatter' \
    'mode = compute, comm, sequential, overlapped' \
        'configs = auto, zero, symmetric, symmetric/zero'; } >sharded.ini
exits 0 'a run of steps with all-gathers and reduce-scatters succeeds' env \
    LD_PRELOAD="$tmp/pretend.so" "$gradsync" run -q sharded.ini -o data-sharded
is "$(cat data-sharded/*/*/*/launch-01.01.jsonl | grep -c '"type":"fail"')" 0 \
    'no cell of these steps fails under any policy'

{ begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' 'size = 1MiB' 'gemm = 64' 'gemms = 2' \
    'configs = auto, LL' \
    'mode = compute, comm, sequential, overlapped'; } >step.ini
exits 0 'a run of steps without peer access succeeds' env PRETEND_NO_PEER=1 \
    LD_PRELOAD="$tmp/pretend.so" "$gradsync" run step.ini -o data-step
like "$err" 'iter_proxy: warning: no peer access' 'a run of steps warns of missing peer access'
is "$(grep -h '"type":"cell"' data-step/*/*/*/launch-01.01.jsonl | sed \
    's/.*"mode":"\([a-z]*\)","p.*/\1/' | sort -u | wc -l)" 4 'every mode of the step is recorded'

# ---- recorded steps ----

ln -s "$top/configs" configs
recorded() { # LINE...: $rc $err, $recording
    { begin 2 && printf '%s\n' '[iter_proxy]' 'backend = cuda' \
        'mode = compute, comm, sequential, overlapped' "$@"; } >recorded.ini
    rm -rf data-recorded
    run env PRETEND_MEMORY="${memory:-8000}" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run \
        recorded.ini -o data-recorded
    recording=$(find data-recorded -name 'launch-01.01.jsonl')
}
steps='configs/steps/gpt2-124m-ddp.step, configs/steps/gpt2-124m-fsdp.step'
recorded "step = $steps" 'launch = stream, graph' 'configs = auto, ring, ctas=8, bucket_cap=5MiB'
is "$rc $(grep -c '"type":"group"' "$recording")" '0 4' \
    'a DDP and an FSDP step are replayed, by stream and as a graph'
is "$(grep -h '"type":"fail"' "$recording" | grep -vc 'has no gradient lines')" 0 \
    'no replayed cell fails, but those without gradient lines'
memory=700 recorded 'step = configs/steps/gpt2-124m-ddp.step' 'batch = 1, 8'
asked='[0-9.]+ MiB of device memory asked for'
like "$(cat "$(dirname "$recording")"/*.jsonl)" \
    '"kind":"skip","why":"configs/steps/gpt2-124m-ddp\.step:[0-9]+: '"$asked" \
    'a GEMM too large for the device is named by its line'
recorded 'gemm = 64' 'gemm_n = 128' 'layout = auto, nn, nt, tn' 'launch = stream, graph' \
    'size = 64KiB'
is "$rc $(grep -c '"type":"group"' "$recording")" '0 8' \
    'synthetic GEMMs run in every layout, by stream and as a graph'

# ---- sites whose GPUs sum first ----

sites() { # BODY VARIABLE=VALUE…: four ranks, two a site
    { begin 4 && printf '%s\n' '[wan_sync]' 'site_ranks = 2' "$1"; } >sites.ini
    rm -rf data-sites
    run env PRETEND_GPUS=4 "${@:2}" LD_PRELOAD="$tmp/pretend.so" "$gradsync" run sites.ini -o \
        data-sites
    recording=$(find data-sites -name 'launch-01.01.jsonl')
}
blocks() { grep -c '"type":"block"' "$recording"; }
sites $'strategy = hierarchical\nsize = 4, 1MiB, 3000004\ninside = mpi, nccl\ntransport = mpi, tcp'
is "$rc $(blocks)" '0 30' 'each sum is right with NCCL inside a site and MPI or TCP between sites'
flowing=$'wire = int4\ncompute = 1ms\nevery = 4\nfragments = 2\noverlap = 0'
sites $'strategy = hierarchical\nsize = 1MiB\ninside = nccl\n'"$flowing"
is "$rc $(grep -c 'inside=nccl has no overlap' <<<"$err")" '3 1' \
    'overlapped fragments with inside=nccl are refused'
sites $'strategy = ring, hierarchical\nsize = 1MiB\ninside = nccl, mpi'
like "$(grep -h '"kind":"skip"' "$recording")" \
    'strategy=ring sums nothing inside a site: it has no inside=nccl' \
    'a ring with inside=nccl is skipped with a reason'
sites $'strategy = hierarchical\nsize = 1MiB, 256MiB\ninside = nccl' PRETEND_MEMORY=100
but_one 'too little memory for a gradient' \
    '256\.0 MiB of device memory asked for, [0-9.]+ MiB of 100\.0 MiB free'
sites $'strategy = hierarchical\nsize = 1MiB\ninside = nccl, mpi' PRETEND_GPUS=1
but_one 'no GPU for each rank of a site' 'shares GPU 0000:01:00\.0 with rank'
is "$(ls /dev/shm/pretended-* 2>/dev/null)" '' 'no pretended shared memory is left'

on dead 'size = 1KiB' PRETEND_DEAD=40
isnt "$rc" 0 'a run whose peer died fails'
like "$(grep -h '"type":"fail"' "$recording")" 'a peer died or cannot be reached' \
    'the recording says that a peer died'
no_orphans 'no process is left after a peer died'
done_testing
