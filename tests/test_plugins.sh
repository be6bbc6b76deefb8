#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plugins: the loader's refusals, the lint, the check, help and list. tests/test_plugin_faults.sh has
# every fault that the check must find.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/plugins.sh
. "$top/tests/plugins.sh"

# ---- what does not load ----

exits 2 'a plugin that does not exist is refused' "$gradsync" help nul
one_line "$err" 'a plugin that does not exist is refused in one line'
GRADSYNC_PLUGIN_PATH=$build/plugins exits 2 'a misspelt plugin is refused' "$gradsync" help nul
like "$err" "did you mean 'null'" 'a misspelt plugin gets the nearest name'
exits 2 'a path to a plugin that does not exist is refused' "$gradsync" help ./none.so
like "$err" '^\./none\.so: .*No such file' 'the message names the path that does not exist'

compile other_abi other_abi.so
exits 2 'a plugin of another ABI is refused' "$gradsync" help ./other_abi.so
like "$err" 'ABI 2, but this gradsync needs 1' 'the message names both ABIs'
compile no_symbol no_symbol.so
exits 2 'a plugin without its symbol is refused' "$gradsync" help ./no_symbol.so
like "$err" 'does not export wl_plugin_v1' 'the message names the missing symbol'
echo 'wl_plugin_v1' >text.so
exits 2 'a plugin that is no shared object is refused' "$gradsync" help ./text.so
one_line "$err" 'a plugin that is no shared object is refused in one line'
compile bad_size bad_size.so
exits 2 'a plugin with a wrong size of its table is refused' "$gradsync" help ./bad_size.so
like "$err" 'sizeof\(struct wl_plugin\)' 'the message says how the size is set'

echo 'int absent(void) { return 1; }' >absent.c
"${CC:-gcc}" -fPIC -shared -o libabsent.so absent.c
compile bad needs.so -DNAME=needs -Wl,--no-as-needed -L. -labsent
mv libabsent.so gone
exits 3 'a plugin whose library is missing exits with 3' "$gradsync" help ./needs.so
like "$err" 'needs libabsent\.so, which is not on this machine' \
    'the message names the missing library'
one_line "$err" 'a missing library is reported in one line'

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
exits 2 'the loader refuses bad tables' "$gradsync" help ./bad_tables.so
one_line "$err" 'the loader reports bad tables in one line'
like "$err" 'more' 'the loader says that there are more faults'

compile wild_tables wild_tables.so
exits 1 'check survives tables that cannot be read' "$gradsync" check -q wild_tables.so
like "$err" 'crashes.*SIGSEGV' 'tables that cannot be read are reported as a crash'
compile load_crash load_crash.so
exits 1 'check survives a plugin that crashes while it is loaded' "$gradsync" check -q load_crash.so
one_line "$err" 'a crash while loading is reported in one line'

# ---- the calls ----

compile bad bad.so
exits 0 'check passes the plugin that the bad ones are made of' "$gradsync" check bad.so
like "$err" 'tables are correct.*a block on 2 ranks was measured and is right' 'check says that a good plugin is good'
exits 0 'check -q passes a good plugin' "$gradsync" check -q bad.so
is "$out$err" '' 'check -q says nothing about a good plugin'

hunt OPEN open_crash 1 'killed by SIGSEGV'
run "$gradsync" check open_crash.so
like "$(cat "${err##*are below }"/check/open_crash/*/launch-*.log 2>&1)" 'rank|signal|MPI|mpirun' \
    'the message says where the output of the ranks is'
hunt SAMPLE sample_nan 1 'gave a time of nan s'
hunt VERIFY verify_wrong 1 'element 3 is 4, not 5'

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
    exits 1 "$verb fails if a plugin ends the process while it is loaded" "$gradsync" --plugins one $verb exits.ini
    like "$err" 'one/load_exits.so: ends the process while it is loaded .exit code 0.' \
        'the message names the plugin'
done
exits 2 'a plugin of the current folder is not loaded' bash -c 'cd one && "$0" plan ../exits.ini' "$gradsync"
like "$err" "no plugin 'load_exits'" 'the message says that there is none'
unlike "$(cd one && "$gradsync" list)" 'load_exits' 'list shows none of the current folder'
exits 2 '--plugins needs a folder' "$gradsync" list --plugins exits.ini

exits 0 'null.so passes its check' "$gradsync" check "$build/plugins/null.so"
no_orphans 'no process is left running'
done_testing
