#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# How often gradsync suspects is wrong, on 1,000 machines of each kind (100 of 64
# ranks) whose truth is known.
. "$(dirname "$0")/lib.sh"

rate() { awk -F, -v q="$1" -v m="$2" '$1 == q && $2 == m { print $4; exit }' rates; }
holds() { awk -v x="$1" "BEGIN { exit !(x != \"\" && $2) }"; }

run "$build/sim/suspect_rates" 1000
is "$rc|$err" '0|' 'every rate is within its bound'
printf '%s\n' "$out" >rates
diag "$out"
for machine in '2 ranks' '4 ranks' '8 ranks' '2 ranks that differ by 2%' \
    '3 ranks that differ by 2%' '4 ranks that differ by 2%' '8 ranks that differ by 2%' \
    '8 ranks that differ by 5%' '4 hosts of 4 ranks' '8 hosts of 8 ranks that differ by 2%'; do
    ok "a healthy machine has a suspect in 5% or less: $machine" holds \
        "$(rate 'a healthy one is named' "healthy; $machine")" 'x <= 0.05'
done
for fault in 'a rank computes 5% slower; 8 ranks' 'a rank computes 10% slower; 2 ranks' \
    'a link 5% slower; 8 ranks' 'two ranks compute 10% slower; 8 ranks' \
    "a host's network 10% slower; 4 hosts of 4 ranks"; do
    ok "80% or more are named, and nothing else: $fault" holds \
        "$(rate 'every slow one is named' "$fault")" 'x >= 0.8'
    ok "a healthy one is named beside it in 5% or less: $fault" holds \
        "$(rate 'a healthy one is named' "$fault")" 'x <= 0.05'
done
# docs/suspects.md says that the promise does not hold here. Where it does, it must say so.
ok 'four healthy ranks that differ by 5% have a suspect in more than 5%' holds \
    "$(rate 'a healthy one is named' 'healthy; 4 ranks that differ by 5%')" 'x > 0.05'
done_testing
