#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The store of all recordings, and `gradsync query`: the queries of docs/tables.md, damaged
# recordings, and databases that cannot be used.
. "$(dirname "$0")/lib.sh"
make_campaign="$build/sim/make_campaign"

# ---- the queries of the documents, over the recordings of this repository
query() { # the command of docs/tables.md below the line that begins with these words
    sed -n "/^$1/,/^build/ s/^build.gradsync //p" "$top/docs/tables.md"
}
(cd "$top" && "$gradsync" query 'SELECT 1' >"$tmp/first" 2>&1) # builds it, and may say so
answers() { # WORDS PATTERN NAME
    run bash -c "cd '$top' && '$gradsync' $(query "$1")"
    is "$err" '' "$3: nothing is wrong"
    like "$out" "$2" "$3"
}
answers 'Which settings' $'^workload +config\n.*\nnccl_allreduce +ring/LL128\n' \
    'a query lists the settings that two H200 ran'
answers 'In which launches' $'^run_id .*\n20261123T074947Z-gpt-8x2048-fsdp-c9ce +5 +vm +8.82\n' \
    'a query finds the launches with foreign load'
answers 'How does the step' $'bucket_cap +median +ci_low .*\n.* 100MiB +[0-9.]+ ms ' \
    'a query gives the step time of each bucket size'
answers 'Which all-reduce' $'\nh200-4gpu +[a-z0-9/=A-Z]+ +[0-9.]+ us +[0-9.]+ GB/s +RING' \
    'a query gives the fastest all-reduce of each platform'
answers 'What failed' $'\n20261123T032011Z-zero-cta-9366 +skip ' 'a query lists what failed'
measured=$(ls -d "$top"/data/raw/wan-lab-every/wan_sync/* | head -1)
metrics=$(cat "$measured"/*.jsonl | sed -n 's/.*"metrics":{\([^}]*\)}.*/\1/p' | tr ',' '\n' |
    awk -F: '{ printf "%.12g\n", $2 }' | sort | cksum)
values="SELECT printf('%.12g', value) FROM block_metric"
is "$("$gradsync" query --format csv "$values" "$measured" | sed 1d | sort | cksum)" "$metrics" \
    'each metric of a block is a row, with its value'
is "$(grep -c '^build/gradsync query' "$top/docs/tables.md")" 5 'each query of the document is here'

# ---- recordings of a test
mkdir -p data/raw/sim/null
for run in 1 2; do "$make_campaign" data/raw/sim/null/$run groups=2 seed=$run || flunk "run $run"; done
count='SELECT count(*) AS n, count(DISTINCT run) AS runs FROM block'
counted() { "$gradsync" query --format csv "$count" 2>err.txt | tail -1; }
both=$(counted)
like "$both" '^[1-9][0-9]*,2$' 'both runs are in the store'
is "$(counted)" "$both" 'a second query reads nothing twice'
ok 'the store is a file of SQLite' test -s data/gradsync.db
lines=$(cat data/raw/sim/null/?/*.jsonl | grep -c '"type":"block"')
is "${both%,*}" "$lines" 'each block of the recordings is a row'
samples=$(cat data/raw/sim/null/?/*.jsonl | sed -n 's/.*"time_ns":\[\(.*\)\]}/\1/p' | tr ',' '\n' |
    awk '{ n++; s += $1 } END { printf "%d,%.0f", n, s }')
is "$("$gradsync" query --format csv 'SELECT count(*), sum(time_ns) FROM sample' | tail -1)" \
    "$samples" 'each sample is a row, with its time'
"$gradsync" reduce -q data/raw -o csv
is "$("$gradsync" query --format csv 'SELECT cell_id, median_s, ci_low_s, p99_s FROM summary' | sort)" \
    "$(awk "$(<"$top/tests/csv.awk")"'
        NR == 1 { n = csv($0, name); for (i = 1; i <= n; i++) at[name[i]] = i }
        { csv($0, f); print f[at["cell_id"]] "," f[at["median_s"]] "," f[at["ci_low_s"]] "," f[at["p99_s"]] }' \
        csv/summary.csv | sort)" 'the store has the numbers of summary.csv'
is "$("$gradsync" query --format lines "SELECT count(*), sum(median_s <> CAST(printf('%.12g', median_s) AS REAL))
    FROM summary")" '16 0' 'with no more digits than the file has'
is "$("$gradsync" query --format csv "$count" data/raw/sim/null/1 | tail -1)" \
    "$(grep -c '"type":"block"' <(cat data/raw/sim/null/1/*.jsonl)),1" \
    'a query of a folder reads that folder'

# ---- files
printf 'run_id,size_B,param_b,param_a\nx,8,2,1\n' >summary.csv
is "$("$gradsync" query --format lines --table summary.csv --first 'CREATE TEMP TABLE s AS SELECT * FROM summary' \
    'SELECT run_id, size_B, params, median_s FROM s')" 'x 8 a=1 b=2' \
    'a file is a table; its parameters are in the order of their names, and a column that it lacks is NULL'
for number in 0x10 ' 8' nan inf 8B; do
    printf 'size_B\n%s\n' "$number" >odd.csv
    fails 1 "odd.csv:2: size_B: '$number' must be a number" "$gradsync" query --table odd.csv 'SELECT size_B FROM odd'
done
fails 2 'query: --first is for files only' "$gradsync" query --first 'CREATE TABLE x (a)' 'SELECT 1'

# ---- formats
select='SELECT run_id, 1.5e-3 AS step_s, 4096 AS size_B, NULL AS none, 2.5e9 AS busbw_Bps FROM run ORDER BY run LIMIT 1'
like "$("$gradsync" query "$select")" $'^run_id +step +size +none +busbw\n[^ ]+ +1.50 ms +4KiB +- +2.50 GB/s$' \
    'text has units, and no value is a dash'
like "$("$gradsync" query --format csv "$select")" \
    $'^run_id,step_s,size_B,none,busbw_Bps\n[^,]+,0.0015,4096,,2500000000.0$' 'csv has SI units'
like "$("$gradsync" query --format markdown "$select")" $'^\\| run_id \\| step .*\\|\n\\|---\\|.*\n\\| [^|]+ \\| 1.50 ms ' \
    'markdown is a table'
is "$("$gradsync" query --format json "$select" | tr -d ' \n' | sed 's/"run_id":"[^"]*",//')" \
    '{"schema":"gradsync-query-1","rows":[{"step_s":0.0015,"size_B":4096,"none":null,"busbw_Bps":2500000000.0}]}' \
    'json is one object'
odd="SELECT 'a\"b,c' AS text, 'd|e' AS bar"
is "$("$gradsync" query --format csv "$odd")" $'text,bar\n"a""b,c",d|e' 'csv quotes what it must'
is "$("$gradsync" query --format markdown "$odd" | tail -n 1)" '| a"b,c | d\|e |' 'a bar ends no cell of markdown'
fails1 2 "syntax error; 'gradsync help query' .* 'gradsync help tables' lists" \
    "$gradsync" query 'SELEC 1'
ok 'no view needs quotes' "$gradsync" query 'SELECT foreign_cores FROM foreign_load'
for bad in 'DELETE FROM run' 'DELETE FROM run RETURNING dir' 'SELECT 1; SELECT 2' 'DROP TABLE run' "ATTACH 'x' AS y"; do
    exits 2 "'$bad' is refused: a query only reads" "$gradsync" query "$bad"
done
fails 2 "did you mean 'json'" "$gradsync" query --format jsn 'SELECT 1'
is "$(counted)" "$both" 'the store is as before'

# ---- what changes on the disk
mv data/raw/sim/null/2 gone
is "$(counted | cut -d, -f2)" 1 'a run that is gone is forgotten'
for table in run host cell param grp block summary launches compare; do
    echo "$table $("$gradsync" query --format csv "SELECT count(DISTINCT run) FROM $table" | tail -1)"
done >tables_of_one
is "$(grep -v ' 1$' tables_of_one)" '' 'none of its rows is left in a table'
mv gone data/raw/sim/null/2
is "$(counted)" "$both" 'a run that is back is read again'
file=$(echo data/raw/sim/null/2/*01.01.jsonl)
chmod -R u+w data/raw && cp "$file" sound
sed -i 's/"iters":[0-9]*/"iters":0/' "$file"
fails 1 "null/2" "$gradsync" query "$count"
is "$(counted | cut -d, -f2)" 1 'nothing of it is in the store'
cp sound "$file"
is "$(counted)" "$both" 'the restored recording is read again'

# An edit that keeps the size, a config of the platform, and a line that is torn in one of two runs.
sed -i '1s/"commit":"./"commit":"Z/' "$file"
is "$("$gradsync" query --format lines "SELECT count(*) FROM run WHERE git_commit LIKE 'Z%'")" 1 \
    'an edited recording is read again, though it has its size'
cp sound "$file"
mkdir configs
for limit in 10 20; do
    printf '[limits]\nbusbw = %sGB/s\nsource = x\n' $limit >configs/sim.ini
    is "$("$gradsync" query --format lines 'SELECT max(limit_Bps) FROM summary')" "${limit}000000000.0" \
        "a limit of $limit GB/s in the config of the platform is that of its cells"
done
rm -r configs data/gradsync.db*
printf '{"type":"bl' >>"$file"
says '^data/raw/sim/null/2/.*: ignoring the incomplete last line' "$gradsync" query "$count"
is "$(tail -n 1 <<<"$out" | xargs | tr ' ' ,)" "$both" 'the rest of its run is in the store'
cp sound "$file"
printf '[reference]\nlink = 11GB/s\nlink.source = a sheet\nsource = all\n[null]\nsize = 8\n' >data/raw/sim/null/1/config.ini
is "$("$gradsync" query --format lines 'SELECT claim, given, source FROM claim' data/raw/sim/null/1)" \
    'link 11GB/s a sheet' 'a claim is a row with its source, and a source is none'
rm data/raw/sim/null/1/config.ini

# ---- databases that cannot be used
rebuilt() { # NAME
    run "$gradsync" query --format csv "$count"
    is "$(tail -1 <<<"$out")" "$both" "$1: built again"
    one_line "$err" "$1: one line says so"
}
head -c 9000 data/gradsync.db >cut && cp cut data/gradsync.db && rm -f data/gradsync.db-*
rebuilt 'a truncated database'
truncate -s -4096 data/gradsync.db && rm -f data/gradsync.db-*
rebuilt 'a database without its last page'
echo 'no database, and more than a header of one hundred bytes: ------------------------------------------------' >data/gradsync.db
rebuilt 'a file that is no database'
printf '\x7f\x7f' | dd of=data/gradsync.db bs=1 seek=60 conv=notrunc status=none
rebuilt 'a database of another version'
rm -f data/gradsync.db*
is "$(counted)" "$both" 'a deleted database is built again'
if command -v sqlite3 >/dev/null; then
    rm -f data/gradsync.db* && sqlite3 data/gradsync.db 'CREATE TABLE mine (x)'
    fails 2 '^data/gradsync.db: is a database of another program; move it' "$gradsync" query \
        "$count"
    rm -f data/gradsync.db
fi
if [ "$(id -u)" != 0 ]; then
    rm -f data/gradsync.db* && chmod a-w data
    run "$gradsync" query --format csv "$count"
    is "$(tail -1 <<<"$out")" "$both" 'without a place for the database, the recordings are read'
    one_line "$err" 'one line says why'
    chmod u+w data
fi
rm -f data/gradsync.db*
(trap '' XFSZ && ulimit -f 40 && exec "$gradsync" query "$count") >full.txt 2>&1
is $? 1 'a database that cannot grow is an error'
like "$(<full.txt)" '^data/gradsync.db: cannot be ' 'the error names the database'
rm -f data/gradsync.db*
is "$(counted)" "$both" 'and the next query builds it'

# ---- at once
rm -f data/gradsync.db*
for i in 1 2 3 4; do "$gradsync" query --format csv "$count" >at-once.$i 2>&1 & done
wait
is "$(tail -qn 1 at-once.? | sort -u)" "$both" 'four processes may build the store at once'

# ---- limits and transitions read it
printf '[platform]\nname = sim\n[limits]\nbusbw = 10GB/s\nsource = x\n' >sim.ini
ok 'limits reads the store without tables' "$gradsync" limits sim.ini
ok 'so does transitions' "$gradsync" transitions -q
ok 'transitions writes its table' test -s data/csv/transitions.csv
is "$("$gradsync" query -q --format lines "SELECT shorten('Grün', 4), shorten('Grün!', 4)")" 'Grün Grü…' \
    'a query shortens a text that is longer than it may be, and no other'
done_testing
