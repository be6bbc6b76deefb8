# Not under ASan: what is read is fuzzed with it.
# Verdicts: recordings whose truth is known (tests/sim/make_campaign.c) give it in compare.csv, on the
# terminal, as exit code. Config c1 is as fast as the baseline c0, c2 is 2% faster, c3 2% slower.
make() { mkdir -p "$(dirname "$1")" && "$build/sim/make_campaign" "$@"; }
# table FILE COLUMN…: of every row, numbers with four digits
table() {
    csv "$1" 1 "${@:2}" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9]*[.][0-9]/) $i = sprintf("%.4g", $i); print }'
}
# ran RUN CONFIG TEXT: writes a note before every cell of this config that NCCL ran TEXT
ran() {
    local cell='"type":"cell","cell":"\([0-9a-f]*\)".*"copy":\([0-9]\).*"config":"'"$2"'".*'
    local note='{"type":"note","cell":"\1","copy":\2,"key":"ran","value":"'"$3"'"}'
    sed -i "s|^.*$cell|$note\n&|" "$1"/*.jsonl
}
# edit RUN JQ: of each line.   times RUN FACTOR WHERE: the times of blocks for which WHERE of jq holds
edit() { for f in "$1"/*.jsonl; do jq -c "$2" "$f" >edited && mv edited "$f"; done; }
times() { edit "$1" "if .type == \"block\" and ($3) then .time_ns |= map(. * $2 | floor) else . end"; }
is_c2='.cell == "0000000000000003"' is_c3='.cell == "0000000000000004"'
wrong() { # RUN: in its second launch, a result of c1
    sed -i '/"type":"end"/d' "$1/launch-02.01.jsonl"
    line "$1" 2 1 '{"type":"fail","cell":"0000000000000002","copy":0,"kind":"wrong","why":"sum off","rank":0,"host":"h","phase":"verify"}'
}
named() { sed -i "s/\"run_id\":\"[^\"]*\"/\"run_id\":\"$2\"/" "$1"/*.jsonl; } # RUN ID

# ---- inside a run. Five launches cannot give a permutation p below 0.0625.
make raw1 groups=2 spread=0.002
$ gradsync compare --all raw1
gradsync query -q raw1 --export csv
$ table csv/compare.csv size_B config launches ratio ratio_low ratio_high p_permutation p_holm p_holm_of floor equivalence launches_needed verdict
# A config that is faster in one group and slower in the other is not what to set.
cp -r raw1 crossed && times crossed 1.05 '.cell == "0000000000000043"'
$ gradsync compare crossed 2>/dev/null | grep -v '^--all\|^Only'
# A table is solved on one thread, compare uses all processors.
$ gradsync compare --all raw1 | grep -o '[+-][0-9.]*% *[+-][0-9.]*% .. [+-][0-9.]*%' | diff - <(csv csv/compare.csv 1 ratio ratio_low ratio_high | awk '{ printf "%+.2f%%  %+.2f%% .. %+.2f%%\n", 100 * ($1 - 1), 100 * ($2 - 1), 100 * ($3 - 1) }')

# ---- one line a group: its fastest config
$ gradsync compare raw1
for n in 1 2 3 4 5 6 7 8 9; do make many/$n groups=4 spread=0.02 seed=$n; done
$ gradsync compare many | grep -o '^  [0-9w]' | sort | uniq -c
$ diff <(gradsync compare --mode alone --all raw1) <(gradsync compare --all raw1)
$ gradsync compare --mode training raw1
$ gradsync compare --config c3 raw1
$ gradsync compare --config c9 raw1
$ gradsync compare --all --baseline c2 raw1 | cut -c 1-40
$ gradsync compare --baseline c9 raw1
# One config against the baseline is said as a difference, and neither is called the best.
make pair/sim groups=2 configs=2 spread=0.0005
$ gradsync compare pair

# ---- rivals that are close: c2 and c3 are both 2% faster than c0
make close groups=1 spread=0.002 && times close 0.9606 "$is_c3"
$ gradsync compare close

# ---- a small effect: c2 is shorter, by less than the bound
make small/sim groups=1 spread=0.0005 effect=0.006
$ gradsync compare small
gradsync query -q small --export small.csv
$ table small.csv/compare.csv config verdict small_effect
$ gradsync compare --config c2 small

# ---- against the best of a mode: alone c2 is the fastest, in the step c3, and c2 the slowest
make modes groups=2 spread=0.002
sed -i -e '/"cell":"000000000000004/{s/"mode":""/"mode":"overlapped"/;s/"size":"16"/"size":"8"/
    s/"size_B":16/"size_B":8/;s/"c2"/"c_"/g;s/"c3"/"c2"/g;s/"c_"/"c3"/g}' -e \
    's/"mode":""/"mode":"comm"/' \
    -e '/"type":"group","group":"0000000000000001"/d' \
    -e 's/"group":"0000000000000002"/"group":"0000000000000001"/' modes/*.jsonl
chosen() { gradsync query -q "$1" --export chosen && table chosen/chosen.csv mode baseline config verdict floor; }
$ chosen modes
# The second copy of the baseline is best of nothing.
cp -r modes fast_copy && times fast_copy 0.9 '.copy == 1'
$ chosen fast_copy | cut -d ' ' -f 1-4
# Nor is a config that ran what the baseline ran: the baseline stands for it.
cp -r modes best
for config in c0 c2; do ran best $config 'RING/LL ctas=24'; done
$ chosen best | cut -d ' ' -f 1-4
$ gradsync compare --all best | grep '^[0-9]* contrasts'
$ gradsync compare best

# ---- which config is the baseline: that measured twice, that of the config file, the first
baselines() { gradsync query -q named --export named.csv && table named.csv/compare.csv baseline | sort -u; }
cp -r raw1 named && printf '[measure]\nbaseline = c1\n[null]\nsize = 8\n' >named/config.ini
$ baselines
sed -i '/"copy":1/d' named/*.jsonl
$ baselines
rm named/config.ini
$ baselines

# ---- hosts: neither their order nor how many ranks each has makes another provenance
cp -r raw1 hosts
edit hosts 'if .type == "header" then .hosts = ([if .launch == 1 then "n2", "n1" else "n1", "n2", "n1" end] | map({host: .})) else . end'
$ gradsync query -q hosts --export hosts.csv && table hosts.csv/compare.csv size_B config launches reason

# ---- a block of a trial visits its baseline twice: the second visit counts half
cp -r raw1 visits && sed -i 's/"workload":"null"/"workload":"trial"/' visits/*.jsonl
times visits 1.21 '.copy == 1'
$ gradsync query -q visits --export visits.csv && table visits.csv/compare.csv size_B config ratio | sed 3q

# ---- same operation: c2 is 2% faster than the baseline, and ran what the baseline ran
make same groups=2 spread=0.002
for config in c0 c2; do ran same $config 'RING/LL ctas=24'; done
ran same c1 'unproven: this NCCL does not say what it ran'
ran same c3 'RING/LL ctas=16'
operations() { table "$1/compare.csv" size_B config verdict measured_verdict baseline_ran ran reason; }
$ gradsync query -q same --export same.csv
$ operations same.csv
numbers='ratio ratio_low ratio_high p_holm launches_needed'
$ diff <(csv same.csv/compare.csv 1 $numbers) <(csv csv/compare.csv 1 $numbers)
$ cat same.csv/placebo.csv
# A run without a placebo adds no copies to the line.
make some/other groups=2 seed=9
cp -r same some/same
$ gradsync compare --all some | grep placebo
# A config that sets more than tuning is judged by its times, and counts as no placebo.
cp -r same buckets && sed -i 's/"config":"c2"}/"config":"c2","bucket_cap":"5MiB"}/' buckets/*.jsonl
$ gradsync query -q buckets --export buckets.csv && operations buckets.csv | sed 3q && tail -n 1 buckets.csv/placebo.csv
# Nor does one launch, which has no verdict.
make once groups=2 launches=1
for config in c0 c1; do ran once $config 'RING/LL'; done
$ gradsync query -q once --export once.csv && tail -n 1 once.csv/placebo.csv
# An operation that differs between launches is not called the same, nor is one of two runs.
cp -r same varies && sed -i '/"type":"note"/s/ctas=24/ctas=22/' varies/launch-02.01.jsonl
$ gradsync query -q varies --export varies.csv && operations varies.csv | sed 3q
$ gradsync compare --all same varies 2>/dev/null | grep ' c[12] '
mkdir twice && cp -r same twice/1 && cp -r same twice/2
for run in 1 2; do named twice/$run $run; done
gradsync query -q twice --export twice.csv
$ table twice.csv/again.csv size_B config verdict earlier_verdict agreement

# ---- `where` holds the axes, not the config
make methods groups=2
sed -i 's/"config":"c\([0-9]\)"}/"config":"c\1","method":"c\1"}/' methods/*.jsonl
$ gradsync compare --all methods | grep c3

# ---- one workload on several days: the second day is as the first; on the third c1 is faster, c2 slower
for day in 1 2 3; do make days/$day groups=2 spread=0.002 seed=$day; done
sed -i 's/"c1"/"c_"/g; s/"c2"/"c1"/g; s/"c3"/"c2"/g; s/"c_"/"c3"/g' days/3/*.jsonl
gradsync query -q days --export days.csv
$ table days.csv/again.csv run_id size_B config verdict earlier_run_id earlier_launches earlier_verdict agreement overlap | sed -n '1~3p'
# A row has the ratio and interval of the earlier run, and a table gives the answers of its recordings.
of_day() { csv "$1" "get(\"$2\") == 1" size_B config "${@:3}" | sort -u; }
$ diff <(of_day days.csv/again.csv earlier_run_id earlier_ratio earlier_ratio_low earlier_ratio_high) <(of_day days.csv/compare.csv run_id ratio ratio_low ratio_high) && of_day days.csv/again.csv earlier_run_id | wc -l
make bound/1 groups=1 && make bound/2 groups=1
printf '[measure]\nequivalence = 5%%\n[null]\nsize = 8\n' >bound/2/config.ini
gradsync query -q bound --export bound.csv
$ table bound.csv/again.csv verdict earlier_verdict agreement | sort | uniq -c

# ---- what the floor forbids: the second copy of the baseline is 4% slower, the method is off by that
reasons() { table "$1/compare.csv" size_B config launches ratio floor launches_needed verdict reason; }
make floor groups=1 spread=0.0005 effect=0.02 && times floor 1.04 '.cell == "0000000000000001" and .copy == 1'
$ gradsync query -q floor --export floor.csv
$ reasons floor.csv

# ---- few launches
make single groups=1 launches=1
$ gradsync compare single 2>&1 | grep 'one launch'
gradsync query -q single --export single.csv
$ table single.csv/compare.csv config launches ratio ratio_low p_interval verdict reason
make noisy groups=1 spread=0.02
$ gradsync query -q noisy --export noisy.csv && reasons noisy.csv
# p_holm is of the larger of both p; the smallest permutation p of twelve launches is 2 in 4096.
make family groups=1 configs=5 launches=12
$ gradsync query -q family --export family.csv && table family.csv/compare.csv config p_permutation p_interval p_holm p_holm_of

# ---- provenance: two versions of MPI
make mixed groups=1 configs=2 other_mpi='Open MPI v5.0.0'
$ gradsync query -q mixed --export mixed.csv && reasons mixed.csv

# ---- fewer blocks than asked for: 9 of 20 count, 2 do not
make thin/r groups=1 configs=2 launches=4
printf '[measure]\nblocks = 20\n[null]\nsize = 8\n' >thin/r/config.ini
less() { edit thin/r "select(.type != \"block\" or .block <= $2 or input_filename != \"thin/r/launch-0$1.01.jsonl\")"; } # LAUNCH BLOCKS
less 3 9
$ gradsync query -q thin --export thin.csv && reasons thin.csv
less 2 2
$ gradsync query -q thin --export thin.csv && reasons thin.csv
for launch in 1 3 4; do less $launch 1; done
$ gradsync query -q thin --export thin.csv && reasons thin.csv
make wrong groups=1 configs=2 samples=1 && wrong wrong
$ gradsync query -q wrong --export wrong.csv && reasons wrong.csv

# ---- side by side: the second run is 5% slower
make before groups=2 seed=3
make after groups=3 seed=4 scale=1.05 mpi='Open MPI v5.0.0'
sides() { gradsync compare --all "$@" 2>/dev/null | grep " c1 "; }
$ gradsync compare before after
for day in 1 2; do make days2/$day groups=1 seed=$day; done
$ gradsync compare before days2
for side in before after; do
    cp -r $side no-$side && sed -i 's/"config":"c3"/"config":""/' no-$side/*.jsonl
done
$ gradsync compare no-before no-after | grep ' 8  *-'
# Without a second copy of the baseline there is no floor, and no verdict.
cp -r after bare && sed -i '/"copy":1/d' bare/*.jsonl
$ sides before bare
$ gradsync query -q bare --export bare.csv && reasons bare.csv | sed -n '1~4p'
mkdir floorless && cp -r bare floorless/1 && cp -r bare floorless/2 && named floorless/2 zzz
$ gradsync query -q floorless --export floorless.csv && table floorless.csv/again.csv earlier_verdict agreement | sort | uniq -c
cp -r after wider && named wider wider && sed -i 's/"ranks":2,/"ranks":4,/; s/"nodes":1\b/"nodes":2/' wider/*.jsonl
$ sides before wider
$ sides before before
# The second copy of the baseline and blocks of warm-up are not compared between runs.
like_before() { rm -rf like && cp -r before like && named like like; times like 2 "$1"; sides before like; }
$ like_before '.copy == 1'
$ like_before '.block <= 3'
# The launches of the rarer kind are left out.
$ sides before mixed

# ---- a platform with trials of two jobs: the latest run of each step
for run in 1 2 3; do
    make data/raw/sim/trial/$run groups=1 seed=$run
    sed -i 's/"workload":"null"/"workload":"trial"/' data/raw/sim/trial/$run/*.jsonl
done
sed -i 's/"group":"[0-9a-f]/&x/; s/"group":"\([0-9a-f]\)x[0-9a-f]/"group":"\1f/' data/raw/sim/trial/2/*.jsonl
$ gradsync compare sim
rm -r data

# ---- wrong use
mkdir none && : >nothing
$ gradsync compare none
$ gradsync compare before nothing
$ gradsync compare before before before
sed -i 5s/^/x/ after/launch-02.01.jsonl
$ gradsync compare after 2>&1 | sed -n 1p
