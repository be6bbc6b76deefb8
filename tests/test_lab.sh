#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The lab: sites on this machine that are what a config says, and leave nothing behind.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

lab_config 100Mbit/s 10ms 'mtu = 9000' 'congestion = reno' '[mpi_allreduce]' 'size = 64KiB' 'algorithm = auto'
refused() { # NAME CODE REGEX ARGUMENT…
    exits "$2" "$1" timeout 60 "$gradsync" lab "${@:4}"
    one_line "$err" "$1: in one line"
    like "$err" "$3" "$1: says what"
}

# ---- what is refused before anything is made

printf '[platform]\nname = x\n' >none.ini
refused 'no sites' 2 'none.ini.*\[sites\] has no site; add' none.ini -- true
refused 'no command' 2 'usage: gradsync lab' lab.ini
refused 'one site' 2 '1 sites; a lab needs 2 to 32' none.ini --set sites:a=up=1Gbit/s -- true
refused 'equal sites in a row' 2 'one row per site' lab.ini --set sites:north=count=2 -- true
refused 'a key of no lab' 2 "key 'sede'.*seed and late, did you mean 'seed'" lab.ini --set lab:sede=1 -- true
refused 'an RTT without its unit' 2 'is 50 s; at most 5 s are allowed, e.g. rtt=50ms' lab.ini --set links:rtt=50 -- true
refused 'a rate without its unit' 2 '8 kbit/s is too slow.*set 1000 or more' lab.ini --set links:rate=1kB/s -- true
refused 'a queue of no packets' 2 'queue: .*3 packets of mtu=9000 \(27000 bytes\)' lab.ini --set links:queue=8KiB -- true
refused 'a word of no link' 2 "unknown key 'los'.*did you mean 'loss'" lab.ini --set 'links:north-east=los=1%' -- true
exits 2 'outside of a lab no site is entered' "$gradsync" lab-enter north hostname
like "$err" 'not inside a lab' 'and that is said'
exits 2 'outside of a lab nothing is set' "$gradsync" lab-set stats

run lab -- true
if [ $rc = 3 ]; then
    like "$err" '^gradsync: lab: .+' 'what this machine lacks is said'
    skip 'the lab itself' "$err"
    done_testing
    exit
fi

# ---- a run that wants one

sed '/^late/d' lab.ini >strict.ini
ok 'a lab whose config is silent' timeout 60 "$gradsync" lab -q -r strict.json strict.ini -- true
is "$(jq .late_share strict.json)" 0.01 'lets one packet of a hundred be late'
exits 3 'its sites are no hosts elsewhere' env OMPI_MCA_plm_rsh_agent=false "$gradsync" run -q lab.ini -o outside
like "$err" 'its hosts are the config.s \[sites\]: gradsync lab CONFIG -- COMMAND' 'and where they are is said'

# ---- a command in it

ok 'a command runs' lab --report report.json -- hostname
is "$out" north 'at the first site'
json() { jq -r "$1" report.json; }
is "$(json '[.sites[].name] | join(" ")')" 'north east south' 'the report names the sites'
is "$(json '[.before, .after | .sites[] | .up_Bps, .down_Bps | . / 12.5e6 | select(. < 0.97 or . > 1.03)] | length')" \
    0 'each sends and receives at its rate, before and after'
is "$(json '[.before.pairs[].rtt_s | select(. < 0.01 or . > 0.0107)] | length')" 0 'each RTT is the config'"'"'s'
is "$(json '[.before.pairs[].lost] | add')" 0 'nothing is lost'
is "$(json '.congestion + " " + (.mtu_B | tostring)')" 'reno 9000' 'and what TCP is like'
exits 143 'its exit code is the command'"'"'s, a signal too' lab -- bash -c 'kill -TERM $$'
exits 7 'started by what ignores SIGCHLD too' env --ignore-signal=CHLD "$gradsync" lab -q lab.ini -- bash -c 'exit 7'
exits 127 'a command that is not there' lab -- no-such-command
like "$err" 'no-such-command: No such file' 'and is named'

cat >inside.sh <<'END'
port() { timeout "$1" bash -c ": >/dev/tcp/$2/99" 2>/dev/null; echo "$?"; } # 1: refused, so reached
say() { echo "$1=$2"; }
say entered "$(gradsync lab-enter south hostname)"
say shell "$("$gradsync" lab-enter south echo '$((1+1))')"
say argv "$("$gradsync" lab-enter south -- echo '$((1+1))')"
say unknown "$("$gradsync" lab-enter suoth hostname 2>&1)"
say nested "$("$gradsync" lab lab.ini -- true 2>&1)"
say congestion "$(cat /proc/sys/net/ipv4/tcp_congestion_control)"
say reached "$(port 5 east)"
"$gradsync" lab-set down east >/dev/null
say down "$(port 0.5 east)"
"$gradsync" lab-set up east >/dev/null
say up "$(port 5 east)"
"$gradsync" lab-set stall east >/dev/null
say stalled "$(port 0.5 east)"
"$gradsync" lab-set go east >/dev/null
say gone "$(port 5 east)"
drops() { "$gradsync" lab-set stats | jq .queue_drops; }
flood() { head -c 200000 /dev/zero >/dev/udp/10.77.0.3/9; } # a queue holds 270 KB
idle() { "$gradsync" lab-set stats | jq -e '.packets == .delivered + .queue_drops + .cut_drops' >/dev/null; }
before=$(drops); flood; until_true 60 idle; middle=$(drops)
dropped() { after=$(drops) && [ "$after" -gt "$middle" ]; }
"$gradsync" lab-set rate north 0.1% >/dev/null; flood; flood; until_true 60 dropped
say drops "$((middle - before)) $((after > middle))"
say order "$("$gradsync" lab-set rate north fast 2>&1)"
say order2 "$("$gradsync" lab-set slow north 2>&1)"
say order3 "$("$gradsync" lab-set down nroth 2>&1)"
say silent "$(./sockets silent "$(jq -r .control "$GRADSYNC_LAB")" 30 "$gradsync" lab-set reset)"
say mpi "$(mpirun -n 3 --host north,east,south hostname 2>mpi.err | sort | tr '\n' ' ')"
END
build_sockets
run lab -- bash inside.sh
inside() { sed -n "s/^$1=//p" <<<"$out"; }
is "$(inside entered)" south 'a site is entered by name'
is "$(inside shell) $(inside argv)" '2 $((1+1))' 'with a line for the shell, or behind -- a command'
like "$(inside unknown)" "no site 'suoth' in this lab, did you mean 'south'" 'a site that there is not'
like "$(inside nested)" 'already inside a lab' 'a lab in a lab is refused'
is "$(inside congestion)" reno 'the congestion control is the config'"'"'s'
is "$(inside reached) $(inside down) $(inside up)" '1 124 1' 'a site goes down and comes up'
is "$(inside stalled) $(inside gone)" '124 1' 'a site stalls and goes on'
is "$(inside drops)" '0 1' 'a rate that falls to a thousandth drops what its queue cannot hold'
like "$(inside order)" 'not a rate; write e.g. 100Mbit/s or 10%' 'a wrong value is refused'
like "$(inside order2)" 'unknown command; use: rate SITE RATE' 'a wrong order too'
like "$(inside order3)" "no site 'nroth', did you mean 'north'" 'and a wrong site'
is "$(inside silent)" ok 'those who say nothing keep the relay from nothing'
is "$(inside mpi)" 'east north south ' 'mpirun has a rank at each site'

exits 1 'a report that cannot be written' lab --report nowhere/report.json -- echo ran
is "$out" '' 'is said before the command runs'
exits 143 'a signal ends a lab that is being measured' timeout --preserve-status 3 "$gradsync" lab -q lab.ini --set links:rtt=4s -- true

mkdir 'a b' && cp "$gradsync" 'a b'
spaced() { timeout 60 'a b/gradsync' lab -q lab.ini "$@"; }
ok 'links of different rates, RTTs and losses' spaced -r unequal.json --set 'links:north>east=rate=20Mbit/s rtt=30ms loss=5%' \
    --set sites:south=down=50Mbit/s -- mpirun -n 2 --host north,south hostname
is "$(sort <<<"$out" | tr '\n' ' ')" 'north south ' 'by a program whose folder has a space'
unequal() { jq -c "$1" unequal.json; }
is "$(unequal '.before.sites[2].down_Bps | . / 6.25e6 | . > 0.97 and . < 1.03')" true 'a slower downlink is one'
of='.from == "north" and .to == "east"'
is "$(unequal "[.before.pairs[] | select($of) | .rtt_s * 1000 | round] | first")" 20 'so is a longer way'
is "$(unequal "[.before.pairs[] | select($of) | .lost / .sent | . > 0.02 and . < 0.09] | first")" true \
    'and one that loses packets'
is "$(unequal "[.before.pairs[] | select($of | not) | .lost] | add")" 0 'the others lose none'

# ---- a run in it

ok 'a run in the lab' lab -- "$gradsync" run -q lab.ini -o raw
run_dir=$(echo raw/lab/mpi_allreduce/*)
header() { head -1 "$run_dir"/launch-01.01.jsonl | jq -r "$1"; }
ok 'its recording is whole' "$gradsync" check "$run_dir"
is "$(header '[.hosts[].host] | join(" ")')" 'north east south' 'every rank at its own site'
is "$(header '[.lab.before.sites[].name] | join(" ")')" 'north east south' 'the header says what the lab was'
is "$(header '.lab.late_share == 1')" true 'and how late it might be'
is "$(header '.lab.control, .lab.sites[0].pid, .env.OMPI_MCA_plm_rsh_agent' | sort -u)" null 'and nothing of the moment'
like "$(grep -h '"key":"lab"' "$run_dir"/*.jsonl)" 'of [0-9]+ packets more than 1 ms late' 'how late packets were is noted'

cat >relay.sh <<'END'
for p in /proc/[0-9]*; do
    ls -l "$p"/fd 2>/dev/null | grep -q eventpoll && [ "$(cat "$p/comm")" = gradsync ] && relay=${p#/proc/}
done
END
# It stands still half of the time: what it delivers is late. After so many blocks it does so no more.
cat >late.sh <<'END'
. ./relay.sh
left_out() { cat $1/lab/*/*/*.jsonl 2>/dev/null | grep -c 'left out'; }
(while sleep 0.02 && [ "$(left_out $1)" -lt $2 ]; do kill -STOP "$relay"; sleep 0.02; kill -CONT "$relay"; done) &
"$gradsync" run -q lab.ini -o $1
echo "run: $?"
kill $! 2>/dev/null
kill -CONT "$relay"
END
run lab --set lab:late=1% -- bash late.sh moment 1
is "$out:$err" 'run: 0:' 'a lab that is late for a moment costs no run'
is "$(cat moment/*/*/*/*.jsonl | jq -c 'select(.type == "block") | .block' | sort | uniq -c | tr -s ' ')" ' 1 1' \
    'the block is recorded once'
like "$(cat moment/*/*/*/*.jsonl)" '"key":"lab","value":"block 1 left out: [0-9]+ of [0-9]+ packets' 'and that it was left out before'
run lab --set lab:late=1% -- bash late.sh late 1000
like "$out" 'run: 1' 'a run in a lab that is late is refused'
like "$err" 'the emulated network delivered packets late in 8 blocks in a row: [0-9]+ of [0-9]+ packets' 'with the numbers'
is "$(find late -name MANIFEST.json)" '' 'and its recording is not final'

exits 1 'a relay that is killed ends the lab' lab -- bash -c '. ./relay.sh; kill -KILL "$relay"; sleep 60'
like "$err" '^gradsync: lab: the relay ended \(status 9\): ' 'in one line'

refused 'a rate that no machine relays' 3 'site .* sends .* instead of .*Gbit/s .*too busy' \
    lab.ini -q --set links:rate=400Gbit/s -- echo ran
is "$out" '' 'and the command does not run'

lab --set links:congestion=cubic -- sleep 0.1 2>first.err & # which the machine may have to lend
ok 'two labs started at once' lab --set links:congestion=cubic -- sleep 0.1
wait $!
is "$? $(cat first.err)" '0 ' 'do not hinder each other'

# ---- what is left

timeout 60 "$gradsync" lab -q lab.ini -- bash -c 'mpirun -n 3 --host north,east,south sleep 60 & dirname "$GRADSYNC_LAB" >ready; wait' >/dev/null 2>&1 &
ok 'a lab to be killed' until_true 60 test -s ready
disown # its death is no news
kill -KILL "$(pgrep -P $!)"

no_orphans 'killed, it leaves no process'
lab -- true
like "$(cat ready)" '^/dev/shm/gradsync-' 'it had a folder'
ok 'which is gone with the next start' test ! -e "$(cat ready)"
rm ready
timeout 60 "$gradsync" lab -q lab.ini -- bash -c 'trap "echo asked >>ready; exit 9" TERM; echo up >ready; while :; do sleep 0.1; done' >/dev/null 2>&1 &
ok 'a lab to be ended' until_true 60 test -s ready
kill -TERM "$(pgrep -P $!)"
wait $!
is "$? $(tail -1 ready)" '9 asked' 'a signal reaches the command'
no_orphans 'and nothing is left'

# ---- without privilege, and without what it needs; root makes such a machine of this one

if [ "$(id -u)" != 0 ]; then
    skip 'other users' 'not root'
    done_testing
    exit
fi
chmod 755 "$tmp"
chmod 644 lab.ini
user() { # COMMAND…: as nobody, where /dev/net/tun is everybody's
    [ -c tun ] || { mknod tun c 10 200 && chmod 666 tun; }
    # shellcheck disable=SC2016
    unshare -m bash -c 'mount --bind tun /dev/net/tun && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - "$@"
}
if user test -x "$gradsync" -a -r "$gradsync"; then
    # Without a real-time priority the relay may be kept waiting: a long way tolerates more.
    ok 'another user' user timeout 60 "$gradsync" lab -q lab.ini --set links:rate=10Mbit/s --set links:rtt=60ms -- \
        bash -c 'id -u; hostname; mpirun -n 3 --host north,east,south hostname | sort'
    is "$(tr '\n' ' ' <<<"$out")" '0 north east north south ' 'has a lab, and mpirun in it'
else
    skip 'another user' "who cannot read $gradsync"
    skip 'another user'"'"'s mpirun' 'the same'
fi
exits 3 'devices that are root'"'"'s alone' unshare -m bash -c 'mknod own c 10 200 && chmod 600 own && mount --bind own /dev/net/tun &&
    exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' - timeout 60 "$gradsync" lab lab.ini -- true
like "$err" '/dev/net/tun: Permission denied: as root: chmod 666' 'are named, with the remedy'
exits 3 'no devices' unshare -m bash -c 'mount -t tmpfs none /dev/net && exec "$@"' - timeout 60 "$gradsync" lab lab.ini -- true
like "$err" '/dev/net/tun: No such file.*modprobe tun' 'are named, with the remedy'
exits 3 'no permission for namespaces' unshare -U --map-root-user bash -c 'echo 0 >/proc/sys/user/max_user_namespaces &&
    exec setpriv --bounding-set -sys_admin "$@"' - timeout 60 "$gradsync" lab lab.ini -- true
like "$err" 'no permission for namespaces: .*run as root' 'is said, with the remedy'
one_line "$err" 'in one line'

done_testing
