#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync between three sites of a lab: when the network to a site is cut during a sum, the run ends
# because of that and not at its deadline, and names the site; where one link is cut, it names the pair;
# and a rank that is stopped is named.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
LAB_SECONDS=500
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 4MiB' 'probe = 200ms' 'timeout = 3s'
sed -i 's/^blocks = .*/blocks = 100/; s/^max_blocks = .*/max_blocks = 100/
    s/^budget = .*/budget = 1h/; s/^deadline = .*/deadline = 400s/' lab.ini
kinds='ring direct'
cat >inside <<END
kinds='$kinds'
END
cat >>inside <<'END'
if "$gradsync" lab set up north-south >pairs 2>&1; then kinds+=' ring.pair'; fi
recorded() { cat "$1"/*/*/*/launch-*.jsonl 2>/dev/null | grep -c '"type":"block"'; }
begun() { [ "$(recorded "$1")" -ge 1 ] || ! kill -0 $runner 2>/dev/null; }
for kind in $kinds; do
    name=$kind what=south
    [[ $kind != *.pair ]] || what=north-south
    "$gradsync" run -q -o "$name" lab.ini --set wan_sync:strategy="${kind%.pair}" 2>"$name.err" &
    runner=$!
    until_true 120 begun "$name" && until_sends south 500000
    "$gradsync" lab set "down $what" >/dev/null || kill $runner
    wait $runner
    echo $? >"$name.rc"
    "$gradsync" lab set reset >/dev/null
done
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"

fail_of() { cat "$1"/*/*/*/launch-*.jsonl | grep '"type":"fail"'; }
for kind in $kinds; do
    name=$kind said=$(cat "$kind.err")
    is "$(cat "$name.rc")" 1 "$kind: a run whose site is cut off ends with 1"
    like "$said" '^gradsync: wan_sync: no answer between [a-z]+ and south(; no answer between [a-z]+ and [a-z]+)*$' \
        "$kind: the run names the site, in one line"
    like "$(fail_of "$name")" '"cell":"".*"kind":"lost","why":"no answer between [a-z]+ and south' \
        "$kind: the recording names the site and blames no cell"
done
if [ -e ring.pair.err ]; then
    like "$(cat ring.pair.err)" '^gradsync: wan_sync: no answer between north and south$' \
        'of a cut link the run names both ends'
else
    skip 'of a cut link the run names both ends' "this lab cannot cut one: $(cat pairs)"
fi
no_orphans 'no process is left running'
done_testing
