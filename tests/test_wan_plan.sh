#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# wan_sync with strategy=auto on this host; tests/golden/model_plan.cmd has what model --plan chooses.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"

if [ -e "$build/plugins/wan_sync.so" ]; then
    printf '%s\n' '[sites]' 'a = gpus=1' 'b = gpus=1' >auto.ini
    printf '%s\n' '[launch]' 'ranks = 3' 'oversubscribe = yes' 'bind = none' '[measure]' \
        'launches = 1' 'blocks = 1' 'max_blocks = 1' 'samples = 1' 'warmup = 0' '[wan_sync]' \
        'size = 64KiB' 'strategy = auto, ring' 'site_ranks = 1' >>auto.ini
    exits 0 'strategy=auto gives the right sum' "$gradsync" run -q -o data auto.ini
    like "$(cat data/auto/wan_sync/*/launch-*.jsonl)" '"key":"strategy","value":"[a-z_]+"' \
        'the recording names the strategy that it chose'
    exits 0 'sites without rates have tables, without a model' "$gradsync" reduce -q -o csv data
else
    skip 'strategy=auto gives the right sum' 'wan_sync is not built here'
fi
no_orphans 'no process is left running'
done_testing
