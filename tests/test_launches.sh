#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Launches that were disturbed: tables leave them out and say why; run, train and trial measure others
# in their place. A launch is judged by its baseline and by what else ran, never by its contrasts.
# What else ran is in tests/golden/nothing_measured.cmd.
. "$(dirname "$0")/lib.sh"

train() { "$gradsync" train "$@" -o raw; }

# ---- a training in which launches take longer

# Steps take 20 ms; in launch N of SLOW all of them take half as long again, and in launch N of ODD
# those of cost=1 do. A launch starts the command three times.
cat >steps <<'END'
#!/bin/sh
echo start >>starts
launch=$((($(wc -l <starts) + 2) / 3)) us=20000
case " $SLOW " in *" $launch "*) us=30000 ;; esac
[ "$1" = 0 ] || case " $ODD " in *" $launch "*) us=30000 ;; esac
[ "$1" = "$COLD" ] && cold=1
awk -v us=$us -v cold="$cold" -v seed="$(wc -l <starts)" 'BEGIN { srand(seed)
    for (i = 0; i < 20; i++)
        printf "took %.0f us\n", us * (1 + 0.01 * rand()) * (cold && i < 4 ? 2 : 1) }'
END
chmod +x steps
trained() { # NAME LAUNCHES
    printf '%s\n' '[platform]' 'name = here' '[measure]' "launches = $2" 'seed = 7' '[train]' \
        'command = ./steps {cost}' 'time = took ([0-9]+) us' 'unit = us' 'cost = 0, 1' >job.ini
    : >starts
    exits 0 "$1: it is measured" train job.ini
    said=$err
}
launches() { find "$(run_of)" -name 'launch-*.jsonl' | wc -l; }

export SLOW=2 ODD='' COLD=''
trained 'one slow launch' 5
like "$said" 'train: launch 2 is left out of the statistics: cost=0 took 30\.[0-9] ms, in the other launches 20\.[0-9] ms' \
    'train names the launch whose baseline is far from the others'
like "$said" 'launch 6 is measured in place of one that is left out' 'train measures another one'
is "$(launches)" 6 'both are recorded'
exits 0 'a run with a replaced launch is sound' "$gradsync" check "$(run_of)"
prints '\[1\] launch 2 left out: cost=0 took 30' "$gradsync" show "$(run_of)"
unlike "$out" 'partial' 'the cells are whole'
prints 'launch 2 left out: cost=0 took 30' "$gradsync" compare --all "$(run_of)" -o csv
like "$out" 'equivalent' 'the other launches decide'
ok 'it is reduced' "$gradsync" reduce "$(run_of)" -o csv
is "$(awk -F, 'NR > 1 { print $12 }' csv/summary.csv | sort -u)" 5 'five launches count in the summary'
is "$(grep -c 'launch 2 left out' csv/summary.csv)" 2 'the summary names the launch and why'
is "$(awk -F, 'NR > 1 { print $11 }' csv/launches.csv | sort -nu | xargs)" '1 3 4 5 6' \
    'the table of launches lacks the one that is left out'
is "$(csv csv/samples.csv 1 launch | sort -nu | xargs)" '1 3 4 5 6' 'so does the table of samples'

SLOW='' ODD=2
trained 'a launch whose contrast alone is far' 5
unlike "$said" 'left out' 'a launch is not judged by a config that is compared'
is "$(launches)" 5 'it is not replaced'

SLOW='1 4 6 7 8 9' ODD=
trained 'many slow launches' 5
is "$(launches)" 7 'at most half as many launches as planned are measured in place of others'

SLOW='2 3' ODD=
trained 'half of the launches' 4
unlike "$said" 'left out' 'where half of the launches are slow, none is left out'
exits 0 'such a run is shown' "$gradsync" show "$(run_of)"

# ---- warm-up: one cut for all configs, by the baseline alone

warm() { "$gradsync" reduce -q "$(run_of)" -o csv &&
    awk -F, 'NR > 1 { print $14 }' csv/summary.csv | xargs; }
SLOW='' ODD=''
export COLD=0
trained 'a cold baseline' 2
like "$(warm)" '^(8 8|9 9|10 10)$' 'the blocks in which the baseline is cold are warm-up of every config'
COLD=1
trained 'a cold config' 2
is "$(warm)" '0 0' 'what is slow in a config alone is no warm-up'
COLD=''

# ---- a trial

ok 'the clock of the job compiles' "${CC:-gcc}" -Wall -shared -fPIC -o clock.so "$top/tests/tuner/clock.c"
cat >job <<END
#!/bin/sh
echo start >>starts
us=1000
[ "\$(wc -l <starts)" != 2 ] || us=3000
exec env LD_PRELOAD='$tmp/clock.so' "$build/tuner/job" steps=200 step_us=\$us
END
chmod +x job && : >starts
says 'trial: launch 2 is left out of the statistics: auto took' "$gradsync" trial --warmup 5 \
    --seed 3 -o trials --arms ctas=8 --steps 4 --blocks 4 --launches 4 -- ./job
is "$(find "$(latest MANIFEST.json trials)" -name 'launch-*.jsonl' | wc -l)" 5 'trial measures another one'
done_testing
