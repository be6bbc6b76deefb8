#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Who may speak to wan_sync between sites of a lab: strangers are refused, counted and told nothing,
# and the sum is right all the same; a port that is taken, a wrong secret and another version of the
# transport end in one line; so does what is out of range.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] && [ -e "$build/bench/wan_link" ] || skip_all 'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 4MiB' 'probe = 200ms' 'timeout = 3s' 'port = 5300'

# The transport as another release may have it.
mkdir -p other/plugins other/tests/bench
cp -r "$top/plugins/wan_sync" other/plugins
cp "$top/tests/bench/wan_link.c" other/tests/bench
ln -s "$top/plugins/common" other/plugins
sed -i 's/^#define TCP_VERSION .*/#define TCP_VERSION 9/' other/plugins/wan_sync/transport/tcp_wire.h
like "$(cat other/plugins/wan_sync/transport/tcp_wire.h)" 'TCP_VERSION 9' 'another version'
ok 'is built' env OMPI_CC="${CC:-gcc}" "${MPICC:-mpicc}" -std=c11 -D_GNU_SOURCE -O0 -I"$top/runner" -o wan_link_9 \
    other/tests/bench/wan_link.c other/plugins/wan_sync/tcp*.c -lsodium -lm

cat >stranger.pl <<'END'
# PORT HOST: says several things to who listens there, and tells how many bytes were said back.
use strict; use warnings; use IO::Socket::INET;
my $back = 0;
sub at { IO::Socket::INET->new(PeerAddr => $ARGV[1], PeerPort => $ARGV[0]) or die "no connection: $!" }
$SIG{PIPE} = 'IGNORE';
my $silent = at();
for my $said ('', "GET / HTTP/1.1\r\n\r\n", 'x' x 65536) {
    my $s = at();
    print $s $said;
    shutdown($s, 1);
    $back += length while sysread($s, $_, 100);
}
print "$back\n";
sleep 1; # one that says nothing
END
cat >taker.pl <<'END'
use strict; use warnings; use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 1, ReuseAddr => 1) or die $!;
$| = 1;
print "taken\n";
sleep 60;
END
(umask 077 && echo 'sixteen bytes and more' >ours && echo 'sixteen other bytes' >theirs)

cat >inside <<'END'
at() { "$gradsync" lab-enter "$1" -- "${@:2}"; }
recorded() { cat strangers/*/*/*/launch-*.jsonl 2>/dev/null | grep -c '"type":"block"'; }
"$gradsync" run -q -o strangers lab.ini --set measure:blocks=3 --set measure:max_blocks=3 >/dev/null 2>strangers.err &
i=0
until [ "$(recorded)" -gt 0 ] || [ $((i += 1)) -gt 400 ]; do sleep 0.05; done
at east perl stranger.pl 5300 north >told.north 2>&1 &
at north perl stranger.pl 5300 south >told.south 2>&1
wait %1
echo $? >strangers.rc

at south perl taker.pl 5300 >taker &
taker=$!
until [ -s taker ]; do sleep 0.05; done
"$gradsync" run -q -o port lab.ini >/dev/null 2>port.err
echo $? >port.rc
kill $taker
wait

link() { # NAME PROGRAM-AT-SOUTH SECRET-AT-SOUTH
    local job=(rate=40 rtt=20 size=786432 iterations=1 deadline=2 probe=0)
    timeout 30 mpirun --bind-to none -n 2 --host north,east "$build/bench/wan_link" "${job[@]}" secret=ours : \
        -n 1 --host south "$2" "${job[@]}" secret="$3" >"$1.out" 2>"$1.err"
    echo $? >"$1.rc"
}
link same "$build/bench/wan_link" ours
link secret "$build/bench/wan_link" theirs
link version ./wan_link_9 ours

for value in every=0 streams=65 wire=int2; do
    "$gradsync" run -q -o range lab.ini --set "wan_sync:$value" 2>&1
    echo "$?"
done >range.out
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"

lines() { cat "$1"/*/*/*/launch-*.jsonl; }
is "$(cat strangers.rc strangers.err):$(lines strangers | grep -c '"type":"block"')" 0:3 'strangers: the run goes on, its sums right'
is "$(cat told.north told.south)" $'0\n0' 'they are told nothing'
like "$(lines strangers | sed -nE 's/.*"strangers":([0-9]+).*/\1/p' | awk '{ n += $1 } END { print n }')" '^[678]$' 'and counted'
is "$(cat port.rc)" 1 'a port that is taken at a site: an error'
like "$(lines port | grep '"type":"fail"')" 'rank 2 \(south\): .*port 5300' 'that names both'
one_line "$(cat port.err)" 'in one line'
is "$(cat same.rc)" 0 'one secret at all sites'
isnt "$(cat secret.rc)" 0 'another one at a site is refused'
like "$(cat secret.err)" 'streams with rank 2 \(south\) after 2 s.*without the secret: is it the same there\?' 'which says whose'
isnt "$(cat version.rc)" 0 'another version at a site is refused'
like "$(cat version.err)" 'rank 2 \(south\) speaks version 9 of the tcp transport, this rank version [0-9]+: run the same gradsync' \
    'with both versions and the remedy'
is "$(grep -c '^2$' range.out):$(wc -l <range.out)" 3:6 'what is out of range is refused before anything is started, in one line each'
no_orphans 'nothing is left running'
done_testing
