#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plugins: the check, help and list. tests/golden/plugins.cmd has the loader's refusals and the lint,
# tests/test_plugin_faults.sh every fault that the check must find.
. "$(dirname "$0")/lib.sh"
. "$top/tests/plugins.sh"

# ---- what crashes, and the calls ----

compile load_crash load_crash.so
fails1 1 '' "$gradsync" check -q load_crash.so

compile bad bad.so
says 'tables are correct.*a block on 2 ranks was measured and is right' "$gradsync" check bad.so
exits 0 'check -q passes a good plugin' "$gradsync" check -q bad.so
is "$out$err" '' 'check -q says nothing about a good plugin'

hunt OPEN open_crash 1 'killed by SIGSEGV'
run "$gradsync" check open_crash.so
like "$(cat "${err##*are below }"/check/open_crash/*/launch-*.log 2>&1)" 'rank|signal|MPI|mpirun' \
    'the message says where the output of the ranks is'
hunt SAMPLE sample_nan 1 'gave a time of nan s'
hunt PREPARE prepare_sets_nothing 1 'prepare\(\) returned WL_OK, but did not set \*prepared'
hunt VERIFY verify_wrong 1 'element 3 is 4, not 5'

runtime=$("${CC:-gcc}" -print-file-name=libasan.so)
if [[ $build == */asan || $runtime != /* ]]; then
    skip 'check finds a write past the end, with ASan' 'another ASan, or none, is loaded here'
else
    compile bad past.so -DNAME=past -DPREPARE=prepare_past_the_end -fsanitize=address
    exits 1 'check finds a write past the end, with ASan' env LD_PRELOAD="$runtime" \
        ASAN_OPTIONS=detect_leaks=0 "$gradsync" check past.so
    like "$(grep -h SUMMARY "${err##*are below }"/check/past/*/launch-*.log)" \
        'heap-buffer-overflow.*prepare_past_the_end' 'its log has the function that wrote'
fi

# ---- a plugin that needs what is not here: check made the config, so no line of it is named

if [ ! -e /proc/driver/nvidia/version ] && [ -e "$build/plugins/nccl_allreduce.so" ]; then
    exits 3 'check says that a plugin needs a GPU' "$gradsync" check -q \
        "$build/plugins/nccl_allreduce.so"
    like "$err" 'nccl_allreduce.so: \[nccl_allreduce\] needs a GPU: .*: run where nvidia-smi' \
        'the message names the plugin, no line, and what to do'
fi

# ---- help and list ----

for so in "$build"/plugins/*.so; do
    ok "help describes $(basename "$so")" "$gradsync" help "$so"
    is "$(awk 'length > 80' <<<"$out")" '' "help of $(basename "$so") fits 80 columns"
done
ok 'list succeeds' "$gradsync" help plugins
like "$out" 'mpi_allreduce .*all-reduce' 'list shows the plugins beside the program'

exits 0 'null.so passes its check' "$gradsync" check "$build/tests/plugins/null.so"
no_orphans 'no process is left running'
done_testing
