#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# A lab's links when they are not clean: jitter, packets out of order, losses in bursts, the traffic
# of others, a small MTU; and commands that change one link of a site.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

build_sockets || skip_all 'no compiler here'
lab_config 100Mbit/s 20ms 'mtu = 1420' 'north>east = jitter=30ms' 'north>south = reorder=10%' \
    'east>south = loss=5% burst=6' 'south>east = cross=60Mbit/s'
fails 2 'cross: the links of site .* carry 120 Mbit/s .* counts once per link' timeout 60 \
    "$gradsync" lab lab.ini --set 'links:cross=60Mbit/s' -- true

cat >inside <<'END'
at() { "$gradsync" lab-enter "$1" -- "${@:2}"; }
set_lab() { "$gradsync" lab-set "$@" 2>&1; }
say() { echo "$1=$2"; }
port() { # SECONDS FROM TO: 1: refused, so reached; 124: not reached
    at "$2" timeout "$1" bash -c ": >/dev/tcp/$3/99" 2>/dev/null; echo "$?"
}
flow() { # FROM TO N MICROSECONDS: came overtaken lost bursts least most
    rm -f flow
    at "$2" ./sockets count 7000 >flow &
    until_true 100 test -s flow
    at "$1" ./sockets number "$2" 7000 "$3" "$4"
    wait
    tail -1 flow
}
say mtu "$(at south ip link show wan0 | grep -o 'mtu [0-9]*')"
say jitter "$(flow north east 400 1000)"
say reorder "$(flow north south 2000 100)"
say burst "$(flow east south 8000 100)"
before=$(set_lab stats | jq .others)
flow south east 200 1000 >/dev/null
say others "$(($(set_lab stats | jq .others) - before))"
set_lab disturb off >/dev/null
say calm "$(flow north south 500 100)"

set_lab down north-east >/dev/null
say down "$(port 0.5 north east) $(port 0.5 east north) $(port 60 north south)"
set_lab up north-east >/dev/null
say up "$(port 60 north east)"
set_lab 'down' 'north>south' >/dev/null
say one_way "$(flow north south 20 100 | cut -d' ' -f1) $(flow south north 20 100 | cut -d' ' -f1)"
set_lab reset >/dev/null
say reset "$(port 60 north south)"
set_lab stall north-east >/dev/null
say stall "$(port 0.5 north east) $(port 60 north south)"
set_lab go north-east >/dev/null
say go "$(port 60 north east)"
set_lab loss 'south>north' 100% >/dev/null
say loss "$(flow south north 20 100 | cut -d' ' -f1) $(flow south east 20 100 | cut -d' ' -f1)"
set_lab reset >/dev/null
# A link of 200 kbit/s takes 40 ms for a packet of 1000 bytes.
set_lab rate north-south 0.2% >/dev/null
say rate "$(flow north south 100 100)"
say bad1 "$(set_lab down north-north)"
say bad2 "$(set_lab down north-suoth)"
say bad3 "$(set_lab rate north-south fast)"
say bad4 "$(set_lab down)"
END
run lab --report report.json -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
told=$out # ok changes $out
inside() { sed -n "s/^$1=//p" <<<"$told"; }
true_of() { awk "{ exit !($2) }" <<<"$(inside "$1")"; } # NAME CONDITION on $1 came, $2 overtaken,
                                                         # $3 lost, $4 bursts, $5 least, $6 most ms
is "$(inside mtu)" 'mtu 1420' 'the sites have the MTU of the config'
ok 'jitter adds to the delay' true_of jitter '$5 >= 10 && $6 - $5 > 15'
ok 'jitter alone keeps the order of packets and loses none' true_of jitter '$1 == 400 && $2 == 0'
ok 'a share of the packets is overtaken' true_of reorder '$2 > 100 && $2 < 320 && $3 == 0'
ok 'losses are as many as the config says' true_of burst '$3 > 180 && $3 < 680'
ok 'losses come in bursts' true_of burst '$3 / $4 > 3.5 && $3 / $4 < 9'
ok "others' packets use the link while a site sends" test "$(inside others)" -gt 500
is "$(inside calm | cut -d' ' -f1,2)" '500 0' 'nothing is out of order after disturb off'
is "$(inside down) $(inside up)" '124 124 1 1' \
    'a link that is down cuts two sites from each other, and no other, until it is up'
is "$(inside one_way)" '0 20' 'one direction of a link can be down'
is "$(inside reset)" 1 'reset brings links back'
is "$(inside stall) $(inside go)" '124 1 1' 'a link that is stalled holds its packets until it goes'
is "$(inside loss)" '0 20' 'one direction of a link loses what it is told to'
ok 'one link has a rate of its own' true_of rate '$6 - $5 > 60'
like "$(inside bad1)" 'a link joins two sites' 'a link of a site with itself is refused'
like "$(inside bad2)" "no site 'suoth', did you mean 'south'" 'a mistyped site of a link is named'
like "$(inside bad3)" 'not a rate; write e.g. 100Mbit/s' 'a malformed rate of a link is refused'
like "$(inside bad4)" 'unknown command; .* WHERE is SITE, A-B or A>B' 'a command needs its place'
is "$(jq '.pairs[] | select(.from == "east" and .to == "south") | .burst == 6 and .loss == 0.05' \
    report.json)" true 'the report has the disturbances of each link'
done_testing
