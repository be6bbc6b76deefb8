#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# An edited, truncated, missing or foreign recording is found and named, by the manifest and, where
# that was made to fit, by what the recording itself says.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"

fresh() {
    rm -rf data
    whole_run data/p/null/r1
    manifest data/p/null/r1
}
run_dir=data/p/null/r1
first=$(recording $run_dir 1 1)

fresh
ok 'check finds a folder of recordings sound' "$gradsync" check data
ok 'check finds a run folder sound' "$gradsync" check $run_dir
ok 'check finds a recording sound' "$gradsync" check "$first"
ok 'check takes several files at once' "$gradsync" check "$first" "$(recording $run_dir 2 1)" data
ok 'check works inside the run folder' \
    bash -c "cd $run_dir && \"\$0\" check . && \"\$0\" check launch-01.01.jsonl" "$gradsync"

# ---- a file that gradsync did not write
echo '{"train_batch_size": 8}' >ds.json
fails 2 '^ds.json: nothing to check' "$gradsync" check ds.json
cp ds.json foreign.jsonl
exits 1 'a file of another program is no recording' "$gradsync" check foreign.jsonl
is "$err" 'foreign.jsonl:1: not a recording: no header of gradsync' 'the message says so'
is "$(grep -rnE '"[^"]*(remove (it|its|the) |delete (it|its|the) |remove the folder|run folder")' \
    "$top/runner" "$top/plugins" --include='*.c' --include='*.h' |
    grep -E 'remove (its|the) (run )?folder|delete (its|the) (run )?folder')" '' \
    'no message tells a user to remove a folder'

# ---- against the manifest; tests/unit/test_manifest.c has every fault
faulty() { # NAME REGEX COMMAND…: after the command, check of the tree and of the file fail so
    fresh
    local name=$1 regex=$2
    shift 2
    "$@"
    fails 1 "$regex" "$gradsync" check data
}
edit() { sed -i "$1" "$first"; }
faulty 'a digit edited' "^$first: edited" edit 's/"time_ns":\[1/"time_ns":[2/'
fails 1 "^$first: edited" "$gradsync" check "$first"
faulty 'missing' "^$first: missing" rm "$first"
faulty 'no manifest' "^$run_dir: no MANIFEST.json: the run was interrupted, or the file was lost;\
 to complete it: gradsync resume $run_dir$" rm $run_dir/MANIFEST.json
for schema in 0 2; do
    faulty "a manifest of schema $schema" 'MANIFEST.json: its schema is not one of 1 to 1' \
        sed -i "s/\"schema\": *1\\b/\"schema\": $schema/" $run_dir/MANIFEST.json
done

fresh
rm $run_dir/plan.json
run "$gradsync" check "$first"
like "$err" "^$run_dir/plan.json: missing" 'check of one recording names the plan that is missing'

fresh
rm $run_dir/MANIFEST.json
says "no MANIFEST.json: the run was interrupted, or the file was lost; to complete it: \
gradsync resume $run_dir" "$gradsync" show $run_dir
cp -r $run_dir 'a b'
run "$gradsync" show 'a b'
like "$err" "gradsync resume 'a b'" 'show quotes the folder in the command that completes the run'
run "$gradsync" check 'a b'
like "$err" "gradsync resume 'a b'" 'check quotes the folder in the command that completes the run'
run bash -c '"$0" show "$1" >/dev/full' "$gradsync" $run_dir
is "$rc" 1 'show fails where its output does not fit'
like "$err" 'standard output cannot be written: a part of it is lost$'
rm $run_dir/plan.json
exits 1 'a run without its manifest and its plan cannot be shown' "$gradsync" show $run_dir
is "$err" "$run_dir: plan.json is missing, so cells that were never measured are not listed: \
restore the file" 'the message names the missing plan'

# ---- make verify
mkdir -p sums && cd sums || exit
whole_run data/raw/p/null/r1
manifest data/raw/p/null/r1
whole_run data/raw/p/null/r2
ok 'sums are added beside an unfinished run' bash "$top/mk/sums.sh" --add "$gradsync"
is "$(cut -d/ -f5 data/SHA256SUMS | sort -u)" r1 'sums are added for the finished run alone'
ok 'make verify accepts an unfinished run' bash "$top/mk/sums.sh" --check "$gradsync"
is "$err" "data/raw/p/null/r2: unfinished, which is harmless here: 'gradsync resume \
data/raw/p/null/r2' completes it" 'make verify says that a run is unfinished'
cp data/SHA256SUMS sums_before
sha256sum data/raw/p/null/r2/launch-01.01.jsonl >>data/SHA256SUMS
ok 'make verify accepts an unfinished run that was entered' \
    bash "$top/mk/sums.sh" --check "$gradsync"
is "$err" '' 'make verify is silent about an unfinished run that was entered'
mv sums_before data/SHA256SUMS
rm data/raw/p/null/r1/MANIFEST.json
exits 1 'make verify fails when a manifest was lost' bash "$top/mk/sums.sh" --check "$gradsync"
unlike "$err" 'r1: unfinished' 'a run whose manifest was lost is not called harmless'
whole_run data/raw/p/null/r1 && manifest data/raw/p/null/r1
sed -i '5s/,10100/,0/' "$(recording data/raw/p/null/r2 1 1)"
fails 1 'r2/launch-01.01.jsonl:5: sample 2 is 0 ns' bash "$top/mk/sums.sh" --check "$gradsync"
cd .. || exit

# ---- against itself, the manifest made anew; tests/unit/test_check.c has every fault
refit() {
    sed -i "$2" "$(recording $run_dir "$1" 1)"
    manifest $run_dir
}
faulty 'a run renamed' "foreign: recorded by run 'r1', in the folder 'r2'" mv $run_dir \
    data/p/null/r2
faulty 'a launch under another number' 'foreign: its header names launch 1, attempt 1' \
    bash -c "mv $first $(recording $run_dir 9 1) && . $(printf %q \
    "$top/tests/recording.sh") && manifest $run_dir"
faulty 'no samples' ":5: a block without samples" refit 1 '5s/\[.*\]/[]/'

# ---- everything at once
fresh
sed -i '5s/\[.*\]/[]/; 6s/"iters":10,//; 8s/^/x/' "$first"
manifest $run_dir
refit 2 '5s/,10100/,0/'
exits 1 'check fails on four faults in two files' "$gradsync" check data
is "$(grep -c ': ' <<<"$err")" 4 'check names four faults in a line each'
fresh
sed -i '2,$s/^{/[/' "$first"
manifest $run_dir
exits 1 'check fails on a file full of faults' "$gradsync" check data
[ "$(wc -l <<<"$err")" -le 21 ]
is $? 0 'check lists at most 21 faults of a file'
printf '{"type":"block"' >>"$(recording $run_dir 2 1)"
manifest $run_dir
like "$("$gradsync" check "$(recording $run_dir 2 1)" 2>&1)" 'ignoring the incomplete last line' \
    'a torn last line is mentioned, and is no fault'
for name in nothing nothing.jsonl; do
    : >$name
    fails1 1 "^$name: empty: " "$gradsync" check $name
done
fails1 2 '' "$gradsync" check nowhere
mkdir empty
exits 2 'check refuses a folder without recordings' "$gradsync" check empty
exits 2 'check refuses to run without a file' "$gradsync" check

# ---- what the runner writes
if [ -e "$build/plugins/null.so" ]; then
    printf '[launch]\nranks = 1\n[measure]\nlaunches = 1\nbudget = 50ms\nwarmup = '\
'1ms\n[null]\nsize = 8, 16\nconfigs = a, b\n' >tiny.ini
    ok 'the runner makes a recording' "$gradsync" run -q tiny.ini -o measured
    ok 'the recording of the runner is sound' "$gradsync" check measured
    cp -r measured unchained && chmod -R u+w unchained && rm unchained/*/*/*/MANIFEST.json
    sed -i -E 's/,"chain":"[^"]*"//; s/"time_ns":\[1/"time_ns":[2/' unchained/*/*/*/launch-01.01.jsonl
    exits 1 'a run whose hashes were all removed is not sealed' "$gradsync" resume unchained/*/*/*
    like "$err" 'launch-01\.01\.jsonl:1: damaged: its lines have no running hash' 'the message says why'
    cp -r measured edited && chmod -R u+w edited && rm edited/*/*/*/MANIFEST.json
    sed -i '0,/"type":"block"/{/"type":"block"/d}' edited/*/*/*/launch-01.01.jsonl
    fails 1 "launch-01\.01\.jsonl:[0-9]+: damaged: this line was changed.*$(cd edited && echo \
        */*/*): cannot be completed: a recording is damaged" "$gradsync" resume edited/*/*/*
    is "$(find edited -name MANIFEST.json)" '' 'an edited run gets no manifest'
    mkdir front
    cat >front/mpirun <<'END'
#!/usr/bin/env bash
"$MPIRUN" "$@"
rc=$?
sed -i '0,/"type":"cell"/{/"type":"cell"/d}' lost/*/*/*/launch-01.01.jsonl
exit $rc
END
    chmod +x front/mpirun
    fails 1 'launch-01\.01\.jsonl:[0-9]+: damaged: this line was changed' env \
        MPIRUN="$(command -v mpirun)" PATH="$tmp/front:$PATH" "$gradsync" run tiny.ini -o lost
    unlike "$err" 'gradsync show' 'show is not recommended for a changed recording'
    is "$(find lost -name MANIFEST.json)" '' 'a changed recording gets no manifest'
    dead=$(bash -c 'echo $$')
    finished=$(echo measured/*/*/*)
    chmod u+w "$finished" && rm -f "$finished/MANIFEST.json"
    echo old | tee "$finished/.MANIFEST.json.$dead" >"$finished/.MANIFEST.json.$$"
    mkdir -p csv && touch "csv/.summary.csv.$dead"
    exits 0 'a killed seal is repeated' "$gradsync" resume "$finished"
    ok 'what it left is gone' test ! -e "$finished/.MANIFEST.json.$dead"
    ok 'the temporary file of a process that runs stays' test -e "$finished/.MANIFEST.json.$$"
    chmod u+w "$finished" && rm "$finished/.MANIFEST.json.$$" "$finished/MANIFEST.json"
    exits 0 'and the run is sealed again' "$gradsync" resume "$finished"
    ok 'the recording of the runner is reduced' "$gradsync" reduce measured -o csv
    is "$(ls -A csv | grep '^\.')" '' 'reduce removes what a killed reduce left'
    is "$(cut -d, -f27 csv/summary.csv | sort -u | tr '\n' ' ')" 'ok status ' \
        "every cell of the runner's recording is ok"
    prints $'^null on tiny, run .*\nsize +config .*\n8 +a .*10.0 us' "$gradsync" show measured
    exits 2 'show refuses a folder without recordings' "$gradsync" show empty
fi
done_testing
