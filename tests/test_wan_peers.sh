#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Who may speak to wan_sync between sites of a lab: strangers are told nothing,
# and the sum is right all the same; a port that is taken and another version of the
# transport end in one line; so does what is out of range.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] && [ -e "$build/bench/wan_link" ] || skip_all \
    'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 4MiB' 'probe = 200ms' 'timeout = 3s' \
    'port = 5300'

# The transport as another release may have it.
mkdir -p other/plugins other/tests/bench
cp -r "$top/plugins/wan_sync" other/plugins
cp "$top/tests/bench/wan_link.c" other/tests/bench
ln -s "$top/plugins/common" other/plugins
sed -i 's/^#define TCP_VERSION .*/#define TCP_VERSION 9/' \
    other/plugins/wan_sync/transport/tcp.h
like "$(cat other/plugins/wan_sync/transport/tcp.h)" 'TCP_VERSION 9' \
    'the copied transport has another version'
ok 'the transport of another version builds' \
    env OMPI_CC="${CC:-gcc}" "${MPICC:-mpicc}" -std=c11 -D_GNU_SOURCE -O0 \
    -I"$top/runner" -Iother/plugins -o wan_link_9 \
    other/tests/bench/wan_link.c other/plugins/wan_sync/transport/tcp*.c -lm

build_sockets || skip_all 'no compiler here'

cat >inside <<'END'
at() { "$gradsync" lab enter "$1" -- "${@:2}"; }
recorded() { cat strangers/*/*/*/launch-*.jsonl 2>/dev/null | grep -c '"type":"block"'; }
more_than() { [ "$(recorded)" -gt "$1" ] || ! kill -0 $runner 2>/dev/null; }
# Strangers come while the ranks connect, and again while they measure: then nobody listens any more.
call() { while ! [ -e stop ]; do at $1 ./sockets strangers 5300 $2; sleep 0.1; done >"told.$2" 2>"err.$2"; }
call east north & callers=$!
call north south & callers+=" $!"
env --default-signal=INT "$gradsync" run -q -o strangers lab.ini --set measure:blocks=1000 \
    --set measure:max_blocks=1000 --set measure:budget=1h >/dev/null 2>strangers.err &
runner=$!
until_true 60 more_than 0
touch stop
wait $callers
until_true 60 more_than $(($(recorded) + 1))
kill -INT $runner
wait $runner

at south ./sockets listen 5300 >taker &
taker=$!
until_true 60 test -s taker
"$gradsync" run -q -o port lab.ini >/dev/null 2>port.err
echo $? >port.rc
kill $taker
wait

link() { # NAME PROGRAM-AT-SOUTH
    local job=(rate=40 rtt=20 size=786432 iterations=1 deadline=2 probe=0)
    timeout 120 mpirun --bind-to none -n 2 --host north,east \
        "$build/bench/wan_link" "${job[@]}" : \
        -n 1 --host south "$2" "${job[@]}" >"$1.out" 2>"$1.err"
    echo $? >"$1.rc"
}
link same "$build/bench/wan_link"
link version ./wan_link_9

for value in every=0 streams=65 wire=int2; do
    "$gradsync" run -q -o range lab.ini --set "wan_sync:$value" 2>&1
    echo "$?"
done >range.out
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"

lines() { cat "$1"/*/*/*/launch-*.jsonl; }
is "$(lines strangers | grep -c '"type":"fail"')" 0 'strangers do not make a sum wrong'
like "$(cat strangers.err)" '^gradsync: interrupted; ' \
    'the run goes on after strangers until it is interrupted'
is "$(grep -hv '^0$' told.north told.south)" '' 'strangers get no answer'
is "$(cat port.rc)" 1 'a port that another program holds at a site ends the run with 1'
like "$(lines port | grep '"type":"fail"')" 'rank 2 \(south\): .*port 5300' \
    'the recording names the site and the port'
one_line "$(cat port.err)" 'a port that is held is reported in one line'
is "$(cat same.rc)" 0 'sites with one version connect'
isnt "$(cat version.rc)" 0 'a site with another version of the transport is refused'
like "$(cat version.err)" \
    'rank 2 \(south\) speaks version 9 of the tcp transport, this rank version [0-9]+: run the '\
'same gradsync' \
    'the message gives both versions and the remedy'
is "$(grep -c '^2$' range.out):$(wc -l <range.out)" 3:6 \
    'values out of range are refused before anything starts, in one line each'
no_orphans 'no process is left running'
done_testing
