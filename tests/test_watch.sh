#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync watch: following a log, and logs of noise. tests/golden/watch.cmd has what it reads and says.
. "$(dirname "$0")/lib.sh"
watch() { "$gradsync" watch --no-follow "$@"; }
lines() { # COUNT FORMAT: FORMAT (one %d) for 1 to COUNT
    # shellcheck disable=SC2059
    for ((i = 1; i <= $1; i++)); do printf "$2\n" "$i"; done
}
lines 30 'step %5d | loss: 3.29 | dt: 339.11ms | tok/sec: 1545123.45' >live.log
{ head -c 300000 /dev/zero | tr '\0' x && cat live.log && printf 'half a line tok/sec: 5'; } >long.log
ok 'a log with an endless line is read' watch long.log
head -c 200000 /dev/urandom >noise.log
run watch noise.log
ok 'a log of noise does not crash watch' test $rc -le 2

"$gradsync" watch live.log >followed 2>&1 &
pid=$!
ok 'watch follows a log' until_true 100 grep -q 'step 25:' followed
lines 20 'step 5%d | dt: 339.11ms | tok/sec: 9000000' >>live.log
ok 'watch reads what is appended' until_true 100 grep -q 'step 515:' followed
{ lines 25 'step 7%d | dt: 339.11ms | tok/sec: 9000000'; echo 'NCCL WARN late'; } >next.log
mv live.log old.log && mv next.log live.log
ok 'watch follows a log that is rotated' until_true 100 grep -q 'step 715:' followed
kill -TERM $pid
wait $pid
is $? 1 'after a signal the exit code tells of trouble'
like "$(tail -n 3 followed)" 'NCCL error: 1 line' 'a signal ends watch with a summary'
no_orphans 'no process is left'
done_testing
