#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tier: slow
#
# A campaign on a real Slurm, when nothing goes wrong: its recordings are those of a local run of the
# same plan.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/slurm/lib.sh"
slurm_up

small q.ini
submitted q.ini
like "$camp" "^$tmp/campaigns/q-[0-9a-f]{8}$" 'submit prints the campaign'
like "$(cat "$dir/jobs.jsonl")" '"job":[0-9]+,"launches":"1-3"' 'the ledger has a line for the job'
is "$(stat -c %a "$dir/job.sh")" 755 'the job script may be run'
run "$gradsync" submit -o "$tmp/campaigns" q.ini
is "$out:$(grep -c '"job"' "$dir/jobs.jsonl")" "$camp:1" 'submit again finds the jobs: it submits nothing'
settled
status_is 0 'status of a measured campaign exits with 0'
like "$out" '3 of 3 launches measured, 4 cells'$'\n'"  verified and copied to $tmp/raw/p/null/"
copy=$(ls -d raw/p/null/*)
ok 'check finds the copy whole' "$gradsync" check "$copy"
is "$(stat -c %A "$copy"/* | grep -c w) $(find "$copy" -name '*job*' | wc -l)" '0 0' \
    'nobody may write to the copy, which holds recordings only'

"$gradsync" run -q -o local q.ini
# What is measured, without the times, in the last attempt of each planned launch: on a busy machine one
# may be tried again, and the local run measures another one in place of a disturbed one.
shape() {
    printf '%s\n' "$1"/launch-0[123].*.jsonl | sort | awk -F/ '{ split($NF, f, "."); last[f[1]] = $0 }
        END { for (launch in last) print last[launch] }' | sort |
        xargs -d '\n' sed -n 's/^{"type":"block",.*"cell":"\([0-9a-f]*\)","copy":\([0-9]\),'\
'"block":\([0-9]*\).*/\1 \2 \3/p'
}
is "$(shape "$copy")" "$(shape "$(ls -d local/p/null/*)")" \
    'a campaign measures the cells, blocks and order of a local run'
last() { printf '%s\n' "$copy/launch-$1".*.jsonl | tail -n 1; } # LAUNCH: its last attempt
like "$(head -n 1 "$(last 02)")" '"job":\{"id":"[0-9]*","array":"[0-9]*","task":"2"' \
    'each launch of a campaign names its job'

before=$(cat "$copy"/* | cksum)
status_is 0
like "$out" "is in $tmp/raw/p/null/"
is "$(cat "$copy"/* | cksum) $(ls -A raw/p/null | wc -l)" "$before 1" 'a second status leaves the copy as it was'
says 'nothing to submit: every launch is measured' "$gradsync" submit "$camp"
{ chmod u+w "$copy" "$(last 01)" && printf 'x' >>"$(last 01)"; } || flunk 'the copy is edited'
fails 1 'edited since the run was completed' "$gradsync" status -o raw "$camp"
rm -rf raw
first=$camp
submitted q.ini
is "$camp" "$first-2" 'a config whose campaign is complete is measured anew'
scancel --name=gradsync && settled

# ---- anywhere ----

mkdir "a folder 'of' mine" && cd "a folder 'of' mine" || exit
run env -i PATH="$PATH" HOME="$HOME" SLURM_CONF="$SLURM_CONF" GRADSYNC_PLUGIN_PATH="$GRADSYNC_PLUGIN_PATH" SBATCH_TIMELIMIT=1 SBATCH_PARTITION=nowhere \
    SLURM_TIME_FORMAT=x SECRET=hunter2 AWS_TOKEN=hunter2 bash \
    -c 'umask 027; exec "$0" submit -q -o "the campaigns" ../q.ini' "$gradsync"
is "$rc" 0 'submit works in a folder with blanks and quotes, whatever SBATCH_* says'
camp=$out
settled
ok 'a campaign in a folder with blanks and quotes is copied' "$gradsync" status -o raw "$camp"
is "$(ls raw/p/null | wc -l) $(stat -c %a "$camp" "$camp"/*/*/*/plan.json | sort -u | xargs)" '1 640 750' \
    'a campaign keeps the umask'
is "$(grep -rl hunter2 "$camp" raw | wc -l)" 0 'a campaign records no secret of the environment'
cd "$tmp" || exit
rm -rf raw "a folder 'of' mine"

# ---- many configs, throttle ----

mkdir configs
small configs/one.ini
sed -i 's/name = p/name = one/; s/^launches = 3/launches = 4/' configs/one.ini
small configs/two.ini
sed -i 's/name = p/name = two/; s/^exclusive = no/exclusive = no\ngpus_per_node = 1/' configs/two.ini
submitted configs/*.ini
is "$(cat "$camp"/*/null/*/jobs.jsonl | jq -c .launches | xargs)" '4 1-4 3 1-3' \
    'several configs are one campaign'
settled
status_is 0
is "$(printf '%s\n' raw/*/null/*/launch-*.jsonl | sed 's/\.[0-9]*\.jsonl$//' | sort -u | wc -l)" 7 \
    'every launch of two configs is copied'
rm -rf raw

submitted q.ini --set measure:launches=100 --set slurm:throttle=5 --set launch:ranks=1 \
    --set null:size=8 --set null:config=a --set slurm:time=20min \
    --set slurm:setup="export GRADSYNC_PLUGIN_PATH=$GRADSYNC_PLUGIN_PATH; until [ -e $tmp/open ]; do sleep 0.2; done"
jobs_now() { # those that run, and why the others wait
    echo "$(jobs_in R) $(squeue -h -t PD -o %r)"
}
throttled() { [ "$(jobs_now)" = '5 JobArrayTaskLimit' ]; }
ok 'an array of 100 runs five tasks, and its throttle holds the others' until_true 300 throttled
status_is 0
like "$out" 'launches 1-5: job [0-9]+ RUNNING'$'\n''  launches 6-100: job [0-9]+ PENDING \(JobArrayTaskLimit\)'
scancel --name=gradsync && settled
status_is 1 'a cancelled campaign exits with 1'
like "$out" '0 of 100 launches measured, 1 cell'$'\n''.*job [0-9]+ CANCELLED.*'$'\n'"next: $gradsync submit $camp"
run "$gradsync" submit -q "$camp"
like "$(tail -n 1 "$dir/jobs.jsonl")" '"launches":"1-100%5"' 'submit again keeps the throttle'
scancel --name=gradsync && settled

slurm_down
no_orphans 'no process is left'
done_testing
