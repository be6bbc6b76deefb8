#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Job scripts without Slurm: what a config says never reaches a shell unquoted, and what cannot be
# submitted is refused in one line.
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

# ---- plain values ----

dry --set slurm:account=me --set slurm:qos=high --set slurm:gres=gpu:h200:4 \
    --set 'slurm:constraint=[a|b]&c*2' \
    --set slurm:sbatch.mail-user=me@example.org --set slurm:sbatch.no-kill= \
    --set slurm:modules='mpi/4.1, cuda/12' \
    --set slurm:setup='export X="$HOME/it is" # mine' --set slurm:time=90min
script=$out
is "$rc" 0 'a config that sets every key makes a script'
for line in '#SBATCH --account=me' '#SBATCH --qos=high' '#SBATCH --gres=gpu:h200:4' \
    '#SBATCH --constraint=[a|b]&c*2' \
    '#SBATCH --mail-user=me@example.org' '#SBATCH --no-kill' 'module load mpi/4.1' \
    'module load cuda/12' \
    'export X="$HOME/it is" # mine' '#SBATCH --time=0-01:30:00' '#SBATCH --requeue' \
    '#SBATCH --signal=B:USR1@60' \
    '#SBATCH --open-mode=append' '#SBATCH --exclusive'; do
    ok "the script has the line $line" grep -Fxq -- "$line" <<<"$script"
done
ok 'bash can read the script' bash -n <<<"$(sed -n '/^#!/,/^exec/p' <<<"$script")"
like "$script" 'sbatch --parsable --hold --comment=gradsync:[^ ]*:0 --job-name=[^ ]* '\
'--export=NONE' '--dry-run prints the command that would submit the script'
is "$(ls camps 2>/dev/null)$(cat sbatch.args 2>/dev/null)" '' \
    '--dry-run makes no folder and submits nothing'

# ---- a job that cannot be prepared measures nothing ----

job() { sed -n '/^#!/,/^exec/p' <<<"$out" >job.sh; }
dry --set slurm:modules=mpi/4.1
job
exits 3 'a job whose module cannot be loaded ends with its code' bash -c \
    'module() { return 3; }; export -f module; exec bash job.sh'
is "$err" 'gradsync: [slurm] module load mpi/4.1 ended with code 3; nothing was measured' \
    'its log names the module'
dry --set 'slurm:setup=false # mine'
job
exits 1 'a job whose setup fails ends with its code' bash job.sh
is "$err" 'gradsync: [slurm] setup ended with code 1; nothing was measured' 'its log names setup'

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
for name in wrap hold export 'x y' 'a$b' array chdir -x; do
    dry --set "slurm:sbatch.$name=1"
    is "$rc" 2 "sbatch.$name is refused"
done

# A config of several workloads has one [slurm]: what is wrong with it is said once.
{ cat q.ini && echo '[null again]'; } >twice.ini
fails1 2 '' "$gradsync" submit --dry-run -o camps twice.ini --set 'slurm:account=$(id)'
sed 's/^partition = main/partition = mian/' q.ini >mian.ini
for dry in '' --dry-run; do
    exits 2 "a partition that does not exist is refused (submit $dry)" \
        "$gradsync" submit $dry -o camps mian.ini
    is "$err" 'gradsync: nothing was submitted: scontrol: Partition mian not found ([slurm] partition does not '\
'exist; sinfo -s lists them)' "the message repeats what Slurm says (submit $dry)"
done

# A config of two workloads: its [slurm] time is refused once.
dry=(submit --dry-run -o camps twice.ini)
fails 2 "^--set: key 'time': more than the 24 h that partition 'main' allows; \
lower it, or leave it out \(a job takes [0-9.]+ (s|min) at least\)$" "$gradsync" "${dry[@]}" --set \
    slurm:time=36h
sed 's/^partition = main/&\ntime = 36h/' twice.ini >long.ini
fails 2 "^long.ini:5: key 'time': more than the 24 h " "$gradsync" submit --dry-run -o camps \
    long.ini
ok 'the longest time of the partition is accepted' \
    "$gradsync" "${dry[@]}" --set slurm:time=24h

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
for path in 'a%j' 'a\b' $'a\nb'; do
    mkdir -p "$path"
    fails 2 'a campaign path cannot contain' "$gradsync" submit -o "$path" q.ini
done

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

# ---- what is not here ----

mkdir empty
printf '#!/bin/bash\necho "sbatch: error: no such thing" >&2\nexit 1\n' >refusing && chmod +x \
    refusing
mkdir -p front && cp refusing front/sbatch
fails 1 'nothing was submitted: sbatch: no such thing' env --ignore-signal=CHLD \
    PATH="$tmp/front:$PATH" "$gradsync" submit -q -o camps2 q.ini
exits 3 'submit without Slurm exits with 3' env PATH="$tmp/empty" "$gradsync" submit -o camps q.ini
like "$err" 'no scontrol in PATH: this is not a login node'
one_line "$err" 'submit without Slurm says so in one line'
ok 'submit --dry-run works without Slurm' \
    env PATH="$tmp/empty" "$gradsync" submit --dry-run -o camps q.ini
printf '#!/bin/bash\necho "$0 ${SLURM_CLUSTERS-none}" >>%q\necho "12;east"\n' "$tmp/asked" \
    >front/sbatch
cp front/sbatch front/scontrol
printf '#!/bin/bash\n[ "$2" = config ] || echo "PartitionName=main TotalNodes=4 State=UP"\n' >>front/scontrol
cp front/sbatch front/squeue
ok 'a campaign of another cluster is submitted' env PATH="$tmp/front:$PATH" "$gradsync" submit -q \
    -o east q.ini --set slurm:clusters=east
run env PATH="$tmp/front:$PATH" "$gradsync" status east/gs-*
is "$(sed 's,.*/,,' asked | sort -u | paste -sd,)" 'sbatch east,scontrol east,squeue east' \
    'submit and status ask that cluster'
printf '#!/bin/bash\necho "sbatch: error: Batch job submission failed: Invalid account or '\
'account/partition combination specified" >&2; exit 1\n' >bin/sbatch
fails 2 'account is not one of yours.*'$'\n''.*correct the cause, then: gradsync resume' \
    "$gradsync" submit -o camps q.ini
printf '#!/bin/bash\nexit 1\n' >bin/sbatch
exits 1 'an sbatch that fails without a word ends submit with 1' "$gradsync" submit -o camps q.ini
if [ "$(id -u)" != 0 ]; then
    mkdir ro && chmod 555 ro
    fails1 1 '' "$gradsync" submit -o ro q.ini
else
    skip 'a folder that cannot be written ends submit with 1' 'root writes anywhere'
fi
touch file
fails1 1 '' "$gradsync" submit -o file/x q.ini
for verb in status cancel collect; do
    fails1 2 '' "$gradsync" $verb camps
done
done_testing
