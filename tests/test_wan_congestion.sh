#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync on lines that lose packets: congestion=auto changes to BBR, another choice gets a warning
# with that advice; without losses neither happens.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
grep -qw bbr /proc/sys/net/ipv4/tcp_available_congestion_control || skip_all 'no BBR in this kernel'
lab_config 100Mbit/s 20ms 'mtu = 1500' 'congestion = cubic' 'loss = 1%' '[wan_sync]' \
    'size = 2MiB' 'streams = 2'
notes() { cat "$1"/*/*/*/launch-*.jsonl | jq -r 'select(.type == "note" and
    (.key == "tcp_congestion" or .key == "warning")) | .key + " " + .value'; }

fails 2 'congestion=auto needs pacing=yes' "$gradsync" check lab.ini --set \
    wan_sync:congestion=auto --set wan_sync:pacing=no
run lab -- "$gradsync" run -q -o auto lab.ini --set wan_sync:congestion=auto
need_lab
is "$rc:$err" 0: 'a run with congestion=auto succeeds on a line that loses packets'
like "$(notes auto)" 'tcp_congestion cubic' 'it starts with the congestion control of the kernel'
like "$(notes auto)" 'tcp_congestion bbr: [0-9.]+% of the packets from rank 0 were sent again' \
    'it changes to BBR once losses are the limit'
run lab -- "$gradsync" run -o cubic lab.ini --set wan_sync:congestion=cubic,bbr
like "$err" 'warning: .* this limits cubic: .*; cell: .*congestion=cubic .*\([0-9a-f]+\)'
noted=$(cat cubic/*/*/*/launch-*.jsonl | jq -rs '(map(select(.type == "cell") |
    {(.cell): .params.congestion}) | add) as $of | .[] | select(.key == "tcp_congestion" and
    (.value | test("sent again"))) | $of[.cell] + " has " + .value' | sed 's/:.*//')
like "$noted" 'cubic has cubic' 'what is noted while a cell is sampled belongs to this cell'
unlike "$noted" 'cubic has bbr|bbr has cubic' 'it belongs to no other cell'
like "$(notes cubic)" 'warning [0-9.]+% of the packets from rank 0 were sent again, '\
'apart from its start and its probes, .* this limits cubic: try congestion = bbr or auto' \
    'where losses limit another congestion control the user is told what to try'
like "$(notes cubic)" 'tcp_congestion cubic: [0-9.]+% of the packets from rank 0 were sent again' \
    'a congestion control that was asked for stays'
run lab --set links:loss=0 -- "$gradsync" run -q -o clean lab.ini --set links:loss=0 --set \
    wan_sync:congestion=auto
is "$rc:$err" 0: 'a line without losses gets no warning'
is "$(notes clean)" 'tcp_congestion cubic' 'without losses auto stays with what the kernel has'
no_orphans 'no process is left running'
done_testing
