#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync with on_loss=continue between three sites of a lab: the run goes on without a site that
# is cut off, and without one of two that do not reach each other, and takes it back. MPI uses the
# lab's control network, which stays, and the transport must not come back over it.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
LAB_SECONDS=800
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
state() { echo "$1 $(recorded block) $(recorded left_out)" >>log; }
"$gradsync" run -q -o data lab.ini 2>run.err &
runner=$!
until_recorded block 3
state begin
for what in 'north-south east-south' north-south; do
    # shellcheck disable=SC2086 # links
    set_links down $what
    until_recorded left_out 3
    state "without ${what// /,}"
    # shellcheck disable=SC2086
    set_links up $what
    until_recorded block 3
    state "with ${what// /,}"
done
lab_set 'rate south 10%'
until_recorded block 2
state slow
lab_set reset
set_links down north-south north-east east-south
wait $runner
echo $? >rc
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
is "$rc" 0 'the run goes on without a site, and with it again'
lines=$(cat data/*/*/*/launch-*.jsonl) log=$(cat log)
diag "$log"
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
