#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# The error rates of the verdicts, on campaigns whose truth is known: 1,000 of them with AR(1) noise,
# effects of the launch, a clock step and a drift.
. "$(dirname "$0")/lib.sh"
rate() { awk -F, -v q="$1" -v m="$2" '$1 ~ q && $2 == m { print $4; exit }' rates; }
holds() { awk -v x="$1" "BEGIN { exit !(x != \"\" && $2) }"; }

run "$build/sim/error_rates" 1000
is "$rc|$err" '0|' 'every rate is within what it is held to'
printf '%s\n' "$out" >rates
diag "$out"
alarm='^nothing there'
ok 'A/A calls a difference in 5% or less' holds "$(rate "$alarm" verdict)" 'x <= 0.05'
ok 'and where launches are unlike' holds "$(rate "$alarm" 'verdict: unlike launches')" 'x <= 0.05'
ok 'and any of a family of five' holds "$(rate "$alarm" 'verdict: any of five')" 'x <= 0.05'
ok 'and any of fourteen, of three blocks a launch' holds "$(rate "$alarm" 'verdict: any of fourteen; three blocks')" 'x <= 0.05'
for regime in 'noisy blocks' 'unlike launches'; do
    ok "the interval covers the truth in 93 to 97%: $regime" holds "$(rate "covers: $regime" 'as used here')" 'x >= 0.93 && x <= 0.97'
done
cover() { rate 'covers: other noise' "$1"; }
for noise in 'communicators created anew' 'blocks of one sample' 'cold starts'; do
    ok "the interval covers the truth in 93 to 97%: $noise" holds "$(cover "$noise")" 'x >= 0.93 && x <= 0.97'
done
# README.md and the paper say that the promise does not hold here. Where it does, they are to say so.
for noise in 'rare slow launches' 'correlated launches' 'lasting communicators'; do
    ok "and less often: $noise" holds "$(cover "$noise")" 'x < 0.93'
done
ok 'communicators that differ alike in every launch make false differences' \
    holds "$(rate "$alarm" 'verdict: lasting communicators')" 'x > 0.05'
ok 'the plain bootstrap does not, where launches are unlike' holds "$(rate 'covers: unlike' 'percentile bootstrap')" 'x < 0.93'
ok 'a true 2% is found in 80% or more' holds "$(rate '^2% there and found' verdict)" 'x >= 0.8'
ok 'and called the other way by nobody' holds "$(rate 'the other way' verdict)" 'x <= 0.001'
ok 'the naive test sees differences in nothing' holds "$(rate "$alarm" 'Mann-Whitney one after the other')" 'x > 0.5'
ok 'and calls 2% the other way' holds "$(rate 'the other way' 'Mann-Whitney one after the other')" 'x > 0.1'
"$build/sim/error_rates" 20 3 200 >first 2>/dev/null
"$build/sim/error_rates" 20 3 200 >second 2>/dev/null
ok 'the same seed gives the same rates' diff first second
done_testing
