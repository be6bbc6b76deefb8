# Synthetic trees in the shape of /sys and /proc of an InfiniBand, a RoCE, an EFA and a bare machine; none was
# recorded on such a machine.
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
$ gradsync check --machine --root ib
$ NCCL_IB_HCA=mlx5_3 gradsync check --machine --root ib | grep -A 1 NCCL_IB_HCA

# As many adapters as are looked at: none is cut off.
t=many
for i in $(seq 10 73); do
    port $t "mlx5_rail_$i" $a/0000:17:02.0/"0000:$i:00.0" 0 InfiniBand '4: ACTIVE' \
        '400 Gb/sec (4X NDR)'
done
$ gradsync check --machine --root many | grep -o 'NCCL_IB_HCA==.*' | tr , '\n' | wc -l

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
$ gradsync check --machine --root roce
gid $t mlx5_1 3 'IB/RoCE v1' fe80:0000:0000:0000:0000:0000:0000:0002
$ gradsync check --machine --root roce

t=efa
gpu $t $a/0000:17:00.0/0000:18:00.0 0
port $t rdmap16s27 $a/0000:17:02.0/0000:19:00.0 0 Unspecified '4: ACTIVE' '100 Gb/sec (4X EDR)' \
    0x1d0f efa
net $t ens5 up pci0000:00/0000:00:05.0
route $t <<<'ens5 00000000'
$ gradsync check --machine --root efa
put $t/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so ''
$ gradsync check --machine --root efa

t=bare
mkdir -p $t/sys/class $t/proc
$ gradsync check --machine --root bare
