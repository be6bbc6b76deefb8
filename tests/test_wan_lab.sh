#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync between sites of a lab whose clocks differ by minutes: right sums by every strategy; and
# what becomes of a synchronisation when a site's line drops to a tenth, is cut and
# comes back, when a site is cut off for longer than the time-out, and
# when a site's rank is killed.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
LAB_SECONDS=500
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 4MiB' 'probe = 200ms' 'timeout = 10s' \
    'port = 5300'

# Other clocks at other sites: what measures times by a namespace, the time of day by a library.
cat >day.c <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    const char *ahead = getenv("SECONDS_AHEAD");
    int code = (int)syscall(SYS_clock_gettime, clock, t);
    if (ahead && clock == CLOCK_REALTIME)
        t->tv_sec += atoi(ahead);
    return code;
}
END
cat >enter <<'END'
#!/usr/bin/env bash
declare -A ahead=([east]=100 [south]=7)
s=${ahead[$1]}
LD_PRELOAD=$PWD/day.so SECONDS_AHEAD=-$s exec unshare -T -f --kill-child \
    --monotonic "$s" --boottime "$s" "$gradsync" lab enter "$@"
END
chmod +x enter
sed -i "s|\$PWD|$PWD|" enter
"${CC:-gcc}" -shared -fPIC -o day.so day.c || skip_all 'no compiler'

# In the lab: a run for what ends it, and one for what it outlives. A fault comes while a block is
# measured.
cat >inside <<'END'
begin() { # NAME ARGUMENT…
    name=$1
    "$gradsync" run -q -o "$name" lab.ini "${@:2}" >"$name.out" 2>"$name.err" &
    runner=$!
}
recorded() { cat "$name"/*/*/*/launch-*.jsonl 2>/dev/null | grep -c "\"type\":\"$1\""; }
enough() { [ "$(recorded "$1")" -ge "$2" ] || ! kill -0 $runner 2>/dev/null; }
await() { until_true 120 enough "$1" "$2"; } # TYPE N: so many are recorded
# Block N is recorded and the next sum is under way: far more is sent than between two sums.
after_block() { await block "$1" && until_sends south 2000000; }
finish() {
    wait $runner
    echo $? >"$name.rc"
    "$gradsync" lab set reset >/dev/null
}
order() { "$gradsync" lab set "$1" >/dev/null; }
kill_south() {
    local p parent # the one that measures, not the one that watches it
    for p in /proc/[0-9]*; do
        parent=$(awk '/^PPid:/ { print $2 }' "$p/status" 2>/dev/null)
        if [ "$(cat "$p/comm" "/proc/$parent/comm" 2>/dev/null)" = \
            $'gradsync-rank\ngradsync-rank' ] &&
            grep -qzx 'OMPI_COMM_WORLD_RANK=2' "$p/environ" 2>/dev/null &&
            grep -qzx "GRADSYNC_TEST_MARK=$GRADSYNC_TEST_MARK" "$p/environ" 2>/dev/null; then
            kill -KILL "${p#/proc/}"
        fi
    done
}

if ./enter east true; then
    export OMPI_MCA_plm_rsh_agent=$PWD/enter
    ./enter east 'cut -d. -f1 /proc/uptime; date +%s' >clocks.east
    (cut -d. -f1 /proc/uptime; date +%s) >clocks.north
fi
begin plain --set wan_sync:size=1MiB \
    --set wan_sync:configs='strategy=mpi, ring, direct, direct/int8'
finish
export OMPI_MCA_plm_rsh_agent="$gradsync lab enter"

begin outlived --set measure:blocks=6 --set measure:max_blocks=6
# The faults last for a second, far less than the time-out of 10 s.
after_block 1; order 'rate south 4Mbit/s'; until_sends south 100000; order reset
after_block 2; order 'down south'; sleep 1; order 'up south'
finish

begin gone --set wan_sync:size=8MiB --set measure:blocks=2 --set measure:max_blocks=2 \
    --set wan_sync:timeout=2s --set measure:deadline=400s
after_block 1; order 'down south'
finish
"$gradsync" resume -q gone/*/*/2* >resumed.out 2>resumed.err
echo $? >resumed.rc

begin dead --set measure:blocks=2 --set measure:max_blocks=2
after_block 1; kill_south
finish
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"

read_scene() { # NAME: $rc $err $lines
    rc=$(cat "$1.rc") err=$(grep -v 'packets late' "$1.err") lines=$(cat "$1"/*/*/*/launch-*.jsonl)
}
blocks() { grep -c '"type":"block"' <<<"$lines"; }
metric() { grep '"type":"block"' <<<"$lines" | sed -nE "s/.*\"$1\":([-+.e0-9]+).*/\1/p"; }
good() { # NAME SCENE BLOCKS: ends well, with right sums
    read_scene "$2"
    is "$rc:$(blocks):$err" "0:$3:" "$1"
}

good 'every strategy gives the right sum between sites' plain 5
like "$lines" '"key":"shares"' 'shares follow the measured rates'
if [ -e clocks.east ]; then
    is "$(paste clocks.east clocks.north | awk '{ printf "%.0f ", ($1 - $2) / 10 }')" '10 -10 ' \
        'the clocks of the sites differ by minutes'
    ok 'no measured time has the difference of the clocks in it' awk \
        '{ bad = bad || $1 <= 0 || $1 > 10 } END { exit bad || NR < 5 }' <<<"$(metric sync_time)"
    ok 'the start times of the ranks do not have the difference of the clocks in them' \
        awk '{ bad = bad || $1 > 10e9 } END { exit bad || NR < 5 }' <<<"$(metric skew_ns)"
else
    skip 'the clocks of the sites differ by minutes' 'this kernel has no namespaces for time'
fi

good 'a run outlives a line that drops to a tenth, is cut and comes back' outlived 6
diag "seconds a synchronisation: $(metric sync_time | tr '\n' ' ')"
read_scene gone
is "$rc" 1 'a run ends with 1 when a site is cut off for longer than the time-out'
like "$err" '^gradsync: wan_sync: no answer between [a-z]+ and south(; no answer between [a-z]+ and [a-z]+)*$'
is "$(cat resumed.rc resumed.err):$(grep -c '"type":"group"' <<<"$lines")" 0:1 \
    'once the site is back, resume measures what was cut off'

read_scene dead
is "$rc" 1 'a site whose rank is killed ends the run with 1'
like "$err" 'cells failed; the first: .*: crash: killed by SIGKILL \(rank 2 on south\)$'
like "$(grep '"type":"fail"' <<<"$lines")" '(SIGKILL.*"host":"|on node )south' \
    'the recording names the site whose rank was killed'

no_orphans 'no process is left running'
done_testing
