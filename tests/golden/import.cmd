# Other programs' output becomes recordings: every variant that nccl-tests has printed, iteration times, nccl-tests'
# JSON and OSU's tables; what cannot be trusted is refused.
# Not under ASan: it takes long.
make=$top/tests/make_nccl_output json=$top/tests/make_nccl_json
import() { gradsync import "$@" 2>&1 | sed -E '/^next: |^[^ ]*[0-9]{8}T[0-9]{6}Z-imported-[0-9a-f]*$/d'; } # without the run folder
reduce() { gradsync check -q "$1" && gradsync query -q "$1" --export csv; }
# summary REGEX COLUMN…: fields of the rows of csv/summary.csv whose parameters match
summary() { csv csv/summary.csv '$0 "," get("params") ~ "'"$1"'"' "${@:2}"; }
# A table, number by number: its time, and the bandwidths that it prints.
$make version=2.17.9 ranks=8 min=1024 max=4194304 >table.txt
$ import -o raw table.txt && reduce raw && grep '^ *1048576' table.txt
$ summary 'size=1MiB' median_s n launches blocks ranks status algbw_Bps busbw_Bps | sed -E 's/([0-9]{4})[0-9]*\.[0-9]*/\1…/g'
$ head -n 1 raw/*/*/*/launch-01.01.jsonl | jq -c '.imported | del(.sha256, .at)' && head -n 1 raw/*/*/*/launch-01.01.jsonl | jq -c '.plugin, .hosts[7]'
$ [ "$(head -n 1 raw/*/*/*/launch-01.01.jsonl | jq -r .imported.sha256)" = "$(sha256sum <table.txt | cut -d' ' -f1)" ]
$ cat raw/*/*/*/* | grep -cF "$tmp"
$ gradsync compare raw
# Several nodes: the lines that such tests are summarised with, of the largest payload.
nodes() { # NODES MIN MAX [FACTOR [KEY=VALUE…]]: what show prints below its table; busbw is FACTOR algbw
    rm -rf several
    $make version=2.17.9 ranks=16 nodes=$1 min=$2 max=$3 "${@:5}" |
        awk -v f="${4:-1.875}" '/float/ { $8 = f * $7; $12 = f * $11 } 1' >several.txt
    import -q -o several several.txt >/dev/null && gradsync show several 2>/dev/null | grep -A2 '^The '
}
$ nodes 2 67108864 4294967296
$ nodes 1 67108864 4294967296
$ nodes 2 1024 67108864
$ nodes 2 67108864 4294967296 .9375 program=all_gather_perf
# All versions, all variants.
variants() { # VERSION: cells of each variant
    while IFS= read -r variant; do
        if [[ $variant == tag* ]]; then words=("$variant"); else read -ra words <<<"$variant"; fi
        $make version=$1 "${words[@]}" >variant.txt
        import --platform v$1 -o variants variant.txt | sed -nE "s/^  launch 1: [^,]+, ([0-9]+ cells), .*/\1 $variant/p"
    done
}
printf '%s\n' '' debug=1 crlf=1 'min=4096 max=65536 step=4096' check=0 timestamps=1 per_iter=1 cycles=3 \
    'types=float,half ops=sum,max' 'max=8589934592' nodes=2 'tag=[1,0]<stdout>:' 'tag=0: ' >variants.txt
$ variants 2.17.9 <variants.txt
$ for v in 2.0.0 2.11.0 2.13.3 2.14.0 2.17.0 2.17.9 2.19.6; do variants $v <variants.txt | cksum; done | uniq -c
$ gradsync check -q variants
$make debug=1 >debug.txt
$make cycles=3 | cat - <(printf 'x') >cycles.txt
$make check=0 >unchecked.txt
$make wrong=1024 >wrong.txt
$make version=2.9.0 wrong=1024 >bounds.txt
$make max=64 | sed 's/^\( *32 .* -1 *\)[0-9.]*/\1  nan/' >one_nan.txt
$make time=nan >nan.txt
$ import -o debug debug.txt && grep -ho '"key":"nccl","value":"[^"]*"' debug/*/*/*/*.jsonl
$ import -o cycles cycles.txt && reduce cycles && summary size=1MiB n blocks launches | sort -u
$ import -o unchecked unchecked.txt
$ import -o wrong wrong.txt && reduce wrong && summary 'size=[12]KiB' status median_s reason
$ import -q -o bounds bounds.txt && reduce bounds && summary , status reason | sort | uniq -c
$ import -q -o one_nan one_nan.txt && reduce one_nan && summary 'in_place=no .*size=32 *$' status median_s reason
$ import -o nan nan.txt
{ $make | sed '/^ *64 /,$d' && printf '%s\n' "node0: Test NCCL failure common.cu:401 'unhandled cuda error / '" \
    ' .. node0 pid 77: Test failure common.cu:591'; } >died.txt
$ import -o died died.txt
# Several tests in one file, several files.
{ $make && $make && $make min=64; } >three.txt
$ import -o three three.txt
mkdir -p 'set '{1,2}/run{1,2,3}
for i in 1 2 3; do
    { echo NCCL_PROTO=Simple && $make latency=2$i; } >"set 1/run$i/out.txt"
    { echo 'NCCL_ALGO=Ring NCCL_PROTO=LL128' && $make latency=3$i; } >"set 2/run$i/out.txt"
done
$ gradsync import -o launches --platform mine --as-launches */run*/out.txt
$ reduce launches && summary 'in_place=no .*size=1MiB' platform config launches status params
$ gradsync show launches | tail -n 1
$ gradsync import -q -o single */run*/out.txt | wc -l && gradsync show single | grep 'gradsync compare'
refused() { gradsync import -o refused "$@"; }
$ refused --set confg=ring table.txt
$ import -o disagree --set config=tree debug.txt
$ refused --set ranks=4 table.txt
# Configs of one import, against each other; launches on another machine are kept apart.
mine() { csv csv/compare.csv 'get("params") ~ /in_place=no .*size=8 *$/ && get("config") == "ring/LL128"' "$@"; }
$ gradsync compare --all launches | grep -c 'launched apart' && gradsync query -q launches --export csv && mine launches verdict baseline
for i in 1 2; do
    { echo 'NCCL_ALGO=Ring NCCL_PROTO=LL128' && $make latency=4$i device=H100 | sed s/node0/node9/; } >"set 2/run$i/other.txt"
done
$ import -q -o mixture --platform mine --as-launches */run*/*.txt && gradsync query -q mixture --export csv && mine launches verdict reason
cp 'set 1/run1/out.txt' copy.txt
$ refused --as-launches --platform mine --set config=ring 'set 1/run1/out.txt' copy.txt
# A platform by its config: its limit and its own text are recorded.
printf '%s\n' '[platform]' 'device = NVIDIA A100-SXM4-40GB' '[launch]' 'ranks = 8' '[measure]' 'blocks = 20' '[limits]' 'busbw = 300GB/s' >a100.ini
$ import -o by_config --platform a100.ini --set config=auto table.txt && reduce by_config && summary 'in_place=no .*size=1KiB' platform limit_Bps skew_s status
$ diff by_config/*/*/*/config.ini a100.ini
sed 's/ranks = 8/ranks = 4/' a100.ini >four.ini && sed 's/A100-SXM4-40GB/H200/' a100.ini >h200.ini
$ for config in four h200 none; do refused --platform $config.ini table.txt; done
# Truncated: every whole row is kept, and the torn row is not.
head -c $(($(wc -c <table.txt) * 2 / 3)) table.txt >torn.txt
{ head -n 25 table.txt && cat table.txt; } >crash.txt
$ tail -n 2 torn.txt | cut -c 1-60 && import -o torn torn.txt && reduce torn && summary . size_B status | tail -n 2
$ cat torn/*/*/*/*.jsonl | jq -r 'select(.key == "missing" or .type == "end") | .value // .status'
$ import -o crash crash.txt
# What cannot be trusted.
head -c 100000 /dev/urandom >binary.txt
cat table.txt binary.txt >mixed.txt
sed '/^# [wr][au]n/d' $top/tests/bad/import/one_rank.txt >one.txt
{ head -n 14 table.txt && sed -n '7,14p' table.txt && sed -n '15,$p' table.txt; } >twice.txt
awk '/^ +[0-9]/ { print; if (n++ > 2) print previous; previous = $0; next } 1' table.txt >shuffled.txt
grep -v nThread table.txt | grep -v Rank >headless.txt
$make cputime=1 >cpu.txt
$ refused binary.txt 2>&1 | sed -E 's/(refused): .*(binary|no|neither).*/\1/'
$ for f in mixed.txt /dev/zero nowhere.txt twice.txt shuffled.txt cpu.txt headless.txt; do refused $f; done
edited() { awk "$1 1" table.txt >fixed.txt && refused fixed.txt; }
$ edited '/^ +1048576 / { $6 = "1.00" }'
$ edited '/^ +1048576 / { $6 = "57.00" }'
$ edited '/^ +1048576 / { $8 = $8 * 2 }'
$ edited '/^ +65536 / { $6 = "-" $6 }'
$ edited '/^ +65536 / { $2 = $2 + 1 }'
$ edited '/^ +65536 / { NF = NF - 2 }'
$ edited '/^ +65536 / { $14 = "7" }'
$ import -o pair one.txt table.txt
$ [ ! -e refused ]
# Long lines cost no row; neither is a long line read as a table.
long() { { head -n 16 table.txt && head -c $1 /dev/zero | tr '\0' x && echo && tail -n +17 table.txt; } >long.txt && import -o long$1 long.txt; }
$ long 1048576
$ long 17000000
head -c 3000000 /dev/zero | tr '\0' 9 >number.txt
head -c 17000000 /dev/zero | tr '\0' x >word.txt
truncate -s 1073741825 huge.txt
$ refused --platform p --set ranks=2 number.txt
$ refused word.txt
$ refused huge.txt
# Iteration times, as milliseconds or as --set unit says.
printf '10.139\n9.795\r\n9.769\n\n9.742\n' >iteration_times_ll128.txt
printf '0.10012\n0.0995\n0.1021\n' >seconds.txt
printf '10.139\n9.7' >torn_times.txt
awk 'BEGIN { for (i = 1; i <= 50; i++) printf "%.4f\n", (i <= 28 ? 9.7 : 7.6) + i % 7 / 10000 }' >stepped.txt
$ import -o times --platform a100 --set ranks=8 --set size=4MiB --set mode=overlapped iteration_times_ll128.txt
$ reduce times && summary , workload config mode size_B n min_s
$ import -o stepped --platform a100 --set ranks=8 stepped.txt && reduce stepped && summary , n warmup_blocks ci_low_s ci_high_s converged
$ gradsync show stepped | grep 'changes level'
$ import -o seconds --platform a100 --set ranks=8 --set unit=s seconds.txt && grep -ho '"time_ns":.*' seconds/*/*/*/*.jsonl
$ import -o torn_times --platform a100 --set ranks=8 torn_times.txt
$ refused --platform p --set unit=m --set ranks=8 seconds.txt
$ refused --set unit=s table.txt
$ refused --platform p --set ranks=0 seconds.txt
# nccl-tests' JSON, however it is written.
$json env=NCCL_ALGO=Tree >report.json
$json gpus=8 >gpus.json
$json per_iter=1 iters=7 >iterations.json
$ import -o json report.json && reduce json && summary 'in_place=yes .*size=(1MiB|8 *$)' platform ranks median_s status
$ import -q -o json8 gpus.json && head -qn 1 json{,8}/*/*/*/*.jsonl | jq -c '.imported.version, .ranks'
lines() { sed '1d; $d' $1/*/*/*/launch-01.01.jsonl; }
sed 's/"times_us":/"times\\u005fus":/g' iterations.json >escaped.json
sed 's/,/ ,\n /g; s/"times_us":\[/"times_us" : [ /g' iterations.json >spread.json
$ for way in iterations escaped spread; do import -o json_$way $way.json && lines json_$way | cmp - <(lines json_iterations); done
for name in times_us 'times\\u005fus'; do sed 's/"times_us":\[[^]]*\]/"'$name'":[21]/g' iterations.json >single_${#name}.json; done
$ for f in single_*.json; do import -o ${f%.json} $f && grep -c '"time_ns":\[21000\]}' ${f%.json}/*/*/*/*.jsonl; done
number=$(grep -n '"redop"' spread.json | tail -n 1 | cut -d: -f1)
sed "${number}s/:/ /" spread.json >broken.json
sed 's/},{"size":16,/} {"size":16,/' report.json >joined.json
head -c 4000 report.json >cut.json && head -c -9 report.json >end.json && head -c 700 report.json >short.json
$json wrong=1024 >wrong.json
$json per_iter=1 iters=7 | sed 's/"times_us":\[/&null,/g' >nulls.json
$json ranks=1 >one.json
$json cpu=1 >cpu.json
$json time=-3.0 >negative.json
$json time='"nan"' >nan.json
$json time=77.0 >changed.json
$json program=/opt/what >what.json
$ for f in end wrong nulls; do import -o json_$f $f.json; done
$ for f in broken joined cut short one cpu negative nan changed what; do refused $f.json; done
# OSU: a time is that of the slowest rank, if the table has it; the size is that of the larger buffer.
cat >osu.txt <<'END'
# OSU MPI-CUDA Allreduce Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                       1.54              1.40              1.72        1000
8                       1.60              1.41              1.80        1000
1048576               250.10            240.00            260.25         100
END
printf '%s\n' '# OSU MPI Allreduce Latency Test v5.6.2' '# Size       Avg Latency(us)' '4     1.54' '8    2.5' '16   3.' | head -c -1 >old.txt
printf '%s\n' '# OSU MPI Allreduce Latency Test v7.4' '# Size  Avg Latency(us)  Validation' '4  1.54  Pass' '8  2.5  Fail' >checked.txt
osu() { # FILE TITLE: a table of one row
    printf '# OSU %s Latency Test v7.4\n# Size  Avg Latency(us)\n4  2.00\n' "$2" >$1.txt
    import -q -o $1 --platform cluster --set ranks=4 $1.txt && reduce $1 &&
        echo "$1" $(summary , workload size_B busbw_Bps) $(grep -ho '"collective":"[^"]*"' $1/*/*/*/*.jsonl | sort -u)
}
$ import -o osu --platform cluster --set ranks=16 --set nodes=4 osu.txt && reduce osu && summary 'size=1MiB' workload ranks nodes size_B median_s params
$ for f in old checked; do import -o osu_$f --platform cluster --set ranks=16 $f.txt; done
$ grep -ho '"metric":"[^"]*"' osu_old/*/*/*/*.jsonl | sort -u
$ osu osu_allgather 'MPI-CUDA Allgather'
$ osu osu_reduce_scatter 'MPI Reduce_scatter'
$ osu osu_alltoall 'MPI All-to-All Personalized Exchange'
$ osu osu_bcast 'MPI Broadcast'
$ osu osu_reduce 'MPI Reduce'
