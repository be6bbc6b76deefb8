#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The error rates of `gradsync trial`, on 300 simulated trials of five minutes whose truth is known
# (make error-rates makes 1,000).
. "$(dirname "$0")/lib.sh"
rate() { awk -F, -v q="$1" -v m="$2" '$1 ~ q && $2 == m { print $4; exit }' rates; }
holds() { awk -v x="$1" "BEGIN { exit !(x != \"\" && $2) }"; }

exits 0 'every rate is within its bounds' "$build/sim/trial_rates" 300
printf '%s\n' "$out" >rates
for noise in 'noise 0.5%' 'noise 1%' 'noise 1%; three arms' 'noise 1%; correlated visits'; do
    ok "$noise: an A/A comparison finds a difference in 5% or less" \
        holds "$(rate 'arm called' "$noise")" 'x <= 0.05'
    ok "$noise: a true difference of 2% is found in 80% or more" \
        holds "$(rate '^trial: 2% there' "$noise")" 'x >= 0.8'
    ok "$noise: a difference is never found in the wrong direction" \
        holds "$(rate 'other way' "$noise")" 'x == 0'
done
ok 'noise 3%; three arms: an A/A comparison finds a difference in 5% or less' \
    holds "$(rate 'arm called' 'noise 3%; three arms')" 'x <= 0.05'
ok 'noise 3%; three arms: a true difference of 2% is found in 75% or more' \
    holds "$(rate '^trial: 2% there' 'noise 3%; three arms')" 'x >= 0.75'
ok 'a noise of 3% hides a difference of 1%' \
    holds "$(rate '^trial: 1% there' 'noise 3%; three arms')" 'x < 0.5'
"$build/sim/trial_rates" 5 3 >first 2>/dev/null
"$build/sim/trial_rates" 5 3 >second 2>/dev/null
ok 'the same seed gives the same rates' diff first second
done_testing
