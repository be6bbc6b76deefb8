#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Other programs' output as recordings: every variant that nccl-tests has printed, iteration times,
# and what is refused; also under ASan
. "$(dirname "$0")/lib.sh"
make="$top/tests/make_nccl_output"
fixtures=$top/../shared/fixtures

import() { "$gradsync" import "$@"; }
# $(launch FILE…): what is said about the only launch, without its file
launch() { sed -nE 's/^  launch [0-9]+: [^,]+, //p' <<<"$err"; }
# $(summary COLUMN… [WHERE]): fields of the rows of $csv/summary.csv that match the awk condition
summary() {
    awk -F, -v where="$1" -v names="${*:2}" '
        NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = split(names, name, " "); next }
        $0 ~ where { for (i = 1; i <= n; i++) printf "%s%s", $(col[name[i]]), i < n ? " " : "\n" }' csv/summary.csv
}
reduce() { # the runs below RAW are sound, and become tables
    ok "$2 is a recording like any other" "$gradsync" check "$1"
    ok "$2 is reduced" "$gradsync" reduce -q "$1" -o csv
}
refused() { # CODE REGEX NAME ARGUMENT…
    local code=$1 regex=$2 name=$3
    shift 3
    exits "$code" "$name" import -o refused "$@"
    like "$err" "$regex" "$name: says why"
    one_line "$err" "$name: in one line"
}

# ---- a table, number by number
"$make" version=2.17.9 ranks=8 min=1024 max=4194304 >table.txt
ok 'a table' import -o raw table.txt
like "$out" '^raw/a100-sxm4-40gb-8gpu/nccl_allreduce/[0-9TZ]+-imported-[0-9a-f]{4}$' 'its run is named on stdout'
is "$(launch)" '26 cells, 26 samples, config unstated' 'and what is in it on stderr'
run_dir=$out
like "$err" "next: gradsync show $run_dir\$" 'and what to do with it'
ok 'compare one config' "$gradsync" compare raw
is "$out" '' 'has no table'
like "$err" "^nothing to compare: .* raw .* two configs .*--as-launches" 'and says why'
reduce raw 'a table'
read -r _ _ _ _ _ us algbw busbw _ ip_us _ <<<"$(grep '^ *1048576' table.txt)"
is "$(summary 'size=1MiB .*in_place=no' median_s n launches blocks ranks status | awk -v t="$us" '{ printf "%.6f %s\n", $1 * 1e6 - t, $2 " " $3 " " $4 " " $5 " " $6 }')" '0.000000 1 1 1 8 ok' 'the time is the printed one'
is "$(summary 'size=1MiB .*in_place=yes' median_s | awk -v t="$ip_us" '{ printf "%.6f", $1 * 1e6 - t }')" 0.000000 'in place is a cell of its own'
ok 'bandwidths are those printed' awk -v a="$algbw" -v b="$busbw" -v got="$(summary 'size=1MiB .*in_place=no' algbw_Bps busbw_Bps)" \
    'BEGIN { split(got, g, " "); exit !((g[1] / 1e9 - a) ^ 2 < 1e-4 && (g[2] / 1e9 - b) ^ 2 < 4e-4) }'
header=$(head -n 1 "$run_dir/launch-01.01.jsonl")
like "$header" "\"imported\":\\{\"path\":\"table.txt\",\"sha256\":\"$(sha256sum <table.txt | cut -d' ' -f1)\",\"format\":\"nccl-tests\"" 'the header has the origin, and its hash'
like "$header" '"plugin":"nccl-tests 2.17.9"' 'and the version'
like "$header" '"rank":7,.*"host":"node0","device":"NVIDIA A100-SXM4-40GB"' 'and the devices'
unlike "$(cat "$run_dir"/*)" "$tmp" 'and no path of this machine'

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
        [ $rc = 0 ] && [[ $(launch) == "${want[i]} cells, "* ]] || failed="$failed${variants[i]}: $err"$'\n'
    done
    is "$failed" '' "version $version, ${#variants[@]} variants"
done
ok 'their runs are sound' "$gradsync" check variants

"$make" debug=1 >debug.txt
ok 'NCCL talks in the middle of rows' import -o debug debug.txt
is "$(launch)" '36 cells, 36 samples, config ring' 'no row is lost, and the config is what it says'
like "$(cat debug/*/*/*/*.jsonl)" '"key":"nccl","value":"2.29.2"' 'and its version'
"$make" cycles=3 | cat - <(printf 'x') >cycles.txt
ok 'cycles' import -q -o cycles cycles.txt
"$gradsync" reduce -q cycles -o csv
is "$(summary size=1MiB n blocks launches | sort -u)" '3 3 1' 'are blocks of one launch'
"$make" check=0 | sed 's/ algbw/ algbw/' >unchecked.txt
ok 'results that nobody checked' import -o unchecked unchecked.txt
like "$(launch)" 'results not verified' 'are said to be that'
"$make" wrong=1024 >wrong.txt
ok 'wrong values' import -o wrong wrong.txt
like "$err" '2 cells have a fault' 'are said'
"$gradsync" reduce -q wrong -o csv
is "$(summary 'size=1KiB' status median_s | sort -u)" 'wrong ' 'and have no number'
like "$(summary 'size=1KiB' reason)" '12 wrong values' 'but their reason'
is "$(summary 'size=2KiB' status | sort -u)" ok 'the rest has'
"$make" version=2.9.0 wrong=1024 >bounds.txt
run import -q -o bounds bounds.txt
"$gradsync" reduce -q bounds -o csv
is "$(summary , status | sort -u)" wrong 'where only a footer counts them, no row is believed'
"$make" time=nan >nan.txt
exits 1 'no time at all' import -o nan nan.txt
"$make" max=64 | sed 's/^\( *32 .* -1 *\)[0-9.]*/\1  nan/' >nan.txt
ok 'one time that is no number' import -q -o nan nan.txt
"$gradsync" reduce -q nan -o csv
is "$(summary 'size=32 .*in_place=no' status median_s reason)" 'failed  line 20: its time is nan' 'is a cell that failed'

# ---- several tests in one file, several files
{ "$make" && "$make" && "$make" min=64; } >three.txt
ok 'three tests in one file' import -o three three.txt
is "$(wc -l <<<"$out")" 2 'those with the same cells are launches of one run'
is "$(find three -name 'launch-*.jsonl' | sed 's/.*launch/launch/' | sort | tr '\n' ' ')" 'launch-01.01.jsonl launch-01.01.jsonl launch-02.01.jsonl ' 'and the other is one of its own'
for config in auto_simple ring_ll128; do
    for i in 1 2 3; do
        mkdir -p "tree of/$config/run$i"
        [ $config = ring_ll128 ] && slower=3 || slower=2
        "$make" latency="$slower$i" >"tree of/$config/run$i/out.txt"
    done
done
pattern='{config}/run{replicate}/*.txt'
ok 'files as launches' import -o launches --platform mine --path-pattern "$pattern" --as-launches 'tree of'/*/*/*.txt
is "$(wc -l <<<"$out")" 1 'are one run, whatever their configs'
like "$err" 'launch 2: tree of/[a-z0-9_]+/run2/out.txt, ' 'each by its path, as names repeat'
like "$err" 'next: gradsync compare launches/' 'and what to do with it is to compare'
reduce launches 'a run of three files'
is "$(summary 'size=1MiB .*in_place=no' platform config launches status | sort)" $'mine Simple 3 ok\nmine ring/LL128 3 ok' 'with the configs of their paths'
like "$(summary 'ring/LL128' params | tail -n 1)" 'algorithm=ring protocol=LL128$' 'as the plugins name them'
ok 'one by one' import -q -o single --path-pattern "$pattern" 'tree of'/*/*/*.txt
is "$(wc -l <<<"$out")" 6 'a run a file'
refused 2 "does not match the pattern" 'a path that the pattern does not fit' --path-pattern 'x{config}/*' table.txt
refused 2 "no key is called 'confg', did you mean 'config'" 'a typo in a pattern' --path-pattern '{confg}.txt' table.txt
refused 2 "algorithm: tree and ring" 'a path that its contents contradict' --set config=tree debug.txt
refused 2 "ranks=4 contradicts the file, which has 8" 'ranks that its contents contradict' --set ranks=4 table.txt

# ---- configs of one import, against each other
mine() { # COLUMN… of the contrast of 8 B out of place with this config
    awk -F, -v names="${*:2}" -v config="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = split(names, name, " "); next }
        /size=8 .*in_place=no/ && $(col["config"]) == config {
            for (i = 1; i <= n; i++) printf "%s%s", $(col[name[i]]), i < n ? " " : "\n" }' csv/compare.csv
}
ok 'configs that were launched apart' "$gradsync" compare --all launches -o csv
is "$(mine ring/LL128 launches verdict baseline)" '3 slower Simple' 'are contrasted, launch by launch'
like "$out" 'where .*in_place=no .*launched apart' 'and it is said that they share no block'
for i in 1 2; do "$make" latency=4$i device=H100 | sed s/node0/node9/ >"tree of/ring_ll128/run$i/other.txt"; done
ok 'launches on another machine' import -q -o mixture --platform mine --path-pattern "$pattern" --as-launches 'tree of'/*/*/*.txt
ok 'compared' "$gradsync" compare mixture -o csv
is "$(mine ring/LL128 launches ratio verdict | sed -n 1p)" '0  inconclusive' 'are kept apart, without a number'
like "$(grep 'kept apart' csv/compare.csv | head -n 1)" 'mixed provenance, kept apart: no launch of Simple like these \(host node0 \| node9, device NVIDIA A100-SXM4-40GB \| H100\)' 'and named'
cp 'tree of/auto_simple/run1/out.txt' copy.txt
refused 2 'copy.txt: refused: the same bytes as tree of/auto_simple/run1/out.txt' 'a copy' \
    --as-launches --platform mine --set config=ring 'tree of/auto_simple/run1/out.txt' copy.txt

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
[reference]
x = 1ms at nccl_allreduce imported/auto/8
END
ok 'a platform by its config' import -o by_config --platform a100.ini --set config=auto table.txt
reduce by_config 'it'
is "$(summary 'size=8 .*in_place=no' platform limit_Bps skew_s status)" '' 'no size that is not there'
is "$(summary 'size=1KiB .*in_place=no' platform limit_Bps skew_s status)" 'a100 300000000000.0  ok' 'has its limits, and no skew that nobody measured'
is "$(cat by_config/*/*/*/config.ini)" "$(cat a100.ini)" 'and the config beside it'
exits 2 'a published number of a size that it has not' "$gradsync" compare --reference by_config
like "$err" "config.ini:10: key 'x': no cell of run" 'is named'
sed -i 's,auto/8,auto/no/1KiB,' a100.ini
ok 'by the config as it is now' "$gradsync" compare --reference --config a100.ini by_config
like "$out" 'one launch says nothing' 'no verdict from one launch'
sed 's/ranks = 8/ranks = 4/' a100.ini >four.ini
refused 2 'ranks 8, but four.ini has 4' 'a config of other ranks' --platform four.ini table.txt
sed 's/A100-SXM4-40GB/H200/' a100.ini >h200.ini
refused 2 'device NVIDIA A100-SXM4-40GB, but h200.ini has NVIDIA H200' 'a config of another device' --platform h200.ini table.txt
refused 2 'none.ini: ' 'a config that is not there' --platform none.ini table.txt

# ---- truncated
head -c $(($(wc -c <table.txt) * 2 / 3)) table.txt >torn.txt
ok 'a truncated file' import -o torn torn.txt
like "$(launch)" '; truncated: the file ends before its table does' 'says so'
like "$(cat torn/*/*/*/*.jsonl)" '"key":"missing","value":"the file ends.*"status":"interrupted"' 'in its recording too'
rows=$(grep -cE '^ +[0-9]+ .* [0-9]+\s*$' <(head -n -1 torn.txt))
is "$(grep -c '"type":"block"' torn/*/*/*/*.jsonl)" $((rows * 2)) 'what is whole is kept, and the torn row is not'
reduce torn 'what is whole'
bad=''
for size in $(seq 1 397 "$(wc -c <table.txt)"); do # never a number that was cut
    head -c "$size" table.txt >cut.txt
    run import -q -o cuts cut.txt
    [ $rc -le 1 ] || bad="$bad $size"
done
is "$bad" '' 'cut anywhere, it is imported or refused'
"$gradsync" reduce -q cuts -o csv
is "$(summary 'in_place=no' size_B median_s | sort -u | cut -d' ' -f1 | uniq -d)" '' 'and no time is cut'
{ head -n 25 table.txt && cat table.txt; } >crash.txt
ok 'a test that broke off before another' import -o crash crash.txt
like "$err" 'truncated: its table has no end' 'is kept as far as it went'

# ---- refused
: >empty.txt
refused 1 'refused: the file is empty' 'an empty file' empty.txt
head -c 100000 /dev/urandom >binary.txt
refused 1 'refused: (binary|no|neither)' 'a binary file' binary.txt
cat table.txt binary.txt >mixed.txt
refused 1 'binary' 'a table with binary behind it' mixed.txt
refused 1 'not a regular file' 'a device' /dev/zero
refused 2 'nowhere.txt: cannot be read: No such file or directory$' 'no file' nowhere.txt
echo 'nothing of the kind' >text.txt
refused 1 'text.txt: refused: ' 'a text' text.txt
"$make" ranks=1 nodes=1 bandwidth=1 | sed 's/nGpus 0/nGpus 1/' >one.txt 2>/dev/null
printf '%b' '# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 1 iters: 20 validation: 1\n#  Rank  0 Group  0 Pid 1 on h device  0 [0000:84:00] A100\n#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n    1048576   262144   float   sum   -1   4.63  226.48   0.00   0   0.10   10486   0.00   0\n# Avg bus bandwidth : 0\n' >one.txt
refused 1 'one rank a communicator: its times are of a copy' 'one rank' one.txt
{ head -n 14 table.txt && sed -n '7,14p' table.txt && sed -n '15,$p' table.txt; } >twice.txt
refused 1 'twice.txt:[0-9]+: refused: .*rank|table' 'two lists of devices' twice.txt
awk '/^ +[0-9]/ { print; if (n++ > 2) print previous; previous = $0; next } 1' table.txt >shuffled.txt
refused 1 'shuffled.txt:22: refused: 4096 bytes after 8192: the output of several processes' 'rows of two processes' shuffled.txt
for time in 1.00 57.00; do
    awk -v t=$time '/^ +1048576 /{ $6 = t } 1' table.txt >fixed.txt
    refused 1 'its time does not fit its size and bandwidth' "a time changed to $time" fixed.txt
done
awk '/^ +1048576 /{ $8 = $8 * 2 } 1' table.txt >fixed.txt
refused 1 'is not 1.75 x' 'a bus bandwidth of other ranks' fixed.txt
awk '/^ +65536 /{ $6 = "-" $6 } 1' table.txt >fixed.txt
refused 1 'a negative time' 'a negative time' fixed.txt
awk '/^ +65536 /{ $2 = $2 + 1 } 1' table.txt >fixed.txt
refused 1 'elements of float are not 65536 bytes' 'a count that is not the size' fixed.txt
awk '/^ +65536 /{ NF = NF - 2 } 1' table.txt >fixed.txt
refused 1 'without all its columns' 'a row that lacks columns' fixed.txt
awk '/^ +65536 /{ $14 = "7" } 1' table.txt >fixed.txt
refused 1 'other columns than its table' 'a row that has more' fixed.txt
"$make" cputime=1 >cpu.txt
refused 1 'nccl-tests -C' 'times of the host' cpu.txt
grep -v nThread table.txt >headless.txt
refused 1 'the start of the file is missing' 'no start' headless.txt
refused 2 "no format 'nccl-test', did you mean 'nccl-tests'" 'a format that is none' --format nccl-test table.txt
ok 'nothing was written of all that' test ! -e refused
exits 1 'one refused of two' import -o pair one.txt table.txt
is "$(wc -l <<<"$out")" 1 'costs itself alone'

# ---- long
{ head -n 16 table.txt && head -c 1048576 /dev/zero | tr '\0' x && echo && tail -n +17 table.txt; } >long.txt
ok 'a line of 1 MiB among the rows' import -o long long.txt
is "$(launch)" '26 cells, 26 samples, config unstated' 'is passed by'
head -c 3000000 /dev/zero | tr '\0' 9 >long.txt
refused 1 'refused: ' 'nothing but one line' --platform p --set ranks=2 long.txt
head -c 17000000 /dev/zero | tr '\0' x >huge.txt
refused 1 'huge.txt: refused: .*--format' 'nothing but a line of 17 MB' huge.txt
{ head -n 16 table.txt && cat huge.txt && echo && tail -n +17 table.txt; } >long.txt
ok 'a line of 17 MB among the rows' import -o longer long.txt
is "$(launch)" '26 cells, 26 samples, config unstated' 'is skipped'
truncate -s 1073741825 huge.txt
refused 1 'huge.txt: refused: larger than 1024 MiB; split the file' 'more than 1 GiB' huge.txt

# ---- iteration times
printf '10.139\n9.795\r\n9.769\n\n9.742\n' >iteration_times_ll128.txt
refused 2 'ranks.*--set ranks=N' 'iteration times without ranks' iteration_times_ll128.txt
refused 2 '--platform NAME' 'iteration times of nowhere' --set ranks=8 iteration_times_ll128.txt
ok 'iteration times' import -o times --platform a100 --set ranks=8 --set size=4MiB --set mode=overlapped iteration_times_ll128.txt
reduce times 'iteration times'
is "$(summary , workload config mode size_B n min_s)" 'iter_proxy LL128 overlapped 4194304 4 0.009742' 'with what is known of them'
is "$(cat csv/classic/a100/iter_proxy/*/iteration_times_LL128.txt)" $'10.139\n9.795\n9.769\n9.742' 'and back again'
for i in {1..50}; do echo "$((i <= 28 ? 9700 : 7600)).$((i % 7))" | awk '{ printf "%.4f\n", $1 / 1000 }'; done >stepped.txt
ok 'times with a step in mid-run' import -o stepped --platform a100 --set ranks=8 stepped.txt
reduce stepped 'a step in mid-run'
is "$(summary , n warmup_blocks ci_low_s ci_high_s converged | tr -s ' ')" '50 0 no' 'is no warm-up, and one launch has no interval'
like "$("$gradsync" show stepped 2>/dev/null)" 'ms  -  +-  +ok; launch 1 changes level after block 28 of 50: 9.70 ms before and 7.60 ms after' 'and show names both levels'
printf '10.139\n9.7' >torn_times.txt
ok 'a last line without its end' import -o torn_times --platform a100 --set ranks=8 torn_times.txt
is "$(launch)" '1 cells, 1 samples, config unstated, results not verified; truncated: its last line is torn' 'is left out'
awk 'BEGIN { for (i = 1; i <= 100000; i++) printf "%.3f\n", 9 + i % 997 / 1000 }' >many.txt
ok 'very many' import -q -o many --platform a100 --set ranks=8 many.txt
reduce many 'very many'
is "$(summary , n blocks launches)" '100000 3125 1' 'are in blocks of several'
sed -n 's/.*"time_ns":\[\(.*\)\]}$/\1/p' many/*/*/*/*.jsonl | tr , "\n" >values
ok 'in their order, none lost' cmp values <(tr -d . <many.txt | sed 's/$/000/')
for line in -1.5 nan 0 '1 2' x 1e30; do
    printf '10.139\n%s\n' "$line" >times.txt
    refused 1 'times.txt:2: refused: ' "'$line' among iteration times" --format iteration --platform p --set ranks=2 times.txt
done

# ---- nccl-tests' JSON
json=$top/tests/make_nccl_json
"$json" env=NCCL_ALGO=Tree >report.json
ok 'a JSON report' import -o json report.json
is "$(launch)" '36 cells, 36 samples, config tree' 'the config is from its environment'
reduce json 'a JSON report'
is "$(summary 'size=1MiB .*in_place=yes' platform ranks status | tail -n 1)" 'h200-8gpu 8 ok' 'with its platform and ranks'
is "$(summary 'size=8 .*in_place=yes' median_s)" 2e-05 'to the nanosecond'
like "$(head -n 1 json/*/*/*/*.jsonl)" '"version":"nccl-tests json 3"' 'its version'
"$json" gpus=8 >gpus.json
ok 'one process of eight GPUs' import -q -o json8 gpus.json
like "$(head -n 1 json8/*/*/*/*.jsonl)" '"ranks":8' 'has eight ranks'
"$json" per_iter=1 iters=7 >iterations.json
ok 'every iteration' import -o json_iterations iterations.json
is "$(launch)" '36 cells, 252 samples, config unstated' 'is a sample'
"$json" wrong=1024 >wrong.json
ok 'wrong values in JSON' import -o json_wrong wrong.json
like "$err" '2 cells have a fault' 'are said'
head -c 4000 report.json >cut.json
ok 'a report that was cut' import -o json_cut cut.json
like "$(launch)" 'truncated: the report has no end' 'keeps its whole rows'
reduce json_cut 'and'
bad=''
for size in $(seq 1 397 "$(wc -c <report.json)"); do
    head -c "$size" report.json >cut.json
    run import -q -o json_cuts cut.json
    [ $rc -le 1 ] || bad="$bad $size"
done
is "$bad" '' 'cut anywhere, it is imported or refused'
"$json" per_iter=1 iters=7 | sed 's/"times_us":\[/&null,/g' >nulls.json
ok 'iterations without a time' import -o json_nulls nulls.json
like "$err" '36 cells have a fault' 'are said'
head -c 700 report.json >cut.json
refused 1 'cut.json:1: refused: not JSON' 'a report without a row' cut.json
"$json" ranks=1 >one.json
refused 1 'one rank a communicator' 'a report of one rank' one.json
"$json" cpu=1 >cpu.json
refused 1 'nccl-tests -C' 'a report of the host' cpu.json
"$json" time=-3.0 >negative.json
refused 1 'a negative time' 'a negative time in JSON' negative.json
"$json" time='"nan"' >nan.json
refused 1 'the file has no times' 'nothing but nan' nan.json
"$json" time=77.0 >changed.json
refused 1 'does not fit its size' 'changed times in JSON' changed.json
"$json" program=/opt/what >what.json
refused 1 "'/opt/what' is no known collective" 'another program' what.json
echo '{"a": [1, 2]}' >other.json
refused 1 'not of nccl-tests' 'other JSON' other.json

# ---- OSU
cat >osu.txt <<'EOT'
# OSU MPI-CUDA Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       1.54              1.40              1.72        1000
8                       1.60              1.41              1.80        1000
1048576               250.10            240.00            260.25         100
EOT
refused 2 'ranks.*--set ranks=N' 'OSU without ranks' --platform p osu.txt
ok 'osu_allreduce' import -o osu --platform cluster --set ranks=16 --set nodes=4 osu.txt
reduce osu 'osu_allreduce'
is "$(summary 'size=1MiB' workload ranks nodes size_B median_s)" 'mpi_allreduce 16 4 1048576 0.00026025' 'of the slowest rank'
like "$(summary 'size=1MiB' params)" 'dtype=int8 metric=L_max_of_ranks' 'which the metric says'
printf '# OSU MPI Allreduce Latency Test v5.6.2\n# Size       Avg Latency(us)\n4     1.54\n8    2.5\n16   3.' >old.txt
ok 'an older one' import -o osu_old --platform cluster --set ranks=16 old.txt
is "$(launch)" '2 cells, 2 samples, config unstated, results not verified; truncated: its last line is torn' 'without its torn line'
like "$(cat osu_old/*/*/*/*.jsonl)" 'L_mean_of_ranks' 'of the mean over ranks'
printf '# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)  Validation\n4  1.54  Pass\n8  2.5  Fail\n' >checked.txt
ok 'validated' import -o osu_checked --platform cluster --set ranks=16 checked.txt
like "$err" '1 cells have a fault' 'and wrong'
osu() { printf '# OSU %s Latency Test v7.4\n# Size  Avg Latency(us)\n4  2.00\n' "$1"; }
while read -r name collective size busbw title; do
    osu "$title" >"osu_$name.txt"
    ok "osu_$name" import -o "osu_$name" --platform cluster --set ranks=4 "osu_$name.txt"
    reduce "osu_$name" "osu_$name"
    is "$(summary "collective=$collective" workload size_B busbw_Bps | awk '{ print $1, $2, $3 / 1e6 }')" "mpi_allreduce $size $busbw" 'is that collective, of its larger buffer'
done <<'EOT'
allgather allgather 16 6 MPI-CUDA Allgather
reduce_scatter reducescatter 4 1.5 MPI Reduce_scatter
alltoall alltoall 16 6 MPI All-to-All Personalized Exchange
bcast broadcast 4 2 MPI Broadcast
reduce reduce 4 2 MPI Reduce
EOT
osu 'MPI Iallreduce' >iallreduce.txt
refused 1 'none of the blocking collectives that can be imported' 'a collective that does not block' iallreduce.txt
printf '# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n8  1.54\n4 1.5\n' >mixed.txt
refused 1 'several processes' 'rows of two of them' mixed.txt

# ---- recordings of others
if [ -d "$fixtures" ]; then
    shopt -s globstar
    for f in "$fixtures"/**/results*allreduce*.txt "$fixtures"/**/2026-*.txt; do
        [[ $f == */phase* ]] || continue
        exits 0 "${f#"$fixtures"/}" import -o fixtures "$f"
        is "$(launch)" '50 cells, 50 samples, config unstated' "${f##*/}: every row"
    done
    for f in "$fixtures"/phase3-iteration-proxy/a100-8gpu-new/results/iteration_times_*.txt; do
        import -q -o fixtures/steps --platform a100 --set ranks=8 "$f" >steps.run
        like "$("$gradsync" show "$(cat steps.run)" 2>/dev/null)" \
            ' ms  -  +-  +ok; launch 1 changes level after block (2[5-9]|30) of 50: 9.7[0-9] ms before and 7.6[0-9] ms after' \
            "${f##*/}: a step in mid-run is a change of level"
    done
    for f in "$fixtures"/phase1-baseline/a100-8gpu/results/*.out; do
        refused 1 'rank 0 a second time' "${f#"$fixtures"/}" "$f"
    done
    for f in "$fixtures"/**/*.{csv,xml,log,tsv}; do refused 1 'refused: ' "${f##*/}" "$f"; done
    reduce fixtures 'all of them'
else
    skip 'recordings of others' "$fixtures is not here"
fi
done_testing
