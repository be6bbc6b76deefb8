#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync fabric on synthetic trees. The folders below are made here, in the shape of /sys and
# /proc of an InfiniBand, a RoCE, an EFA and a bare machine; none was recorded on such a machine.
. "$(dirname "$0")/lib.sh"
unset NCCL_IB_HCA NCCL_IB_GID_INDEX NCCL_SOCKET_IFNAME NCCL_SOCKET_FAMILY NCCL_NET_PLUGIN \
    FI_PROVIDER

put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
pci() { # TREE PATH VENDOR CLASS NUMA: a device at PATH below sys/devices
    local at=$1/sys/devices/$2
    put "$at/vendor" "$3"
    put "$at/class" "$4"
    put "$at/numa_node" "$5"
    mkdir -p "$1/sys/bus/pci/devices"
    ln -sfn "../../../devices/$2" "$1/sys/bus/pci/devices/${2##*/}"
}
gpu() { pci "$1" "$2" 0x10de 0x030200 "$3"; }
port() { # TREE NAME PATH NUMA LAYER STATE RATE [VENDOR [DRIVER]]
    pci "$1" "$3" "${8:-0x15b3}" 0x020000 "$4"
    local at=$1/sys/class/infiniband/$2
    put "$at/ports/1/link_layer" "$5"
    put "$at/ports/1/state" "$6"
    put "$at/ports/1/rate" "$7"
    ln -sfn "../../../devices/$3" "$at/device"
    mkdir -p "$1/sys/bus/pci/drivers/${9:-mlx5_core}"
    ln -sfn "../../../bus/pci/drivers/${9:-mlx5_core}" "$1/sys/devices/$3/driver"
}
gid() { # TREE PORT INDEX TYPE ADDRESS
    put "$1/sys/class/infiniband/$2/ports/1/gids/$3" "$5"
    put "$1/sys/class/infiniband/$2/ports/1/gid_attrs/types/$3" "$4"
}
net() { # TREE NAME STATE PATH; PATH "": virtual
    put "$1/sys/class/net/$2/operstate" "$3"
    if [ -n "$4" ]; then
        mkdir -p "$1/sys/devices/$4"
        ln -sfn "../../../devices/$4" "$1/sys/class/net/$2/device"
    fi
}
route() { # TREE: lines "INTERFACE DESTINATION"
    put "$1/proc/net/route" $'Iface\tDestination\tGateway'
    while read -r name to; do printf '%s\t%s\t0100000A\n' "$name" "$to" >>"$1/proc/net/route"; done
}
inet6() { put "$1/proc/net/if_inet6" "20010db8000000000000000000000001 02 40 00 80 $2"; }
fabric() { run "$gradsync" fabric --root "$1"; }

# Two sockets. Behind each is a switch with a GPU and an adapter; two more adapters are elsewhere.
t=ib
a=pci0000:15/0000:15:01.0/0000:16:00.0 b=pci0000:95/0000:95:01.0/0000:96:00.0
gpu $t $a/0000:17:00.0/0000:18:00.0 0
gpu $t $b/0000:97:00.0/0000:98:00.0 1
port $t mlx5_0 $a/0000:17:02.0/0000:19:00.0 0 InfiniBand '4: ACTIVE' '400 Gb/sec (4X NDR)'
port $t mlx5_1 $b/0000:97:02.0/0000:99:00.0 1 InfiniBand '4: ACTIVE' '400 Gb/sec (4X NDR)'
port $t mlx5_2 pci0000:15/0000:15:03.0/0000:1f:00.0 0 InfiniBand '4: ACTIVE' '100 Gb/sec (4X EDR)'
port $t mlx5_3 pci0000:00/0000:00:03.0/0000:05:00.0 0 InfiniBand '1: DOWN' '400 Gb/sec (4X NDR)'
net $t lo unknown ''
net $t docker0 up ''
net $t eno1 up pci0000:00/0000:00:1f.6
route $t <<<$'docker0 000011AC\neno1 00000000\neno1 0000000A'
mkdir -p $t/sys/module/nvidia_peermem
fabric $t
is "$rc" 0 'fabric reads a synthetic InfiniBand tree'
like "$out" '0000:18:00.0  NUMA 0  mlx5_0 PIX, mlx5_2 PHB, mlx5_3 NODE, mlx5_1 SYS' \
    'the adapters of the first GPU are listed from nearest to farthest'
like "$out" '0000:98:00.0  NUMA 1  mlx5_1 PIX, mlx5_0 SYS, mlx5_2 SYS, mlx5_3 SYS' \
    'the second GPU has another nearest adapter'
like "$out" $'NCCL_IB_HCA==mlx5_0,mlx5_1\n' 'the fastest active ports carry data'
like "$out" '2 of 4 ports that are active at the highest rate, 400 Gbit/s' \
    'the choice of ports is given with its reason'
like "$out" 'NCCL_SOCKET_IFNAME==eno1' \
    'connections are set up over the interface with the default route'
unlike "$out" 'docker0' 'a container bridge is not chosen'
like "$out" 'nvidia_peermem is loaded' 'GPUDirect is recognised by its kernel module'
NCCL_IB_HCA=mlx5_3 fabric $t
like "$out" 'already set in the environment: mlx5_3' \
    'a variable that is already set is kept, and shown'
run "$gradsync" fabric --json --root $t
like "$out" '"rate_Bps": 50000000000' 'JSON has rates in bytes per second'
like "$out" '"control": "eno1".*"gpudirect": true' 'JSON has the control interface and GPUDirect'
is "$(jq -c '.gpus[0].ports | to_entries | map(.key + " " + .value)' <<<"$out")" \
    '["mlx5_0 PIX","mlx5_2 PHB","mlx5_3 NODE","mlx5_1 SYS"]' \
        'JSON has the adapters of each GPU in their order'
is "$(jq -r '.settings[] | select(.name == "NCCL_SOCKET_IFNAME").why' <<<"$out")" \
    'connections are set up over it: it is up and has the default route; '\
"'=' before the name: exactly this interface" \
        'JSON has the reason of each setting'

# As many adapters as are looked at: none is cut off.
t=many
for i in $(seq 10 73); do
    port $t "mlx5_rail_$i" $a/0000:17:02.0/"0000:$i:00.0" 0 InfiniBand '4: ACTIVE' \
        '400 Gb/sec (4X NDR)'
done
fabric $t
is "$(grep -o 'NCCL_IB_HCA==.*' <<<"$out" | tr ',' '\n' | grep -c 'mlx5_rail_[0-9][0-9]$')" 64 \
    'sixty-four adapters are all named'

t=roce
gpu $t $a/0000:17:00.0/0000:18:00.0 0
for i in 0 1; do
    port $t mlx5_$i $a/0000:17:0$((i + 2)).0/0000:1$((i + 9)):00.0 0 Ethernet '4: ACTIVE' \
        '200 Gb/sec (4X HDR)'
    gid $t mlx5_$i 0 'IB/RoCE v1' fe80:0000:0000:0000:0000:0000:0000:0001
    gid $t mlx5_$i 1 'RoCE v2' fe80:0000:0000:0000:0000:0000:0000:0001
    gid $t mlx5_$i 2 'IB/RoCE v1' 0000:0000:0000:0000:0000:ffff:0a00:0001
    gid $t mlx5_$i 3 'RoCE v2' 0000:0000:0000:0000:0000:ffff:0a00:0001
done
net $t eth0 up pci0000:00/0000:00:1f.6
route $t </dev/null
inet6 $t eth0
fabric $t
like "$out" 'mlx5_0 +RoCE +200 Gbit/s' 'an adapter whose link is Ethernet is shown as RoCE'
like "$out" $'NCCL_IB_HCA==mlx5_0,mlx5_1\n' 'both RoCE ports carry data'
like "$out" 'NCCL_IB_GID_INDEX=3' 'RoCE uses the v2 address over IPv4'
like "$out" 'NCCL_SOCKET_FAMILY=AF_INET6' \
    'connections are set up over IPv6 if the interface has nothing else'
like "$out" 'NCCL_IB_ADDR_FAMILY=AF_INET' 'RoCE data goes over IPv4'
gid $t mlx5_1 3 'IB/RoCE v1' fe80:0000:0000:0000:0000:0000:0000:0002
fabric $t
unlike "$out" 'NCCL_IB_GID_INDEX' 'no GID index is chosen where the ports disagree'

t=efa
gpu $t $a/0000:17:00.0/0000:18:00.0 0
port $t rdmap16s27 $a/0000:17:02.0/0000:19:00.0 0 Unspecified '4: ACTIVE' '100 Gb/sec (4X EDR)' \
    0x1d0f efa
net $t ens5 up pci0000:00/0000:00:05.0
route $t <<<'ens5 00000000'
fabric $t
like "$out" 'rdmap16s27 +EFA' "an adapter with Amazon's driver is shown as EFA"
like "$out" 'no libfabric plugin for NCCL found' 'fabric says which plugin an EFA machine lacks'
unlike "$out" 'NCCL_NET_PLUGIN|NCCL_IB_HCA' 'without its plugin EFA is not chosen'
put $t/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so ''
fabric $t
like "$out" 'NCCL_NET_PLUGIN=/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so' \
    'EFA is chosen through its plugin'
like "$out" 'FI_PROVIDER=efa' 'the EFA provider is chosen with its plugin'

t=bare
mkdir -p $t/sys/class $t/proc
fabric $t
is "$rc" 0 'fabric succeeds on a machine without any fabric'
like "$out" 'sockets between machines.*would set  nothing' \
    'nothing is set on a machine without any fabric'

ok 'fabric succeeds on this machine' "$gradsync" fabric
exits 2 'a root that is no folder is refused' "$gradsync" fabric --root nowhere
one_line "$err" 'the error about the root is one line'

# What a recording says of it.
cat >one.ini <<'END'
[launch]
ranks = 2
oversubscribe = yes
[measure]
launches = 1
blocks = 2
max_blocks = 2
warmup = 1ms
[null]
END
ok 'a run whose fabric is recorded succeeds' "$gradsync" run -q one.ini -o data
ok 'the recording has the fabric of its node' grep -qE '"fabric": ?\{"ports"' \
    data/one/null/*/launch-01.01.jsonl
done_testing
