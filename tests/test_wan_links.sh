#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# gradsync links between three sites of a lab, one pair slower and farther apart: what it
# finds, the config that it writes, and what model makes of it. Bounds hold on a busy machine;
# make bench-wan PART=links holds it to 3% and 1 ms.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
LAB_SECONDS=500
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_links.so" ] || skip_all 'wan_links is not built here'
lab_config 40Mbit/s 20ms 'mtu = 1500' 'congestion = cubic' '# a comment' \
    'north-south = rate=10Mbit/s rtt=60ms' '[model]' 'parameters = 1e6' 'tokens = 1000' \
    'compute = 10ms' '[wan_links]' 'way = alone' 'round = 1, 2, 3' 'measure = 300ms, 400ms'
run lab -- "$gradsync" links -o data --write measured.ini lab.ini
need_lab
is "$rc" 0 'the links of a lab are measured'
[ $rc = 0 ] || diag "$err"
table=$out
diag "$table"

# DIRECTION COLUMN: of the table; words: direction, RTT, loss, MTU, rate
field() { awk -v d="$1" -v k="$2" '$1 == d { print $k }' <<<"$table"; }
near() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }
is "$(awk '/>/ { print $1 }' <<<"$table" | sort | tr '\n' ' ')" \
    'east>north east>south north>east north>south south>east south>north ' \
    'each direction of each pair has a row'
is "$(field 'north>east' 4)" 1500 'the MTU is that of the lab'
ok 'the RTT of the near pair is that of the lab' near "$(field 'north>east' 2)" 20 30
ok 'the RTT of the far pair is that of the lab' near "$(field 'north>south' 2)" 60 70
ok 'the rate of a usual pair is near the one of the lab' near "$(field 'north>east' 5)" 20 44
ok 'the rate of the slow pair is near the one of the lab' near "$(field 'south>north' 5)" 5 11

is "$(awk '/>/ && $5 > 40 { print $5 }' <<<"$table")" '' \
    'no rate is above the line of the lab'
like "$table" 'over 8 streams of cubic' 'it names the streams and their congestion control'
like "$(cat measured.ini)" $'\n\\[links\\]\nmtu = 1500\nstreams = 8\ncongestion = cubic\n' \
    'the config that it writes has the MTU and the streams'
like "$(cat measured.ini)" $'\nnorth = up=[0-9.]+Mbit/s down=[0-9.]+Mbit/s gpus=1\n' \
    'it has the rates of each site'
like "$(cat measured.ini)" $'\nnorth>south = rate=[0-9.]+Mbit/s rtt=[67][0-9.]*ms loss=' \
    'it has each direction'
like "$(cat measured.ini)" '# a comment' 'it keeps comments'
unlike "$(cat measured.ini)" 'rate = 40Mbit/s|north-south' 'it has no link that was given'
exits 0 'check takes it' "$gradsync" check measured.ini
prints 'RTT 2[0-9.]+ ms to [67][0-9.]+ ms' "$gradsync" model measured.ini

folder=$(echo data/lab/wan_links/*)
is "$("$gradsync" links "$folder")" "$table" 'links prints a run again without measuring'
exits 0 'show reads the recording' "$gradsync" show "$folder"
cp -r "$folder" copied
chmod -R u+w copied
rm copied/MANIFEST.json copied/plan.json
sed -i '/^\[model\]/,/^$/s/^/# /; s/^# \(\[wan_links\]\)/\1/' copied/config.ini
run "$gradsync" links copied --write 'my links.ini'
like "$err" "add the section \[model\] .*gradsync model --plan 'my links.ini'\$"

# A site sends more to all others than to one, where each link is slower than its uplink.
lab_config 40Mbit/s 20ms 'mtu = 1500' 'north-south = rate=15Mbit/s' 'north-east = rate=15Mbit/s' \
    'east-south = rate=15Mbit/s' '[wan_links]' 'way = alone, all' \
    'round = 1, 2, 3' 'measure = 1s'
exits 0 'the uplinks of a lab are measured' lab -- "$gradsync" links -o all --write all.ini lab.ini
like "$out" 'All to all at once: north: up [0-9.]+, down [0-9.]+ Mbit/s; east'
diag "$(grep ' = up=' all.ini)"
ok 'each uplink in the written config is more than one link gives' awk -F'up=|Mbit' \
    '/ = up=/ { n++; if ($2 < 18 || $2 > 33) exit 1 } END { exit n != 3 }' all.ini

# Longer without a packet than a rate takes: that was a rate of 0, "not measured" and no file.
lab_config 40Mbit/s 20ms '[wan_links]' 'way = alone' 'round = 1, 2, 3' 'measure = 100ms'
cat >inside <<'END'
"$gradsync" links -o stalled --write stalled.ini lab.ini &
until_sends north 300000
set_links down north-east north-south
sleep 1
set_links up north-east north-south
wait $!
END
exits 0 'a rate outlasts a second without a packet' lab -- bash inside
is "$(grep -c '>.*rate=' stalled.ini)" 6 'each direction has a rate'

run "$gradsync" links --set launch:hosts=north,east lab.ini
is "$rc" 2 'hosts that are not one for each site are an error'
one_line "$err" 'the error is one line'
like "$err" '2 hosts for 3 sites' 'the error says how many there are'
no_orphans 'no process is left running'
done_testing
