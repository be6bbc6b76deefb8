#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# How a launch of tune ends: its processes get SIGTERM and time, what it left in shared memory is removed, and
# nothing runs on if its guard is killed or stopped.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3 here'

cat >job.py <<'END'
import mmap, os, signal, sys, time
name = f"/dev/shm/gradsync-test-{os.getppid()}-{os.getpid()}"
fd = os.open(name, os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 4096)
segment = mmap.mmap(fd, 4096)
print(name, file=open("segments", "a"))
def term(*_):
    time.sleep(0.2)
    open("checkpoint", "a").write("whole\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, term if "ignore" not in sys.argv else signal.SIG_IGN)
while True:
    print("step time: 20 ms", flush=True)
    time.sleep(0.02)
END
tune() { exec "$gradsync" tune -o raw -m "$1" --no-price --only IGNORE_CPU -- "${@:2}"; }
left() { # segments that are still there
    while read -r segment; do [ ! -e "$segment" ] || echo "$segment"; done <segments
}
touch /dev/shm/gradsync-test-$$-other
(tune 0.8 python3 job.py) >told 2>&1
ok 'tune ends' grep -q 'No setting of 1' told
is "$(sort -u checkpoint)" whole 'a job that is ended has time to write a checkpoint'
ok 'more than one launch was ended' test "$(wc -l <segments)" -ge 3
is "$(left)" '' 'no launch leaves shared memory behind'
ok 'what was there before stays' test -e /dev/shm/gradsync-test-$$-other
rm /dev/shm/gradsync-test-$$-other
no_orphans 'nothing of the job is left'

guarded() { # SIGNAL
    rm -f segments && touch segments
    (tune 1 sh -c 'python3 job.py; true') >told 2>&1 &
    pid=$!
    until_true 20 test -s segments
    sleep 0.3
    guard=$(pgrep -P $pid)
    kill "-$1" "$guard"
    until_true 30 eval '! kill -0 $pid 2>/dev/null'
    wait $pid
    is $? 1 "SIG$1 of the guard ends the first launch with an error"
    like "$(cat told)" 'tune: the command: lost: the process that guards the launch was killed or stopped' 'it says so'
    no_orphans 'nothing runs on'
}
guarded KILL
guarded STOP

rm -f segments && touch segments
(tune 1 sh -c 'python3 job.py & python3 job.py ignore') >told 2>&1 &
pid=$!
until_true 20 eval '[ "$(wc -l <segments)" = 2 ]'
sleep 0.3
kill -KILL $pid
wait $pid
until_true 30 eval '[ -z "$(left)" ]'
is "$(left)" '' 'kill -9 of gradsync leaves no process and no shared memory'
done_testing
