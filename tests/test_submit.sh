#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Job scripts without Slurm: what a config says never reaches a shell unquoted. What they look like, and what is
# refused, is in tests/golden/submit.cmd.
. "$(dirname "$0")/lib.sh"

printf '%s\n' '[platform]' 'name = p' '[slurm]' 'partition = main' '[measure]' 'launches = 2' \
    '[null]' >q.ini
mkdir bin
cat >bin/scontrol <<'END'
#!/bin/bash
[ "$2" = config ] && { echo 'MaxArraySize            = 1001'; exit; }
[ "$4" = mian ] && { echo "Partition mian not found"; exit 1; }
for p in main debug; do
    echo "PartitionName=$p Default=NO MaxNodes=UNLIMITED MaxTime=1-00:00:00 State=UP TotalNodes=4"
done
END
printf '#!/bin/bash\nprintf "%%s\\n" "$@" >>%q\necho 12\n' "$tmp/sbatch.args" >bin/sbatch
chmod +x bin/*
PATH=$tmp/bin:$PATH
dry() { run "$gradsync" submit --dry-run -o camps q.ini "$@"; }

# ---- nasty values ----

# In a value meant for #SBATCH they are refused; nothing of them is run.
# shellcheck disable=SC1003 # a backslash is one of them
nasty=("a b" "a'b" 'a"b' 'a`touch hit`' '$(touch hit)' '${HOME}' '$HOME' 'a;touch hit'
    'a#SBATCH --uid=0' '#SBATCH'
    $'a\n#SBATCH --uid=0' $'a\ntouch hit' $'a\r' $'a\tb' 'a\b' 'a\' 'a>hit' 'a<hit' 'a{b' 'a}b'
    'a^b' 'a~b' '~' 'a%b'
    $'a\x01b' $'a\x7f' $'a\x1b[31m' 'ä' '日本' $'\xff' "'; touch hit; '" '"; touch hit; "' '`id`'
    '$((1))' '$(<q.ini)'
    'a --wrap=touch' '--x y' $'main\n' ' ; ' 'a;;b' '"' "'" '\' '$' '`' '#' '>' '<' '%' '{}' '^'
    $'\n#SBATCH --uid=0\n')
n=0 bad=()
for key in partition account qos gres constraint sbatch.reservation modules; do
    for value in "${nasty[@]}"; do
        n=$((n + 1))
        dry --set "slurm:$key=$value"
        if [ $rc = 0 ]; then # what a config trims is not nasty any more; nothing else may pass
            case $(sed -n "s/^#SBATCH --${key#sbatch.}=//p" <<<"$out") in '' | main | a) ;; *) \
                bad+=("$key=$value: passed") ;; esac
            grep -q 'uid=0\|touch' <<<"$out" && bad+=("$key=$value: in the script")
        elif [ $rc != 2 ] || [ "$(wc -l <<<"$err")" != 1 ]; then
            bad+=("$key=$value: exit $rc, $err")
        fi
    done
done
is "${bad[*]-}" '' "${#nasty[@]} dangerous values in each of 7 keys are refused in one line"
is "$((n > 50)) $(ls hit camps 2>/dev/null)" '1 ' 'no dangerous value was run by a shell'

# In paths they are quoted: the script and the command give them back as they are.
paths=('a b' "it's" 'a"b' '$(touch hit)' '`touch hit`' 'a;b' 'a#SBATCH' '$HOME' 'a&b' '(a)' 'a*b' \
    '-a' '~' 'ä')
bad=()
for path in "${paths[@]}"; do
    rm -rf sbatch.args
    run "$gradsync" submit -q -o "$tmp/$path" q.ini
    camp=$out
    [ $rc = 3 ] || [ $rc = 0 ] || bad+=("$path: exit $rc $err")
    camp=$(ls -d "$tmp/$path"/gs-*)
    grep -Fxq -- "--chdir=$camp" sbatch.args || bad+=("$path: --chdir")
    got=$(sed '/^exec/d' "$camp/array-1.sh" | { cat; echo 'printf %s "$campaign"'; } | bash 2>&1)
    [ "$got" = "$camp" ] || bad+=("$path: the script says $got")
done
is "${bad[*]-}" '' "${#paths[@]} dangerous paths are quoted"
is "$(ls hit 2>/dev/null)" '' 'no dangerous path was run by a shell'

# ---- a run inside a campaign, and an unfinished copy of one ----

printf '#!/bin/bash\n' >bin/squeue && chmod +x bin/squeue
printf '%s\n' '[platform]' 'name = p' '[launch]' 'launcher = mpirun' 'oversubscribe = yes' \
    '[slurm]' 'partition = main' '[measure]' 'launches = 2' 'max_blocks = 100000' 'warmup = 0' \
    'budget = 6s' 'sample_time = 2ms' '[null]' 'config = a, b' 'noise = 5%' 'spin = yes' \
    'time = 100us' >spin.ini
run "$gradsync" submit -q -o inside spin.ini
camp=$(ls -d "$tmp"/inside/gs-*) inside=$(ls -d inside/gs-*/runs/p/null/*)
SLURM_JOB_ID=7 "$gradsync" run "$camp" --task 1 >job.out 2>&1 &
job=$!
until_true 60 grep -qs '"type":"block"' "$inside/launch-01.01.jsonl" || diag "$(cat job.out)"
kill -USR1 $job && wait $job
is "$(grep -o 'finishing the current block.*' job.out)" 'finishing the current block' \
    'a job that is to stop names no key to press'
like "$(cat job.out)" "Continue with: gradsync resume $camp"$'\n'*'$' \
    'an interrupted job says to resume its campaign'
for dir in / /tmp "$tmp"; do
    fails 2 'no plan.json: this is neither a run folder nor a campaign' "$gradsync" resume "$dir"
done
run "$gradsync" submit -q -o again q.ini
run "$gradsync" resume again/gs-*
like "$err" '^[0-9]+ tasks?( were| was|:) .*'$'\n''submitted again as job 12: task'
exits 2 'resume refuses a run inside a campaign' "$gradsync" resume "$inside"
is "$err" "$inside: the jobs of a campaign measure this run: gradsync resume $camp" \
    'the message says to resume the campaign'
says "to complete it: gradsync resume $camp"$'\n' "$gradsync" show "$inside"
exits 1 'collect --so-far copies an unfinished run' "$gradsync" collect -q --so-far -o raw "$camp"
copy=$(ls -d raw/p/null/*)
says "to complete it: gradsync resume $camp, then gradsync collect $camp" "$gradsync" show "$copy"
exits 2 'resume refuses an unfinished copy' "$gradsync" resume "$copy"
is "$err" "$copy: is an unfinished copy from a campaign: complete the campaign, then \
collect again: gradsync resume $camp, then gradsync collect $camp" \
    'the message says to complete the campaign, then to collect again'
exits 1 'an unfinished copy is replaced' "$gradsync" collect -q --so-far -o raw "$camp"
mv "$camp" gone
exits 0 'the copy of a campaign that is gone is resumed' "$gradsync" resume -q "$copy" \
    --json
ok 'a resumed copy is whole' "$gradsync" check "$copy"

# ---- a folder that cannot be written ----

if [ "$(id -u)" != 0 ]; then
    mkdir ro && chmod 555 ro
    fails1 1 '' "$gradsync" submit -o ro q.ini
else
    skip 'a folder that cannot be written ends submit with 1' 'root writes anywhere'
fi
done_testing
