#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The ports that wan_sync and Open MPI use between sites, and the MTU of WireGuard.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 1420' '[wan_sync]' 'size = 256KiB' 'streams = 2' 'port = 5300' \
    'timeout = 5s' '[wan_links]' 'way = alone' \
    'round = 1, 2, 3' 'measure = 100ms' 'port = 5300'
cat >inside <<'END'
"$gradsync" links -q -o links.data --write measured.ini lab.ini >links.out 2>&1
listening() { # the ports that the sites listen on, but for loopback
    for site in north east south; do
        "$gradsync" lab enter $site -- awk '$4 == "0A" && $2 !~ /^0100007F|^0+1:/ {
            sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6
    done
}
mca=(oob_tcp_dynamic_ipv4_ports=5400 oob_tcp_dynamic_ipv6_ports=5400 btl_tcp_port_min_v4=5410
    btl_tcp_port_range_v4=20 btl_tcp_port_min_v6=5410 btl_tcp_port_range_v6=20)
{
    "$gradsync" run -q -o mpi.data lab.ini \
        --set "launch:args=$(printf -- '--mca %s ' "${mca[@]//=/ }")" \
        --set wan_sync:strategy=mpi,ring --set wan_sync:configs= >mpi.out 2>&1
    echo $? >mpi.rc
} &
while [ ! -s mpi.rc ]; do listening; sleep 0.1; done | sort -u >ports
wait
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
[ -s measured.ini ] || diag "$(tail -n 5 links.out)"
like "$(cat measured.ini)" $'\nmtu = 1420\n' 'links finds the MTU of WireGuard'
is "$(cat mpi.rc)" 0 'a run succeeds with the ports of Open MPI set'
[ "$(cat mpi.rc)" = 0 ] || diag "$(tail -n 3 mpi.out)"
ports=$(while read -r p; do echo $((16#$p)); done <ports)
diag "ports: ${ports//$'\n'/ }"
is "$(awk '$1 != 5300 && $1 != 5400 && ($1 < 5410 || $1 > 5429)' <<<"$ports")" '' \
    'ranks and launcher listen on the documented ports alone'
no_orphans 'no process is left running'
done_testing
