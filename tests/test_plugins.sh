#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plugins: the loader's refusals, the lint, the check, help and list. tests/test_plugin_faults.sh has
# every fault that the check must find.
. "$(dirname "$0")/lib.sh"
. "$top/tests/plugins.sh"

# ---- what does not load ----

fails1 2 '' "$gradsync" help nul
GRADSYNC_PLUGIN_PATH=$build/plugins exits 2 'a misspelt plugin is refused' "$gradsync" help nul
like "$err" "did you mean 'null'" 'a misspelt plugin gets the nearest name'
fails 2 '^\./none\.so: .*No such file' "$gradsync" help ./none.so

compile other_abi other_abi.so
fails 2 'ABI 2, but this gradsync needs 1' "$gradsync" help ./other_abi.so
compile no_symbol no_symbol.so
fails 2 'does not export wl_plugin_v1' "$gradsync" help ./no_symbol.so
echo 'wl_plugin_v1' >text.so
fails1 2 '' "$gradsync" help ./text.so
compile bad_size bad_size.so
fails 2 'sizeof\(struct wl_plugin\)' "$gradsync" help ./bad_size.so

echo 'int absent(void) { return 1; }' >absent.c
"${CC:-gcc}" -fPIC -shared -o libabsent.so absent.c
compile bad needs.so -DNAME=needs -Wl,--no-as-needed -L. -labsent
mv libabsent.so gone
fails1 3 'needs libabsent\.so, which is not on this machine' "$gradsync" help ./needs.so

# ---- the tables ----

compile bad_tables bad_tables.so
exits 2 'check refuses a plugin with bad tables' "$gradsync" check -q bad_tables.so
for fault in "name 'Bad Tables'" 'version is empty' 'summary is empty' 'no describe' 'no open' \
    'no close' 'no prepare' 'no release' 'no sample' 'no verify' "default '4 apples'" \
    "'Time': the name" "choice 'b c'" "choice 'a' is listed twice" "default 'z'" \
    "'kind' is declared twice" 'outside the cell' "'size' and 'again' overlap" \
    'min 9 is above max 3' \
    "'zip': the name is a key" 'is not a WL_CHOICE' "'zip': help is empty" 'type 99' 'role 7' \
    "'odd': help" 'must be "time" in "s"' "'bandwidth' is declared twice" 'has no unit' \
    'across 9'; do
    is "$([[ $err == *"$fault"* ]] && echo said)" said "check reports: $fault"
done
is "$(grep -vc '^bad_tables.so: ' <<<"$err")" 0 'every line about bad tables names the file'
fails1 2 'more' "$gradsync" help ./bad_tables.so

compile wild_tables wild_tables.so
fails 1 'crashes.*SIGSEGV' "$gradsync" check -q wild_tables.so
compile load_crash load_crash.so
fails1 1 '' "$gradsync" check -q load_crash.so

# ---- the calls ----

compile bad bad.so
says 'tables are correct.*a block on 2 ranks was measured and is right' "$gradsync" check bad.so
exits 0 'check -q passes a good plugin' "$gradsync" check -q bad.so
is "$out$err" '' 'check -q says nothing about a good plugin'

hunt OPEN open_crash 1 'killed by SIGSEGV'
run "$gradsync" check open_crash.so
like "$(cat "${err##*are below }"/check/open_crash/*/launch-*.log 2>&1)" 'rank|signal|MPI|mpirun' \
    'the message says where the output of the ranks is'
hunt SAMPLE sample_nan 1 'gave a time of nan s'
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
run "$gradsync" help null
for word in size time spin config effect noise ar1 launch_noise step drift warmup fault \
    fault_rank fault_after slowdown; do
    like "$out" "  $word  " "help of null describes $word"
done
mkdir one
compile bad one/bad.so
compile bad_tables one/bad_tables.so
compile wild_tables one/wild_tables.so
compile load_exits one/load_exits.so
GRADSYNC_PLUGIN_PATH=$tmp/one ok 'list succeeds' "$gradsync" list
like "$out" 'null .*scripted samples' 'list shows the plugins beside the program'
like "$out" 'bad  .*a fault to be found' 'list shows the plugins of GRADSYNC_PLUGIN_PATH'
like "$out" 'bad_tables .*not a lower-case identifier' 'list says why a plugin cannot be loaded'
like "$out" 'wild_tables .*crashes while it is loaded' 'list says that a plugin crashes'
unlike "$out" 'gone' 'list shows nothing that is no plugin'
like "$out" 'load_exits .*ends the process while it is loaded' 'list says that a plugin ends the process'
printf '[platform]\nname = x\n[load_exits]\nsize = 8\n' >exits.ini
for verb in plan run check; do
    fails 1 'one/load_exits.so: ends the process while it is loaded .exit code 0.' "$gradsync" \
        --plugins one $verb exits.ini
done
exits 2 'a plugin of the current folder is not loaded' bash -c 'cd one && "$0" plan ../exits.ini' "$gradsync"
like "$err" "no plugin 'load_exits'" 'the message says that there is none'
unlike "$(cd one && "$gradsync" list)" 'load_exits' 'list shows none of the current folder'
exits 2 '--plugins needs a folder' "$gradsync" list --plugins exits.ini

exits 0 'null.so passes its check' "$gradsync" check "$build/plugins/null.so"
no_orphans 'no process is left running'
done_testing
