#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The same NCCL settings on the same PyTorch training steps at every level of evidence
# (docs/deciding.md), side by side. It needs two GPUs, and python3 with torch. Exits 1 if a target is
# missed or a level fails.
#   STEPS    names below (default: all of them)
#   LEVELS   alone synthetic step trial training launches (default: all but launches, which needs a
#            new torchrun for each config)
#   CONFIGS  settings to compare with auto (default: ctas=8 ctas=16 ring/LL128)
#   BUDGET   seconds of measuring per step and level, and for each of five launches of a trial
#            (default: 20); each start takes more
#   OUT      folder to keep recordings, logs and the table in (default: none)
#   HOST     1: without GPUs, to try this script: MPI instead of NCCL, JOB instead of torchrun
. "$(dirname "$0")/gpu_common.sh"

declare -A step_args=(
    [ddp-small]='--layers 12 --width 1024 --batch 8'
    [ddp-large]='--layers 8 --width 2048 --batch 8'
    [fsdp-small]='--mode fsdp2 --layers 6 --width 1024 --batch 48'
    [fsdp-large]='--mode fsdp2 --layers 8 --width 2048 --batch 16'
    [ddp-small-graph]='--graph --layers 12 --width 1024 --batch 8'
    [ddp-large-graph]='--graph --layers 8 --width 2048 --batch 8'
)
steps=${STEPS:-ddp-small ddp-large fsdp-small fsdp-large ddp-small-graph ddp-large-graph}
levels=${LEVELS:-alone synthetic step trial training}
configs=${CONFIGS:-ctas=8 ctas=16 ring/LL128}
budget=${BUDGET:-20} host=${HOST:-} list=${configs// /,}
out=${OUT:-$tmp/out}
mkdir -p "$out"
results=$out/results
: >"$results"
train=$top/tests/bench/torch_train.py

# STEP LEVEL REASON…: there is no result, and it is no failure; the same, and it is one
absent() { echo "$1 $2 absent ${*:3}" >>"$results"; }
failed() { echo "$1 $2 failed ${*:3}" >>"$results"; }
last_line() { grep -v '^ *$' "$1" | tail -n 1; }
torch() { # ARG…: a process a GPU; HOST has none
    [ -z "$host" ] || { echo 'no PyTorch without GPUs' && return 3; }
    python3 -m torch.distributed.run --standalone --nproc-per-node "$gpus" "$train" "$@"
}

# ---- levels that are recordings of gradsync

contrasts() { # STEP LEVEL NAME: of its recording, to the results
    "$gradsync" reduce -q "$out/raw/$3" -o "$out/csv-$3" 2>>"$out/$3.log"
    "$gradsync" compare -q "$out/raw/$3"/*/* -o "$out/csv-$3" >>"$out/$3.log" 2>&1
    awk -v step="$1" -v level="$2" -f "$top/tests/csv.awk" -f "$top/tests/bench/steps_rows.awk" \
        "$out/csv-$3/summary.csv" "$out/csv-$3/compare.csv" >>"$results"
}

measure() { # STEP LEVEL WORKLOAD KEY=VALUE…: runs it, and gives the contrasts to the results
    local step=$1 level=$2 workload=$3 name=$1-$2 keys
    shift 3
    keys=$(printf '%s\n' "$@")
    cat >"$out/$name.ini" <<-END
	[launch]
	ranks = $gpus
	oversubscribe = yes
	[measure]
	launches = 3
	blocks = 4
	samples = 2
	precision = 0.001
	warmup = 20ms
	budget = $(awk -v b="$budget" 'BEGIN { printf "%.1f", (b > 8 ? b - 6 : b) / 3 }')s
	[$workload]
	configs = auto, ${list//,/, }
	$keys
	END
    if ! "$gradsync" run -q "$out/$name.ini" -o "$out/raw" >"$out/$name.log" 2>&1; then
        failed "$step" "$level" "$(last_line "$out/$name.log")"
        return
    fi
    contrasts "$step" "$level" "$name"
}

level_alone() {
    if [ -n "$host" ]; then measure "$1" alone mpi_allreduce 'size = 1MiB'; else
        measure "$1" alone nccl_allreduce 'size = 25MiB' 'buffers = cold'
    fi
}
level_synthetic() {
    if [ -n "$host" ]; then measure "$1" synthetic iter_proxy 'backend = host' 'gemm = 64' \
        'size = 1MiB'; else
        measure "$1" synthetic iter_proxy 'backend = cuda' 'size = 256MiB' 'buckets = 4' \
            'issue = after' \
            'gemm = 4096' 'gemms = 12' 'precision = bf16' 'mode = overlapped'
    fi
}
level_step() {
    local trace=$out/$1.trace.json profile=$out/$1.step
    if ! "$gradsync" help import | grep -q -- '--step'; then
        absent "$1" step 'this gradsync imports no training steps'
        return
    fi
    # shellcheck disable=SC2086
    if ! torch ${step_args[$1]} --warmup 10 --profile "$trace" >"$out/$1.profile.log" 2>&1 ||
        ! "$gradsync" import --step "$trace" -o "$profile" >>"$out/$1.profile.log" 2>&1; then
        failed "$1" step "$(last_line "$out/$1.profile.log")"
        return
    fi
    measure "$1" step iter_proxy "step = $profile" 'mode = overlapped' \
        "launch = $([[ ${step_args[$1]} == *--graph* ]] && echo graph || echo stream)"
}

# ---- levels that are a training

level_trial() {
    local log=$out/$1-trial.log
    if [[ ${step_args[$1]} == *--graph* ]]; then
        absent "$1" trial 'CUDA graph: nothing can be switched'
        return
    fi
    local command=(python3 -m torch.distributed.run --standalone --nproc-per-node "$gpus" "$train")
    [ -z "$host" ] || eval "command=(${JOB:?})"
    # shellcheck disable=SC2206
    [ -n "$host" ] || command+=(${step_args[$1]} --seconds "$budget")
    if ! "$gradsync" trial --arms "$list" --steps 14 --warmup 20 --minutes 0 --launches 5 \
        --platform "$1-trial" -o "$out/raw" -- "${command[@]}" >"$out/$1-trial.out" 2>"$log"; then
        failed "$1" trial "$(last_line "$log")"
    else
        contrasts "$1" trial "$1-trial"
    fi
}
level_training() {
    local log=$out/$1-training.log
    [ -z "$host" ] || { absent "$1" training 'no PyTorch without GPUs' && return; }
    # shellcheck disable=SC2086
    if ! torch ${step_args[$1]} --compare "$list" --seconds "$budget" >"$log" 2>&1; then
        failed "$1" training "$(last_line "$log")"
        return
    fi
    sed -n 's/^compare \([^ ]*\) \([0-9.]*\) ms \([-+0-9.]*\)% \[\([^,]*\), \([^]]*\)\].*/\1 \2 '\
'\3 \4 \5/p' "$log" |
        sed "s/^/$1 training /" >>"$results"
}
level_launches() {
    local name=$1-launches
    if ! "$gradsync" help train >/dev/null 2>&1; then
        absent "$1" launches 'this gradsync launches no trainings'
        return
    fi
    cat >"$out/$name.ini" <<-END
	[launch]
	ranks = $gpus
	[measure]
	launches = 3
	[train]
	command = python3 -m torch.distributed.run --standalone --nproc-per-node $gpus $train ${step_args[$1]} --steps 100 --config {config}
	time = step time: ([0-9.]+) ms
	unit = ms
	config = auto, ${list//,/, }
	END
    if "$gradsync" train -q "$out/$name.ini" -o "$out/raw" >"$out/$name.log" 2>&1; then
        contrasts "$1" launches "$name"
    else
        failed "$1" launches "$(last_line "$out/$name.log")"
    fi
}

# STEP LEVEL: the same for every step, so it is measured for the first and repeated for the others
repeated() {
    [[ $2 == alone || $2 == synthetic ]] && grep -q "^[^ ]* $2 " "$results" || return
    sed -n "s/^${steps%% *} $2 /$1 $2 /p" "$results" >"$tmp/rows" && cat "$tmp/rows" >>"$results"
}

for step in $steps; do
    [ -n "${step_args[$step]:-}" ] || { echo "bench-steps: no step '$step': ${!step_args[*]}" \
        >&2 && exit 2; }
    for level in $levels; do
        from=$SECONDS
        repeated "$step" "$level" || "level_$level" "$step"
        echo "bench-steps: $step $level: $((SECONDS - from)) s" >&2
    done
done
awk -f "$top/tests/bench/steps_table.awk" "$results" | tee "$out/table"
! grep -q 'MISSED\|FAILED' "$out/table"
