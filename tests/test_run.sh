#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `gradsync run` and `gradsync resume`: what they do when all goes well, and with folders that somebody
# touched; also under ASan.
. "$(dirname "$0")/lib.sh"

quick() { # a config of two cells that takes half a second; more lines as arguments
    printf '%s\n' '[launch]' 'ranks = 2' 'oversubscribe = yes' '[measure]' 'launches = 1' \
        'blocks = 2' 'max_blocks = 2' 'warmup = 0' 'warmup_ops = 1' 'budget = 100ms' \
        '[null]' 'size = 8' 'config = a, b' "$@"
}
the_run() { ls -d "${1:-data}"/*/*/*; }
quick >quick.ini

# ---- a run ----

ok 'a config is run' "$gradsync" run quick.ini -o data
dir=$(the_run)
is "$out" '' 'run writes nothing to stdout'
like "$err" "recorded: $dir"$'\n'"next: $gradsync show $dir"
is "$(cd "$dir" && echo *)" 'MANIFEST.json config.ini launch-01.01.jsonl plan.json' \
    'run leaves the manifest, the config, the recording and the plan'
ok 'check finds the new run whole' "$gradsync" check "$dir"
is "$(grep -c '"type":"group"' "$dir/launch-01.01.jsonl")" 1 'the recording closes its one group'
is "$(sed -n 's/{"type":"\(cell\|block\)".*/\1/p' "$dir/launch-01.01.jsonl" | xargs)" \
    'cell block cell block cell block block block block' 'the recording has each cell once, before its first block'
is "$(tail -n 1 "$dir/launch-01.01.jsonl" | grep -o '"status":"[a-z]*"')" '"status":"complete"' \
    'the recording ends as complete'

before=$(cat "$dir"/* | cksum)
says "$dir is complete: nothing to do" "$gradsync" resume "$dir"
ok 'a complete run folder may be given to resume' "$gradsync" resume "$dir"
is "$(cat "$dir"/* | cksum)" "$before" 'run and resume leave a complete folder as it was'

ok 'run -q succeeds' "$gradsync" run -q quick.ini -o quiet
is "$out$err" '' 'run -q prints nothing'
# ---- anywhere ----

mkdir 'a folder' && quick >'a folder/my config.ini'
ok 'a config in a path with blanks is run' "$gradsync" run 'a folder/my config.ini' --set platform:name=p -o 'da ta'
like "$err" "next: $gradsync show 'da ta/p/null/" 'the next command quotes a path with blanks'
ok 'a config may come from a pipe' \
    bash -c '"$0" run -q <(cat quick.ini) --set platform:name=pipe -o pipe' "$gradsync"

quick >two.ini
"$gradsync" run -q two.ini -o two & first=$!
"$gradsync" run -q two.ini -o two & second=$!
wait $first && wait $second
is $? 0 'two runs of one config may run at once'
is "$(the_run two | wc -l)" 2 'two runs of one config go into folders of their own'
ok 'check finds both runs of one config whole' "$gradsync" check two
is "$("$gradsync" query -q two --export two.csv && cut -d, -f1 two.csv/summary.csv | sort -u | wc -l)" 3 \
    'two runs at once are both in the tables'

# ---- several workloads ----

quick '[null bad]' 'fault = fail' '[null good]' 'size = 16' >several.ini
exits 1 'a workload that fails makes the exit code 1' "$gradsync" run several.ini -o several
is "$(the_run several | wc -l)" 3 'a workload that fails does not keep the others from running'
is "$(ls several/*/*/*/MANIFEST.json | wc -l)" 3 \
    'all workloads have their manifest, the failed one too'
like "$err" 'gradsync: null bad: 1 of 1 cells failed; the first: \([0-9a-f]{16}\): failed: '\
'scripted' 'the message says which cell failed, and why'
ok '--workload runs one workload alone' "$gradsync" run -q several.ini --workload 'null good' -o one
is "$(the_run one | sed 's/.*Z-//; s/-[^-]*$//')" good "--workload chooses by the section's label"
quick '[null b]' 'fault = skip' >skips.ini
fails 3 'gradsync: null b: every cell was skipped: scripted' "$gradsync" run skips.ini -o skips
is "$(ls skips/*/*/*/MANIFEST.json | wc -l) $(ls skips/*/*/*/launch-* | wc -l)" '1 1' \
    'a skipped workload leaves no recording, and the other workload ran'
fails 3 "nothing was measured.*gradsync resume idle/.*: rm -r idle/" "$gradsync" run skips.ini \
    --workload 'null b' --set measure:launches=2 -o idle

# ---- what cannot be started: tests/golden/run.cmd ----

# /sys takes no folder, from root neither.
fails 1 '^/sys/kernel.*: (Permission denied|Operation not permitted|Read-only file system)' "$gradsync" run quick.ini -o /sys/kernel

# ---- the launcher's command ----

mkdir -p home/bin path
fake() { # NAME BODY…: a launcher that writes its arguments, one a line, to args
    printf '#!/bin/bash\nprintf "%%s\\n" "$@" >"%s/args"\n%s\n' "$tmp" "${*:2}" >"$1" && chmod +x \
        "$1"
}
args() { tr '\n' ' ' <args; }
fake home/bin/mpirun 'echo "-----"; echo "no slots"; echo "at all"; echo; echo more; exit 5'
fails 3 \
    'gradsync: mpirun ended with code 5 before the ranks finished: no slots at all \(log: launch-01.01.log\)' \
    env MPI_HOME="$tmp/home" "$gradsync" run quick.ini -o fake --set launch:bind=core --set \
    'launch:args=--mca x y' --set 'launch:prefix=nice -n 5'
like "$(args)" '--bind-to core -n 2 --oversubscribe .*--mca x y nice -n 5 /.*/gradsync-rank '\
'fake/[^ ]* 1 1 $' \
    "the launcher's command has the binding, the arguments and the prefix of the config"
if [ "$(id -u)" = 0 ]; then
    like "$(args)" '--allow-run-as-root' 'mpirun is allowed to run as root when root runs it'
else
    unlike "$(args)" 'as-root' 'mpirun is not told to run as root when another user runs it'
fi
rm args
for bind in Core :overload-allowed cpu-list; do
    run env MPI_HOME="$tmp/home" "$gradsync" run quick.ini -o fake --set launch:bind=$bind
    like "$(args)" "--bind-to $bind " "mpirun is asked for the binding $bind, which it may know"
done
run env MPI_HOME="$tmp/home" NCCL_ALGO=Ring "$gradsync" run quick.ini -o fake --set launch:nodes=2 \
    --set launch:hosts=a,b:3
like "$(args)" '--map-by ppr:1:node --host a:1,b:3 .*-x NCCL_ALGO ' \
    'mpirun gets the hosts with their slots and the variables of NCCL'
fake path/srun 'exit 1'
run env -u MPI_HOME SLURM_JOB_ID=7 PATH="$tmp/path:$PATH" "$gradsync" run quick.ini -o fake
like "$(args)" '^--mpi=pmix --kill-on-bad-exit=1 -n 2 -N 1 --cpu-bind=none --overcommit '\
'/.*/gradsync-rank fake/' \
    'srun is the launcher inside an allocation'
ln -s "$(command -v mpirun)" path/mpirun
ok 'mpirun is the launcher inside an allocation when the config asks for it' \
    env SLURM_JOB_ID=7 PATH="$tmp/path:$PATH" "$gradsync" run -q quick.ini -o slurm \
    --set launch:launcher=mpirun
ok 'a launch prefix with shell syntax is passed as plain words' \
    "$gradsync" run -q quick.ini -o words --set 'launch:prefix=env A=$(touch${IFS}owned);x'
if [ -e owned ]; then
    flunk 'shell syntax in a launch prefix starts nothing'
else
    pass 'shell syntax in a launch prefix starts nothing'
fi

# ---- a folder that somebody touched ----

"$gradsync" run -q quick.ini -o touched
dir=$(the_run touched)
chmod -R u+w touched
cp -r touched edited && sed -i 's/"block":1/"block":9/' edited/*/*/*/launch-01.01.jsonl
fails 1 'launch-01.01.jsonl' "$gradsync" resume edited/*/*/*
rm "$dir/MANIFEST.json"
cp -r touched config && sed -i 's/config = a, b/config = a, c/' config/*/*/*/config.ini
fails1 1 '' "$gradsync" resume config/*/*/*
cp -r touched torn && truncate -s -5 torn/*/*/*/launch-01.01.jsonl
ok 'resume accepts a recording with a torn last line' "$gradsync" resume torn/*/*/*
is "$(ls torn/*/*/*)" "$(printf '%s\n' MANIFEST.json config.ini launch-01.01.jsonl plan.json)" \
    'a torn last line is no reason to measure again'
cp -r touched damaged && sed -i '3s/.*/garbage/' damaged/*/*/*/launch-01.01.jsonl
fails 1 'launch-01.01.jsonl:3: ' "$gradsync" resume damaged/*/*/*
rm "$dir"/launch*
ok 'resume accepts a folder whose recording is gone' "$gradsync" resume "$dir"
ok 'a recording that is gone is measured again' "$gradsync" check "$dir"
cat >lose <<'END'
ls lost/*/*/*/launch-02.* >/dev/null 2>&1 && rm -f lost/*/*/*/launch-01.01.jsonl
exec "$@"
END
fails 1 'a recording of launch 1 was cut or removed during the run; .*gradsync resume lost/' \
    "$gradsync" run -q quick.ini -o lost --set measure:launches=2 --set 'launch:prefix=sh lose'
is "$(ls lost/*/*/*/MANIFEST.json 2>/dev/null)" '' 'a run that lost a recording is not final'
rm lose && echo 'exec "$@"' >lose
ok 'resume measures a lost recording again' "$gradsync" resume -q "$(the_run lost)"

# ---- progress ----

quick 'spin = yes' >progress.ini
says 'null: launch 1 of 2, 7 of 7 groups to measure'$'\n' "$gradsync" run progress.ini -o plain \
    --set null:size=8:512:x2 --set measure:launches=2
ok 'progress takes few lines' [ "$(wc -l <<<"$err")" -le 16 ]

# ---- ranks that were started by hand ----

exits 2 'run under a launcher is refused' mpirun --oversubscribe -n 2 "$gradsync" run quick.ini -o refused
is "$(grep -c '^gradsync: run: starts its ranks itself: run it once, without mpirun or srun' <<<"$err")" 1 \
    'the message says what to do, once'

no_orphans 'no process is left'
done_testing
