#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The lab: its sites on this machine are what the config says, and it leaves nothing behind.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

lab_config 100Mbit/s 10ms 'mtu = 9000' 'congestion = reno' '[mpi_allreduce]' 'size = 64KiB' \
    'algorithm = auto'
refused() { # CODE REGEX ARGUMENT…
    fails1 "$1" "$2" timeout 60 "$gradsync" lab "${@:3}"
}

# ---- what is refused before anything is made

printf '[platform]\nname = x\n' >none.ini
refused 2 'none.ini.*\[sites\] has no site; add' none.ini -- true
refused 2 'usage: .*gradsync lab' lab.ini
refused 2 '1 sites; a lab needs 2 to 32' none.ini --set sites:a=up=1Gbit/s -- true
refused 2 "a lab has no keys of its own any more; delete it" lab.ini --set lab:seed=1 -- true
refused 2 "key 'jitter': a lab does not emulate jitter any more; delete it" lab.ini --set links:jitter=1ms -- true
refused 2 'is 50 s; at most 5 s are allowed, e.g. rtt=50ms' lab.ini --set links:rtt=50 -- true
refused 2 '8 kbit/s is too slow.*set 1000 or more' lab.ini --set links:rate=1kB/s -- true
refused 2 'queue: .*3 packets of mtu=9000 \(27000 bytes\)' lab.ini --set links:queue=8KiB -- true
refused 2 "unknown key 'los'.*did you mean 'loss'" lab.ini --set 'links:north-east=los=1%' -- true
fails 2 'not inside a lab' "$gradsync" lab enter north hostname
like "$("$gradsync" lab-set up north 2>&1)" "$gradsync lab set" 'the old verb says what to type now'
exits 2 'lab set outside of a lab is refused' "$gradsync" lab set stats

run lab -- true
if [ $rc = 3 ]; then
    like "$err" '^gradsync: lab: .+' 'the error says what this machine lacks'
    skip 'a lab runs commands' "$err"
    done_testing
    exit
fi

# ---- a run that wants one

fails 3 \
    'if ssh does not reach these sites \(docs/clusters.md, Hosts over ssh\), emulate them: .*gradsync lab CONFIG -- COMMAND$' \
    env OMPI_MCA_plm_rsh_agent=false "$gradsync" run -q lab.ini -o outside
# ---- a command in it

ok 'a command runs in the lab' lab -- sh -c 'cp "$GRADSYNC_LAB" report.json; hostname'
is "$out" north 'a command runs at the first site'
json() { jq -r "$1" report.json; }
is "$(json '[.sites[].name] | join(" ")')" 'north east south' 'the description names the sites'
is "$(json '[.before[].Bps / 12.5e6 | select(. > 0.97 and . < 1.03)] | length')" 6 \
    'each link has its rate'
is "$(json '[.before[].delay_s | select(. < 0.005 or . > 0.00535)] | length')" 0 \
    'each delay is half the RTT of the config'
is "$(json '[.before[].lost] | add')" 0 'no packet is lost'
is "$(json '.congestion + " " + (.mtu_B | tostring)')" 'reno 9000' \
    'the description has the congestion control and the MTU of the config'
exits 143 'a command killed by a signal gives its exit code to the lab' lab -- bash -c \
    'kill -TERM $$'
exits 7 'the exit code is right where SIGCHLD is ignored' env --ignore-signal=CHLD "$gradsync" lab \
    -q lab.ini -- bash -c 'exit 7'
fails 127 'no-such-command: No such file' lab -- no-such-command

cat >inside.sh <<'END'
port() { timeout "$1" bash -c ": >/dev/tcp/$2/99" 2>/dev/null; echo "$?"; } # 1: refused, so reached
say() { echo "$1=$2"; }
say entered "$(gradsync lab enter south hostname)"
say shell "$("$gradsync" lab enter south echo '$((1+1))')"
say argv "$("$gradsync" lab enter south -- echo '$((1+1))')"
say unknown "$("$gradsync" lab enter suoth hostname 2>&1)"
say nested "$("$gradsync" lab lab.ini -- true 2>&1)"
say congestion "$(cat /proc/sys/net/ipv4/tcp_congestion_control)"
say reached "$(port 5 east)"
"$gradsync" lab set down east >/dev/null
say down "$(port 0.5 east)"
"$gradsync" lab set up east >/dev/null
say up "$(port 5 east)"
drops() { "$gradsync" lab set stats | jq .queue_drops; }
flood() { head -c 200000 /dev/zero >/dev/udp/10.77.0.3/9; } # a queue holds 270 KB
idle() {
    "$gradsync" lab set stats |
        jq -e '.packets == .delivered + .queue_drops + .cut_drops' >/dev/null
}
before=$(drops); flood; until_true 60 idle; middle=$(drops)
dropped() { after=$(drops) && [ "$after" -gt "$middle" ]; }
"$gradsync" lab set rate north 100kbit/s >/dev/null; flood; flood; until_true 60 dropped
say drops "$((middle - before)) $((after > middle))"
say order "$("$gradsync" lab set rate north fast 2>&1)"
say order2 "$("$gradsync" lab set slow north 2>&1)"
say order3 "$("$gradsync" lab set down nroth 2>&1)"
say differs "$("$gradsync" run -q lab.ini -o other --set links:rtt=20ms 2>&1); $?"
say mpi "$(mpirun -n 3 --host north,east,south hostname 2>mpi.err | sort | tr '\n' ' ')"
END
run lab -- bash inside.sh
inside() { sed -n "s/^$1=//p" <<<"$out"; }
is "$(inside entered)" south 'a site is entered by its name'
is "$(inside shell) $(inside argv)" '2 $((1+1))' \
    'lab enter takes a line for the shell, or words after --'
like "$(inside unknown)" "no site 'suoth' in this lab, did you mean 'south'" \
    'lab enter names the nearest site for a mistyped one'
like "$(inside nested)" 'already inside a lab' 'a lab inside a lab is refused'
is "$(inside congestion)" reno 'the congestion control is that of the config'
is "$(inside reached) $(inside down) $(inside up)" '1 124 1' \
    'a site that is down is unreachable until it is up'
is "$(inside drops)" '0 1' 'a rate that falls to a thousandth drops what its queue cannot hold'
like "$(inside order)" 'not a rate; write e.g. 100Mbit/s' 'a malformed rate is refused'
like "$(inside order2)" 'unknown command; use: rate WHERE RATE' \
    'an unknown command of lab set is refused'
like "$(inside order3)" "no site 'nroth', did you mean 'north'" \
    'a mistyped site of lab set is refused'
like "$(inside differs)" '^lab.ini: RTT of north>east is 10 ms in this lab, and 20 ms in the '\
'config: .*give .*gradsync lab and this command the same config and --set; 2$' \
    'a run whose config has other links than the lab is refused'
is "$(inside mpi)" 'east north south ' 'mpirun has a rank at each site'
ok 'a run that is refused records nothing' test ! -e other

exits 143 'a signal ends a lab that is being measured' timeout --preserve-status 3 "$gradsync" lab \
    -q lab.ini --set links:rtt=4s -- true

mkdir 'a b' && cp "$gradsync" 'a b'
spaced() { timeout 60 'a b/gradsync' lab -q lab.ini "$@"; }
ok 'a lab with different rates, RTTs and losses runs' spaced --set \
    'links:north>east=rate=20Mbit/s rtt=30ms loss=5%' --set sites:south=down=50Mbit/s -- \
    sh -c 'cp "$GRADSYNC_LAB" unequal.json; mpirun -n 2 --host north,south hostname'
is "$(sort <<<"$out" | tr '\n' ' ')" 'north south ' \
    'mpirun starts ranks with a program whose folder has a space'
unequal() { jq -c "$1" unequal.json; }
is "$(unequal '[.before[] | select(.to == "south").Bps / 6.25e6 | select(. > 0.97 and . < 1.03)] | length')" 2 \
    'a slower downlink has its rate'
of='.from == "north" and .to == "east"'
is "$(unequal "[.before[] | select($of) | .delay_s * 1000 | round] | first")" 15 \
    'a pair with a longer RTT has it'
is "$(unequal "[.before[] | select($of) | .lost / .sent | . > 0.02 and . < 0.09] | first")" \
    true \
    'a link that loses packets loses its share'
is "$(unequal "[.before[] | select($of | not) | .lost] | add")" 0 \
    'the other links lose no packet'

# ---- a run in it

ok 'a run in the lab succeeds' lab -- "$gradsync" run -q lab.ini -o raw
run_dir=$(echo raw/lab/mpi_allreduce/*)
header() { head -1 "$run_dir"/launch-01.01.jsonl | jq -r "$1"; }
ok 'the recording of a run in the lab is sound' "$gradsync" check "$run_dir"
is "$(header '[.hosts[].host] | join(" ")')" 'north east south' \
    'every rank runs at a site of its own'
is "$(header '[.lab.sites[].name] | join(" ")')" 'north east south' \
    'the header of the recording names the sites'
is "$(header .lab.host)" "$(hostname)" 'the header of the recording names this machine'
is "$(header '.lab.control, .lab.sites[0].pid, .env.OMPI_MCA_plm_rsh_agent' | sort -u)" null \
    'the header has no PID, socket or variable of the moment'
like "$(grep -h '"key":"lab"' "$run_dir"/*.jsonl)" 'of [0-9]+ packets more than 1 ms late' \
    'the recording notes how many packets were late'

cat >relay.sh <<'END'
for p in /proc/[0-9]*; do
    ls -l "$p"/fd 2>/dev/null | grep -q eventpoll && [ "$(cat "$p/comm")" = gradsync ] &&
        relay=${p#/proc/}
done
END
# The relay stands still half of the time, so that it delivers packets late.
cat >late.sh <<'END'
. ./relay.sh
while sleep 0.02; do kill -STOP "$relay"; sleep 0.02; kill -CONT "$relay"; done &
"$gradsync" run lab.ini -o late >late.out
echo "run: $?"
kill $!
kill -CONT "$relay"
END
run lab -- bash late.sh
like "$out|$err" 'run: 0\|.*warning: the emulated network delivered more than 1% of the packets late' \
    'a run whose lab is late says so'

fails 1 '^gradsync: lab: the relay ended \(status 9\): ' lab -- bash -c \
    '. ./relay.sh; kill -KILL "$relay"; sleep 60'

refused 3 '^gradsync: lab: .* to .* instead of .*too busy' \
    lab.ini -q --set links:rate=400Gbit/s -- echo ran
is "$out" '' 'the command does not run if the rate is not reached'

lab --set links:congestion=cubic -- sleep 0.1 2>first.err & # which the machine may have to lend
ok 'the second of two labs that start at once succeeds' lab --set links:congestion=cubic -- sleep \
    0.1
wait $!
is "$? $(cat first.err)" '0 ' 'the first of two labs that start at once succeeds'

# ---- what is left

timeout 60 "$gradsync" lab -q lab.ini -- bash -c \
    'mpirun -n 3 --host north,east,south sleep 60 & dirname "$GRADSYNC_LAB" >ready; wait' \
    >/dev/null 2>&1 &
ok 'a lab that is to be killed starts' until_true 60 test -s ready
disown # its death is no news
kill -KILL "$(pgrep -P $!)"

no_orphans 'a killed lab leaves no process'
lab -- true
like "$(cat ready)" '^/dev/shm/gradsync-' 'a killed lab had a folder in /dev/shm'
ok 'the next lab removes the folder of a killed one' test ! -e "$(cat ready)"
rm ready
command='trap "echo asked >>ready; exit 9" TERM; echo up >ready; while :; do sleep 0.1; done'
timeout 60 "$gradsync" lab -q lab.ini -- bash -c "$command" >/dev/null 2>&1 &
ok 'a lab that is to be ended starts' until_true 60 test -s ready
kill -TERM "$(pgrep -P $!)"
wait $!
is "$? $(tail -1 ready)" '9 asked' 'a signal to the lab reaches its command'
no_orphans 'a lab that was ended leaves no process'

# ---- without privilege, and without what it needs; root makes such a machine of this one

if [ "$(id -u)" != 0 ]; then
    skip 'other users have a lab' 'not root'
    done_testing
    exit
fi
chmod 755 "$tmp"
chmod 644 lab.ini
user() { # COMMAND…: as nobody, where /dev/net/tun is everybody's
    [ -c tun ] || { mknod tun c 10 200 && chmod 666 tun; }
    # shellcheck disable=SC2016
    unshare -m bash -c 'mount --bind tun /dev/net/tun &&
        exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - "$@"
}
if user test -x "$gradsync" -a -r "$gradsync"; then
    # Without a real-time priority the relay may be kept waiting: a long way tolerates more.
    ok 'another user has a lab' user timeout 60 "$gradsync" lab -q lab.ini --set \
        links:rate=10Mbit/s --set links:rtt=60ms -- \
        bash -c 'id -u; hostname; mpirun -n 3 --host north,east,south hostname | sort'
    is "$(tr '\n' ' ' <<<"$out")" '0 north east north south ' \
        "another user's mpirun has a rank at each site"
else
    skip 'another user has a lab' "who cannot read $gradsync"
    skip "another user's mpirun has a rank at each site" 'the same'
fi
fails 3 '/dev/net/tun: Permission denied: as root: chmod 666' unshare -m bash -c '
    mknod own c 10 200 && chmod 600 own && mount --bind own /dev/net/tun &&
    exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - timeout 60 "$gradsync" lab \
    lab.ini -- true
fails 3 '/dev/net/tun: No such file.*modprobe tun' unshare -m bash -c \
    'mount -t tmpfs none /dev/net && exec "$@"' - timeout 60 "$gradsync" lab lab.ini -- true
fails1 3 'no permission for namespaces: .*run as root' unshare -U --map-root-user bash -c '
    echo 0 >/proc/sys/user/max_user_namespaces &&
    exec setpriv --bounding-set -sys_admin "$@"' - timeout 60 "$gradsync" lab lab.ini -- true

done_testing
