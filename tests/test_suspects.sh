#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gradsync suspects: that it names a slow rank and a pair that does not answer, on pretended GPUs
# (tests/gpu/pretend.h), whose times are exact; and what it refuses. On real ranks:
# tests/test_suspect_ranks.sh. How often it is wrong: tests/test_suspect_rates.sh. In a lab:
# tests/test_lab_suspects.sh.
. "$(dirname "$0")/lib.sh"
command -v mpirun >/dev/null || skip_all 'needs mpirun'

few=(-s launch:oversubscribe=yes -s measure:launches=2 -s measure:blocks=3
    -s measure:max_blocks=3 -s measure:sample_time=1ms -s measure:warmup=1ms)
suspects() { run "$gradsync" suspects -q -o data "$@" "${few[@]}"; }

# ---- what is refused ----

exits 2 'two configs are refused' "$gradsync" suspects local wan-lab
mkdir -p other
printf '[launch]\nranks = 2\n[measure]\nlaunches = 1\nblocks = 2\nmax_blocks = 2\n[null]\n' >n.ini
run "$gradsync" run -q n.ini -o other
fails 2 'not a recording of gradsync suspects' "$gradsync" suspects other/*/*/*
for past in nowhere other/*/*/*; do
    exits 2 "the baseline ${past%%/*} is refused" "$gradsync" suspects --ranks 1 -o unmeasured \
        -s pairs:backend=host -b "$past"
    is "$(ls unmeasured 2>&1)" "ls: cannot access 'unmeasured': No such file or directory" \
        "the baseline ${past%%/*} is refused before measuring"
done
fails 2 'run it once, without mpirun or srun' mpirun -n 2 --oversubscribe "$gradsync" suspects

# ---- one rank ----

host=(-o one --ranks 1 -s pairs:backend=host)
suspects "${host[@]}"
is "$rc" 0 'one rank is measured'
first=$(echo one/*/pairs/*)
like "$out" '^nothing was compared: one rank has no peers; to compare with this recording later: '
one_line "$out" 'it is one line'
like "$out" "gradsync suspects --set pairs:backend=host .*--ranks 1 --baseline $first\$"
suspects "${host[@]}" --baseline "$first" --json
is "$(jq .compared <<<"$out")" true 'that command compares'
run "$gradsync" suspects --json "$first"
is "$rc|$(jq .compared <<<"$out")" '0|false' 'the JSON says that nothing was compared'
suspects "${host[@]}" --baseline "$first" -s pairs:size=64KiB
is "$rc" 2 'a baseline with messages of another size is refused'
like "$err" 'measured .*size=4MiB .*, not .*size=64KiB' 'the error names both sizes'
mkdir -p far/p/pairs/20260101T000000Z-far
sed -E 's/,"chain":"[0-9a-f]+"//;  1s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/; s/"host":"[^"]*"/"host":"far"/g' \
    "$first"/launch-01.01.jsonl >far/p/pairs/20260101T000000Z-far/launch-01.01.jsonl
exits 2 'a baseline of another host is refused' "$gradsync" suspects "$first" -b far/p/pairs/*
like "$err" 'has none of these ranks: they are matched by host and GPU' 'the error says why'

# ---- pretended GPUs ----

if [ -e "$build/plugins/pairs/cuda.so" ] && "${CC:-gcc}" -std=gnu11 -shared -fPIC \
    -Wl,-soname,libcuda.so.1 -o pretend.so "$top"/tests/gpu/pretend_*.c; then
    pretended() { # VARIABLE=VALUE… -- ARGUMENT…
        local set=()
        while [ "$1" != -- ]; do set+=("$1") && shift; done
        shift
        run env LD_PRELOAD="$tmp/pretend.so" PRETEND_GPUS=4 "${set[@]}" "$gradsync" suspects -q \
            -o data "$@" "${few[@]}"
    }
    pretended -- --prometheus healthy.prom
    is "$rc" 0 'four equal GPUs have no suspect'
    one_line "$out" 'no suspect is one line'
    seen='would have seen a [a-zA-Z]+ [0-9.]+% slower, a link [0-9.]+% slower'
    like "$out" "^no suspect among 4 [a-zA-Z]+ and 6 links \($seen\)\$"
    is "$(grep -c '^gradsync_suspects 0$' healthy.prom)" 1 'the gauge of suspects is 0'
    healthy=$(echo data/*/pairs/*)
    is "$(grep -h '"type":"block"' "$healthy"/launch-01.01.jsonl | grep -o '"gemm":\[[^]]*\]' |
        head -n 1 | tr -cd , | wc -c)" 3 'a block has the value of each of four ranks'

    pretended PRETEND_SLOW='2 1.3' -- --json --prometheus slow.prom
    is "$rc" 1 'a GPU that is 30% slower gives exit code 1'
    is "$(grep -c '"text":' <<<"$out")" 1 'the JSON has one suspect'
    like "$out" '"schema": "gradsync-suspects-1"' 'the JSON names its schema'
    like "$out" '"test": "GEMM",[[:space:]]*"slower_percent": (29\.9|30\.0)'
    is "$(grep -c '^gradsync_suspect_slower_percent{kind="rank",rank="2",peer="",.*} 30' slow.prom)" \
        1 'a gauge has the slow GPU'
    slow=$(ls -d data/*/pairs/* | tail -n 1)
    forged=forged/p/pairs/${slow##*/}
    mkdir -p "$forged" && sed -E 's/,"chain":"[0-9a-f]+"//; 1s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/; s/"host":"[^"]*"/"host":"h\\"\\\\"/g' \
        "$slow"/launch-01.01.jsonl >"$forged"/launch-01.01.jsonl
    run "$gradsync" suspects --prometheus forged.prom "$forged"
    like "$(grep rank=.2 forged.prom)" ',host="h\\"\\\\",' \
        'quotes and backslashes in the name of a host are escaped in a gauge'
    exits 1 'a recording is judged again' "$gradsync" suspects "$slow"
    like "$out" '^suspect: rank 2 \(.*: .*GEMM takes 30\.0% longer' 'the line names the slow GPU'
    one_line "$out" 'a slow GPU is one line, without its links'
    run "$gradsync" suspects -b "$healthy" "$slow"
    like "$out" "^suspect: rank 2 .*longer than $(basename "$healthy")"
    one_line "$out" 'GPUs that are as fast as in the past are not named, nor the links of a slow one'

    pretended PRETEND_SILENT='1 2' -- -s pairs:patience=3s
    is "$rc" 1 'a pair that does not answer gives exit code 1'
    like "$out" '^suspect: link of rank 1 and rank 2 .*: did not answer in time(;.*)?$'
    one_line "$out" 'nothing else is named'
    is "$(jq -s 'map(select(.type == "block") | .each.sendrecv |
        select(any(. == null) and any(. != null))) | length' \
        "$(ls -td data/*/pairs/* | head -n 1)"/launch-01.01.jsonl)" 3 \
        'the pairs beside one that does not answer are measured'
else
    skip 'slow GPUs are named' 'built without CUDA or NCCL'
fi

# ---- interrupted ----

"$gradsync" suspects -q -o stopped --ranks 2 -s launch:oversubscribe=yes -s pairs:backend=host \
    -s measure:blocks=1000 -s measure:max_blocks=1000 -s measure:budget=600s >said 2>why &
pid=$!
begun() { grep -qs '"type":"block"' stopped/*/pairs/*/launch-01.01.jsonl; }
ok 'a long measurement begins' until_true 60 begun
kill -TERM "$pid"
wait "$pid"
is "$?|$(cat said)" '1|' 'a measurement that was interrupted has exit code 1 and no verdict'
like "$(cat why)" 'interrupted; .*resume' 'the error says that it was interrupted'

# ---- a death that no rank reported ----

lost=lost/p/pairs/20260101T000000Z-lost
mkdir -p "$lost"
sed -E 's/,"chain":"[0-9a-f]+"//; 1s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/; /"type":"end"/d' stopped/*/pairs/*/launch-01.01.jsonl \
    >"$lost"/launch-01.01.jsonl
death=$(jq -c 'select(.type == "cell" and .params.round == "1") | {type: "fail", cell, copy: 0,
    kind: "lost", why: "mpirun was killed", rank: -1, host: "h", phase: "time"}' \
    "$lost"/launch-01.01.jsonl | head -n 1)
echo "$death" >>"$lost"/launch-01.01.jsonl
run "$gradsync" suspects "$lost"
like "$out" 'failed: no rank reported \(host h\): lost in time: mpirun was killed'

done_testing
