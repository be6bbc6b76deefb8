#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The collectives beside the all-reduce: which cells of [nccl_allreduce] a plan skips, and why.
. "$(dirname "$0")/lib.sh"

skipped() { # NAME REGEX LINE…
    config skipped.ini 2 "${@:3}"
    like "$("$gradsync" plan --all skipped.ini 2>&1)" "$2" "plan skips $1"
}
for cell in 'collective = reducescatter' 'collective = allgather/memory = plain'; do
    IFS=/ read -r collective memory <<<"$cell"
    skipped "what no copy engine does: $cell" \
        'policy=zero needs memory=symmetric and collective=allgather' \
        '[nccl_allreduce]' 'policy = zero' "$collective" "${memory:-memory = symmetric}"
done

done_testing
