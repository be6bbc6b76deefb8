#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# wan_sync where one site of three has a quarter of the others' rate: the probe finds which, and the
# shares follow the rates.
# shellcheck disable=SC2154 # $rc $out $err are lib.sh's
. "$(dirname "$0")/lib.sh"
. "$top/tests/lab.sh"

[ -e "$build/plugins/wan_sync.so" ] || skip_all 'wan_sync is not built here'
lab_config 40Mbit/s 20ms 'mtu = 9000' '[wan_sync]' 'size = 512KiB' 'strategy = direct' 'shares = lp'
sed -i 's|^south = .*|& up=10Mbit/s down=10Mbit/s|' lab.ini
cat >inside <<END
mpirun -n 3 --host north,east,south --bind-to none '$build/bench/wan_link' \\
    rate=40 rtt=20 block=65536 \\
    size=393216 iterations=1 >estimates 2>driver.err || exit
'$gradsync' run -q -o data lab.ini
END
run lab -- bash inside
need_lab
is "$rc:$err" 0: 'a run between unequal sites succeeds'
[ ! -s driver.err ] || diag "$(cat driver.err)"

# "... probed 39.1 38.9 9.8 of 39.7 Mbit/s ...". The rates are low, and they are compared with
# each other: a busy machine lowers all of them.
read -r north east south <<<"$(sed -n 's/.*probed \(.*\) of .*/\1/p' estimates)"
diag "$(sed -n 's/.*\(probed .*\);.*/\1/p' estimates)"
ok 'the probe finds the rates to and from the slow site' awk "BEGIN { exit !($north > 2 * $south &&
    $north > 2 * $east && $south > 2 && $south < 16) }"
rates=$(cat data/*/*/*/launch-*.jsonl | sed -n 's/.*"key":"rates_Bps","value":"\([^"]*\)".*/\1/p')
ok 'the rates for the shares tell the slow site from the others' \
    awk '{ bad = $3 > 0.7 * $1 || $3 > 0.7 * $2 || $3 < 0.25e6 } END { exit bad || NR != 1 }' \
    <<<"$rates"
diag "rates: $rates"
no_orphans 'no process is left running'
done_testing
