#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The store of all recordings: the queries of docs/tables.md, and databases that cannot be used. What a query prints
# and refuses is in tests/golden/store.cmd.
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
measured=$top/data/raw/h200-2gpu-steps/trial/20261123T073621Z-9954
columns='[(input_filename | scan("launch-([0-9]+)[.]([0-9]+)") | .[] | tonumber), .cell, .copy, .key, .value] | @csv'
notes='SELECT launch, attempt, cell_id, copy, key, value FROM note ORDER BY launch, key, copy, cell_id'
is "$("$gradsync" query --format csv "$notes" "$measured" | sed 1d | sort)" \
    "$(jq -r "select(.type == \"note\") | $columns" "$measured"/*.jsonl | tr -d '"' | sort)" \
    'each note is a row, with its launch, cell and copy'
is "$(grep -c '^build/gradsync query' "$top/docs/tables.md")" 4 'each query of the document is here'

# ---- recordings of a test
mkdir -p data/raw/sim/null
for run in 1 2; do "$make_campaign" data/raw/sim/null/$run groups=2 seed=$run || flunk "run $run"; done
count='SELECT count(*) AS n, count(DISTINCT run) AS runs FROM block'
counted() { "$gradsync" query --format csv "$count" 2>err.txt | tail -1; }
both=$(counted)
like "$both" '^[1-9][0-9]*,2$' 'both runs are in the store'

# ---- databases that cannot be used
rebuilt() { # NAME
    run "$gradsync" query --format csv "$count"
    is "$(tail -1 <<<"$out")" "$both" "$1: built again"
    one_line "$err" "$1: one line says so"
}
head -c 9000 data/gradsync.db >short && cp short data/gradsync.db && rm -f data/gradsync.db-*
rebuilt 'a truncated database'
truncate -s -4096 data/gradsync.db && rm -f data/gradsync.db-*
rebuilt 'a database without its last page'
echo 'no database, and more than a header of one hundred bytes: ------------------------------------------------' >data/gradsync.db
rebuilt 'a file that is no database'
printf '\x7f\x7f' | dd of=data/gradsync.db bs=1 seek=60 conv=notrunc status=none
rebuilt 'a database of another version'
if command -v python3 >/dev/null; then
    python3 -c 'import sqlite3; db = sqlite3.connect("data/gradsync.db"); db.execute("DROP TABLE compare"); db.commit()'
    rebuilt 'a database without a table'
fi
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
done_testing
