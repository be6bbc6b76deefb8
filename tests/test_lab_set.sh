#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# Commands that change one link of a lab while it runs, and its MTU.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

build_sockets || skip_all 'no compiler here'
lab_config 100Mbit/s 20ms 'mtu = 1420'
cat >inside <<'END'
at() { "$gradsync" lab enter "$1" -- "${@:2}"; }
set_lab() { "$gradsync" lab set "$@" 2>&1; }
say() { echo "$1=$2"; }
port() { # SECONDS FROM TO: 1: refused, so reached; 124: not reached
    at "$2" timeout "$1" bash -c ": >/dev/tcp/$3/99" 2>/dev/null; echo "$?"
}
flow() { # FROM TO N MICROSECONDS: came least most
    rm -f flow
    at "$2" ./sockets count 7000 >flow &
    until_true 100 test -s flow
    at "$1" ./sockets number "$2" 7000 "$3" "$4"
    wait
    tail -1 flow
}
say mtu "$(at south ip link show wan0 | grep -o 'mtu [0-9]*')"
set_lab down north-east >/dev/null
say down "$(port 0.5 north east) $(port 0.5 east north) $(port 60 north south)"
set_lab up north-east >/dev/null
say up "$(port 60 north east)"
set_lab 'down' 'north>south' >/dev/null
say one_way "$(flow north south 20 100 | cut -d' ' -f1) $(flow south north 20 100 | cut -d' ' -f1)"
set_lab reset >/dev/null
say reset "$(port 60 north south)"
# A link of 200 kbit/s takes 40 ms for a packet of 1000 bytes.
set_lab rate north-south 200kbit/s >/dev/null
say rate "$(flow north south 100 100)"
say bad1 "$(set_lab down north-north)"
say bad2 "$(set_lab down north-suoth)"
say bad3 "$(set_lab rate north-south fast)"
say bad4 "$(set_lab down)"
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
told=$out # ok changes $out
inside() { sed -n "s/^$1=//p" <<<"$told"; }
is "$(inside mtu)" 'mtu 1420' 'the sites have the MTU of the config'
is "$(inside down) $(inside up)" '124 124 1 1' \
    'a link that is down cuts two sites from each other, and no other, until it is up'
is "$(inside one_way)" '0 20' 'one direction of a link can be down'
is "$(inside reset)" 1 'reset brings links back'
ok 'one link has a rate of its own' awk '{ exit !($3 - $2 > 60) }' <<<"$(inside rate)"
like "$(inside bad1)" 'a link joins two sites' 'a link of a site with itself is refused'
like "$(inside bad2)" "no site 'suoth', did you mean 'south'" 'a mistyped site of a link is named'
like "$(inside bad3)" 'not a rate; write e.g. 100Mbit/s' 'a malformed rate of a link is refused'
like "$(inside bad4)" 'unknown command; .* WHERE is SITE, A-B or A>B' 'a command needs its place'
done_testing
