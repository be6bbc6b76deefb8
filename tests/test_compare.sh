#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Verdicts: recordings whose truth is known give it in compare.csv, on the terminal, as exit code.
. "$(dirname "$0")/lib.sh"
. "$top/tests/recording.sh"
make_campaign="$build/sim/make_campaign"

# of CSV SIZE CONFIG COLUMN…: fields of a contrast's row
of() { csv "$1/compare.csv" 'get("size_B") == "'"$2"'" && get("config") == "'"$3"'"' "${@:4}"; }
# reason DIR REGEX: the reason of the first row that matches
reason() { csv "$1/compare.csv" '$0 ~ "'"$2"'"' reason | head -n 1; }
# ran DIR CONFIG TEXT: writes a note before every cell of this config that NCCL ran TEXT
ran() {
    local cell='"type":"cell","cell":"\([0-9a-f]*\)".*"copy":\([0-9]\).*"config":"'"$2"'".*'
    local note='{"type":"note","cell":"\1","copy":\2,"key":"ran","value":"'"$3"'"}'
    sed -i "s|^.*$cell|$note\n&|" "$1"/*.jsonl
}
within() { awk -v x="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(x > lo && x < hi) }'; }

# ---- inside a run
"$make_campaign" raw1 groups=2 spread=0.002
prints $'\n  8 +c2 .* faster' "$gradsync" compare --all raw1 -o csv
like "$out" '2 faster, 2 slower, 2 equivalent, 0 inconclusive'
like "$out" 'power: a change of 2% would be found in 9[5-9]% of 6 alone' 'quiet recordings find a change of 2%'
columns='platform,workload,label,run_id,mode,size_B,baseline,config,launches,blocks,ratio,'
columns+='ratio_low,ratio_high,p_permutation,p_interval,p_holm,p_holm_of,floor,equivalence,verdict,'
columns+='launches_needed,reason,measured_verdict,baseline_ran,ran,level,small_effect,param_size,param_config'
is "$(head -n 1 csv/compare.csv)" "$columns" 'compare.csv has these columns in this order'
is "$(cut -d, -f6-8 csv/compare.csv | tail -n +2 | tr '\n' ' ')" \
    '8,c0,c1 8,c0,c2 8,c0,c3 16,c0,c1 16,c0,c2 16,c0,c3 ' \
    'every config but the baseline has a row for each size'
is "$(of csv 8 c1 verdict) $(of csv 8 c2 verdict) $(of csv 8 c3 verdict)" \
    'equivalent faster slower' 'each verdict is the effect that was simulated'
is "$(of csv 8 c2 launches launches_needed p_permutation equivalence)" '5 0 0.0625 0.01' \
    'five launches cannot give a permutation p below 0.0625'
ok 'the ratio of c2 is near the simulated 0.98' within "$(of csv 8 c2 ratio)" 0.975 0.985
ok 'the ratio of c2 lies inside its interval' within "$(of csv 8 c2 ratio)" \
    "$(of csv 8 c2 ratio_low)" "$(of csv 8 c2 ratio_high)"
ok 'compare -q succeeds' "$gradsync" compare -q raw1 -o quiet
is "$out$err" '' 'compare -q prints nothing'
ok 'compare -q writes the same tables' diff csv quiet
ok 'reduce, which compares on one thread, succeeds' "$gradsync" reduce -q raw1 -o one
ok 'all processors write the same bytes as one thread' cmp csv/compare.csv one/compare.csv

# ---- one line a group: c2 is the fastest at each size, c1 is as fast as the baseline c0, c3 is slower
prints '^sim null, alone: .* beats c0 in 2 of 2 groups, c2 by [0-9.]+%' "$gradsync" compare raw1
like "$out" $'\n  8 +c2 +-[0-9.]+% \\[-[0-9.]+, -[0-9.]+\\] .* faster +3/3'
unlike "$out" $'\033' 'output to a pipe has no colour'
mkdir many
for n in 1 2 3 4 5 6 7 8 9; do "$make_campaign" many/$n groups=4 spread=0.02 seed=$n; done
prints 'power: a change of 2% would be found in [0-9]% of 108 alone' "$gradsync" compare --all many
ok 'a comparison of nine runs succeeds' "$gradsync" compare many
is "$(grep -c '^  [0-9]' <<<"$out")|$(grep -c '^  where' <<<"$out")" '36|9' \
    'the tables of nine runs have one line for each of their groups, and a heading each'
is "$("$gradsync" compare --size 16 raw1 | grep -c ' 8 ')|$("$gradsync" compare --size 16B raw1 |
    grep -c ' 16 ')" '0|1' '--size leaves out other sizes, with or without the unit'
run "$gradsync" compare --size 15kB raw1
like "$err" "nothing matches --size 15kB, did you mean '16'\?; choose 8, 16$"
is "$("$gradsync" compare --config c3 --all raw1 | grep -c ' c[123] ')" 2 \
    '--config leaves out other configs'
is "$("$gradsync" compare --mode alone --all raw1 | grep -c ' c[123] ')" 6 \
    'an operation by itself has the mode alone'
run "$gradsync" compare --mode training raw1
like "$rc $err" "^2 .*nothing matches --mode training; choose alone$" 'and none of the others'
like "$("$gradsync" compare --config c3 raw1)" 'c3 is slower than c0 in 2 of 2' \
    'the first line with --config is about that config'
mkdir pair && "$make_campaign" pair/sim groups=2 configs=2 spread=0.0005
like "$("$gradsync" compare pair)" \
    'alone: c1 is slower than c0 in 0 of 2, faster in 0, equivalent in 2( \(. of them .*\))?, inconclusive in 0' \
    'one config against the baseline is said as a difference, and neither is called the best'
fails 2 'choose c1, c2, c3' "$gradsync" compare --config c9 raw1
fails 2 "did you mean 'sim'" "$gradsync" compare --platform simm raw1
ok '--baseline with a measured config succeeds' "$gradsync" compare --baseline c2 raw1 -o c2.csv
is "$(of c2.csv 8 c0 baseline verdict)|$(of c2.csv 8 c2 verdict)" 'c2 slower|' \
    'every other config is compared with the chosen baseline'
exits 2 'a baseline that was not measured is refused' "$gradsync" compare --baseline c9 raw1
ok 'compare --json succeeds' "$gradsync" compare --json raw1
is "$(jq -r '.groups[0] |
"\(.fastest) \(.size_bytes) \(.verdict) \(.rivals_slower) \(.change_percent < -1)"' <<<"$out")" \
    'c2 8 faster 3 true' 'the JSON has the best config of each group'
is "$(jq -r '[.contrasts[] | .verdict] | join(" ")' <<<"$out")" \
    'equivalent faster slower equivalent faster slower' 'the JSON has every contrast'

# ---- rivals that are close: c2 and c3 are both 2% faster than c0
"$make_campaign" close groups=1 spread=0.002
for f in close/*.jsonl; do
    jq -c 'if .type == "block" and .cell == "0000000000000004"
        then .time_ns |= map(. * 0.9606 | floor) else . end' "$f" >near && mv near "$f"
done
like "$("$gradsync" compare close)" $'\n  8 +c[23] .* faster +2/3\n--all prints every contrast' \
    'a rival with the same time is not slower than the best'
for f in close/*.jsonl; do # and c3 then 5%
    jq -c 'if .type == "block" and .cell == "0000000000000004"
        then .time_ns |= map(. * 0.97 | floor) else . end' "$f" >near && mv near "$f"
done
like "$("$gradsync" compare close)" $'\n  8 +c3 .* faster +3/3' \
    'of two faster configs, the fastest wins'
rivals() {
    "$gradsync" compare --json "$1" |
        jq -r '.groups[0] | "\(.rivals_slower) \(.not_distinguishable_from | join(","))"'
}
cp -r close failing && sed -i '/"type":"end"/d' failing/launch-02.01.jsonl
line='{"type":"fail","cell":"0000000000000002","copy":0,"kind":"wrong","why":"sum off",'
echo "$line"'"rank":0,"host":"h","phase":"verify"}' >>failing/launch-02.01.jsonl
is "$(rivals failing)" '2 ' 'a rival without numbers is neither slower nor as fast'
cp -r close gaps
for f in gaps/*.jsonl; do # c2 was fast in a block that the best config lacks
    jq -c 'if .type != "block" or .block != 11 then . elif .cell == "0000000000000004" then empty
        elif .cell == "0000000000000003" then .time_ns |= map(. * 0.6 | floor) else . end' "$f" \
        >gap && mv gap "$f"
done
is "$(rivals gaps)" '3 ' 'a rival is compared with the best in the blocks of both'
ran close c2 tree/LL
ran close c3 tree/LL
is "$(rivals close)" '2 c2' 'a rival that ran the same operation is not called slower'

# ---- a small effect: c2 is shorter, by less than the bound
mkdir small && "$make_campaign" small/sim groups=1 spread=0.0005 effect=0.006
ok 'a comparison of a small effect succeeds' "$gradsync" compare small -o small.csv
like "$(xargs <<<"$out")" \
    'c0 is beaten in 0 of 1 groups, by less than 1% in 1, confirmed best in 0, inconclusive in 0 ' \
    'a baseline is not confirmed best where another config is shorter, by however little'
like "$out" $'\n  8 +c2 +-[0-9.]+% .* small ' 'the line of the group has the config that is shorter'
is "$(grep -c ',c0,c2,.*,equivalent,.*,alone,shorter,' small.csv/compare.csv)|$(
    grep -c ',c0,c3,.*,equivalent,.*,alone,longer,' small.csv/compare.csv)" \
    '1|1' 'compare.csv has the direction of a small effect'
like "$(xargs <<<"$("$gradsync" compare --config c2 small)")" \
    'equivalent in 1 \(1 of them shorter by less than 1%\), inconclusive in 0' \
    'the sentence about one config counts small effects among the equivalent'
like "$("$gradsync" compare --all small)" \
    'c2 .* equivalent +shorter by [0-9.]+ to [0-9.]+%, below the 1% that you ask for' \
    'the row names the size of the small effect'
is "$("$gradsync" compare --json small | jq -r '.groups[] | "\(.fastest) \(.verdict)"')" 'c2 small' \
    'compare --json has the small effect'

# ---- against the best of a mode: alone c2 is the fastest, in the step c3, and c2 the slowest
"$make_campaign" modes groups=2 spread=0.002
sed -i -e '/"cell":"000000000000004/{s/"mode":""/"mode":"overlapped"/;s/"size":"16"/"size":"8"/
    s/"size_B":16/"size_B":8/;s/"c2"/"c_"/g;s/"c3"/"c2"/g;s/"c_"/"c3"/g}' -e \
    's/"mode":""/"mode":"comm"/' \
    -e '/"type":"group","group":"0000000000000001"/d' \
    -e 's/"group":"0000000000000002"/"group":"0000000000000001"/' modes/*.jsonl
prints '^sim null overlapped, alone: .* best of comm in 1 of 1 ' "$gradsync" compare --best-of \
    comm modes -o modes.csv
like "$("$gradsync" compare --best-of comm --all modes)" \
    'comm is beaten in 1 of 1 groups, .* best in 0, inconclusive in 0' \
    'all contrasts end with the same count'
is "$(cut -d, -f5,7,8,20 modes.csv/chosen.csv | tail -n +2 | tr '\n' ' ')" \
    'overlapped,c2,c0,faster overlapped,c2,c1,faster overlapped,c2,c3,faster ' \
    'each other config is faster in the step than the one that is best alone'
ok 'the floor in chosen.csv is between 0 and 1%' within \
    "$(sed -n 2p modes.csv/chosen.csv | cut -d, -f18)" 0 0.01
ok 'compare --best-of overlapped succeeds' "$gradsync" compare -q --best-of overlapped modes -o \
    modes.csv
is "$(cut -d, -f5,7,8,20 modes.csv/chosen.csv | tail -n +2 | tr '\n' ' ')" \
    'comm,c3,c0,faster comm,c3,c1,faster comm,c3,c2,faster ' \
    'each other config is faster alone than the one that is best in the step'
says "nothing to compare: .* configs of the mode 'compute' beside another mode" "$gradsync" \
    compare --best-of compute modes
baselines() { cut -d, -f7 "$1" | sed 1d | sort -u | xargs; }
cp -r modes fast_copy
for f in fast_copy/*.jsonl; do
    jq -c 'if .type == "block" and .copy == 1 then .time_ns |= map(. * 0.9 | floor) else . end' \
        "$f" >copy && mv copy "$f"
done
ok 'compare --best-of succeeds where the copies of the baseline differ' "$gradsync" compare -q \
    --best-of comm fast_copy -o fast_copy.csv
is "$(baselines fast_copy.csv/chosen.csv)" c2 'the second copy of the baseline is best of nothing'
fails 2 "a mode 'com' beside another mode, did you mean 'comm'" "$gradsync" compare --best-of com \
    modes
fails 2 '--best-of compares configs of a run' "$gradsync" compare --best-of comm raw1 raw1

# ---- which config is the baseline
cp -r raw1 named && printf '[measure]\nbaseline = c1\n[null]\nsize = 8\n' >named/config.ini
"$gradsync" compare -q named -o named.csv
is "$(baselines named.csv/compare.csv)" c0 'the config that was measured twice is the baseline'
sed -i '/"copy":1/d' named/*.jsonl
"$gradsync" compare -q named -o named.csv
is "$(baselines named.csv/compare.csv)" c1 \
    'where none was measured twice, it is the one that the config names'
rm named/config.ini && "$gradsync" compare -q named -o named.csv
is "$(baselines named.csv/compare.csv)" c0 'and where it names none, the first'

# ---- hosts: neither their order nor how many ranks each has makes another provenance
cp -r raw1 hosts
for f in hosts/*.jsonl; do
    jq -c --arg f "$f" 'if .type == "header" then .hosts = ([if $f | test("launch-01") then "n2", "n1"
        else "n1", "n2", "n1" end] | map({host: .})) else . end' "$f" >header && mv header "$f"
done
"$gradsync" compare -q hosts -o hosts.csv
is "$(of hosts.csv 8 c2 launches reason)" '5 ' 'launches on the same hosts are of one kind'

# ---- a block of a trial visits its baseline twice: the second visit counts half
cp -r raw1 visits && sed -i 's/"workload":"null"/"workload":"trial"/' visits/*.jsonl
for f in visits/*.jsonl; do
    jq -c 'if .type == "block" and .copy == 1 then .time_ns |= map(. * 1.21 | floor) else . end' \
        "$f" >copy && mv copy "$f"
done
"$gradsync" compare -q visits -o visits.csv
ok 'the baseline of a trial is the mean of its two visits' \
    within "$(of visits.csv 8 c1 ratio)" 0.90 0.92

# ---- same operation: c2 is 2% faster than the baseline, c3 slower; c2 ran what the baseline ran
"$make_campaign" same groups=2 spread=0.002
for config in c0 c2; do ran same $config 'RING/LL ctas=24'; done
ran same c1 'unproven: this NCCL does not say what it ran'
ran same c3 'RING/LL ctas=16'
ok 'a comparison of configs that name what ran succeeds' "$gradsync" compare --all same -o same.csv
is "$(of same.csv 8 c1 verdict) $(of same.csv 8 c2 verdict) $(of same.csv 8 c3 verdict)" \
    'equivalent same operation slower' \
    "a config that ran what the baseline ran has the verdict 'same operation'"
like "$(reason same.csv ',c2,')" '^both ran RING/LL ctas=24$' \
    'the reason names the operation that both ran'
is "$(of same.csv 8 c2 ratio ratio_low ratio_high p_holm launches_needed)" \
    "$(of csv 8 c2 ratio ratio_low ratio_high p_holm launches_needed)" \
    "'same operation' changes no ratio and no p"
is "$(of same.csv 8 c2 measured_verdict baseline_ran ran)" \
    'faster RING/LL ctas=24 RING/LL ctas=24' 'measured_verdict is what the times alone would give'
is "$(of same.csv 8 c3 measured_verdict ran)|$(of same.csv 8 c1 measured_verdict ran)" \
    'slower RING/LL ctas=16|equivalent ' \
    'configs that ran something else have their verdict as measured_verdict'
like "$out" \
    $'\n  8 +c2 .* same operation +both ran RING/LL ctas=24 \\(by its time alone: faster\\)'
like "$out" '0 faster, 2 slower, 2 equivalent, 0 inconclusive, 2 same operation'
like "$out" 'placebo: .* 2 of 2 alone \(100.0%; A/A copies 0 of 2, 0.0%\)'
is "$(cat same.csv/placebo.csv)" \
    $'platform,workload,label,run_id,mode,contrasts,called,aa,aa_called\nsim,null,,same,,2,2,2,0' \
    'placebo.csv has the counts of the placebo line'
unlike "$("$gradsync" compare --all raw1)" 'placebo' \
    'a comparison of runs that do not name what ran has no placebo line'
mkdir some && cp -r same some/same && "$make_campaign" some/other groups=2 seed=9
like "$("$gradsync" compare --all some)" 'placebo: .* 2 of 2 alone \(100.0%; A/A copies 0 of 2' \
    'a run without a placebo adds no A/A copies to the line'
cp -r same buckets &&
    sed -i 's/"config":"c2"}/"config":"c2","bucket_cap":"5MiB"}/' buckets/*.jsonl
ok 'a config that sets more than tuning is compared' "$gradsync" compare -q buckets -o buckets.csv
is "$(of buckets.csv 8 c2 verdict ran baseline_ran)" 'faster RING/LL ctas=24 RING/LL ctas=24' \
    'a config that sets more than tuning is judged by its times, whatever NCCL ran'
is "$(tail -n 1 buckets.csv/placebo.csv)" 'sim,null,,same,,0,0,2,0' \
    'a config that sets more than tuning counts as no placebo'
"$make_campaign" once groups=2 launches=1
for config in c0 c1; do ran once $config 'RING/LL'; done
ok 'a comparison of a same operation in one launch succeeds' "$gradsync" compare -q once -o once.csv
is "$(tail -n 1 once.csv/placebo.csv)" 'sim,null,,once,,0,0,0,0' \
    'one launch, which has no verdict, counts as no placebo'
cp -r same varies && sed -i '/"type":"note"/s/ctas=24/ctas=22/' varies/launch-02.01.jsonl
ok 'a comparison succeeds where launches ran different operations' "$gradsync" compare -q varies \
    -o varies.csv
is "$(of varies.csv 8 c2 verdict baseline_ran)" 'faster RING/LL ctas=24 | RING/LL ctas=22' \
    'an operation that differs between launches is not called the same'
ok 'a comparison of two runs of one operation succeeds' "$gradsync" compare same varies -o \
    sides.same
unlike "$(cut -d, -f18 sides.same/compare.csv)" 'same operation' \
    'two runs are judged by their times, whatever they ran'
like "$(reason sides.same ',c0,')" \
    'not the same operation: RING/LL ctas=24 \| RING/LL ctas=24 \| RING/LL ctas=22' \
    'the reason names each operation where they differ'
mkdir twice && cp -r same twice/1 && cp -r same twice/2
for run in 1 2; do sed -i "s/\"run_id\":\"same\"/\"run_id\":\"$run\"/" twice/$run/*.jsonl; done
ok 'compare --again succeeds where two runs have the same operation' "$gradsync" compare --again \
    twice -o twice.csv
again_row() { # IN_BOTH SAME INCONCLUSIVE DIFFERENT CONTRARY SAME_OPERATION: of the line of two runs
    echo "$1" "${@:2}" | sed 's/ / +/g'
}
like "$out" "null on sim +2 +1 +$(again_row 6/6 4 0 0 0 2) " \
    'contrasts of the same operation are counted apart from agreeing verdicts'
is "$(grep -c 'same operation,same operation,yes' twice.csv/again.csv)" 2 \
    'again.csv has two contrasts of the same operation in both runs'
"$gradsync" compare -q twice -o twice.solved
is "$("$gradsync" compare --again twice.solved/compare.csv)" \
    "$("$gradsync" compare --again twice)" \
    '--again prints the same from a table as from its recordings'

# ---- the best of a mode is no config that ran what the baseline ran
cp -r modes best
for config in c0 c2; do ran best $config 'RING/LL ctas=24'; done
ok 'compare --best-of succeeds where the best config ran what the baseline ran' "$gradsync" \
    compare --best-of comm best -o best.csv
is "$(cut -d, -f5,7,8 best.csv/chosen.csv | tail -n +2 | head -n 1)" 'overlapped,c0,c1' \
    'the baseline stands for a best config that ran the same'
prints $'\n3 contrasts of mode comm: .*\n3 contrasts of mode overlapped: ' "$gradsync" compare \
    --all best
like "$("$gradsync" compare best)" \
    $'^sim null overlapped, alone: .* 1 groups.*\nnull comm, alone: .* 1 groups' \
    'each mode has a line, the step first'

# ---- `where` holds the axes, not the config
"$make_campaign" methods groups=2
sed -i 's/"config":"c\([0-9]\)"}/"config":"c\1","method":"c\1"}/' methods/*.jsonl
prints '  8 +c3 +- +' "$gradsync" compare --all methods

# ---- one workload on several days: the second day is as the first; on the third c1 is faster,
# c2 slower and c3 as the baseline
mkdir days other
for day in 1 2 3; do "$make_campaign" days/$day groups=2 spread=0.002 seed=$day; done
sed -i 's/"c1"/"c_"/g; s/"c2"/"c1"/g; s/"c3"/"c2"/g; s/"c_"/"c3"/g' days/3/*.jsonl
ok 'compare --again of three days succeeds' "$gradsync" compare --again days -o days.csv
like "$out" "null on sim +2 +1 +$(again_row 6/6 6 0 0 0 0) +6/6 +0\.[0-9]+%" \
    'a second day with the same effects agrees in every verdict, and every interval overlaps'
like "$out" "null on sim +3 +2 +$(again_row 6/6 0 1 3 2 0) +0/6 " \
    'on the third day no verdict is the same, and no interval overlaps'
like "$out" $'\n5 different or contrary:\n' 'and the contrasts that disagree are listed'
like "$out" 'null on sim +3 +2 +8 +c2 +faster -[0-9.]+% \[.*\] +slower \+[0-9.]+% \[' \
    'with both verdicts and their intervals'
"$gradsync" compare -q days -o days.csv
is "$(cut -d, -f4,6,8,20,28,29,33-35 days.csv/again.csv | sed -n '1,4p;8,10p')" \
    "$(printf '%s\n' \
    run_id,size_B,config,verdict,earlier_run_id,earlier_launches,earlier_verdict,agreement,overlap \
        2,8,c1,equivalent,1,5,equivalent,same,yes 2,8,c2,faster,1,5,faster,same,yes \
        2,8,c3,slower,1,5,slower,same,yes 3,8,c3,equivalent,2,5,slower,different,no \
        3,8,c1,faster,2,5,equivalent,different,no 3,8,c2,slower,2,5,faster,contrary,no)" \
    'again.csv has both verdicts of each contrast and whether they agree'
is "$(sed -n 4p days.csv/again.csv | cut -d, -f30-32)" \
    "$(grep '^sim,null,,1,.*,8,.*,c3,' days.csv/compare.csv | cut -d, -f11-13)" \
    'a row of again.csv has the ratio and interval of the earlier run'
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print $0, "param_gemms"; next }
    { gemms = $c["size_B"] > 8 ? 4 : 1; $c["size_B"] = $c["param_size"] = 8
      if ($c["run_id"] == 2 && $c["config"] == "c2" && gemms == 4) $c["verdict"] = "slower"
      print $0, gemms }' days.csv/compare.csv | grep -v '^sim,null,,3' >placed.csv
prints ' 8 +c2 +faster .* slower .* gemms=4$' "$gradsync" compare --again placed.csv
"$make_campaign" other/1 groups=1 spread=0.02 seed=9
prints "null on sim +2 +1 +$(again_row 3/6 0 3) " "$gradsync" compare --again other days/2
mkdir gap
for day in 1 2 3; do
    "$make_campaign" gap/$day groups=1 launches=$((day == 2 ? 1 : 5)) mpi="Open MPI v5.0.$day"
done
ok 'compare --again succeeds with a run of one launch between two others' "$gradsync" compare \
    --again gap
like "$out" 'null on sim +3 +1 +3/3 .* different provenance: mpi Open MPI v5.0.1 \| Open MPI v5.0.3'
like "$out" 'null on sim +2 +- +0/3 .* no contrast has numbers in this run and in another'
mkdir bound && "$make_campaign" bound/1 groups=1 && "$make_campaign" bound/2 groups=1
printf '[measure]\nequivalence = 5%%\n[null]\nsize = 8\n' >bound/2/config.ini
prints "null on sim +2 +1 +$(again_row 3/3 3 0) " "$gradsync" compare --again bound
mkdir solved && "$gradsync" compare -q days -o solved
ok 'compare --again succeeds on a table' "$gradsync" compare --again solved/compare.csv -o solved
is "$out" "$("$gradsync" compare --again days)" 'a table gives the same answers as its recordings'
ok 'a table and its recordings write the same again.csv' cmp days.csv/again.csv solved/again.csv
fails 2 '--again takes recordings or one table, not both: solved/compare.csv' "$gradsync" compare \
    --again solved/compare.csv other/1
fails 2 "solved/compre.csv: cannot be read: .*did you mean 'solved/compare.csv'" "$gradsync" \
    compare --again solved/compre.csv
mkdir solved/compare
fails 2 "did you mean 'solved/compare.csv'" "$gradsync" compare --again solved/compre.csv
fails 2 'solved/again.csv:1: has other columns' "$gradsync" compare --again solved/again.csv
sed '3s/,faster,/,fastr,/' solved/compare.csv >damaged.csv
fails 1 "^damaged.csv:3: 'fastr' is not a verdict" "$gradsync" compare --again damaged.csv
sed '3s/,0.01,faster,/,0.01x,faster,/' solved/compare.csv >damaged.csv
fails 1 "^damaged.csv:3: .*: '0.01x' must be a number" "$gradsync" compare --again damaged.csv
mkdir as.csv && cp -r days as.csv
prints 'null on sim +2 +1 ' "$gradsync" compare --again as.csv
says 'no contrast was measured twice below csv/compare.csv' "$gradsync" compare --again \
    csv/compare.csv
says 'no contrast was measured twice below raw1' "$gradsync" compare --again raw1
fails 2 '--again excludes' "$gradsync" compare --again --best-of comm days

# ---- what the floor forbids
"$make_campaign" floor groups=1 spread=0.0005 effect=0.02
for f in floor/*.jsonl; do # the second copy of the baseline 4% slower: the method is off by that
    jq -c 'if .type == "block" and .cell == "0000000000000001" and .copy == 1
        then .time_ns |= map(. * 1.04 | floor) else . end' "$f" >slower && mv slower "$f"
done
prints ' -3\.[78][0-9]% \.\. \+[34]\.[0-9]+%  +alone +inconclusive' "$gradsync" compare --all \
    floor -o floor.csv
like "$out" 'p_holm: p of the interval' 'the legend says which test p_holm is of'
ok 'the floor is the 4% by which the copies of the baseline differ' within \
    "$(of floor.csv 8 c2 floor)" 0.038 0.042
is "$(of floor.csv 8 c2 verdict)" inconclusive 'a 2% effect below the floor is inconclusive'
like "$(reason floor.csv ',c2,')" 'not above the A/A floor' \
    'the reason says that the effect is not above the floor'
is "$(of floor.csv 8 c2 launches_needed)" '' \
    'no number of launches is given where more would not help'
is "$(of floor.csv 8 c1 verdict)" equivalent 'two configs can be equivalent below the floor'

# ---- few launches
"$make_campaign" single groups=1 launches=1
ok 'a comparison of one launch succeeds' "$gradsync" compare --all single -o single.csv
unlike "$out" 'p_holm: p of' 'no legend explains p where no contrast has one'
is "$(of single.csv 8 c2 launches ratio ratio_low p_interval verdict)" '1    inconclusive' \
    'one launch gives no number and no verdict'
like "$(reason single.csv ',c2,')" 'one launch says nothing about the next' \
    'the reason says that one launch says nothing about the next'
like "$err" '3 contrasts come from one launch' 'a note counts the contrasts that rest on one launch'
"$make_campaign" noisy groups=1 spread=0.02
ok 'a comparison of a noisy run succeeds' "$gradsync" compare noisy -o noisy.csv
is "$(of noisy.csv 8 c1 verdict)" inconclusive 'a noisy run is inconclusive'
ok 'a noisy run says how many launches would settle it' test \
    "$(of noisy.csv 8 c1 launches_needed)" -gt 5

"$make_campaign" family groups=1 configs=5 launches=12
ok 'a comparison of twelve launches succeeds' "$gradsync" compare -q family -o family.csv
# p_holm is of the larger of the two tests
awk -F, 'NR > 1 { print ($14 > $15 ? $14 : $15) "," $16 }' OFMT=%.17g family.csv/compare.csv |
    sort -t, -k1,1g >p
holm=$(awk -F, '{ a = $1 * (4 - NR + 1); m = a > m ? a : m; printf "%.6f ", m < 1 ? m : 1 }' p)
is "$(awk -F, '{ printf "%.6f ", $2 }' p)" "$holm" \
    "p_holm is Holm's adjustment of the larger of both p"
is "$(cut -d, -f17 family.csv/compare.csv | tail -n +2 | sort -u) $(cut -d, -f17 csv/compare.csv |
    tail -n +2 | sort -u)" 'both interval' 'p_holm_of says which tests the adjusted p is of'
is "$(of family.csv 8 c2 p_permutation)" 0.00048828125 \
    'the smallest permutation p of twelve launches is 2 in 4096'

# ---- provenance
"$make_campaign" mixed groups=1 configs=2 other_mpi='Open MPI v5.0.0'
ok 'a comparison of launches under two versions of MPI succeeds' "$gradsync" compare mixed -o \
    mixed.csv
is "$(of mixed.csv 8 c1 launches)" $'2\n3' 'launches under different versions of MPI are kept apart'
is "$("$gradsync" compare --json mixed | jq '.groups | length')" 2 \
    'each version has a best config of its own'
like "$(reason mixed.csv ',c1,2')" \
    'mixed provenance, launches 1, 2 .*mpi Open MPI v4.1.4 \| Open MPI v5.0.0' \
    'the reason names the launches and both versions of MPI'

# ---- fewer blocks than asked for
mkdir thin && "$make_campaign" thin/r groups=1 configs=2 launches=4
printf '[measure]\nblocks = 20\n[null]\nsize = 8\n' >thin/r/config.ini
less() { # LAUNCH BLOCKS
    jq -c --argjson n "$2" 'select(.type != "block" or .block <= $n)' "thin/r/launch-0$1.01.jsonl" \
        >less
    mv less "thin/r/launch-0$1.01.jsonl"
}
less 3 9
ok 'a comparison with a launch of 9 of 20 blocks succeeds' "$gradsync" compare thin -o thin.csv
is "$(of thin.csv 8 c1 launches)" 4 'a launch of 9 of 20 blocks counts'
like "$(reason thin.csv ',c1,')" 'few blocks: launch 3 \(9\) of 20' \
    'the reason names the launch of 9 blocks'
less 2 2
ok 'a comparison with a launch of 2 of 20 blocks succeeds' "$gradsync" compare thin -o thin.csv
is "$(of thin.csv 8 c1 launches)" 3 'a launch of 2 of 20 blocks does not count'
like "$(reason thin.csv ',c1,')" 'left out, too few blocks: launch 2 \(2\) of 20' \
    'the reason names the launch that is left out'
for launch in 1 3 4; do less $launch 1; done
ok 'a comparison succeeds where no launch has enough blocks' "$gradsync" compare thin -o thin.csv
is "$(of thin.csv 8 c1 launches ratio verdict)" '0  inconclusive' \
    'a contrast without a launch of enough blocks has no numbers'
"$make_campaign" wrong groups=1 configs=2 samples=1
sed -i '/"type":"end"/d' wrong/launch-02.01.jsonl
line='{"type":"fail","cell":"0000000000000002","copy":0,"kind":"wrong","why":"sum off",'
echo "$line"'"rank":0,"host":"h","phase":"verify"}' >>wrong/launch-02.01.jsonl
ok 'a comparison succeeds where a result was wrong' "$gradsync" compare wrong -o wrong.csv
is "$(of wrong.csv 8 c1 launches ratio verdict)|$(reason wrong.csv ',c1,')" \
    '0  inconclusive|wrong: sum off' 'a config with a wrong result has a row without numbers'

# ---- side by side
"$make_campaign" before groups=2 seed=3
"$make_campaign" after groups=3 seed=4 scale=1.05 mpi='Open MPI v5.0.0'
says '4 cells of after are not in before' "$gradsync" compare before after -o sides.csv
is "$(tail -n +2 sides.csv/compare.csv | cut -d, -f20 | sort | uniq -c | tr -s ' ')" ' 8 slower' \
    'every cell of the second run is slower'
ok 'the ratio of the runs is the simulated 5%' within "$(of sides.csv 8 c0 ratio)" 1.04 1.06
is "$(of sides.csv 8 c0 run_id baseline)" 'after before' \
    'the first run is the baseline of the second'
like "$(reason sides.csv ',c0,')" 'not alike: mpi Open MPI v4.1.4 \| Open MPI v5.0.0' \
    'the reason names both versions of MPI'
ok 'two runs have an A/A floor' within "$(of sides.csv 8 c0 floor)" 0.00001 0.02
mkdir days2
for day in 1 2; do "$make_campaign" days2/$day groups=1 seed=$day; done
ok 'a comparison with two runs of a cell succeeds' "$gradsync" compare before days2 -o latest
is "$(tail -n +2 latest/compare.csv | cut -d, -f4 | sort | uniq -c | tr -s ' ')" ' 4 2' \
    'of two runs of the same cells the latest counts'
for f in days2/1/*.jsonl; do sed -i '1s/"run_id":"[^"]*"/"run_id":"1-older"/' "$f"; done
manifest days2/1
ok 'a comparison with a complete run and a later one succeeds' "$gradsync" compare before days2 -o whole
like "$err" 'without a newer run that is unfinished \(to complete it: gradsync resume days2/2\)' \
    'the later run is named'
is "$(tail -n +2 whole/compare.csv | cut -d, -f4 | sort -u)" '1-older' 'the complete run counts'
for side in before after; do
    cp -r $side no-$side && sed -i 's/"config":"c3"/"config":""/' no-$side/*.jsonl
done
prints $'\n  8 +- +[-+][0-9.]+% ' "$gradsync" compare no-before no-after
cp -r after bare && sed -i '/"copy":1/d' bare/*.jsonl
ok 'a comparison with a run without a second baseline copy succeeds' "$gradsync" compare before \
    bare -o bare.csv
is "$(tail -n +2 bare.csv/compare.csv | cut -d, -f18,20 | sort | uniq -c | tr -s ' ')" \
    ' 8 ,inconclusive' 'without a second baseline copy there is no floor and no verdict'
like "$(reason bare.csv ',c0,')" 'no verdict without an A/A floor; no A/A floor in after' \
    'the reason names the run that lacks the floor'
ok 'a run without a second baseline copy is compared by itself' "$gradsync" compare bare -o bare.csv
is "$(of bare.csv 8 c2 verdict)|$(reason bare.csv ',c2,')" \
    'inconclusive|no verdict without an A/A floor' \
    'a run without a second baseline copy has no verdicts'
mkdir floorless && cp -r bare floorless/1 && cp -r bare floorless/2
sed -i 's/"run_id":"[^"]*"/"run_id":"zzz"/' floorless/2/*.jsonl
"$gradsync" compare -q --again floorless -o floorless.csv
is "$(csv floorless.csv/again.csv 1 earlier_verdict agreement | sort | uniq -c | xargs)" '9 inconclusive open' \
    'nor have they when a later run is compared with them'
sed -i 's/"ranks":2,/"ranks":4,/; s/"nodes":1\b/"nodes":2/; s/"run_id":"[^"]*"/"run_id":"wider"/' after/launch-*.jsonl
ok 'a comparison of runs with different numbers of ranks succeeds' "$gradsync" compare before \
    after -o sides.csv
like "$(reason sides.csv ',c0,')" 'not alike: ranks 2 \| 4, nodes 1 \| 2, mpi ' \
    'the reason names the numbers of ranks and nodes first'
ok 'a comparison of a run with itself succeeds' "$gradsync" compare before before -o self.csv
is "$(tail -n +2 self.csv/compare.csv | cut -d, -f11 | sort -u)" 1.0 \
    'a run is exactly as fast as itself'
is "$(grep -c 'the same recording on both sides' self.csv/compare.csv)" 8 \
    'each row of a run against itself says so'
unlike "$(cat self.csv/compare.csv)" 'faster|slower' \
    'a run is neither faster nor slower than itself'

slower_where() { # REGEX: the run `like` is `before`, but block lines that match are far slower
    rm -rf like && cp -r before like
    sed -i 's/"run_id":"[^"]*"/"run_id":"like"/' like/launch-*.jsonl
    sed -i "/\"type\":\"block\".*$1/s/\\b1\\([0-9]\\{7\\}\\)\\b/9\\1/g" like/launch-*.jsonl
    isnt "$(cat before/launch-*.jsonl | cksum)" "$(cat like/launch-*.jsonl | cksum)" \
        'the run like has slower blocks than the run before'
    "$gradsync" compare -q before like -o sides.csv
}
slower_where '"copy":1'
is "$(tail -n +2 sides.csv/compare.csv | cut -d, -f11 | sort -u)" 1.0 \
    'the second copy of the baseline is not compared between runs'
slower_where '"block":[123],'
is "$(tail -n +2 sides.csv/compare.csv | cut -d, -f18 | grep -c er)" 0 \
    'blocks of warm-up are not compared between runs'
"$gradsync" compare -q before mixed -o sides.csv
like "$(reason sides.csv ',c1,')" \
    'mixed provenance in .*: 2 launches of another kind are left out' \
    'between runs the launches of the rarer kind are left out'
is "$(of sides.csv 8 c1 launches)" 3 'the launches that are left out are not counted'

# ---- a gate for CI: `later` is 5% slower than `before` in every cell, `unsure` is noisy
"$make_campaign" later groups=2 seed=4 scale=1.05
"$make_campaign" unsure groups=2 seed=5 spread=0.03
fails 1 'later: slower than before in 8 of 8 cells' "$gradsync" compare --fail-if slower before \
    later
like "$out" ': [1-9] of [1-9] slower than before' 'the first line counts the slower cells'
ok '--fail-if slower passes a run that is faster' "$gradsync" compare --fail-if slower later before
says 'are inconclusive and pass' "$gradsync" compare --fail-if slower before unsure
exits 2 '--fail-if with one run is refused' "$gradsync" compare --fail-if slower before
exits 2 '--fail-if faster is refused' "$gradsync" compare --fail-if faster before later

# ---- a platform with trials of two jobs: the latest run of each step
for run in 1 2 3; do
    mkdir -p data/raw/sim/trial
    "$make_campaign" data/raw/sim/trial/$run groups=1 seed=$run
    sed -i 's/"workload":"null"/"workload":"trial"/' data/raw/sim/trial/$run/*.jsonl
done
sed -i 's/"group":"[0-9a-f]/&x/' data/raw/sim/trial/2/*.jsonl
sed -i 's/"group":"\([0-9a-f]\)x[0-9a-f]/"group":"\1f/' data/raw/sim/trial/2/*.jsonl
says '^platform sim, without 1 older run$' "$gradsync" compare sim
is "$(grep -o 'trial, trial [0-9]' <<<"$out" | xargs)" 'trial, trial 2 trial, trial 3' \
    'the latest run of each step is compared'
rm -r data

# ---- wrong use
mkdir -p none && exits 2 'a folder without runs is refused' "$gradsync" compare none
exits 2 'two runs with nothing in common are refused' "$gradsync" compare before <(:)
exits 2 'one run named three times is refused' "$gradsync" compare before before before
sed -i 5s/^/x/ after/launch-02.01.jsonl
fails 1 '^after/launch-02.01.jsonl:5: ' "$gradsync" compare after -o damaged.csv
ok 'a damaged recording leaves no compare.csv' test ! -e damaged.csv/compare.csv
done_testing
