#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# A campaign on a real Slurm, when nothing goes wrong: what comes out is what a local run of the
# same plan gives.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up

# ---- submit, complete, collect ----

small q.ini
submitted q.ini
like "$camp" "^$tmp/campaigns/gs-" 'submit prints the campaign'
like "$(cat "$camp/jobs.jsonl")" '"tasks":"1-3"' 'the ledger of a new campaign has the job'
is "$(stat -c %a "$camp/array-1.sh")" 755 'the script of a campaign may be run'
settled
status_is 0 'status of a measured campaign exits with 0'
is "$(column 'done') $(column cells)" '4 4' 'status counts every cell as done'
like "$out" "next: gradsync collect $camp" 'status says that collect is next'
ok 'a measured campaign is collected' "$gradsync" collect -o raw "$camp"
dir=$(ls -d raw/p/null/*)
ok 'check finds the collected run whole' "$gradsync" check "$dir"
is "$(stat -c %A "$dir"/* | grep -c w)" 0 'nobody may write to a collected run'

"$gradsync" run -q -o local q.ini
# What is measured, without the times, in the last attempt of each planned launch: on a busy machine one
# may be tried again, and the local run measures another one in place of a disturbed one.
shape() {
    printf '%s\n' "$1"/launch-0[123].*.jsonl | sort | awk -F/ '{ split($NF, f, "."); last[f[1]] = $0 }
        END { for (launch in last) print last[launch] }' | sort |
        xargs -d '\n' sed -n 's/^{"type":"block",.*"cell":"\([0-9a-f]*\)","copy":\([0-9]\),'\
'"block":\([0-9]*\).*/\1 \2 \3/p'
}
is "$(shape "$dir")" "$(shape "$(ls -d local/p/null/*)")" \
    'a campaign measures the cells, blocks and order of a local run'
cells() { grep -o '"id": "[0-9a-f]*"' "$1/plan.json"; }
is "$(cells "$dir")" "$(cells "$(ls -d local/p/null/*)")" \
    'a campaign and a local run have the same plan'
last() { printf '%s\n' "$dir/launch-$1".*.jsonl | tail -n 1; } # LAUNCH: its last attempt
like "$(head -n 1 "$(last 02)")" '"job":\{"id":"[0-9]*","array":"[0-9]*","task":"2"' \
    'each launch of a campaign names its job'
isnt "$(grep -ho '"nodes":"n[0-9]"' "$dir"/*.jsonl | sort -u | wc -l)" 0 \
    'each launch of a campaign names its nodes'

before=$(cat "$dir"/* | cksum)
says '0 runs \(.*\), 1 already there' "$gradsync" collect -o raw "$camp"
is "$(cat "$dir"/* | cksum) $(ls -A raw/p/null | wc -l)" "$before 1" \
    'a second collect leaves the run as it was'
says 'nothing to do' "$gradsync" resume "$camp"
is "$(grep -c '"job"' "$camp/jobs.jsonl")" 1 'resume of a complete campaign submits nothing'

{ chmod u+w "$dir" "$(last 01)" && printf 'x' >>"$(last 01)"; } || flunk 'the copy is edited'
fails 1 'edited since the run was completed' "$gradsync" collect -o raw "$camp"
rm -rf raw

# ---- anywhere ----

mkdir "a folder 'of' mine" && cd "a folder 'of' mine" || exit
run env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SBATCH_TIMELIMIT=1 SBATCH_PARTITION=nowhere \
    SLURM_TIME_FORMAT=x \
    SECRET=hunter2 AWS_TOKEN=hunter2 bash \
    -c 'umask 027; exec "$0" submit -q -o "the campaigns" ../q.ini' "$gradsync"
is "$rc" 0 'submit works in a folder with blanks and quotes, whatever SBATCH_* says'
camp=$out
settled
ok 'a campaign in a folder with blanks and quotes is collected' \
    "$gradsync" collect -q -o raw "$camp"
is "$(stat -c %a "$camp" "$camp/campaign.json" "$camp"/runs/*/*/*/plan.json | sort -u | paste \
    -sd' ')" '640 750' 'a campaign keeps the umask'
is "$(grep -rl hunter2 "$camp" raw | wc -l)" 0 'a campaign records no secret of the environment'
cd "$tmp" || exit
rm -rf raw "a folder 'of' mine"

# ---- many configs, shapes, throttle, launches together ----

mkdir configs
small configs/one.ini
sed -i 's/name = p/name = one/; s/^launches = 3/launches = 4/' configs/one.ini
small configs/two.ini
sed -i 's/name = p/name = two/; s/^exclusive = no/exclusive = no\nlaunches = 2\ngpus_per_node = '\
'1/' configs/two.ini
ok 'submit --dry-run takes a folder of configs' \
    "$gradsync" submit --dry-run -o campaigns/dry configs
is "$(grep -c '^sbatch ' <<<"$out") $(ls -d campaigns/dry 2>/dev/null)" '2 ' \
    'submit --dry-run prints an array for each shape of resources, and makes nothing'
submitted configs
is "$(wc -l <"$camp/tasks.tsv")" 7 'a folder of configs makes 4 tasks of one launch and 2 of two'
settled
says "^collected into $tmp/raw: " "$gradsync" collect -o raw "$camp"
is "$(printf '%s\n' raw/*/null/*/launch-*.jsonl | sed 's/\.[0-9]*\.jsonl$//' | sort -u | wc -l)" 7 \
    'every launch of two configs is collected'
rm -rf raw

submitted q.ini --set measure:launches=200 --set slurm:throttle=5 --set launch:ranks=1 \
    --set null:size=8 --set null:config=a --set slurm:time=20min \
    --set slurm:setup="until [ -e $tmp/open ]; do sleep 0.2; done"
measured() { grep -ls '"status":"complete"' "$camp"/runs/*/*/*/launch-*.jsonl | wc -l; }
jobs_now() { # those that run, and why the others wait
    echo "$(jobs_in R) $(squeue -h -t PD -n "$(basename "$camp")" -o %r)"
}
throttled() { [ "$(jobs_now)" = '5 JobArrayTaskLimit' ]; }
until_true 300 throttled
is "$(jobs_now)" '5 JobArrayTaskLimit' \
    'an array of 200 runs five tasks, and its throttle holds the others'
touch "$tmp/open"
some_measured() { [ "$(measured)" -ge 10 ]; }
until_true 300 some_measured || flunk 'tasks measure once they may' "$(squeue -r | head)"
"$gradsync" cancel -q "$camp"
settled
done=$(measured)
status_is 1 'a cancelled campaign exits with 1'
is "$(column cells) $(column 'done') $(column lacking)" '1 0 1' \
    'status counts the cells that a cancelled campaign lacks'
like "$out" "lacking +[0-9]+ +cancelled: resume measures"
says "^$((200 - done)) tasks were cancelled" "$gradsync" resume "$camp"
tail -n 1 "$camp/jobs.jsonl" | grep -o '"tasks":"[^"]*"' >tasks
is "$(sed 's/.*"tasks":"//; s/%.*//' tasks | tr , '\n' | awk \
    -F- 'NF == 2 { n += $2 - $1 } { n++ } END { print n }') $(grep -o '%5' tasks)" \
    "$((200 - done)) %5" 'resume submits the missing tasks alone, with the same throttle'
cp -r "$camp" copied
says '^cancelled: 0 arrays' "$gradsync" cancel copied
"$gradsync" cancel -q "$camp"
settled

# ---- two campaigns in one folder ----

small q.ini
submitted q.ini && first=$camp
submitted q.ini && second=$camp
isnt "$first" "$second" 'two campaigns in one folder have names of their own'
"$gradsync" cancel -q "$first"
camp=$second && settled
status_is 0 'a campaign is whole though another one in its folder is cancelled'
rm -rf raw
ok 'a campaign beside a cancelled one is collected' "$gradsync" collect -q -o raw "$second"
camp=$first && completes 'a cancelled campaign beside another'

slurm_down
no_orphans 'no process is left'
done_testing
