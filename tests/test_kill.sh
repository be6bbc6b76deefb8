#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# kill -9 at 20 random moments, of gradsync or of whatever it started, each followed by a resume. In
# the end no cell is lost, none is measured twice, and what a kill left is still read. Also under
# ASan.
. "$(dirname "$0")/lib.sh"

kills=${KILLS:-20}
seed=${SEED:-$RANDOM}
RANDOM=$seed
diag "SEED=$seed"
sizes=12 launches=3
printf '%s\n' '[platform]' 'name = p' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' \
    "launches = $launches" 'blocks = 5' 'max_blocks = 1000' 'budget = 150ms' 'precision = 0.01%' \
    'warmup = 0' 'warmup_ops = 1' 'retries = 100' 'deadline = 5s' \
    '[null]' "size = 8:$((8 * sizes)):+8" 'config = a, b' 'noise = 5%' 'spin = yes' 'time = 100us' \
        >kill.ini

family() { # PID…: they and all that descends from them
    local pid
    for pid; do
        echo "$pid"
        # shellcheck disable=SC2046
        family $(pgrep -P "$pid")
    done
}
start() { # in the background, its output in run.err
    if [ -z "$dir" ]; then
        "$gradsync" run -q kill.ini -o data 2>run.err &
    else
        "$gradsync" resume -q "$dir" 2>run.err &
    fi
    pid=$!
}
find_dir() { dir=$(ls -d data/p/null/*/plan.json 2>/dev/null | sed 's|/plan.json||' | tail -n 1); }
closed() { # launch and group of every line that closes one
    local f
    for f in "$dir"/launch-*.jsonl; do
        sed -n \
            's/^{"type":"group",.*"group":"\([0-9a-f]*\)".*/'"$(basename "$f" | cut -c8-9)"' \1/p' \
            "$f"
    done
}

# ---- kills ----

RANDOM=5 # the same victims and moments each time
dir='' done_kills=0 runs=0 survived=0
while [ $done_kills -lt "$kills" ] && [ $runs -lt 200 ]; do
    runs=$((runs + 1))
    start
    # The moment is random: no event is waited for.
    sleep "$(printf '0.%03d' $((RANDOM % 1000)))"
    [ $((RANDOM % 3)) = 0 ] && sleep 0.5
    mapfile -t members < <(family "$pid")
    victim=${members[RANDOM % ${#members[@]}]}
    [ $((RANDOM % 2)) = 0 ] && victim=$pid
    if kill -KILL "$victim" 2>/dev/null; then
        done_kills=$((done_kills + 1))
        lines=$(grep -hc . "$dir"/launch-*.jsonl 2>/dev/null | paste -sd+)
        diag "kill $done_kills: $lines lines, member $victim of $pid"
    fi
    if [ "$victim" != "$pid" ]; then # gradsync lives and mends it; it is stopped now or soon
        sleep 0.5
        kill -KILL "$pid" 2>/dev/null && survived=$((survived + 1))
    fi
    wait "$pid" 2>/dev/null
    # shellcheck disable=SC2046
    if ! until_true 60 tap_alone; then flunk "nothing outlives kill $done_kills" \
        "$(tap_describe $(marked))"; fi
    find_dir
    if [ -n "$dir" ] && [ -e "$dir/MANIFEST.json" ]; then dir='' && mv data "data.$runs"; fi
done 2>/dev/null
is "$done_kills" "$kills" "there were $kills kills in 200 runs or fewer"
[ -n "$dir" ] || start && wait "$pid" && find_dir

# ---- what is left ----

ok 'the last run is completed by resume' "$gradsync" resume -q "$dir"
for dir in data*/p/null/*; do
    [ -e "$dir/plan.json" ] || continue # killed before it had a plan
    [ -e "$dir/MANIFEST.json" ] || "$gradsync" resume -q "$dir"
    attempts=$(ls "$dir"/launch-*.jsonl | wc -l)
    ok "a run after $attempts attempts is sound" "$gradsync" check "$dir"
    # A launch that other programs disturbed is replaced: there may be more than $launches.
    made=$(closed | cut -d' ' -f1 | sort -u | wc -l)
    ok 'there are the launches that the config wants' test "$made" -ge "$launches"
    is "$(closed | wc -l) $(closed | sort -u | wc -l)" "$((sizes * made)) $((sizes * made))" \
        'each group is closed once in each launch'
    rm -rf csv
    ok 'a run after kills is reduced' "$gradsync" query "$dir" --export csv
    is "$(($(wc -l <csv/summary.csv) - 1))" $((sizes * 2)) 'the table has every cell after kills'
    counted=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "launches") c = i }
        NR > 1 { print $c }' csv/summary.csv | sort -u)
    # Of such a launch only the cells that were disturbed are left out.
    unlike "$(tr '\n' ' ' <<<"$counted")" "[^$launches-$made ]" 'each cell was measured in every launch'
    is "$(sort csv/samples.csv | uniq -d | wc -l)" 0 'no sample is in the table twice'
done
no_orphans 'no process is left'
done_testing
