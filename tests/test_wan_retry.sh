#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync with on_loss=continue between three sites of a lab whose links, MPI's network too, are
# all cut: the run is tried again. Links that return in a retry are used, and without them a retry
# does not wait for as long as MPI does.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
LAB_SECONDS=500
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 1MiB' 'probe = 200ms' 'timeout = 2s' \
    'strategy = direct' 'on_loss = continue' 'port = 5300' 'interface = wan0'
sed -i 's/^blocks = .*/blocks = 5000/; s/^max_blocks = .*/max_blocks = 5000/
    s/^budget = .*/budget = 1h/; s/^deadline = .*/deadline = 10s/
    s/^retries = .*/retries = 2/' lab.ini
cat >inside <<'END'
tried() { ls data/*/*/*/launch-01.02.* >/dev/null 2>&1; }
"$gradsync" run -q -o data lab.ini 2>run.err &
runner=$!
until_recorded block 3
set_links down north-south north-east east-south
until_true 200 tried || exit 1
set_links up north-south north-east east-south
before=$(recorded block)
until_recorded block 3
echo $(($(recorded block) - before)) >after
set_links down north-south north-east east-south
wait $runner
echo $? >rc
END
run lab -- bash inside
need_lab
[ $rc = 0 ] || diag "$err"
diag "$(cat run.err)"
ok 'links that return in a retry are used' [ "$(cat after)" -ge 3 ]
is "$(cat rc)" 1 'a run whose links stay cut ends with 1'
like "$(cat run.err)" \
    'measured nothing; last reason: the ranks did not begin within [1-9][0-9]? s' \
    'a retry over links that stay cut ends before MPI gives up'
no_orphans 'no process is left running'
done_testing
