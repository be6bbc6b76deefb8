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
[ "$4" = mian ] && { echo "Partition mian not found"; exit 1; }
for p in main debug; do
    echo "PartitionName=$p Default=NO MaxNodes=UNLIMITED MaxTime=1-00:00:00 State=UP TotalNodes=4"
done
END
printf '#!/bin/bash\n' >bin/squeue
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
for key in partition account sbatch.constraint sbatch.reservation; do
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
    [ $rc = 3 ] || [ $rc = 0 ] || bad+=("$path: exit $rc $err")
    dir=$(ls -d "$tmp/$path"/q-*/p/null/*)
    grep -Fxq -- "--chdir=$dir" sbatch.args || bad+=("$path: --chdir")
    got=$(sed '/^exec/d' "$dir/job.sh" | { cat; echo 'printf %s "$run"'; } | SLURM_ARRAY_TASK_ID=1 bash 2>&1)
    [ "$got" = "$dir" ] || bad+=("$path: the script says $got")
done
is "${bad[*]-}" '' "${#paths[@]} dangerous paths are quoted"
is "$(ls hit 2>/dev/null)" '' 'no dangerous path was run by a shell'

# ---- a run that Slurm jobs measure ----

printf '%s\n' '[platform]' 'name = p' '[launch]' 'launcher = mpirun' 'oversubscribe = yes' \
    '[slurm]' 'partition = main' '[measure]' 'launches = 2' 'max_blocks = 100000' 'warmup = 0' \
    'budget = 6s' 'sample_time = 2ms' '[null]' 'config = a, b' 'noise = 5%' 'spin = yes' \
    'time = 100us' >spin.ini
run "$gradsync" submit -q -o inside spin.ini
dir=$(ls -d "$tmp"/inside/spin-*/p/null/*)
SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=1 bash "$dir/job.sh" >job.out 2>&1 &
job=$!
until_true 60 grep -qs '"type":"block"' "$dir/launch-01.01.jsonl" || diag "$(cat job.out)"
kill -USR1 $job && wait $job
is "$(grep -o 'finishing the current block.*' job.out)" 'finishing the current block' \
    'a job that is to stop names no key to press'
like "$(cat job.out)" "Continue with: $gradsync submit $dir"$'\n'*'$' \
    'an interrupted job says to submit its run again'
fails 2 'no plan.json: this is no run folder' "$gradsync" resume /
exits 2 'resume refuses a run that Slurm jobs measure' "$gradsync" resume "$dir"
is "$err" "$dir: Slurm jobs measure it: $gradsync submit $dir" 'the message says to submit'
says "to complete it: $gradsync submit $dir"$'\n' "$gradsync" show "$dir"

# ---- a folder that cannot be written ----

fails1 1 '' "$gradsync" submit -o /sys/kernel q.ini
done_testing
