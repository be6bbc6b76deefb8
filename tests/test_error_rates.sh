#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The error rates of the verdicts on 1,000 campaigns whose truth is known. Their noise is AR(1),
# with effects of the launch, a clock step and a drift.
. "$(dirname "$0")/lib.sh"
rate() { awk -F, -v q="$1" -v m="$2" '$1 ~ q && $2 == m { print $4; exit }' rates; }
holds() { awk -v x="$1" "BEGIN { exit !(x != \"\" && $2) }"; }

# What the figure and the paper show: 1,000 campaigns, simulated once for all.
run make -s -C "$top" CC="${CC:-gcc}" BUILD="$build" "${build#"$top/"}/sim/error_rates.csv"
is "$rc|$err" '0|' 'every rate is within its bound'
cp "$build/sim/error_rates.csv" rates
diag "$(<rates)"
alarm='^nothing there'
ok 'two copies of a config are called different in 5% or less' holds "$(rate "$alarm" verdict)" \
    'x <= 0.05'
ok 'unlike launches cause 5% false differences or less' holds \
    "$(rate "$alarm" 'verdict: unlike launches')" 'x <= 0.05'
ok 'a family of five has any false difference in 5% or less' holds \
    "$(rate "$alarm" 'verdict: any of five')" 'x <= 0.05'
ok 'fourteen contrasts of three blocks have any false difference in 5% or less' holds \
    "$(rate "$alarm" 'verdict: any of fourteen; three blocks')" 'x <= 0.05'
for regime in 'noisy blocks' 'unlike launches'; do
    ok "the interval covers the truth in 93 to 97%: $regime" holds \
        "$(rate "covers: $regime" 'as used here')" 'x >= 0.93 && x <= 0.97'
done
cover() { rate 'covers: other noise' "$1"; }
for noise in 'communicators created anew' 'blocks of one sample' 'cold starts'; do
    ok "the interval covers the truth in 93 to 97%: $noise" holds "$(cover "$noise")" \
        'x >= 0.93 && x <= 0.97'
done
# docs/deciding.md and the paper say that the promise does not hold here. Where it does, they must say so.
for noise in 'rare slow launches' 'correlated launches' 'lasting communicators'; do
    ok "the interval covers the truth in fewer than 93%: $noise" holds "$(cover "$noise")" \
        'x < 0.93'
done
ok 'communicators that differ alike in every launch make false differences' \
    holds "$(rate "$alarm" 'verdict: lasting communicators')" 'x > 0.05'
ok 'a plain bootstrap covers the truth in fewer than 93% if launches are unlike' holds \
    "$(rate 'covers: unlike' 'percentile bootstrap')" 'x < 0.93'
ok 'a true 2% is found in 80% or more' holds "$(rate '^2% there and found' verdict)" 'x >= 0.8'
ok 'a true 2% is called the other way in 0.1% or less' holds "$(rate 'the other way' verdict)" \
    'x <= 0.001'
ok 'the Mann-Whitney test finds a difference where there is none in over 50%' holds \
    "$(rate "$alarm" 'Mann-Whitney one after the other')" 'x > 0.5'
ok 'the Mann-Whitney test calls a true 2% the other way in over 10%' holds \
    "$(rate 'the other way' 'Mann-Whitney one after the other')" 'x > 0.1'

"$build/sim/error_rates" 20 3 200 >first 2>/dev/null
"$build/sim/error_rates" 20 3 200 >second 2>/dev/null
ok 'the same seed gives the same rates' diff first second
done_testing
