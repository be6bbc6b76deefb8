#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `gradsync run` and `gradsync resume` when nothing goes wrong, and when what is asked for cannot be;
# also under ASan.
. "$(dirname "$0")/lib.sh"

quick() { # a config of two cells that takes half a second; more lines as arguments
    printf '%s\n' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' 'launches = 1' \
        'blocks = 2' 'max_blocks = 2' 'warmup = 0' 'warmup_ops = 1' 'budget = 100ms' \
        '[null]' 'size = 8' 'config = a, b' "$@"
}
the_run() { ls -d "${1:-data}"/*/*/*; }
refuses() { # CODE NAME REGEX COMMAND…   in one line, and leaves no folder
    local code=$1 name=$2 regex=$3
    shift 3
    exits "$code" "$name is refused" "$@"
    one_line "$err" '… in one line'
    like "$err" "$regex" '… that says why'
    if [ -e refused ]; then flunk '… and makes no folder'; else pass '… and makes no folder'; fi
    rm -rf refused
}
quick >quick.ini

# ---- a run ----

ok 'run a config' "$gradsync" run quick.ini -o data
dir=$(the_run)
is "$out" '' '… with nothing on stdout'
like "$err" "recorded: $dir"$'\n'"next: gradsync show $dir" '… says where the recording lies and what is next'
is "$(cd "$dir" && echo *)" 'MANIFEST.json config.ini launch-01.01.jsonl plan.json' '… leaves these files'
ok '… which check finds whole' "$gradsync" check "$dir"
is "$(grep -c '"type":"group"' "$dir/launch-01.01.jsonl")" 1 '… one group closed'
is "$(tail -n 1 "$dir/launch-01.01.jsonl" | grep -o '"status":"[a-z]*"')" '"status":"complete"' '… and its end'

before=$(cat "$dir"/* | cksum)
ok 'run the folder again' "$gradsync" run "$dir"
like "$err" "$dir is complete: nothing to do" '… says that it is complete'
ok '… as does resume' "$gradsync" resume "$dir"
is "$(cat "$dir"/* | cksum)" "$before" '… and nothing is touched'

ok 'quiet' "$gradsync" run -q quick.ini -o quiet
is "$out$err" '' '… says nothing'
ok 'a summary in JSON' "$gradsync" run -q --json quick.ini -o json
like "$(tr -d ' \n' <<<"$out")" \
    '^\[\{"workload":"null","run":"json/quick/null/[^"]*","status":"complete","exit":0,"cells":2,"failed":0,"skipped":0\}\]$' \
    '… on stdout'

# ---- anywhere ----

mkdir 'a folder' && quick >'a folder/my config.ini'
ok 'paths with blanks, umask, time zone, locale' bash -c 'cd "$1" && umask 077 &&
    TZ=Asia/Kolkata LC_ALL=de_DE.UTF-8 "$0" run "my config.ini" --set platform:name=p -o "da ta"' \
    "$gradsync" "$tmp/a folder"
dir=$(the_run 'a folder/da ta')
like "$err" "next: gradsync show 'da ta/p/null/" '… and the next command is quoted'
ok '… and check finds it whole' "$gradsync" check "$dir"
ok 'a config from a pipe' bash -c '"$0" run -q <(cat quick.ini) --set platform:name=pipe -o pipe' "$gradsync"

quick >two.ini
"$gradsync" run -q two.ini -o two & first=$!
"$gradsync" run -q two.ini -o two & second=$!
wait $first && wait $second
is $? 0 'two runs of one config at once'
is "$(the_run two | wc -l)" 2 '… go into folders of their own'
ok '… both whole' "$gradsync" check two

# ---- several workloads ----

quick '[null bad]' 'fault = fail' '[null good]' 'size = 16' >several.ini
exits 1 'a workload that fails' "$gradsync" run several.ini -o several
is "$(the_run several | wc -l)" 3 '… does not keep the others from running'
is "$(ls several/*/*/*/MANIFEST.json | wc -l)" 3 '… and all are final'
like "$err" 'gradsync: null bad: 1 of 1 cells failed; the first: \([0-9a-f]{16}\): failed: scripted' '… says which cell, and why'
ok '--workload chooses one' "$gradsync" run -q several.ini --workload 'null good' -o one
is "$(the_run one | sed 's/.*Z-//; s/-[^-]*$//')" good '… by its section'
refuses 2 'a workload that is not there' "several\.ini: no workload section \[nul\], did you mean 'null'" \
    "$gradsync" run several.ini --workload nul -o refused
refuses 2 'a plugin that does not exist' "x\.ini:1: .*nulll.*did you mean 'null'" \
    bash -c 'echo "[nulll]" >x.ini; "$0" run x.ini -o refused' "$gradsync"
printf '[platform]\n' >none.ini
refuses 2 'a config without a workload' 'none\.ini: no workload section' "$gradsync" run none.ini -o refused

quick '[null b]' 'fault = skip' >skips.ini
exits 3 'a workload that this machine cannot run' "$gradsync" run skips.ini -o skips
like "$err" 'gradsync: null b: every cell was skipped: scripted' '… says why'
is "$(ls skips/*/*/*/MANIFEST.json | wc -l) $(ls skips/*/*/*/launch-* | wc -l)" '1 1' '… the other one ran, and this one left no recording'
exits 3 'one of several launches' "$gradsync" run skips.ini --workload 'null b' --set measure:launches=2 -o idle
like "$err" "nothing was measured.* gradsync resume idle/.*: rm -r idle/" \
    '… says that there is nothing, and what can become of it'

# ---- what cannot be started ----

quick | sed 's/ranks = 2/ranks = 4096/; /oversubscribe/d' >many.ini
refuses 3 'more ranks than slots' \
    "^many\.ini:2: key 'ranks': 4096 ranks, but this machine has [0-9]+ slots .*oversubscribe = yes" \
    "$gradsync" run many.ini -o refused
refuses 2 'more nodes than hosts' "--set: key 'nodes': 2 nodes, but no hosts are named" \
    "$gradsync" run quick.ini --set launch:nodes=2 -o refused
refuses 3 'no MPI, for two workloads' 'no mpirun in MPI_HOME=/nowhere: install Open MPI' \
    env MPI_HOME=/nowhere "$gradsync" run skips.ini -o refused
mkdir empty
refuses 3 'no mpirun on the path' 'no mpirun in PATH: install Open MPI' \
    env -u MPI_HOME PATH="$tmp/empty" "$gradsync" run quick.ini -o refused
mkdir -p folder/mpirun folder/srun
refuses 3 'a folder of that name on the path' 'no mpirun in PATH: install Open MPI' \
    env -u MPI_HOME PATH="$tmp/folder" "$gradsync" run quick.ini -o refused
refuses 3 'Slurm without srun' 'no srun in PATH: run inside a Slurm allocation' \
    env PATH="$tmp/empty" "$gradsync" run quick.ini --set launch:launcher=srun -o refused
refuses 3 'buffers larger than the memory' 'memory|free' \
    "$gradsync" run quick.ini --set null:size=1024TiB -o refused
echo >file
exits 1 'a data folder that is a file' "$gradsync" run quick.ini -o file/data
one_line "$err" '… is refused in one line'
like "$err" "^file/.*cannot create the folder" '… that names it'
if [ "$(id -u)" = 0 ]; then
    skip 'a read-only data folder' 'root may write everywhere'
else
    mkdir -m 555 locked
    exits 1 'a read-only data folder' "$gradsync" run quick.ini -o locked
    like "$err" '^locked/.*Permission denied; ' '… is named, with the remedy'
fi
exits 2 'run without a config' "$gradsync" run
exits 2 'run of nothing' "$gradsync" run nowhere.ini
exits 2 'resume of a config' "$gradsync" resume quick.ini
exits 2 'resume of no run folder' "$gradsync" resume empty
one_line "$err" '… says so in one line'
exits 2 'an unknown option' "$gradsync" run quick.ini --worload null
like "$err" "did you mean '--workload'" '… is named'
for launch in 4294967297 1-4294967297 0 2-1 1x; do
    exits 2 "--launch $launch" "$gradsync" run "$(the_run data)" --launch $launch
    like "$err" "run: --launch '$launch' is no launch" '… is refused'
done
exits 2 'a run folder with --set' "$gradsync" run "$(the_run data)" --set null:size=16
like "$err" 'run folder is fixed' '… is refused'

# ---- the launcher's command ----

mkdir -p home/bin path
fake() { # NAME BODY…: a launcher that writes its arguments, one a line, to args
    printf '#!/bin/bash\nprintf "%%s\\n" "$@" >"%s/args"\n%s\n' "$tmp" "${*:2}" >"$1" && chmod +x "$1"
}
args() { tr '\n' ' ' <args; }
fake home/bin/mpirun 'echo "-----"; echo "no slots"; echo "at all"; echo; echo more; exit 5'
exits 3 'a launcher that starts nothing' env MPI_HOME="$tmp/home" "$gradsync" run quick.ini -o fake \
    --set launch:bind=core --set 'launch:args=--mca x y' --set 'launch:prefix=nice -n 5'
like "$err" 'gradsync: mpirun ended with code 5 before the ranks finished: no slots at all \(log: launch-01.01.log\)' \
    '… is quoted'
like "$(args)" '--bind-to core -n 2 --oversubscribe .*--mca x y nice -n 5 [^ ]*/gradsync-rank fake/[^ ]* 1 1 $' \
    '… and its command is what the config says'
if [ "$(id -u)" = 0 ]; then like "$(args)" '--allow-run-as-root' '… as root'; else unlike "$(args)" 'as-root' '… not as root'; fi
rm args
sed 's/^\[launch\]/&\nbind = coer/' quick.ini >bound.ini
exits 2 'check knows of a binding' "$gradsync" check bound.ini
like "$err" "did you mean 'core'" '… that mpirun has not'
exits 2 'a binding that mpirun has not' env MPI_HOME="$tmp/home" "$gradsync" run quick.ini -o fake --set launch:bind=coer:overload-allowed
like "$err" "mpirun does not bind to 'coer:overload-allowed', did you mean 'core'" '… is known before it is asked'
if [ -e args ]; then flunk '… which it is not'; else pass '… which it is not'; fi
for bind in Core :overload-allowed cpu-list; do
    run env MPI_HOME="$tmp/home" "$gradsync" run quick.ini -o fake --set launch:bind=$bind
    like "$(args)" "--bind-to $bind " "mpirun is asked what may be its own: $bind"
done
run env MPI_HOME="$tmp/home" NCCL_ALGO=Ring "$gradsync" run quick.ini -o fake --set launch:nodes=2 --set launch:hosts=a,b:3
like "$(args)" '--map-by ppr:1:node --host a:1,b:3 .*-x NCCL_ALGO ' 'hosts come with slots and variables'
fake path/srun 'exit 1'
run env -u MPI_HOME SLURM_JOB_ID=7 PATH="$tmp/path:$PATH" "$gradsync" run quick.ini -o fake
like "$(args)" '^--mpi=pmix --kill-on-bad-exit=1 -n 2 -N 1 --cpu-bind=none --overcommit [^ ]*/gradsync-rank fake/' \
    'srun inside an allocation'
ln -s "$(command -v mpirun)" path/mpirun
ok 'mpirun there when asked for' env SLURM_JOB_ID=7 PATH="$tmp/path:$PATH" "$gradsync" run -q quick.ini -o slurm \
    --set launch:launcher=mpirun
ok 'words for the launcher are no shell' "$gradsync" run -q quick.ini -o words --set 'launch:prefix=env A=$(touch${IFS}owned);x'
if [ -e owned ]; then flunk '… and start nothing'; else pass '… and start nothing'; fi

# ---- folders in shared memory ----

if [ "$(id -u)" = 0 ]; then
    foreign=/dev/shm/gradsync-0-test.$$ own=/dev/shm/gradsync-0-test2.$$
    mkdir "$foreign" "$own" && touch "$foreign/file" && chown 65534 "$foreign"
    "$gradsync" run -q quick.ini -o swept
    if [ -e "$foreign/file" ]; then pass "another owner's folder stays"; else flunk "another owner's folder stays"; fi
    if [ -e "$own" ]; then flunk 'an own one of a run that is gone does not'; else pass 'an own one of a run that is gone does not'; fi
    rm -rf "$foreign" "$own"
else
    skip "another owner's folder in shared memory stays" 'only root could remove it'
fi

# ---- a folder that somebody touched ----

"$gradsync" run -q quick.ini -o touched
dir=$(the_run touched)
chmod -R u+w touched
cp -r touched edited && sed -i 's/"block":1/"block":9/' edited/*/*/*/launch-01.01.jsonl
exits 1 'a complete folder that was edited' "$gradsync" resume edited/*/*/*
like "$err" 'launch-01.01.jsonl' '… is named'
rm "$dir/MANIFEST.json"
cp -r touched config && sed -i 's/config = a, b/config = a, c/' config/*/*/*/config.ini
exits 1 'an edited config' "$gradsync" resume config/*/*/*
one_line "$err" '… is refused in one line'
cp -r touched torn && truncate -s -5 torn/*/*/*/launch-01.01.jsonl
ok 'a torn last line' "$gradsync" resume torn/*/*/*
is "$(ls torn/*/*/*)" "$(printf '%s\n' MANIFEST.json config.ini launch-01.01.jsonl plan.json)" \
    '… is no reason to measure again'
cp -r touched damaged && sed -i '3s/.*/garbage/' damaged/*/*/*/launch-01.01.jsonl
exits 1 'a damaged recording' "$gradsync" resume damaged/*/*/*
like "$err" 'launch-01.01.jsonl:3: ' '… is named by its line'
rm "$dir"/launch*
ok 'a recording that is gone' "$gradsync" resume "$dir"
ok '… is measured again' "$gradsync" check "$dir"

# ---- progress ----

quick 'spin = yes' >progress.ini
ok 'elsewhere than on a terminal' "$gradsync" run progress.ini -o plain --set null:size=8:512:x2 --set measure:launches=2
like "$err" 'null: launch 1 of 2, 7 of 7 groups to measure'$'\n' 'a line a launch'
unlike "$err" $'\r' '… and none is drawn over'
ok '… but not many' [ "$(wc -l <<<"$err")" -le 16 ]
if command -v script >/dev/null; then
    export gradsync
    script -qec 'stty cols 60; TERM=xterm "$gradsync" run progress.ini -o tty --set null:size=8:512:x2' typescript >/dev/null
    like "$(cat typescript)" $'\r\x1b\[K\[[#.]{20}\] +[0-9]+% ' 'on a terminal a bar'
    is "$(tr '\r' '\n' <typescript | sed -n 's/^\x1b\[K\(\[[#.].*\)/\1/p' | sed 's/\x1b.*//' | awk 'length > 59' | wc -l)" 0 \
        '… that fits the columns'
else
    skip 'on a terminal a bar' 'script(1) is not here'
fi

# ---- ranks that were started by hand ----

by_hand() { mpirun --oversubscribe -n "$1" "$gradsync" run "${@:2}"; }
ok 'join' by_hand 2 quick.ini -o joined --set measure:launches=2
dir=$(the_run joined)
like "$err" "1 of 2 launches are missing; start the ranks again with: gradsync run $dir" '… measures one launch'
ok 'join again' by_hand 2 "$dir"
like "$err" "recorded: $dir" '… completes the run'
ok '… which check finds whole' "$gradsync" check "$dir"
chmod u+w "$dir"/* && rm "$dir/MANIFEST.json"
ok 'join what lacks its manifest alone' by_hand 2 "$dir"
ok '… which it gets' "$gradsync" check "$dir"
ok 'join what is complete' by_hand 2 "$dir"
like "$err" 'complete: nothing to do' '… does nothing'
exits 2 'other ranks than the config says' by_hand 1 quick.ini -o refused
is "$(grep -c '^quick.ini: 1 ranks were started, but \[launch\] ranks=2' <<<"$err")" 1 '… are refused in one line'
exits 2 'two workloads' by_hand 2 several.ini -o refused
like "$err" 'one workload; choose it with --workload' '… are refused'
is "$(find . -name '.join-*')" '' 'nothing is left of the meeting'

# ---- what killed ones left in shared memory ----

if [ -w /dev/shm ]; then
    stale=$(mktemp -d "/dev/shm/gradsync-$(id -u)-testXXXXXX") && touch "$stale/segment"
    used=$(mktemp -d "/dev/shm/gradsync-$(id -u)-testXXXXXX")
    ok 'a run while another is using its scratch' flock "$used" "$gradsync" run -q quick.ini -o scratch
    if [ -e "$stale" ]; then flunk 'what nobody holds is swept away'; else pass 'what nobody holds is swept away'; fi
    if [ -e "$used" ]; then pass '… and what is in use is not'; else flunk '… and what is in use is not'; fi
    rm -rf "$stale" "$used"
else
    skip 'scratch' 'no /dev/shm'
fi
no_orphans 'no process is left'
done_testing
