#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The check of plugins: every fault that it must find, and that our own plugins have none.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/plugins.sh
. "$top/tests/plugins.sh"

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
hunt PREPARE prepare_keeps 1 'leaks 1 descriptors with every'
hunt PREPARE prepare_nothing 1 'sets no prepared cell'
hunt PREPARE prepare_fails_on_one 1 'not on rank 1 \(rank 1\)'
hunt SAMPLE sample_zero 1 'values\[0\] is 0'
hunt SAMPLE sample_total 1 'is the time of one iteration'
hunt SAMPLE sample_once 1 'the count is not honoured'
hunt SAMPLE sample_backwards 1 'in the wrong order'
hunt SAMPLE sample_retries 1 'returns WL_RETRY .* in a row'
hunt SAMPLE sample_loses 1 'sample\(\).* fails: the device is gone'
hunt SAMPLE sample_aborts 1 'crashes in sample.*SIGABRT.*assertion failed'
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

# ---- what is no fault ----

compile bad slow_link.so -DNAME=slow_link -DDESCRIBE=describe_one -DSAMPLE=sample_extrapolates
exits 0 'check passes a sample of one iteration whose time is extrapolated' \
    "$gradsync" check -q slow_link.so

for so in "$build"/plugins/*.so; do
    run "$gradsync" check "$so"
    case $rc in
    0) pass "$(basename "$so") passes its check" ;;
    3) skip "$(basename "$so") passes its check" "${err//$'\n'/; }" ;;
    *) flunk "$(basename "$so") passes its check" "$out$err" ;;
    esac
done
no_orphans 'no process is left running'
# ---- a file that was cut short

# What follows the loaded segments is debugging information: cut before it.
head -c 9000 "$build/plugins/iter_proxy.so" >cut.so
exits 2 'a plugin that was cut short is refused' "$gradsync" help ./cut.so
is "$err" './cut.so: is cut short: build or copy it again' 'and the message says so'

done_testing
