#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
# Waits
#
# The check of plugins: each call that can fail, and that our own plugins pass.
. "$(dirname "$0")/lib.sh"
. "$top/tests/plugins.sh"

hunt OPEN open_exit 1 'exited with code 0 before it was done \(rank'
hunt OPEN open_skip 3 'no GPU on this machine' --
like "$err" 'the tables are correct' "the message says that the tables of open_skip are good"
hunt OPEN open_says_nothing 1 'open\(\) failed without a reason'
hunt OPEN open_fails 1 'rank [01] on .*: device [01] is on fire'
hunt OPEN open_hang 1 'no progress for 2[0-9.]* s in open \(rank [01] on'
no_orphans 'no process of a hanging plugin is left'
hunt PREPARE prepare_fails_on_one 1 'failed: not on rank 1 \(rank 1 on'
hunt SAMPLE sample_zero 1 'sample\(\) gave a time of 0 s'
hunt SAMPLE sample_in_ms 1 'values\[0\] is the time of one iteration in seconds'
hunt SAMPLE sample_retries 1 'failed: again'
hunt SAMPLE sample_loses 1 'lost: the device is gone'
hunt SAMPLE sample_aborts 1 'crash: killed by SIGABRT'
hunt RELEASE release_twice 1 'crash: killed by SIGABRT'

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
fails1 1 'cut.so: crashes while it is loaded .SIGBUS.' "$gradsync" help ./cut.so

done_testing
