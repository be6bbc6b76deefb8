#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync between sites as real ones are: firewalls that admit one port, a router that forwards
# another port, a site that nobody can connect to, IPv6, the MTU of WireGuard; and the ports of Open MPI.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
build_sockets || skip_all 'no compiler here'
lab_config 40Mbit/s 20ms 'mtu = 1420' '[wan_sync]' 'size = 256KiB' 'streams = 2' 'probe = 200ms' \
    'port = 5300' 'timeout = 5s' '[wan_links]' 'way = idle, alone' 'streams = 1' \
    'congestion = cubic' 'round = 1, 2, 3' 'measure = 100ms' 'port = 5300'
printf '%s\n' '# HOST ADDRESS' 'north 10.77.0.1:7000' 'east none' 'south own' >addresses
printf '%s\n' 'north none' 'east none' 'south own' >nobody
printf '%s\n' 'north [fd77::1]' 'east [fd77::2]:5300' 'south fd77::3' >six
cat >inside <<'END'
set_lab() { "$gradsync" lab-set "$@" >/dev/null; }
at() { "$gradsync" lab-enter "$1" -- "${@:2}"; }
try() { # NAME OPTION…
    "$gradsync" run -q -o "$1.data" lab.ini "${@:2}" >"$1.out" 2>&1
    echo "$?" >"$1.rc"
}
# MPI's small messages take the control network, as they take a VPN elsewhere.
export OMPI_MCA_btl_tcp_if_include=ctl0
for site in north east south; do set_lab admit $site 5300; done
try port
try other_port --set wan_sync:port=5301
set_lab admit north 7000
set_lab admit east none
"$gradsync" lab-enter north -- ./sockets forward 7000 127.0.0.1 5300 >forward &
router=$!
until_true 30 test -s forward
try unknown
try nat --set wan_sync:addresses=addresses
try nobody --set wan_sync:addresses=nobody
"$gradsync" links -q -o links.data --set wan_links:addresses=addresses --write measured.ini lab.ini \
    >links.out 2>&1
kill $router
set_lab reset
k=0
for site in north east south; do
    at $site bash -c 'cd /proc/sys/net/ipv6/conf/wan0 && echo 1 >addr_gen_mode &&
        echo 0 >accept_dad && echo 0 >disable_ipv6 && ip addr add fd77::'$((++k))'/64 dev wan0 &&
        ip addr del 10.77.0.'$k'/24 dev wan0' 2>>six.err || echo "$site: no IPv6" >>six.err
done
try six --set wan_sync:addresses=six
try six_own --set wan_sync:interface=wan0
k=0
for site in north east south; do at $site ip addr add 10.77.0.$((++k))/24 dev wan0; done

unset OMPI_MCA_btl_tcp_if_include
listening() { # the ports that the sites listen on, but for loopback
    for site in north east south; do
        at $site awk '$4 == "0A" && $2 !~ /^0100007F|^0+1:/ { sub(/.*:/, "", $2); print $2 }' \
            /proc/net/tcp /proc/net/tcp6
    done
}
mca=(oob_tcp_dynamic_ipv4_ports=5400 oob_tcp_dynamic_ipv6_ports=5400 btl_tcp_port_min_v4=5410
    btl_tcp_port_range_v4=20 btl_tcp_port_min_v6=5410 btl_tcp_port_range_v6=20)
try mpi --set "launch:args=$(printf -- '--mca %s ' "${mca[@]//=/ }")" \
    --set wan_sync:strategy=mpi,ring --set wan_sync:configs= &
while [ ! -s mpi.rc ]; do listening; sleep 0.1; done | sort -u >ports
wait
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
ends() { # NAME RC WHAT
    is "$(cat "$1.rc")" "$2" "$3"
    [ "$(cat "$1.rc")" = "$2" ] || diag "$(tail -n 3 "$1.out")"
}
ends port 0 'one open port a site is enough'
ends other_port 1 'another port than the open one fails'
like "$(cat other_port.out)" \
    'streams with rank 1 .east. .*: it should connect to 10.77.0.1 port 5301' \
    'the error names the address that nobody connected to'
ends unknown 1 'a site behind a router is not reached by its own address'
ends nat 0 'sites are reached by the addresses of the file, and one that nobody reaches connects'
ends nobody 1 'two sites that nobody can connect to are an error'
like "$(cat nobody.out)" 'rank 0 .north.: nobody can connect to it, nor to rank 1 .east.' \
    'the error names both'
[ -s measured.ini ] || diag "$(tail -n 5 links.out)"
like "$(cat measured.ini)" $'\nmtu = 1420\n' 'links uses the addresses, and finds the MTU of WireGuard'
if [ -s six.err ]; then
    skip 'IPv6 alone is enough' "no IPv6 here: $(tail -n 1 six.err)"
else
    ends six 0 'IPv6 addresses of the file are used'
    ends six_own 0 'an interface with IPv6 alone is enough'
fi
ends mpi 0 'a run succeeds with the ports of Open MPI set'
ports=$(while read -r p; do echo $((16#$p)); done <ports)
diag "ports: ${ports//$'\n'/ }"
is "$(awk '$1 != 5300 && $1 != 5400 && ($1 < 5410 || $1 > 5429)' <<<"$ports")" '' \
    'ranks and launcher listen on the documented ports alone'
no_orphans 'no process is left running'
done_testing
