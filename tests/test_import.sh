#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Import beside the transcript tests/golden/import.cmd: files that are cut anywhere, imports that are
# killed, many times, recordings of others, and configs that were launched apart.
. "$(dirname "$0")/lib.sh"
make="$top/tests/make_nccl_output" json=$top/tests/make_nccl_json
fixtures=$top/../shared/fixtures

import() { "$gradsync" import "$@"; }

# ---- never a number that was cut
"$make" version=2.17.9 ranks=8 min=1024 max=4194304 >table
"$json" env=NCCL_ALGO=Tree >report
for file in table report; do
    bad=''
    for size in $(seq 1 397 "$(wc -c <$file)"); do
        head -c "$size" $file >cut.txt
        run import -q -o "cut_$file" cut.txt
        [ $rc -le 1 ] || bad="$bad $size"
    done
    is "$bad" '' "a $file cut anywhere is imported or refused"
    "$gradsync" query -q cut_$file --export csv
    is "$(csv csv/summary.csv '$0 ~ /in_place=no/' size_B median_s | sort -u | cut -d' ' -f1 | uniq -d)" '' \
        "no $file cut anywhere gives a time that was cut"
done

# ---- killed
"$make" max=8589934592 cycles=200 >big.txt
bad='' killed=0
for i in {1..20}; do
    "$gradsync" import -q -o killed big.txt >/dev/null 2>&1 &
    pid=$!
    # Without a pause: the writing may take a few milliseconds.
    until [ -e killed/.import.$pid ] || ! kill -0 $pid 2>/dev/null; do :; done
    [ "$i" -le 10 ] || sleep "0.00$((i - 10))"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? != 137 ] || killed=$((killed + 1))
    "$gradsync" check -q killed >/dev/null 2>&1
    [ $? != 1 ] || bad="$bad $i" # 2: there is no recording yet
    for d in killed/*/*/*; do [ ! -e "$d" ] || [ -e "$d/MANIFEST.json" ] || bad="$bad $i:$d"; done
done
isnt $killed 0 'import was killed while it wrote'
is "$bad" '' 'a killed import leaves no part of a run'
ok 'the import is repeated' import -o killed big.txt
is "$(find killed -maxdepth 1 -name '.*' | wc -l)" 0 'the repeat removes what the killed ones left'

# ---- many
awk 'BEGIN { for (i = 1; i <= 100000; i++) printf "%.3f\n", 9 + i % 997 / 1000 }' >many.txt
ok '100,000 iteration times are imported' import -q -o many --platform a100 --set ranks=8 many.txt
"$gradsync" query -q many --export csv
is "$(csv csv/summary.csv 1 n blocks launches)" '100000 3125 1' '100,000 iteration times are in blocks of 32'
sed -n 's/.*"time_ns":\[\(.*\)\]}$/\1/p' many/*/*/*/*.jsonl | tr , "\n" >values
ok '100,000 iteration times keep their order, and none is lost' cmp values \
    <(tr -d . <many.txt | sed 's/$/000/')

# ---- recordings of others
if [ -d "$fixtures" ]; then
    shopt -s globstar
    for f in "$fixtures"/**/results*allreduce*.txt "$fixtures"/**/2026-*.txt; do
        [[ $f == */phase* ]] || continue
        exits 0 "${f#"$fixtures"/} is imported" import -o fixtures "$f"
        like "$err" ', 50 cells, 50 samples, config unstated' "${f##*/}: every row is a cell"
    done
    level=' ms  -  +-  +ok \[1\].*\[1\] launch 1 changes level after block (2[5-9]|30)'
    for f in "$fixtures"/phase3-iteration-proxy/a100-8gpu-new/results/iteration_times_*.txt; do
        import -q -o fixtures/steps --platform a100 --set ranks=8 "$f" >steps.run
        like "$("$gradsync" show "$(cat steps.run)" 2>/dev/null)" \
            "$level"' of 50: 9.7[0-9] ms before and 7.6[0-9] ms after' \
            "${f##*/}: a step in mid-run is a change of level"
    done
    for f in "$fixtures"/phase1-baseline/a100-8gpu/results/*.out; do
        fails1 1 'rank 0 a second time' import -o refused "$f"
    done
    for f in "$fixtures"/**/*.{csv,xml,log,tsv}; do fails1 1 'refused: ' import -o refused "$f"; done
    l40s=$fixtures/phase1-baseline/nvidial40s_4gpu_results/iteration_1/2026-02-20_20-09-16.txt
    "$gradsync" import -q --platform l40s --set config=auto -o l40s "$l40s" && "$gradsync" query -q l40s --export l40s.csv
    is "$(csv l40s.csv/transitions.csv 'get("kind") == "dip"' size_B verdict | xargs)" \
        '16777216 unconfirmed 16777216 unconfirmed' 'the dip of the L40S at 16 MiB is found, by one file unconfirmed'
    ok 'the recordings of others are sound' "$gradsync" check fixtures
    ok 'they become tables' "$gradsync" query -q fixtures --export csv
else
    skip 'recordings of others' "$fixtures is not here"
fi
# Two configs, launched apart: each cell is compared with that of its own size and place. Those of
# `tree` begin with three slow iterations: warm-up, which is no part of it.
for name in {ring,tree}{1,2}; do
    "$json" ranks=2 max=64 per_iter=1 iters="4${name: -1}" env="NCCL_ALGO=${name%?}" |
        jq -c --arg slow "${name/tree?/5}" '.results[] |= (.in_place.time *= 2 | .in_place.alg_bw /= 2 |
            .in_place.bus_bw /= 2 | .in_place_per_iter.times_us |= map(. * 2)) |
            (.results[] | .in_place_per_iter, .out_of_place_per_iter | .times_us) |= (.[0] as $t |
            [keys[] | if $slow == "5" and . < 3 then $t * 5 else $t + . % 2 end])' >"$name.json"
done
ok 'reports of two configs are imported as one run' import -q --as-launches -o configs \
    {ring,tree}{1,2}.json
is "$(find configs -name 'launch-*.jsonl' | wc -l)" 4 'they are four launches of it'
apart() { "$gradsync" query -q configs --export configs.csv && csv configs.csv/compare.csv 1 baseline \
    config blocks ratio reason | sed -E 's/([0-9]\.[0-9]{3})[0-9]*/\1/' | sort | uniq -c | xargs; }
is "$(apart)" '8 ring tree 160 1.000 launched apart' \
    'each cell of a launch apart is compared with the one of its parameters, without warm-up'
find configs -name MANIFEST.json -delete
sed -i 's/\("status":"[a-z]*"\),"sha256":"[^"]*"/\1/; s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/' configs/*/*/*/*.jsonl
sed -i 's/"gradsync":"0.1.0"/"gradsync":"0.1.1"/' configs/*/*/*/launch-01.01.jsonl
is "$(apart | sed 's/ one launch .* advised;/:/')" '8 ring tree 119: launched apart' \
    'a launch of the same provenance goes before another one'
sed -i '/"config":"tree"/s/"mode":""/"mode":"other"/' configs/*/*/*/*.jsonl
is "$(apart)" '8 ring tree 0 not measured with ring' 'a cell of another mode is not its counterpart'
done_testing
