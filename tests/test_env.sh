#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync works the same from any folder, in paths with spaces, under any locale, time zone and
# umask. Of the user's environment it records only what bears on a measurement.
. "$(dirname "$0")/lib.sh"

samples=2 config tiny.ini 2 '[platform]' 'name = tiny' '[null]' 'size = 8, 16' 'time = 12.5us' 'config = a, b'
recordings() { find "$1" -name '*.jsonl' 2>/dev/null; }
# The columns that the script decides. Start times of ranks and the load of other programs vary.
shape() {
    csv "$1/summary.csv" 1 cell_id platform workload config ranks nodes size_B launches blocks median_s \
        ci_low_s min_s p99_s algbw_Bps converged status reason params
}

exits 0 'a plain run succeeds' "$gradsync" run -q tiny.ini -o plain
is "$(recordings plain | wc -l)" 1 'a plain run writes one recording'
exits 0 'a plain run is reduced' "$gradsync" query -q plain --export plain.csv
is "$(shape plain.csv | grep -c ' 1.25e-05 ')" 4 'its table has the scripted time of each cell'

# ---- paths and folders

mkdir -p 'a folder/in a folder'
cp tiny.ini 'a folder/my platform.ini'
cd 'a folder/in a folder' || exit 1
exits 0 'a run with spaces in config, data folder and cwd succeeds' "$gradsync" run -q \
    '../my platform.ini' -o '../raw data'
is "$(recordings '../raw data' | wc -l)" 1 'a run writes into a data folder with spaces'
exits 0 'reduce takes folders with spaces' "$gradsync" query -q '../raw data' --export '../the tables'
exits 0 'check takes a folder with spaces' "$gradsync" check '../raw data'
cd "$tmp" || exit 1
is "$(shape 'a folder/the tables')" "$(shape plain.csv)" 'folders with spaces give the same cells'
mkdir 'programs here'
cp -r "$build"/gradsync "$build"/gradsync-rank 'programs here/'
cp -r "$build/tests/plugins" 'programs here/plugins'
exits 0 'programs in a path with spaces run, with spaces in TMPDIR and no other variables' env -i PATH="$PATH" \
    TMPDIR="$tmp/a folder" 'programs here/gradsync' run -q tiny.ini -o elsewhere
is "$(recordings elsewhere | wc -l)" 1 'they write one recording'

# ---- locale

german=''
if locale -a 2>/dev/null | grep -qix 'de_DE.utf-\?8'; then
    german=de_DE.UTF-8
elif mkdir locales && localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 >/dev/null 2>&1; then
    german=de_DE.UTF-8
    export LOCPATH=$tmp/locales
fi
if [ -z "$german" ]; then
    skip 'tables do not depend on a locale with decimal commas' \
        'de_DE can be neither found nor made here'
else
    is "$(LC_ALL=$german awk 'BEGIN { printf "%s", 1 }')$(LC_ALL=$german bash -c \
        'printf %.1f 1,5')" 11,5 \
        'the German locale has decimal commas'
    LC_ALL=$german run "$gradsync" query -q plain --export german.csv
    ok 'a German locale writes the same tables byte by byte' diff -r plain.csv german.csv
    LC_ALL=$german run "$gradsync" plan tiny.ini
    german_plan=$out
    run "$gradsync" plan tiny.ini
    is "$german_plan" "$out" 'a German locale prints the same plan'
fi
unset LOCPATH

# ---- time zone

before=$(date -u +%Y%m%dT%H%M%S)
exits 0 'a run in the time zone of Kathmandu succeeds' env TZ=Asia/Kathmandu "$gradsync" run -q \
    tiny.ini -o zone
after=$(date -u +%Y%m%dT%H%M%S)
run_id=$(basename "$(dirname "$(recordings zone)")")
stamp=${run_id%%Z*}
ok 'the run is named by UTC' test ! "$stamp" '<' "$before" -a ! "$stamp" '>' "$after"
like "$(head -n 1 "$(recordings zone)")" '"started":"[0-9T:.-]*Z"' 'the header has the time in UTC'

# ---- umask

for mask in 077 000; do
    (umask $mask && "$gradsync" run -q tiny.ini -o "mask $mask" &&
        "$gradsync" query -q "mask $mask" --export "csv $mask")
    is "$(shape "csv $mask")" "$(shape plain.csv)" "umask $mask gives the same cells"
done
is "$(find 'mask 077' -perm /077 | wc -l)" 0 'under umask 077 nobody else can read the data'
is "$(find 'mask 000' -type f -perm /222 | wc -l)" 0 'a finished recording is read-only'

# ---- secrets

exits 0 'a run with a secret in the environment succeeds' env AWS_SECRET_ACCESS_KEY=hunter2-secret \
    NCCL_DEBUG=WARN UCX_TLS=all \
    "$gradsync" run -q tiny.ini -o secret
is "$(grep -rl hunter2 secret | wc -l)" 0 'the secret is recorded nowhere'
like "$(head -n 1 "$(recordings secret)")" '"NCCL_DEBUG":"WARN"' "NCCL's variables are recorded"

no_orphans 'no process is left'
done_testing
