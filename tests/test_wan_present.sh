#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync with on_loss=continue between three sites of a lab: the run goes on without a site that is
# cut off, and without one of two that do not reach each other, and takes it back. MPI uses the lab's
# control network, which stays, and the transport must not come back over it.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
LAB_SECONDS=400
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
strategy=${STRATEGY:-direct}
export OMPI_MCA_btl_tcp_if_include=ctl0
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 1MiB' 'probe = 200ms' 'timeout = 2s' \
    "strategy = $strategy" 'on_loss = continue' 'pattern = normal' 'port = 5300' \
    'interface = wan0'
sed -i 's/^blocks = .*/blocks = 5000/; s/^max_blocks = .*/max_blocks = 5000/
    s/^budget = .*/budget = 1h/; s/^deadline = .*/deadline = 60s/' lab.ini
cat >inside <<'END'
lines() { cat data/*/*/*/launch-*.jsonl 2>/dev/null; }
whole() { lines | grep -c '"type":"block"'; }
fewer() { lines | grep -c '"key":"left_out"'; }
more() { [ "$($1)" -ge "$2" ] || ! kill -0 $runner 2>/dev/null; }
until_more() { until_true 60 more "$1" $(($($1) + $2)) || echo "no more $1" >>log; } # WHAT N
state() { echo "$1 $(whole) $(fewer)" >>log; }
"$gradsync" run -q -o data lab.ini 2>run.err &
runner=$!
until_more whole 3
state begin
links() { # down|up LINK…: a site is cut off by all its links; by itself MPI's network is cut too
    for link in "${@:2}"; do "$gradsync" lab-set "$1 $link" >/dev/null; done
}
for what in 'north-south east-south' north-south; do
    # shellcheck disable=SC2086 # links
    links down $what
    until_more fewer 3
    state "without ${what// /,}"
    # shellcheck disable=SC2086
    links up $what
    until_more whole 3
    state "with ${what// /,}"
done
"$gradsync" lab-set 'rate south 10%' >/dev/null
until_more whole 2
state slow
"$gradsync" lab-set reset >/dev/null
links down north-south north-east east-south
wait $runner
echo $? >rc
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
lines=$(cat data/*/*/*/launch-*.jsonl) log=$(cat log)
diag "$log"
unlike "$log" 'no more' 'the run goes on without a site, and with it again'
like "$lines" '"key":"present","value":"2 of 3 ranks, without rank 2 \(south\): ' \
    'a note names the site that a sum is without'
like "$lines" '"key":"left_out","value":"block [0-9]+ left out: 2 of 3 ranks, without' \
    'a block without a site is noted as left out'
unlike "$lines" '"why":"the ranks that are present ended with different bits' \
    'all ranks that are present have the same sum'
is "$(awk '$1 == "slow" { print $3 }' log)" "$(awk '/^with north-south / { print $4 }' log)" \
    'a slow site is not left out'
is "$(cat rc)" 1 'a run without a majority ends with 1'
like "$lines" '"type":"fail".*"why":"no sum: a majority of the 3 ranks' \
    'the recording says that there is no majority'
is "$(grep -c '"type":"fail"' <<<"$lines")" 1 'nothing else has failed'
no_orphans 'no process is left running'
done_testing
