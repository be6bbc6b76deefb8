# Not under ASan: its parsers are fuzzed with it.
# gradsync submit on a login node whose commands are pretended: job scripts, and what is refused in one line.
# tests/test_submit.sh has dangerous values.
printf '%s\n' '[platform]' 'name = p' '[slurm]' 'partition = main' '[measure]' 'launches = 2' '[null]' >q.ini
mkdir bin front empty
fake() { printf '#!/bin/bash\n%s\n' "$2" >"$1" && chmod +x "$1"; } # PATH BODY
fake bin/scontrol '[ "$4" = mian ] && { echo "Partition mian not found"; exit 1; }
for p in main debug; do
    echo "PartitionName=$p Default=NO MaxNodes=UNLIMITED MaxTime=1-00:00:00 State=UP TotalNodes=4"
done'
fake bin/sbatch 'echo 12'
PATH=$PWD/bin:$PATH
dry() { gradsync submit --dry-run -o camps "${config:-q.ini}" "$@"; }
told() { "$@" 2>&1 >/dev/null; }

# ---- every key; --dry-run prints the command that would submit the script, makes no folder and submits nothing
$ dry --set slurm:account=me --set slurm:sbatch.qos=high --set slurm:sbatch.gres=gpu:h200:4 --set 'slurm:sbatch.constraint=[a|b]&c*2' --set slurm:sbatch.mail-user=me@example.org --set slurm:sbatch.no-kill= --set slurm:setup='export X="$HOME/it is" # mine' --set slurm:time=90min | tee script
$ ls camps
$ sed -n '/^#!/,/^exec/p' script | bash -n
# A job that cannot be prepared ends with the code of what failed, and measures nothing.
job() { dry "$@" 2>/dev/null | sed -n '/^#!/,/^exec/p' >job.sh; }
job --set 'slurm:setup=false # mine'
$ bash job.sh

# ---- what is refused. A config of several workloads has one [slurm]: what is wrong with it is said once.
for name in wrap hold export 'x y' 'a$b' array chdir -x; do echo "$name"; done >refused_options
$ while IFS= read -r name; do told dry --set "slurm:sbatch.$name=1"; done <refused_options
{ cat q.ini && echo '[null again]'; } >twice.ini
$ config=twice.ini dry --set 'slurm:account=$(id)'
$ told dry --set platform:device=GPU; dry --set platform:device=GPU --set slurm:sbatch.gres=gpu:4 | grep gres
sed 's/^partition = main/partition = mian/' q.ini >mian.ini
$ gradsync submit -o camps mian.ini
$ gradsync submit -o camps twice.ini --set slurm:time=36h 2>&1 | sed 's/takes .* at least/takes T at least/'
sed 's/^partition = main/&\ntime = 36h/' twice.ini >long.ini
$ gradsync submit -o camps long.ini 2>&1 | sed 's/takes .* at least/takes T at least/'
$ config=twice.ini dry --set slurm:time=24h | grep time=
mkdir -p 'a%j' 'a\b' $'a\nb'
$ for path in 'a%j' 'a\b' $'a\nb'; do gradsync submit -o "$path" q.ini; done

# ---- Slurm that is not here, that refuses, and that fails without a word
$ PATH=$PWD/empty $gradsync submit -o camps q.ini
$ PATH=$PWD/empty $gradsync submit --dry-run -o camps q.ini >script
$ for verb in status cancel collect; do gradsync $verb nowhere; done
touch file
$ gradsync submit -o file/x q.ini
fake front/sbatch 'echo "sbatch: error: no such thing" >&2; exit 1'
submit() { env --ignore-signal=CHLD PATH="$PWD/front:$PATH" $gradsync submit -o "$1" q.ini 2>&1 ; ls -A "$1"; }
$ submit refused
fake front/sbatch 'exit 1'
$ submit silent
fake front/scontrol 'echo "scontrol: fatal: Could not establish a configuration source" >&2; exit 1'
$ submit no_cluster
rm front/scontrol
