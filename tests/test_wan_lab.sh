#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# wan_sync between sites of a lab: right sums, and what becomes of a synchronisation when a site's
# line drops to a tenth, stands still for a second or for good, and when a site's rank is killed.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
cat >lab.ini <<'END'
[platform]
name = lab
[sites]
north = gpus=1
east = gpus=1
south = gpus=1
[links]
rate = 40Mbit/s
rtt = 20ms
mtu = 9000
[launch]
ranks = 3
nodes = 3
hosts = north, east, south
bind = none
[measure]
launches = 1
blocks = 2
max_blocks = 2
samples = 1
budget = 60s
discard = 0
warmup = 0
warmup_ops = 1
retries = 0
deadline = 20s
seed = 5
[wan_sync]
size = 2MiB
probe = 200ms
timeout = 10s
END

run timeout 60 "$gradsync" lab -q lab.ini -- true
[ $rc = 3 ] && skip_all "$err"

# In the lab: a run for each fault, which comes when the first of its blocks is recorded.
cat >inside <<'END'
begun() { grep -qs '"type":"block"' "$1"/*/*/*/launch-*.jsonl; }
scene() { # NAME FAULT ARGUMENTS…: the run, and what is done to it
    local name=$1 fault=$2 i=0
    shift 2
    "$gradsync" run -q -o "$name" lab.ini "$@" >"$name.out" 2>"$name.err" &
    local runner=$!
    until begun "$name" || [ $((i += 1)) -gt 300 ]; do sleep 0.05; done
    sleep 0.3
    eval "$fault"
    wait $runner
    echo $? >"$name.rc"
    "$gradsync" lab-set reset >/dev/null
}
kill_south() {
    local p parent # the one that measures, not the one that watches it
    for p in /proc/[0-9]*; do
        parent=$(awk '/^PPid:/ { print $2 }' "$p/status" 2>/dev/null)
        if [ "$(cat "$p/comm" "/proc/$parent/comm" 2>/dev/null)" = $'gradsync-rank\ngradsync-rank' ] &&
            grep -qzx 'OMPI_COMM_WORLD_RANK=2' "$p/environ" 2>/dev/null &&
            grep -qzx "GRADSYNC_TEST_MARK=$GRADSYNC_TEST_MARK" "$p/environ" 2>/dev/null; then
            kill -KILL "${p#/proc/}"
        fi
    done
}
set_line() { "$gradsync" lab-set "$@" >/dev/null; }
scene plain true --set measure:blocks=1 --set measure:max_blocks=1 --set wan_sync:configs='strategy=mpi, ring, direct, recursive_doubling, rabenseifner, direct/int8/lp'
scene slow 'set_line rate south 10%'
scene pause 'set_line stall south; sleep 1; set_line go south'
scene gone 'sleep 1; set_line down south' --set wan_sync:compute=500ms --set wan_sync:every=6 --set wan_sync:timeout=2s --set measure:deadline=8s
scene dead kill_south
END
export gradsync
run timeout 120 "$gradsync" lab -q lab.ini -- bash inside
[ $rc = 0 ] || diag "$err"
read_scene() { # NAME: $rc $err $lines; a machine too busy to be a lab says so
    rc=$(cat "$1.rc") err=$(cat "$1.err") lines=$(cat "$1"/*/*/*/launch-*.jsonl)
}
blocks() { grep -c '"type":"block"' <<<"$lines"; }
late='the lab did not keep its times'
good() { # NAME SCENE: ends well, with right sums
    read_scene "$2"
    if [[ $err =~ $late ]]; then skip "$1" "$err"; else is "$rc:$(blocks):$err" "0:$3:" "$1"; fi
}
good 'every strategy between sites' plain 7
like "$lines" '"key":"shares"' 'with shares by measured rates'
good 'a line that drops to a tenth: it goes on' slow 2
good 'a site that stands still for a second: it goes on' pause 2
read_scene gone
is "$rc" 1 'a site that is cut off: an error'
fails=$(grep '"type":"fail"' <<<"$lines")
if [[ $fails == *'"phase":"sample"'* ]]; then like "$fails" 'having failed: .*south' 'that names the site'; else
    skip 'that names the site' 'the line was cut beside a sample, not in one'
fi
one_line "$err" 'in one line'
read_scene dead
is "$rc" 1 'a site whose rank is killed: an error'
like "$(grep '"type":"fail"' <<<"$lines")" '(SIGKILL.*"host":"|on node )south' 'that names the site'

no_orphans 'nothing is left running'
done_testing
