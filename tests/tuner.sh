# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The NCCL tuner plugin in a job (build/tuner/job) that plays NCCL and its ranks:
#   job KEY=VALUE…   runs it
#   trial LINE…      writes its trial file: a fresh folder `out`, the usual arms
#   lines TYPE       the lines of that type that the ranks wrote
#   orders           the arms in their order, as each rank has them: one line when they are the same
#   last             how the trial ended, and its visits
# After sourcing lib.sh.
# shellcheck disable=SC2154 # lib.sh's
plugin=$build/libnccl-tuner-gradsync.so
job() { NCCL_TUNER_PLUGIN=$plugin NCCL_PROFILER_PLUGIN=$plugin "$build/tuner/job" "$@"; }
trial() {
    rm -rf out
    mkdir -p out/agree
    printf '%s\n' "out = $tmp/out" 'arm = auto' 'arm = ctas=8' 'arm = ring/LL' 'arm = nvls' "$@" \
        >trial.txt
    export GRADSYNC_TRIAL=$tmp/trial.txt
}
lines() { cat out/*.jsonl | jq -c "select(.type == \"$1\")"; }
orders() { for f in out/[!l]*.jsonl; do jq \
    -r 'select(.type == "visit") | "\(.block) \(.arm) \(.copy)"' "$f" | xargs; done | sort -u; }
last() { jq -r 'select(.type == "end") | "\(.state) \(.visits)"' out/*.jsonl | sort -u | xargs; }
