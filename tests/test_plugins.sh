#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Plugins: the loader's refusals, the lint, the check and every fault it must find, help and list.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"

bad=$top/tests/bad_plugins
compile() { # SOURCE SO [FLAG…]
    local source=$1 so=$2
    shift 2
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -I"$top/runner" -fPIC -shared -O1 -g "$@" -o "$so" \
        "$bad/$source.c" || flunk "$so compiles"
}
faults() { wc -l <<<"$err"; }

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
like "$err" 'tables are correct.*leak nothing' 'check says that a good plugin is good'
exits 0 'check -q passes a good plugin' "$gradsync" check -q bad.so
is "$out$err" '' 'check -q says nothing about a good plugin'

hunt() { # MEMBER FAULT CODE REGEX [OPTIONS]
    compile bad "$2.so" "-DNAME=$2" "-D$1=$2"
    exits "$3" "check finds $2" "$gradsync" check "${5:--q}" "$2.so"
    like "$err" "$4" "the message describes $2"
    [ "$1" != OPEN ] || [ "$3" = 3 ] || is "$(faults)" 1 "$2 is reported in one line"
}
hunt OPEN open_crash 1 'crashes in open\(\) \(SIGSEGV\)'
hunt OPEN open_exit 1 'ends the process in open\(\)'
hunt OPEN open_skip 3 'skips this machine: no GPU on this machine' --
like "$err" 'the tables are correct' "the message says that the tables of open_skip are good"
hunt OPEN open_says_nothing 1 'fails without a reason'
hunt OPEN open_prints 1 "prints in open\(\): 'hello'"
hunt OPEN open_writes 1 "writes files: 'droppings'"
hunt OPEN open_keeps 1 'leaves 1 descriptors open'
hunt OPEN open_thread 1 'leaves 1 threads running'
hunt OPEN open_locale 1 'setlocale'
hunt DESCRIBE describe_any 1 'accepts size 0'
hunt DESCRIBE describe_writes 1 'writes into the cell'
hunt PREPARE prepare_leaks 1 'leaks 1[0-9][0-9][0-9] bytes with every'
hunt PREPARE prepare_keeps 1 'leaks 1 descriptors with every'
hunt PREPARE prepare_nothing 1 'sets no prepared cell'
hunt PREPARE prepare_fails_on_one 1 'not on rank 1 \(rank 1\)'
hunt SAMPLE sample_nan 1 'values\[0\] is nan'
hunt SAMPLE sample_zero 1 'values\[0\] is 0'
hunt SAMPLE sample_total 1 'is the time of one iteration'
hunt SAMPLE sample_once 1 'the count is not honoured'
hunt SAMPLE sample_backwards 1 'in the wrong order'
hunt SAMPLE sample_retries 1 'returns WL_RETRY .* in a row'
hunt SAMPLE sample_aborts 1 'crashes in sample.*SIGABRT.*assertion failed'
hunt VERIFY verify_wrong 1 'element 3 is 4, not 5'
hunt RELEASE release_twice 1 'crashes in release.*SIGABRT'

compile bad open_fails.so -DNAME=open_fails -DOPEN=open_fails
exits 1 'check finds open_fails on every rank' "$gradsync" check -q open_fails.so
like "$err" 'device 0 is on fire \(rank 0\)' 'the message quotes rank 0'
like "$err" 'device 1 is on fire \(rank 1\)' 'the message quotes rank 1'

compile bad open_hang.so -DNAME=open_hang -DOPEN=open_hang
exits 1 'check ends a plugin that hangs' "$gradsync" check -q open_hang.so
like "$err" 'open\(\) does not return within' 'the message says where a plugin hangs'
no_orphans 'no process of a hanging plugin is left'

# ---- many at once ----

compile bad many.so -DNAME=many -DOPEN=open_prints -DDESCRIBE=describe_any -DSAMPLE=sample_once \
    -DPREPARE=prepare_leaks
exits 1 'check finds a plugin with many faults' "$gradsync" check -q many.so
for fault in "prints in open\(\): 'hello'" 'describe\(\) accepts size 0' \
    'the count is not honoured' \
    'leaks 1[0-9][0-9][0-9] bytes with every'; do
    like "$err" "$fault" "check reports among many faults: $fault"
done

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
GRADSYNC_PLUGIN_PATH=$tmp/one ok 'list succeeds' "$gradsync" list
like "$out" 'null .*scripted samples' 'list shows the plugins beside the program'
like "$out" 'bad  .*a fault to be found' 'list shows the plugins of GRADSYNC_PLUGIN_PATH'
like "$out" 'bad_tables .*not a lower-case identifier' 'list says why a plugin cannot be loaded'
like "$out" 'wild_tables .*crashes while it is loaded' 'list says that a plugin crashes'
unlike "$out" 'gone' 'list shows nothing that is no plugin'

for so in "$build"/plugins/*.so; do
    run "$gradsync" check "$so"
    case $rc in
    0) pass "$(basename "$so") passes its check" ;;
    3) skip "$(basename "$so") passes its check" "${err//$'\n'/; }" ;;
    *) flunk "$(basename "$so") passes its check" "$out$err" ;;
    esac
done
no_orphans 'no process is left running'
done_testing
