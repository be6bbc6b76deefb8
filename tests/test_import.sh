#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Other programs' output becomes recordings: every variant that nccl-tests has printed, iteration
# times, nccl-tests' JSON and OSU's tables; what cannot be trusted is refused.
. "$(dirname "$0")/lib.sh"
make="$top/tests/make_nccl_output"
fixtures=$top/../shared/fixtures

import() { "$gradsync" import "$@"; }
# $(launch FILE…): what is said about the only launch, without its file
launch() { sed -nE 's/^  launch [0-9]+: [^,]+, //p' <<<"$err"; }
# $(summary REGEX COLUMN…): fields of the rows of csv/summary.csv whose parameters match
summary() { csv csv/summary.csv '$0 "," get("params") ~ "'"$1"'"' "${@:2}"; }
reduce() { # the runs below RAW are sound, and become tables
    ok "$2: gradsync check accepts the imported recording" "$gradsync" check "$1"
    ok "$2: reduce accepts the imported recording" "$gradsync" reduce -q "$1" -o csv
}
refused() { # CODE REGEX ARGUMENT…
    fails1 "$1" "$2" import -o refused "${@:3}"
}

# ---- a table, number by number
"$make" version=2.17.9 ranks=8 min=1024 max=4194304 >table.txt
prints '^raw/a100-sxm4-40gb-8gpu/nccl_allreduce/[0-9TZ]+-imported-[0-9a-f]{4}$' import -o raw \
    table.txt
is "$(launch)" '26 cells, 26 samples, config unstated' \
    'import says how many cells and samples it found'
run_dir=$out
like "$err" "next: gradsync show $run_dir\$" 'import says how to show the run'
ok 'compare of a run with one config succeeds' "$gradsync" compare raw
is "$out" '' 'compare of a run with one config prints no table'
like "$err" "^nothing to compare: .* raw .* two configs .*--as-launches"
reduce raw 'a table'
read -r _ _ _ _ _ us algbw busbw _ ip_us _ <<<"$(grep '^ *1048576' table.txt)"
is "$(summary 'in_place=no .*size=1MiB' median_s n launches blocks ranks status | awk -v t="$us" \
    '{ printf "%.6f %s\n", $1 * 1e6 - t, $2 " " $3 " " $4 " " $5 " " $6 }')" '0.000000 1 1 1 8 ok' \
    'the median is the time that the table prints'
is "$(summary 'in_place=yes .*size=1MiB' median_s | awk -v t="$ip_us" \
    '{ printf "%.6f", $1 * 1e6 - t }')" 0.000000 \
    'the in-place time of a size is in a cell of its own'
ok 'algbw and busbw are those that the table prints' awk -v a="$algbw" -v b="$busbw" -v \
    got="$(summary 'in_place=no .*size=1MiB' algbw_Bps busbw_Bps)" \
    'BEGIN { split(got, g, " ")
        exit !((g[1] / 1e9 - a) ^ 2 < 1e-4 && (g[2] / 1e9 - b) ^ 2 < 4e-4) }'
header=$(head -n 1 "$run_dir/launch-01.01.jsonl")
like "$header" "\"imported\":\\{\"path\":\"table.txt\",\"sha256\":\"$(sha256sum <table.txt | cut \
    -d' ' -f1)\",\"format\":\"nccl-tests\"" \
    'the header has the path, hash and format of the imported file'
like "$header" '"plugin":"nccl-tests 2.17.9"' 'the header has the version of nccl-tests'
like "$header" '"rank":7,.*"host":"node0","device":"NVIDIA A100-SXM4-40GB"' \
    'the header has the host and device of each rank'
unlike "$(cat "$run_dir"/*)" "$tmp" 'the recording has no path of this machine'

# ---- several nodes: the lines that such tests are summarised with, of the largest payload
nodes() { # NODES MIN MAX [FACTOR [KEY=VALUE…]]: what show prints below its table; busbw is FACTOR algbw
    rm -rf several
    "$make" version=2.17.9 ranks=16 "nodes=$1" "min=$2" "max=$3" "${@:5}" |
        awk -v f="${4:-1.875}" '/float/ { $8 = f * $7; $12 = f * $11 } 1' >several.txt
    import -q -o several several.txt >/dev/null || flunk 'a run on several nodes is imported'
    "$gradsync" show several 2>/dev/null | grep -A2 '^The '
}
is "$(nodes 2 67108864 4294967296)" 'The median bandwidth of all_reduce with a 4.3GB payload (1 trials, 16 ranks):
 algbw: 106.614 GBps (852.9 Gbps)
 busbw: 199.901 GBps (1599.2 Gbps)' 'show summarises an all-reduce on two nodes'
is "$(nodes 1 67108864 4294967296)" '' 'an all-reduce on one node has no such lines'
is "$(nodes 2 1024 67108864)" '' 'a payload that would be 0.0GB has none'
is "$(nodes 2 67108864 4294967296 .9375 program=all_gather_perf)" '' 'another collective has none'

# ---- all versions, all variants
variants=('' debug=1 crlf=1 'min=4096 max=65536 step=4096' check=0 timestamps=1 per_iter=1 cycles=3
    'types=float,half ops=sum,max' 'max=8589934592' nodes=2 'tag=[1,0]<stdout>:' 'tag=0: ')
want=(36 36 36 32 36 36 36 36 144 62 36 36 36)
for version in 2.0.0 2.11.0 2.13.3 2.14.0 2.17.0 2.17.9 2.19.6; do
    failed=''
    for i in "${!variants[@]}"; do
        words=()
        [ -z "${variants[i]}" ] || words=("${variants[i]}")
        [[ ${variants[i]} == tag* ]] || read -ra words <<<"${variants[i]}"
        "$make" version=$version "${words[@]}" >"variant.txt"
        run import --platform "v$version" -o variants variant.txt
        [ $rc = 0 ] && [[ $(launch) == "${want[i]} cells, "* ]] ||
            failed="$failed${variants[i]}: $err"$'\n'
    done
    is "$failed" '' "${#variants[@]} variants of version $version are imported with all their cells"
done
ok 'gradsync check accepts every imported variant' "$gradsync" check variants

"$make" debug=1 >debug.txt
ok "a table with NCCL's own lines amid its rows is imported" import -o debug debug.txt
is "$(launch)" '36 cells, 36 samples, config ring' "NCCL's lines cost no row, and name the config"
like "$(cat debug/*/*/*/*.jsonl)" '"key":"nccl","value":"2.29.2"' 'the version of NCCL is recorded'
"$make" cycles=3 | cat - <(printf 'x') >cycles.txt
ok 'a table of several cycles is imported' import -q -o cycles cycles.txt
"$gradsync" reduce -q cycles -o csv
is "$(summary size=1MiB n blocks launches | sort -u)" '3 3 1' 'each cycle is a block of one launch'
"$make" check=0 | sed 's/ algbw/ algbw/' >unchecked.txt
ok 'a table of unchecked results is imported' import -o unchecked unchecked.txt
like "$(launch)" 'results not verified' 'import says that the results were not verified'
"$make" wrong=1024 >wrong.txt
says '2 cells have a fault' import -o wrong wrong.txt
"$gradsync" reduce -q wrong -o csv
is "$(summary 'size=1KiB' status median_s | sort -u)" 'wrong ' \
    'a cell with wrong values has no time'
like "$(summary 'size=1KiB' reason)" '12 wrong values' 'a cell with wrong values has a reason'
is "$(summary 'size=2KiB' status | sort -u)" ok 'the cells without wrong values are ok'
"$make" version=2.9.0 wrong=1024 >bounds.txt
run import -q -o bounds bounds.txt
"$gradsync" reduce -q bounds -o csv
is "$(summary , status | sort -u)" wrong \
    'every cell is wrong if only the footer counts wrong values'
"$make" time=nan >nan.txt
exits 1 'a table with no time at all is refused' import -o nan nan.txt
"$make" max=64 | sed 's/^\( *32 .* -1 *\)[0-9.]*/\1  nan/' >nan.txt
ok 'a table with one nan is imported' import -q -o nan nan.txt
"$gradsync" reduce -q nan -o csv
is "$(summary 'in_place=no .*size=32 *$' status median_s reason)" 'failed  line 20: its time is nan' \
    'a cell whose time is nan has failed'

"$make" | sed '/^ *64 /,$d' >died.txt
printf '%s\n' "node0: Test NCCL failure common.cu:401 'unhandled cuda error / '" \
    ' .. node0 pid 77: Test failure common.cu:591' >>died.txt
ok 'a table that ends in a failure of nccl-tests is imported' import -o died died.txt
is "$(grep -c "died.txt:[0-9]*: nccl-tests failed here.*'unhandled cuda error" <<<"$err")" 1 \
    'the first line of the failure is reported, once'
like "$err" 'truncated: nccl-tests failed in it' 'the launch is called truncated'

# ---- several tests in one file, several files
{ "$make" && "$make" && "$make" min=64; } >three.txt
ok 'a file of three tests is imported' import -o three three.txt
is "$(wc -l <<<"$out")" 2 'three tests with two sets of cells become two runs'
is "$(find three -name 'launch-*.jsonl' | sed 's/.*launch/launch/' | sort | tr '\n' ' ')" \
    'launch-01.01.jsonl launch-01.01.jsonl launch-02.01.jsonl ' \
    'tests with the same cells are launches of one run'
declare -A settings=([auto_simple]='NCCL_PROTO=Simple' [ring_ll128]='NCCL_ALGO=Ring NCCL_PROTO=LL128')
for config in auto_simple ring_ll128; do
    for i in 1 2 3; do
        mkdir -p "tree of/$config/run$i"
        [ $config = ring_ll128 ] && slower=3 || slower=2
        { echo "${settings[$config]}" && "$make" latency="$slower$i"; } >"tree of/$config/run$i/out.txt"
    done
done
ok 'six files are imported as launches' import -o launches --platform mine --as-launches \
    'tree of'/*/*/*.txt
is "$(wc -l <<<"$out")" 1 'files imported as launches are one run, whatever their configs'
like "$err" 'launch 2: tree of/[a-z0-9_]+/run2/out.txt, ' 'import names each launch by its path'
like "$err" 'next: gradsync compare launches/' 'import of several configs says how to compare them'
run "$gradsync" show launches
like "$err" 'next: gradsync compare launches/' 'show of several configs says how to compare them'
reduce launches 'a run of three files'
is "$(summary 'in_place=no .*size=1MiB' platform config launches status | sort)" \
    $'mine Simple 3 ok\nmine ring/LL128 3 ok' 'the configs are those of the settings in the files'
like "$(summary 'ring/LL128' params | tail -n 1)" '^algorithm=ring .*protocol=LL128 ' \
    'the params name algorithm and protocol as plugins do'
ok 'six files are imported without --as-launches' import -q -o single 'tree of'/*/*/*.txt
is "$(wc -l <<<"$out")" 6 'each file is a run of its own without --as-launches'
run "$gradsync" show single
unlike "$err" 'gradsync compare' 'show does not name compare for a run of one config'
refused 2 "no key is called 'confg', did you mean 'config'" --set confg=ring table.txt
refused 2 "algorithm: tree and ring" --set config=tree debug.txt
refused 2 "ranks=4 contradicts the file, which has 8" --set ranks=4 table.txt

# ---- configs of one import, against each other
mine() { # CONFIG COLUMN…: of the contrast of 8 B out of place with this config
    csv csv/compare.csv 'get("params") ~ /in_place=no .*size=8 *$/ && get("config") == "'"$1"'"' "${@:2}"
}
ok 'compare of configs that were launched apart succeeds' "$gradsync" compare --all launches -o csv
is "$(mine ring/LL128 launches verdict baseline)" '3 slower Simple' \
    'configs are compared launch by launch'
like "$out" 'where .*in_place=no .*launched apart'
for i in 1 2; do
    { echo "${settings[ring_ll128]}" && "$make" latency=4$i device=H100 | sed s/node0/node9/; } \
        >"tree of/ring_ll128/run$i/other.txt"
done
ok 'launches on another machine are imported' import -q -o mixture --platform mine --as-launches \
    'tree of'/*/*/*.txt
ok 'compare of launches on two machines succeeds' "$gradsync" compare mixture -o csv
is "$(mine ring/LL128 launches ratio verdict | sed -n 1p)" '0  inconclusive' \
    'launches on two machines are kept apart, without a number'
apart='mixed provenance, kept apart: no launch of Simple like these '
apart+='\(host node0 \| node9, device NVIDIA A100-SXM4-40GB \| H100\)'
like "$(grep 'kept apart' csv/compare.csv | head -n 1)" "$apart" \
    'the reason names the hosts and devices of the launches that are kept apart'
cp 'tree of/auto_simple/run1/out.txt' copy.txt
same='copy.txt: refused: the same bytes as tree of/auto_simple/run1/out.txt'
refused 2 "$same" --as-launches --platform mine --set config=ring \
    'tree of/auto_simple/run1/out.txt' copy.txt

# ---- a platform by its config
cat >a100.ini <<'END'
[platform]
device = NVIDIA A100-SXM4-40GB
[launch]
ranks = 8
[measure]
blocks = 20
[limits]
busbw = 300GB/s
END
ok 'a table is imported with the config of its platform' import -o by_config --platform a100.ini \
    --set config=auto table.txt
reduce by_config 'a table with a config'
is "$(summary 'in_place=no .*size=8 *$' platform limit_Bps skew_s status)" '' \
    'the summary has no size that was not imported'
is "$(summary 'in_place=no .*size=1KiB' platform limit_Bps skew_s status)" \
    'a100 300000000000.0  ok' "the summary has the config's limit, and no skew"
is "$(cat by_config/*/*/*/config.ini)" "$(cat a100.ini)" 'the config is copied beside the recording'
sed 's/ranks = 8/ranks = 4/' a100.ini >four.ini
refused 2 'ranks 8, but four.ini has 4' --platform four.ini table.txt
sed 's/A100-SXM4-40GB/H200/' a100.ini >h200.ini
refused 2 'device NVIDIA A100-SXM4-40GB, but h200.ini has NVIDIA H200' --platform h200.ini \
    table.txt
refused 2 'none.ini: ' --platform none.ini table.txt

# ---- truncated
head -c $(($(wc -c <table.txt) * 2 / 3)) table.txt >torn.txt
ok 'a truncated table is imported' import -o torn torn.txt
like "$(launch)" '; truncated: the file ends before its table does' \
    'import says that the table was truncated'
like "$(cat torn/*/*/*/*.jsonl)" '"key":"missing","value":"the file ends.*"status":"interrupted"' \
    'the recording says that the table was truncated'
rows=$(grep -cE '^ +[0-9]+ .* [0-9]+\s*$' <(head -n -1 torn.txt))
is "$(grep -c '"type":"block"' torn/*/*/*/*.jsonl)" $((rows * 2)) \
    'every whole row is kept, and the torn row is not'
reduce torn 'a truncated table'
bad=''
for size in $(seq 1 397 "$(wc -c <table.txt)"); do # never a number that was cut
    head -c "$size" table.txt >cut.txt
    run import -q -o cuts cut.txt
    [ $rc -le 1 ] || bad="$bad $size"
done
is "$bad" '' 'a table cut anywhere is imported or refused'
"$gradsync" reduce -q cuts -o csv
is "$(summary 'in_place=no' size_B median_s | sort -u | cut -d' ' -f1 | uniq -d)" '' \
    'no table cut anywhere gives a time that was cut'
{ head -n 25 table.txt && cat table.txt; } >crash.txt
says 'truncated: its table has no end' import -o crash crash.txt

# ---- refused
head -c 100000 /dev/urandom >binary.txt
refused 1 'refused: (binary|no|neither)' binary.txt
cat table.txt binary.txt >mixed.txt
refused 1 'binary' mixed.txt
refused 1 'not a regular file' /dev/zero
refused 2 'nowhere.txt: cannot be read: No such file or directory$' nowhere.txt
sed '/^# [wr][au]n/d' "$top/tests/bad/import/one_rank.txt" >one.txt
{ head -n 14 table.txt && sed -n '7,14p' table.txt && sed -n '15,$p' table.txt; } >twice.txt
refused 1 'twice.txt:[0-9]+: refused: .*rank|table' twice.txt
awk '/^ +[0-9]/ { print; if (n++ > 2) print previous; previous = $0; next } 1' table.txt \
    >shuffled.txt
refused 1 'shuffled.txt:22: refused: 4096 bytes after 8192: the output of several processes' \
    shuffled.txt
for time in 1.00 57.00; do
    awk -v t=$time '/^ +1048576 /{ $6 = t } 1' table.txt >fixed.txt
    refused 1 'its time does not fit its size and bandwidth' fixed.txt
done
awk '/^ +1048576 /{ $8 = $8 * 2 } 1' table.txt >fixed.txt
refused 1 'is not 1.75 x' fixed.txt
awk '/^ +65536 /{ $6 = "-" $6 } 1' table.txt >fixed.txt
refused 1 'a negative time' fixed.txt
awk '/^ +65536 /{ $2 = $2 + 1 } 1' table.txt >fixed.txt
refused 1 'elements of float are not 65536 bytes' fixed.txt
awk '/^ +65536 /{ NF = NF - 2 } 1' table.txt >fixed.txt
refused 1 'without all its columns' fixed.txt
awk '/^ +65536 /{ $14 = "7" } 1' table.txt >fixed.txt
refused 1 'other columns than its table' fixed.txt
"$make" cputime=1 >cpu.txt
refused 1 'nccl-tests -C' cpu.txt
grep -v nThread table.txt | grep -v Rank >headless.txt
refused 2 '--set ranks=N' headless.txt
refused 2 "no format 'nccl-test', did you mean 'nccl-tests'" --format nccl-test table.txt
ok 'a refused file leaves no recording' test ! -e refused
exits 1 'import of a refused file and a good one exits with 1' import -o pair one.txt table.txt
is "$(wc -l <<<"$out")" 1 'a refused file does not keep a good one from import'

# ---- long
{ head -n 16 table.txt && head -c 1048576 /dev/zero | tr '\0' x && echo && tail -n +17 table.txt; \
    } >long.txt
ok 'a table with a line of 1 MiB among its rows is imported' import -o long long.txt
is "$(launch)" '26 cells, 26 samples, config unstated' 'a line of 1 MiB costs no row'
head -c 3000000 /dev/zero | tr '\0' 9 >long.txt
refused 1 'refused: ' --platform p --set ranks=2 long.txt
head -c 17000000 /dev/zero | tr '\0' x >huge.txt
refused 1 'huge.txt: refused: .*--format' huge.txt
{ head -n 16 table.txt && cat huge.txt && echo && tail -n +17 table.txt; } >long.txt
ok 'a table with a line of 17 MB among its rows is imported' import -o longer long.txt
is "$(launch)" '26 cells, 26 samples, config unstated' 'a line of 17 MB costs no row'
truncate -s 1073741825 huge.txt
refused 1 'huge.txt: refused: larger than 1024 MiB; split the file' huge.txt

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
    "$gradsync" check -q killed >/dev/null 2>&1 || [ -z "$(ls killed)" ] || bad="$bad $i"
    for d in killed/*/*/*; do [ ! -e "$d" ] || [ -e "$d/MANIFEST.json" ] || bad="$bad $i:$d"; done
done
isnt $killed 0 'import was killed while it wrote'
is "$bad" '' 'a killed import leaves no part of a run'
ok 'the import is repeated' import -o killed big.txt
is "$(find killed -maxdepth 1 -name '.*' | wc -l)" 0 'the repeat removes what the killed ones left'

# ---- iteration times
printf '10.139\n9.795\r\n9.769\n\n9.742\n' >iteration_times_ll128.txt
ok 'iteration times are imported' import -o times --platform a100 --set ranks=8 --set size=4MiB \
    --set mode=overlapped iteration_times_ll128.txt
reduce times 'iteration times'
is "$(summary , workload config mode size_B n min_s)" \
    'iter_proxy LL128 overlapped 4194304 4 0.009742' \
    'iteration times have the size and mode that were given'
is "$(cat csv/classic/a100/iter_proxy/*/iteration_times_LL128.txt)" $'10.139\n9.795\n9.769\n9.742' \
    'reduce writes the iteration times as they were'
for i in {1..50}; do echo "$((i <= 28 ? 9700 : 7600)).$((i % 7))" | awk \
    '{ printf "%.4f\n", $1 / 1000 }'; done >stepped.txt
says '  50 times, read as milliseconds, median 9\.[67][0-9] ms' import -o stepped --platform a100 \
    --set ranks=8 stepped.txt
reduce stepped 'a step in mid-run'
is "$(summary , n warmup_blocks ci_low_s ci_high_s converged | tr -s ' ')" '50 0 no' \
    'a step in mid-run is no warm-up, and one launch has no interval'
level='launch 1 changes level after block 28 of 50: 9.70 ms before and 7.60 ms after'
like "$("$gradsync" show stepped 2>/dev/null)" "ms  -  +-  +ok \[1\].*\[1\] $level" \
    'show names both levels of a step in mid-run'
printf '0.10012\n0.0995\n0.1021\n' >seconds.txt
says '  3 times, read as seconds, median 0\.100 s' import -o seconds --platform a100 --set ranks=8 \
    --set unit=s seconds.txt
like "$(cat seconds/*/*/*/*.jsonl)" '"time_ns":\[100120000\]' 'the times in seconds are converted'
refused 2 "unit='m': must be s, ms or us" --platform p --set unit=m --set ranks=8 seconds.txt
refused 2 'the format nccl-tests has a unit of its own' --set unit=s table.txt
refused 2 "ranks='0': must be a number, at least 1" --platform p --set ranks=0 seconds.txt
printf '10.139\n9.7' >torn_times.txt
ok 'iteration times with a torn last line are imported' import -o torn_times --platform a100 --set \
    ranks=8 torn_times.txt
is "$(launch)" \
    '1 cell, 1 sample, config unstated, results not verified; truncated: its last line is torn' \
    'a torn last line is left out, and import says so'
awk 'BEGIN { for (i = 1; i <= 100000; i++) printf "%.3f\n", 9 + i % 997 / 1000 }' >many.txt
ok '100,000 iteration times are imported' import -q -o many --platform a100 --set ranks=8 many.txt
reduce many 'very many'
is "$(summary , n blocks launches)" '100000 3125 1' '100,000 iteration times are in blocks of 32'
sed -n 's/.*"time_ns":\[\(.*\)\]}$/\1/p' many/*/*/*/*.jsonl | tr , "\n" >values
ok '100,000 iteration times keep their order, and none is lost' cmp values \
    <(tr -d . <many.txt | sed 's/$/000/')

# ---- nccl-tests' JSON
json=$top/tests/make_nccl_json
"$json" env=NCCL_ALGO=Tree >report.json
ok 'a JSON report is imported' import -o json report.json
is "$(launch)" '36 cells, 36 samples, config tree' \
    'the config is that of the environment in the report'
reduce json 'a JSON report'
is "$(summary 'in_place=yes .*size=1MiB' platform ranks status | tail -n 1)" 'h200-8gpu 8 ok' \
    'a JSON report gives platform and ranks'
is "$(summary 'in_place=yes .*size=8 *$' median_s)" 2e-05 \
    'times of a JSON report are kept to the nanosecond'
like "$(head -n 1 json/*/*/*/*.jsonl)" '"version":"nccl-tests json 3"' \
    'the recording names the version of the JSON format'
"$json" gpus=8 >gpus.json
ok 'a report of one process with eight GPUs is imported' import -q -o json8 gpus.json
like "$(head -n 1 json8/*/*/*/*.jsonl)" '"ranks":8' 'each GPU of a process is a rank'
"$json" per_iter=1 iters=7 >iterations.json
ok 'a report of every iteration is imported' import -o json_iterations iterations.json
is "$(launch)" '36 cells, 252 samples, config unstated' 'each iteration of a report is a sample'
lines() { tail -n +2 "$1"/*/*/*/launch-01.01.jsonl | sed 's/"chain":"[^"]*",//'; }
sed 's/"times_us":/"times\\u005fus":/g' iterations.json >escaped.json
sed 's/,/ ,\n /g; s/"times_us":\[/"times_us" : [ /g' iterations.json >spread.json
for way in escaped spread; do
    ok "a report of every iteration is imported, $way" import -o "json_$way" $way.json
    is "$(lines json_$way)" "$(lines json_iterations)" "its times are the same, $way"
done
for name in 'times_us' 'times\\u005fus'; do
    sed 's/"times_us":\[[^]]*\]/"'"$name"'":[21]/g' iterations.json >single.json
    ok "a report of one iteration is imported, $name" import -o "json_$name" single.json
    is "$(lines "json_$name" | grep -c '"time_ns":\[21000\]}')" 36 "21 is one time, $name"
done
number=$(grep -n '"redop"' spread.json | tail -n 1 | cut -d: -f1)
sed "${number}s/:/ /" spread.json >broken.json
refused 1 "broken.json:$number: refused: not JSON" broken.json
"$json" wrong=1024 >wrong.json
says '2 cells have a fault' import -o json_wrong wrong.json
head -c 4000 report.json >cut.json
ok 'a truncated report is imported' import -o json_cut cut.json
like "$(launch)" 'truncated: the report has no end' 'import says that the report was truncated'
reduce json_cut 'a truncated report'
bad=''
for size in $(seq 1 397 "$(wc -c <report.json)"); do
    head -c "$size" report.json >cut.json
    run import -q -o json_cuts cut.json
    [ $rc -le 1 ] || bad="$bad $size"
done
is "$bad" '' 'a report cut anywhere is imported or refused'
"$json" per_iter=1 iters=7 | sed 's/"times_us":\[/&null,/g' >nulls.json
says '36 cells have a fault' import -o json_nulls nulls.json
head -c 700 report.json >cut.json
refused 1 'cut.json:1: refused: not JSON' cut.json
"$json" ranks=1 >one.json
refused 1 'one rank per communicator' one.json
"$json" cpu=1 >cpu.json
refused 1 'nccl-tests -C' cpu.json
"$json" time=-3.0 >negative.json
refused 1 'a negative time' negative.json
"$json" time='"nan"' >nan.json
refused 1 'the file has no times' nan.json
"$json" time=77.0 >changed.json
refused 1 'does not fit its size' changed.json
"$json" program=/opt/what >what.json
refused 1 "'/opt/what' is not a known collective" what.json

# ---- OSU
cat >osu.txt <<'EOT'
# OSU MPI-CUDA Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       1.54              1.40              1.72        1000
8                       1.60              1.41              1.80        1000
1048576               250.10            240.00            260.25         100
EOT
ok 'a table of osu_allreduce is imported' import -o osu --platform cluster --set ranks=16 --set \
    nodes=4 osu.txt
reduce osu 'osu_allreduce'
is "$(summary 'size=1MiB' workload ranks nodes size_B median_s)" \
    'mpi_allreduce 16 4 1048576 0.00026025' 'the time of an OSU table is that of its slowest rank'
like "$(summary 'size=1MiB' params)" 'dtype=int8 metric=L_max_of_ranks' \
    'the metric says that the time is that of the slowest rank'
printf '# OSU MPI Allreduce Latency Test v5.6.2\n# Size       Avg Latency(us)\n' >old.txt
printf '4     1.54\n8    2.5\n16   3.' >>old.txt
ok 'an older OSU table is imported' import -o osu_old --platform cluster --set ranks=16 old.txt
is "$(launch)" \
    '2 cells, 2 samples, config unstated, results not verified; truncated: its last line is torn' \
    'a torn last line of an OSU table is left out'
like "$(cat osu_old/*/*/*/*.jsonl)" 'L_mean_of_ranks' \
    'the metric of an OSU table without maxima is the mean over ranks'
printf '# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)  Validation\n' >checked.txt
printf '4  1.54  Pass\n8  2.5  Fail\n' >>checked.txt
says '1 cell has a fault' import -o osu_checked --platform cluster --set ranks=16 checked.txt
osu() { printf '# OSU %s Latency Test v7.4\n# Size  Avg Latency(us)\n4  2.00\n' "$1"; }
while read -r name collective size busbw title; do
    osu "$title" >"osu_$name.txt"
    ok "a table of osu_$name is imported" import -o "osu_$name" --platform cluster --set ranks=4 \
        "osu_$name.txt"
    reduce "osu_$name" "osu_$name"
    is "$(summary "collective=$collective" workload size_B busbw_Bps | awk \
        '{ print $1, $2, $3 / 1e6 }')" "mpi_allreduce $size $busbw" \
        "osu_$name is recorded as its collective, with the size of its larger buffer"
done <<'EOT'
allgather allgather 16 6 MPI-CUDA Allgather
reduce_scatter reducescatter 4 1.5 MPI Reduce_scatter
alltoall alltoall 16 6 MPI All-to-All Personalized Exchange
bcast broadcast 4 2 MPI Broadcast
reduce reduce 4 2 MPI Reduce
EOT

# ---- recordings of others
if [ -d "$fixtures" ]; then
    shopt -s globstar
    for f in "$fixtures"/**/results*allreduce*.txt "$fixtures"/**/2026-*.txt; do
        [[ $f == */phase* ]] || continue
        exits 0 "${f#"$fixtures"/} is imported" import -o fixtures "$f"
        is "$(launch)" '50 cells, 50 samples, config unstated' "${f##*/}: every row is a cell"
    done
    level=' ms  -  +-  +ok \[1\].*\[1\] launch 1 changes level after block (2[5-9]|30)'
    for f in "$fixtures"/phase3-iteration-proxy/a100-8gpu-new/results/iteration_times_*.txt; do
        import -q -o fixtures/steps --platform a100 --set ranks=8 "$f" >steps.run
        like "$("$gradsync" show "$(cat steps.run)" 2>/dev/null)" \
            "$level"' of 50: 9.7[0-9] ms before and 7.6[0-9] ms after' \
            "${f##*/}: a step in mid-run is a change of level"
    done
    for f in "$fixtures"/phase1-baseline/a100-8gpu/results/*.out; do
        refused 1 'rank 0 a second time' "$f"
    done
    for f in "$fixtures"/**/*.{csv,xml,log,tsv}; do refused 1 "refused: " \
        "$f"; done
    reduce fixtures 'all recordings of others'
else
    skip 'recordings of others' "$fixtures is not here"
fi
# Two configs, launched apart: each cell is compared with that of its own size and place. Those of
# `tree` begin with three slow iterations: warm-up, which is no part of it.
for name in {ring,tree}{1,2}; do
    perl "$top/tests/make_nccl_json" ranks=2 max=64 per_iter=1 iters="4${name: -1}" env="NCCL_ALGO=${name%?}" |
        jq -c --arg slow "${name/tree?/5}" '.results[] |= (.in_place.time *= 2 | .in_place.alg_bw /= 2 |
            .in_place.bus_bw /= 2 | .in_place_per_iter.times_us |= map(. * 2)) |
            (.results[] | .in_place_per_iter, .out_of_place_per_iter | .times_us) |= (.[0] as $t |
            [keys[] | if $slow == "5" and . < 3 then $t * 5 else $t + . % 2 end])' >$name.json
done
ok 'reports of two configs are imported as one run' import -q --as-launches -o configs \
    {ring,tree}{1,2}.json
is "$(find configs -name 'launch-*.jsonl' | wc -l)" 4 'they are four launches of it'
apart() { "$gradsync" compare -q configs -o configs.csv && csv configs.csv/compare.csv 1 baseline \
    config blocks ratio reason | sed -E 's/([0-9]\.[0-9]{3})[0-9]*/\1/' | sort | uniq -c | xargs; }
is "$(apart)" '8 ring tree 160 1.000 launched apart' \
    'each cell of a launch apart is compared with the one of its parameters, without warm-up'
find configs -name MANIFEST.json -delete
sed -i 's/,"chain":"[^"]*"//; s/"gradsync":"[^"]*"/"gradsync":"0.1.0"/' configs/*/*/*/*.jsonl
sed -i 's/"gradsync":"0.1.0"/"gradsync":"0.1.1"/' configs/*/*/*/launch-01.01.jsonl
is "$(apart | sed 's/ one launch .* advised;/:/')" '8 ring tree 119: launched apart' \
    'a launch of the same provenance goes before another one'
sed -i '/"config":"tree"/s/"mode":""/"mode":"other"/' configs/*/*/*/*.jsonl
is "$(apart)" '8 ring tree 0 not measured with ring' 'a cell of another mode is not its counterpart'
done_testing
