#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# [launch] hosts: ranks on several nodes by mpirun, as over ssh. The hosts are network namespaces on
# a bridge, each with its own host name; in place of ssh is a script that starts what it is told in
# one of them, from an empty environment, as a login would.
if [ -z "${GRADSYNC_HOSTS_INSIDE:-}" ]; then
    GRADSYNC_HOSTS_INSIDE=yes unshare --map-root-user --net --mount --uts true 2>/dev/null ||
        { echo '1..0 # SKIP no namespaces for this user here' && exit; }
    command -v ip >/dev/null || { echo '1..0 # SKIP no ip here (apt install iproute2)' && exit; }
    GRADSYNC_HOSTS_INSIDE=yes exec unshare --map-root-user --net --mount --uts bash "$0"
fi
. "$(dirname "$0")/lib.sh"

# ---- hosts ----

hostname login
mount -t tmpfs none /run
ip link set lo up
ip link add switch type bridge
ip address add 10.77.0.100/24 dev switch
ip link set switch up
printf '%s\n' '127.0.0.1 localhost' '10.77.0.100 login' \
    '10.77.0.1 node-a' '10.77.0.2 node-b' '10.77.0.3 node-c' >hosts
mount --bind hosts /etc/hosts
host_up() { # NAME ADDRESS
    ip netns add "$1"
    ip link add "$1" type veth peer name eth0 netns "$1"
    ip link set "$1" master switch up
    ip -n "$1" link set lo up
    ip -n "$1" link set eth0 up
    ip -n "$1" address add "$2/24" dev eth0
}
host_up node-a 10.77.0.1
host_up node-b 10.77.0.2

mkdir home
cat >reach <<END
#!/bin/bash
# reach HOST COMMAND…: a shell there, in a home, with nothing of this environment.
host=\$1
shift
[ -e "/run/netns/\$host" ] ||
    { echo "reach: connect to host \$host port 22: No route to host" >&2; exit 255; }
cd "$tmp/home"
exec env -i PATH="$PATH" HOME="$tmp/home" GRADSYNC_TEST_MARK="\$GRADSYNC_TEST_MARK" \\
    ip netns exec "\$host" unshare --uts \\
    bash -c 'hostname "\$1"; shift; eval "\$*"' login "\$host" "\$@"
END
chmod +x reach
interfaces='--mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24'
cat >q.ini <<END
[platform]
name = p
[launch]
ranks = 4
nodes = 2
hosts = node-a, node-b
oversubscribe = yes
args = --mca plm_rsh_agent $tmp/reach $interfaces
[measure]
launches = 1
blocks = 2
max_blocks = 2
warmup = 0
warmup_ops = 1
deadline = 60s
[mpi_allreduce]
size = 8, 64KiB
END
header() { head -n 1 "$1"/p/*/*/launch-01.01.jsonl; }

# ---- two nodes ----

ok 'a run on two hosts succeeds' env NCCL_ALGO=Ring "$gradsync" run -q q.ini -o two
is "$(header two | grep -o '"host":"[^"]*"' | sort | uniq -c | tr -s ' \n' ' ')" \
    ' 2 "host":"node-a" 2 "host":"node-b" ' 'each of two hosts has two ranks'
is "$(header two | grep -o '"nodes":[0-9]*' | head -n 1)" '"nodes":2' \
    'the recording says that there are two nodes'
like "$(header two)" '"NCCL_ALGO":"Ring"' 'variables that tune the ranks reach the other hosts'
ok 'check accepts the recording of two hosts' "$gradsync" check two/p/*/*
"$gradsync" query -q two/p --export csv
is "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "nodes") c = i }
    NR > 1 { print $c }' csv/summary.csv | sort -u)" 2 'the table says that there are two nodes'

# ---- hosts that are not there, and one that goes away ----

fails1 3 'host node-c port 22: No route' timeout 60 "$gradsync" run -q q.ini -o none --set \
    'launch:hosts=node-a, node-c'
"$gradsync" run -q q.ini -o lost --set launch:ranks=2 --set measure:deadline=20s \
    --set measure:budget=2s --set measure:max_blocks=100000 --set measure:precision=0.01% \
    2>lost.err &
pid=$!
recorded() { grep -qs '"type":"block"' lost/p/*/*/launch-01.01.jsonl; }
until_true 100 recorded || flunk 'the run on two hosts begins' "$(cat lost.err)"
ip link set node-b down
wait $pid
is $? 3 'a run whose host loses its network exits with 3'
one_line "$(cat lost.err)" 'the error about the lost host is one line'
like "$(cat lost/p/*/*/launch-01.01.jsonl)" '"type":"fail".*"kind":"(hang|lost)"' \
    'the cell that the lost host cost is recorded as failed'
ip link set node-b up
ok 'resume succeeds when the host is back' "$gradsync" resume -q lost/p/*/*
ok 'the resumed run is sound' "$gradsync" check lost/p/*/*
no_orphans 'no process is left'
done_testing
