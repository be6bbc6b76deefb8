#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Verdicts: from recordings whose truth is known to compare.csv, the terminal and the exit code.
# Run also under ASan.
. "$(dirname "$0")/lib.sh"
make_campaign="$build/sim/make_campaign"

# $(of CSV SIZE CONFIG COLUMN…): fields of a contrast's row; the quoted one, the reason, is the last
of() {
    local csv=$1 size=$2 config=$3
    shift 3
    awk -F, -v size="$size" -v config="$config" -v names="$*" '
        NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = split(names, name, " "); next }
        $(col["size_B"]) == size && $(col["config"]) == config {
            for (i = 1; i <= n; i++) printf "%s%s", $(col[name[i]]), i < n ? " " : "\n" }' "$csv/compare.csv"
}
# The reason of the first row that matches.
reason() { awk "$(<"$top/figures/csv.awk")"' NR == 1 { header(); next } $0 ~ want { csv($0, f); print get("reason"); exit }' want="$2" "$1/compare.csv"; }
# What NCCL ran, said of a config in every launch: ran DIR CONFIG TEXT
ran() {
    perl -pi -e 'BEGIN { $config = shift; $text = shift }
        if (/"type":"cell","cell":"(\w+)"/) { my $cell = $1; my ($copy) = /"copy":(\d)/
            ; $_ = qq({"type":"note","cell":"$cell","copy":$copy,"key":"ran","value":"$text"}\n$_) if /"config":"$config"/ }' "$2" "$3" "$1"/*.jsonl
}
within() { awk -v x="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(x > lo && x < hi) }'; }

# ---- inside a run
"$make_campaign" raw1 groups=2 spread=0.002
ok 'a run is compared' "$gradsync" compare --all raw1 -o csv
like "$out" $'\n  8 +c2 .* faster' 'the terminal has the table'
like "$out" '2 faster, 2 slower, 2 equivalent, 0 inconclusive' 'and the count'
is "$(head -n 1 csv/compare.csv)" 'platform,workload,label,run_id,mode,size_B,params,baseline,config,launches,blocks,ratio,ratio_low,ratio_high,p_permutation,p_interval,p_holm,p_holm_of,floor,equivalence,verdict,launches_needed,reason,measured_verdict,baseline_ran,ran,level' 'the columns of compare.csv'
is "$(cut -d, -f6,8,9 csv/compare.csv | tail -n +2 | tr '\n' ' ')" '8,c0,c1 8,c0,c2 8,c0,c3 16,c0,c1 16,c0,c2 16,c0,c3 ' 'a row a config but the baseline'
is "$(of csv 8 c1 verdict) $(of csv 8 c2 verdict) $(of csv 8 c3 verdict)" 'equivalent faster slower' 'verdicts are the truth'
is "$(of csv 8 c2 launches launches_needed p_permutation equivalence)" '5 0 0.0625 0.01' 'launches; five cannot give a smaller permutation p'
ok 'a ratio of the truth' within "$(of csv 8 c2 ratio)" 0.975 0.985
ok 'inside its interval' within "$(of csv 8 c2 ratio)" "$(of csv 8 c2 ratio_low)" "$(of csv 8 c2 ratio_high)"
ok 'nothing to look at' "$gradsync" compare -q raw1 -o quiet
is "$out$err" '' 'with -q'
ok 'and the same rows' diff csv quiet
ok 'on one thread' "$gradsync" compare -q --threads 1 raw1 -o one
exits 2 'on more threads than there are' "$gradsync" compare --threads 4294967297 raw1
like "$err" "compare: --threads: '4294967297' is not an integer from 1 to 1024" '… the range is named'
exits 2 'on none' "$gradsync" compare --threads 0 raw1
ok 'on seven' "$gradsync" compare -q --threads 7 raw1 -o seven
ok 'the same bytes' diff -r one seven
is "$(of csv 16 c3 verdict)" "$(of one 16 c3 verdict)" 'as ever'

# ---- one screen: c2 is the fastest at each size, c1 is as fast as the baseline c0, c3 is slower
ok 'a run on one screen' "$gradsync" compare raw1
like "$out" '^sim null, alone: .* beats c0 in 2 of 2 groups, c2 by [0-9.]+%' 'the first line is the answer'
like "$out" $'\n  8 +c2 +-[0-9.]+% \\[-[0-9.]+, -[0-9.]+\\] .* faster +3/3 +-' 'a line per group has the best config, its gain, interval and verdict, and how many rivals are slower'
unlike "$out" $'\033' 'a pipe has no colour'
mkdir many
for n in 1 2 3 4 5 6 7 8 9; do "$make_campaign" many/$n groups=4 spread=0.02 seed=$n; done
ok 'many runs' "$gradsync" compare many
is "$(awk 'length > 100' <<<"$out")|$(awk 'END { print NR <= 24 }' <<<"$out")" '|1' 'fit one screen of 24 lines and 100 columns'
like "$out" $'\n[0-9]+ more; --all' 'which says how many lines are left out'
is "$("$gradsync" compare --size 16 raw1 | grep -c ' 8 ')|$("$gradsync" compare --size 16B raw1 | grep -c ' 16 ')" '0|1' '--size leaves out other sizes'
is "$("$gradsync" compare --config c3 --all raw1 | grep -c ' c[123] ')" 2 '--config leaves out other configs'
like "$("$gradsync" compare --config c3 raw1)" 'c3 is slower than c0 in 2 of 2' '--config alone is about that config'
exits 2 'a config that was not measured' "$gradsync" compare --config c9 raw1
like "$err" 'it can be c1, c2, c3' 'the error names those that were'
exits 2 'a platform that was not measured' "$gradsync" compare --platform simm raw1
like "$err" "did you mean 'sim'" 'the error names the nearest'
ok 'another baseline' "$gradsync" compare --baseline c2 raw1 -o c2.csv
is "$(of c2.csv 8 c0 baseline verdict)|$(of c2.csv 8 c2 verdict)" 'c2 slower|' 'every other config is compared with it'
exits 2 'a baseline that was not measured' "$gradsync" compare --baseline c9 raw1
ok 'the same as JSON' "$gradsync" compare --json raw1
is "$(jq -r '.groups[0] | "\(.fastest) \(.size_bytes) \(.verdict) \(.rivals_slower) \(.change_percent < -1)"' <<<"$out")" \
    'c2 8 faster 3 true' 'has the best config of each group'
is "$(jq -r '[.contrasts[] | .verdict] | join(" ")' <<<"$out")" 'equivalent faster slower equivalent faster slower' 'and every contrast'

# ---- rivals that are close: c2 and c3 are both 2% faster than c0
"$make_campaign" close groups=1 spread=0.002
for f in close/*.jsonl; do
    jq -c 'if .type == "block" and .cell == "0000000000000004" then .time_ns |= map(. * 0.9606 | floor) else . end' "$f" >near && mv near "$f"
done
like "$("$gradsync" compare close)" $'\n  8 +c[23] .* faster +2/3 +c[23]$' 'a rival with the same time is not distinguishable from the best'

# ---- against the best of a mode: alone c2 is the fastest, in the step c3, and c2 the slowest
"$make_campaign" modes groups=2 spread=0.002
sed -i -e '/"cell":"000000000000004/{s/"mode":""/"mode":"overlapped"/;s/"size":"16"/"size":"8"/
    s/"size_B":16/"size_B":8/;s/"c2"/"c_"/g;s/"c3"/"c2"/g;s/"c_"/"c3"/g}' -e 's/"mode":""/"mode":"comm"/' \
    -e '/"type":"group","group":"0000000000000001"/d' \
    -e 's/"group":"0000000000000002"/"group":"0000000000000001"/' modes/*.jsonl
ok 'what is best alone' "$gradsync" compare --best-of comm modes -o modes.csv
like "$out" '^sim null overlapped, alone: .* best of comm in 1 of 1 ' 'the first line says in how many steps another config beats it'
like "$("$gradsync" compare --best-of comm --all modes)" 'comm is beaten in 1 of 1 groups, .* best in 0, undecided in 0' 'all contrasts end with the same count'
is "$(cut -d, -f5,8,9,21 modes.csv/chosen.csv | tail -n +2 | tr '\n' ' ')" 'overlapped,c2,c0,faster overlapped,c2,c1,faster overlapped,c2,c3,faster ' 'is beaten by each in the step'
ok 'and its floor' within "$(sed -n 's/,/ /g;2p' modes.csv/chosen.csv | awk '{ print $19 }')" 0 0.01
ok 'what is best in the step' "$gradsync" compare -q --best-of overlapped modes -o modes.csv
is "$(cut -d, -f5,8,9,21 modes.csv/chosen.csv | tail -n +2 | tr '\n' ' ')" 'comm,c3,c0,faster comm,c3,c1,faster comm,c3,c2,faster ' 'is as poor alone'
ok 'a mode of steps that these lack' "$gradsync" compare --best-of compute modes
like "$err" "nothing to compare: .* configs of the mode 'compute' beside another mode" 'is said'
exits 2 'a mode that there is not' "$gradsync" compare --best-of com modes
like "$err" "a mode 'com' beside another mode, did you mean 'comm'" 'is a slip'
exits 2 'two runs have no best' "$gradsync" compare --best-of comm raw1 raw1
like "$err" '--best-of compares configs of a run' 'and it says so'

# ---- same operation: c2 is 2% faster than the baseline, and c3 slower; c2 ran what the baseline ran
"$make_campaign" same groups=2 spread=0.002
for config in c0 c2; do ran same $config 'RING/LL ctas=24'; done
ran same c1 'unproven: this NCCL does not say what it ran'
ran same c3 'RING/LL ctas=16'
ok 'what ran is compared' "$gradsync" compare --all same -o same.csv
is "$(of same.csv 8 c1 verdict) $(of same.csv 8 c2 verdict) $(of same.csv 8 c3 verdict)" 'equivalent same operation slower' 'the same operation is nothing else'
like "$(reason same.csv ',c2,')" '^both ran RING/LL ctas=24$' 'and it is said which'
is "$(of same.csv 8 c2 ratio ratio_low ratio_high p_holm launches_needed)" "$(of csv 8 c2 ratio ratio_low ratio_high p_holm launches_needed)" 'the numbers stay'
is "$(of same.csv 8 c2 measured_verdict baseline_ran ran)" 'faster RING/LL ctas=24 RING/LL ctas=24' 'and what they would be called'
is "$(of same.csv 8 c3 measured_verdict ran)|$(of same.csv 8 c1 measured_verdict ran)" 'slower RING/LL ctas=16|equivalent ' 'of others that is the verdict'
like "$out" $'\n  8 +c2 .* same operation both ran RING/LL ctas=24 \\(by its time alone: faster\\)' 'in the terminal too'
like "$out" '0 faster, 2 slower, 2 equivalent, 0 inconclusive, 2 same operation' 'in the count'
like "$out" 'placebo: .* 2 of 2 alone \(100.0%; A/A copies 0 of 2, 0.0%\)' 'and in the rate that is called'
is "$(cat same.csv/placebo.csv)" $'platform,workload,label,run_id,mode,contrasts,called,aa,aa_called\nsim,null,,same,,2,2,2,0' 'as a table'
unlike "$("$gradsync" compare --all raw1)" 'placebo' 'where nothing ran the same there is none'
cp -r same buckets && sed -i 's/"config":"c2"}/"config":"c2","bucket_cap":"5MiB"}/' buckets/*.jsonl
ok 'what a config sets besides the tuning' "$gradsync" compare -q buckets -o buckets.csv
is "$(of buckets.csv 8 c2 verdict ran baseline_ran)" 'faster RING/LL ctas=24 RING/LL ctas=24' 'makes another operation of it, whatever NCCL ran'
is "$(tail -n 1 buckets.csv/placebo.csv)" 'sim,null,,same,,0,0,2,0' 'which is no placebo'
cp -r same varies && perl -pi -e 's/ctas=24/ctas=22/ if /"type":"note"/' varies/launch-02.01.jsonl
ok 'what differs between launches' "$gradsync" compare -q varies -o varies.csv
is "$(of varies.csv 8 c2 verdict baseline_ran)" 'faster RING/LL ctas=24 | RING/LL ctas=22' 'is no one operation'
ok 'two runs of one operation' "$gradsync" compare same varies -o sides.same
unlike "$(cut -d, -f19 sides.same/compare.csv)" 'same operation' 'are judged by their times'
like "$(reason sides.same ',c0,')" 'not the same operation: RING/LL ctas=24 \| RING/LL ctas=24 \| RING/LL ctas=22' 'and what ran is named where it differs'
mkdir twice && cp -r same twice/1 && cp -r same twice/2 && sed -i 's/"run_id":"same"/"run_id":"1"/' twice/1/*.jsonl && sed -i 's/"run_id":"same"/"run_id":"2"/' twice/2/*.jsonl
ok 'the same operation again' "$gradsync" compare --again twice -o twice.csv
like "$out" '6 of 6 contrasts have numbers in both: 4 with the same verdict, 0 inconclusive in one or both, .*, 2 same operation in one or both' 'agrees by what was recorded, and counts as no agreement of times'
is "$(grep -c 'same operation,same operation,yes' twice.csv/again.csv)" 2 'in its table'
"$gradsync" compare -q twice -o twice.solved
is "$("$gradsync" compare --again twice.solved/compare.csv)" "$("$gradsync" compare --again twice)" 'from a table too'

# ---- the best of a mode is no config that ran what the baseline ran
cp -r modes best
for config in c0 c2; do ran best $config 'RING/LL ctas=24'; done
ok 'the best, where c2 is the baseline under another name' "$gradsync" compare --best-of comm best -o best.csv
is "$(cut -d, -f5,8,9 best.csv/chosen.csv | tail -n +2 | head -n 1)" 'overlapped,c0,c1' 'is the baseline'
ok 'modes' "$gradsync" compare --all best
like "$out" $'\n3 contrasts of mode comm: .*\n3 contrasts of mode overlapped: ' 'are counted each by itself'
like "$("$gradsync" compare best)" $'^sim null overlapped, alone: .* 1 groups.*\nnull comm, alone: .* 1 groups' 'on one screen too, the step first'

# ---- several runs of one thing: on the second day all is as on the first, on the third c1 is faster,
# c2 slower and c3 as the baseline
mkdir days other
for day in 1 2 3; do "$make_campaign" days/$day groups=2 spread=0.002 seed=$day; done
sed -i 's/"c1"/"c_"/g; s/"c2"/"c1"/g; s/"c3"/"c2"/g; s/"c_"/"c3"/g' days/3/*.jsonl
ok 'measured again' "$gradsync" compare --again days -o days.csv
like "$out" $'null on sim, run 2 after 1\n  6 of 6 contrasts have numbers in both: 6 with the same verdict, 0 inconclusive in one or both, 0 equivalent in one and not in the other, 0 contrary' 'it agrees'
like "$out" $'\n  6 of 6 intervals overlap; half of the ratios moved by at most 0' 'in numbers too'
like "$out" $'null on sim, run 3 after 2\n  6 of 6 contrasts have numbers in both: 0 with the same verdict, 0 inconclusive in one or both, 4 equivalent in one and not in the other, 2 contrary\n  0 of 6 intervals overlap' 'or does not'
like "$out" $'\n  8 +c2 +earlier faster -[0-9.]+% \\[.*\\], later slower \\+' 'and each that does not is named'
"$gradsync" compare -q days -o days.csv
is "$(cut -d, -f4,6,9,21,28,29,33- days.csv/again.csv | sed -n '1,4p;8,10p')" \
    "$(printf '%s\n' run_id,size_B,config,verdict,earlier_run_id,earlier_launches,earlier_verdict,agreement,overlap \
        2,8,c1,equivalent,1,5,equivalent,same,yes 2,8,c2,faster,1,5,faster,same,yes 2,8,c3,slower,1,5,slower,same,yes \
        3,8,c3,equivalent,2,5,slower,different,no 3,8,c1,faster,2,5,equivalent,different,no 3,8,c2,slower,2,5,faster,contrary,no)" 'in again.csv too'
is "$(sed -n 4p days.csv/again.csv | cut -d, -f30-32)" "$(grep '^sim,null,,1,.*,8,.*,c3,' days.csv/compare.csv | cut -d, -f12-14)" "with the earlier run's numbers"
"$make_campaign" other/1 groups=1 spread=0.02 seed=9
ok 'a run that settles nothing' "$gradsync" compare --again other days/2
like "$out" 'run 2 after 1' 'in another folder'
like "$out" '3 of 6 contrasts have numbers in both: 0 with the same verdict, 3 inconclusive' 'contradicts nothing'
mkdir gap && for day in 1 2 3; do "$make_campaign" gap/$day groups=1 launches=$((day == 2 ? 1 : 5)) mpi="Open MPI v5.0.$day"; done
ok 'a run of one launch between two' "$gradsync" compare --again gap
like "$out" $'null on sim, run 3 after 1\n  different provenance: mpi Open MPI v5.0.1 \\| Open MPI v5.0.3\n  3 of 3 contrasts' 'does not keep them apart; what differs is named'
like "$out" $'null on sim, run 2\n  none of its 3 contrasts has numbers in this run and in another' 'and is named itself'
mkdir bound && "$make_campaign" bound/1 groups=1 && "$make_campaign" bound/2 groups=1
printf '[measure]\nequivalence = 5%%\n[null]\nsize = 8\n' >bound/2/config.ini
ok 'a day that calls more equivalent' "$gradsync" compare --again bound
like "$out" '3 with the same verdict' 'is held by its own bound to the day before'
mkdir solved && "$gradsync" compare -q days -o solved
ok 'what a table has solved' "$gradsync" compare --again solved/compare.csv -o solved
is "$out" "$("$gradsync" compare --again days)" 'gives the same answers'
ok 'to the byte' cmp days.csv/again.csv solved/again.csv
exits 2 'a table and a run' "$gradsync" compare --again solved/compare.csv other/1
like "$err" '--again takes recordings or one table, not both: solved/compare.csv' 'are too many'
exits 2 'no such table' "$gradsync" compare --again solved/compre.csv
like "$err" "solved/compre.csv: cannot be read: .*did you mean 'solved/compare.csv'" 'has its nearest named'
mkdir solved/compare
exits 2 'nor that of a folder' "$gradsync" compare --again solved/compre.csv
like "$err" "did you mean 'solved/compare.csv'" 'is named'
exits 2 'a table of repeats' "$gradsync" compare --again solved/again.csv
like "$err" 'solved/again.csv:1: has other columns' 'is another'
sed '3s/,faster,/,fastr,/' solved/compare.csv >damaged.csv
exits 1 'a verdict that is none' "$gradsync" compare --again damaged.csv
like "$err" "^damaged.csv:3: 'fastr' is not a verdict" 'is refused'
sed '3s/,0.01,faster,/,0.01x,faster,/' solved/compare.csv >damaged.csv
exits 1 'a number that is none' "$gradsync" compare --again damaged.csv
like "$err" "^damaged.csv:3: '0.01x' must be a number" 'too'
mkdir as.csv && cp -r days as.csv
ok 'a folder of any name' "$gradsync" compare --again as.csv
like "$out" 'run 2 after 1' 'is of recordings'
ok 'a table of one run' "$gradsync" compare --again csv/compare.csv
like "$err" 'no contrast was measured twice below csv/compare.csv' 'has nothing to agree'
ok 'a run alone' "$gradsync" compare --again raw1
like "$err" 'no contrast was measured twice below raw1' 'has none to agree with'
exits 2 'two questions at once' "$gradsync" compare --again --best-of comm days
like "$err" '--again excludes' 'are refused'

# ---- what the floor forbids
"$make_campaign" floor groups=1 spread=0.0005 effect=0.02
for f in floor/*.jsonl; do # the second copy of the baseline 4% slower: the method is off by that
    jq -c 'if .type == "block" and .cell == "0000000000000001" and .copy == 1
        then .time_ns |= map(. * 1.04 | floor) else . end' "$f" >slower && mv slower "$f"
done
ok 'a baseline that differs from itself' "$gradsync" compare --all floor -o floor.csv
like "$out" ' -3\.[78][0-9]% \.\. \+[34]\.[0-9]+%  +alone +inconclusive' 'is printed with both ends of a ratio'
like "$out" 'p_holm: p of the interval' 'and which test p_holm is of'
ok 'its floor' within "$(of floor.csv 8 c2 floor)" 0.038 0.042
is "$(of floor.csv 8 c2 verdict)" inconclusive 'nothing is claimed below it'
like "$(reason floor.csv ',c2,')" 'not above the A/A floor' 'and the reason is said'
is "$(of floor.csv 8 c2 launches_needed)" '' 'more launches would not help'
is "$(of floor.csv 8 c1 verdict)" equivalent 'that two are alike can still be said'

# ---- few launches
"$make_campaign" single groups=1 launches=1
ok 'one launch is no failure' "$gradsync" compare single -o single.csv
is "$(of single.csv 8 c2 launches ratio ratio_low p_interval verdict)" '1    inconclusive' 'and no number is given'
like "$(reason single.csv ',c2,')" 'one launch says nothing about the next' 'for a reason'
like "$err" '3 contrasts rest on one launch' 'that is said'
"$make_campaign" noisy groups=1 spread=0.02
ok 'a noisy run' "$gradsync" compare noisy -o noisy.csv
is "$(of noisy.csv 8 c1 verdict)" inconclusive 'settles nothing'
ok 'and says how many launches would' test "$(of noisy.csv 8 c1 launches_needed)" -gt 5

"$make_campaign" family groups=1 configs=5 launches=12
ok 'twelve launches' "$gradsync" compare -q family -o family.csv
# p_holm is of the larger of the two tests
awk -F, 'NR > 1 { print ($15 > $16 ? $15 : $16) "," $17 }' OFMT=%.17g family.csv/compare.csv | sort -t, -k1,1g >p
holm=$(awk -F, '{ a = $1 * (4 - NR + 1); m = a > m ? a : m; printf "%.6f ", m < 1 ? m : 1 }' p)
is "$(awk -F, '{ printf "%.6f ", $2 }' p)" "$holm" "can give a permutation p that Holm's adjustment leaves below 5%"
is "$(cut -d, -f18 family.csv/compare.csv | tail -n +2 | sort -u) $(cut -d, -f18 csv/compare.csv | tail -n +2 | sort -u)" 'both interval' 'and the row says which tests it is of'
is "$(of family.csv 8 c2 p_permutation)" 0.00048828125 'which is 2 in 4096'

# ---- provenance
"$make_campaign" mixed groups=1 configs=2 other_mpi='Open MPI v5.0.0'
ok 'launches of two kinds' "$gradsync" compare mixed -o mixed.csv
is "$(of mixed.csv 8 c1 launches)" $'2\n3' 'are kept apart'
like "$(reason mixed.csv ',c1,2')" 'mixed provenance, launches 1, 2 .*mpi Open MPI v4.1.4 \| Open MPI v5.0.0' 'and named'

# ---- fewer blocks than asked for
mkdir thin && "$make_campaign" thin/r groups=1 configs=2 launches=4
printf '[measure]\nblocks = 20\n[null]\nsize = 8\n' >thin/r/config.ini
less() { # LAUNCH BLOCKS
    jq -c --argjson n "$2" 'select(.type != "block" or .block <= $n)' "thin/r/launch-0$1.01.jsonl" >less
    mv less "thin/r/launch-0$1.01.jsonl"
}
less 3 9
ok 'a launch with 9 of 20 blocks' "$gradsync" compare thin -o thin.csv
is "$(of thin.csv 8 c1 launches)" 4 'counts'
like "$(reason thin.csv ',c1,')" 'few blocks: launch 3 \(9\) of 20' 'and is named'
less 2 2
ok 'a launch with 2 of them' "$gradsync" compare thin -o thin.csv
is "$(of thin.csv 8 c1 launches)" 3 'does not count'
like "$(reason thin.csv ',c1,')" 'left out for want of blocks: launch 2 \(2\) of 20' 'and is named'
for launch in 1 3 4; do less $launch 1; done
ok 'no launch of enough blocks' "$gradsync" compare thin -o thin.csv
is "$(of thin.csv 8 c1 launches ratio verdict)" '0  inconclusive' 'has no numbers'
"$make_campaign" wrong groups=1 configs=2 samples=1
sed -i '/"type":"end"/d' wrong/launch-02.01.jsonl
echo '{"type":"fail","cell":"0000000000000002","copy":0,"kind":"wrong","why":"sum off","rank":0,"host":"h","phase":"verify"}' >>wrong/launch-02.01.jsonl
ok 'a wrong result' "$gradsync" compare wrong -o wrong.csv
is "$(of wrong.csv 8 c1 launches ratio verdict)|$(reason wrong.csv ',c1,')" '0  inconclusive|wrong: sum off' 'has a row without numbers'

# ---- side by side
"$make_campaign" before groups=2 seed=3
"$make_campaign" after groups=3 seed=4 scale=1.05 mpi='Open MPI v5.0.0'
ok 'two runs side by side' "$gradsync" compare before after -o sides.csv
like "$err" '4 cells of after are not in before' 'what has no counterpart is said'
is "$(tail -n +2 sides.csv/compare.csv | cut -d, -f21 | sort | uniq -c | tr -s ' ')" ' 8 slower' 'the second is slower throughout'
ok 'by 5%' within "$(of sides.csv 8 c0 ratio)" 1.04 1.06
is "$(of sides.csv 8 c0 run_id baseline)" 'after before' 'against the first'
like "$(reason sides.csv ',c0,')" 'not alike: mpi Open MPI v4.1.4 \| Open MPI v5.0.0' 'what differs is named'
ok 'the floor of two runs' within "$(of sides.csv 8 c0 floor)" 0.00001 0.02
cp -r after bare && perl -ni -e 'print unless /"copy":1/' bare/*.jsonl
ok 'a run without a second copy of its baseline' "$gradsync" compare before bare -o bare.csv
is "$(tail -n +2 bare.csv/compare.csv | cut -d, -f19,21 | sort | uniq -c | tr -s ' ')" ' 8 ,inconclusive' 'has no floor, and so no verdict'
like "$(reason bare.csv ',c0,')" 'no verdict without an A/A floor; no A/A floor in after' 'and says why'
ok 'nor inside it' "$gradsync" compare bare -o bare.csv
is "$(of bare.csv 8 c2 verdict)|$(reason bare.csv ',c2,')" 'inconclusive|no verdict without an A/A floor' 'are there verdicts'
sed -i 's/"ranks":2,/"ranks":4,/; s/"run_id":"[^"]*"/"run_id":"wider"/' after/launch-*.jsonl
ok 'runs of unlike ranks' "$gradsync" compare before after -o sides.csv
like "$(reason sides.csv ',c0,')" 'not alike: ranks 2 \| 4, mpi ' 'which is named first'
ok 'a run against itself' "$gradsync" compare before before -o self.csv
is "$(tail -n +2 self.csv/compare.csv | cut -d, -f12 | sort -u)" 1.0 'is as fast as itself'
is "$(grep -c 'the same recording on both sides' self.csv/compare.csv)" 8 'and each row says what it is'
unlike "$(cat self.csv/compare.csv)" 'faster|slower' 'and never called anything else'

slower_where() { # REGEX: the run `like` is `before`, but block lines that match are far slower
    rm -rf like && cp -r before like
    sed -i 's/"run_id":"[^"]*"/"run_id":"like"/' like/launch-*.jsonl
    sed -i "/\"type\":\"block\".*$1/s/\\b1\\([0-9]\\{7\\}\\)\\b/9\\1/g" like/launch-*.jsonl
    isnt "$(cat before/launch-*.jsonl | cksum)" "$(cat like/launch-*.jsonl | cksum)" 'blocks are slower'
    "$gradsync" compare -q before like -o sides.csv
}
slower_where '"copy":1'
is "$(tail -n +2 sides.csv/compare.csv | cut -d, -f12 | sort -u)" 1.0 \
    'the second copy of the baseline is not compared between runs'
slower_where '"block":[123],'
is "$(tail -n +2 sides.csv/compare.csv | cut -d, -f19 | grep -c er)" 0 \
    'blocks of warm-up are not compared between runs'
"$gradsync" compare -q before mixed -o sides.csv
like "$(reason sides.csv ',c1,')" 'mixed provenance in .*: 2 launches of another kind are left out' \
    'between runs the launches of the rarer kind are left out'
is "$(of sides.csv 8 c1 launches)" 3 'the launches that are left out are not counted'

# ---- a gate for CI: `later` is 5% slower than `before` in every cell, `unsure` is noisy
"$make_campaign" later groups=2 seed=4 scale=1.05
"$make_campaign" unsure groups=2 seed=5 spread=0.03
exits 1 'a run that is slower than yesterday' "$gradsync" compare --fail-if slower before later
like "$err" 'later: slower than before in 8 of 8 cells' 'the error counts the cells'
like "$out" ': [1-9] of [1-9] slower than before' 'the first line has the count'
ok 'a run that is faster than yesterday passes' "$gradsync" compare --fail-if slower later before
ok 'a run that is undecided passes' "$gradsync" compare --fail-if slower before unsure
like "$err" 'are inconclusive and pass' 'a note says so'
exits 2 'one run has no yesterday' "$gradsync" compare --fail-if slower before
exits 2 'only slower is a failure' "$gradsync" compare --fail-if faster before later

# ---- published numbers
reference() { # LINE…
    printf '%s\n' '[measure]' 'blocks = 20' '[reference]' "$@" '[null]' 'size = 8' >before/config.ini
}
reference 'source = here' 'x = 1ms ± 5% at null/c0/8' 'y = 1.3ms +- 5% at null/c2/16'
ok 'a run at its published numbers' "$gradsync" compare before --reference -o reference.csv
is "$(of reference.csv 8 c0 baseline verdict)" '1ms ± 5% at null/c0/8 equivalent' 'is within the tolerance'
exits 2 'that table is nothing for --again' "$gradsync" compare --again reference.csv/compare.csv
like "$err" "compare.csv:2: '1ms ± 5% at null/c0/8' is a published number" 'with the row'
reference 'x = 0.9ms ± 5% at null/c0/8' 'y = 1.3ms ± 5% at null/c0/16'
exits 1 'a regression' "$gradsync" compare before --reference -o reference.csv
is "$(of reference.csv 8 c0 verdict equivalence) $(of reference.csv 16 c0 verdict)" 'slower 0.05 equivalent' 'is the one that is slower'
like "$err" 'before: slower than \[reference\] allows' 'and said'
reference 'x = 8kB/s ± 5% at null/c0/8'
ok 'a bandwidth' "$gradsync" compare before --reference
reference 'x = 9.5kB/s ± 5% at null/c0/8'
exits 1 'that is no longer reached' "$gradsync" compare before --reference
reference 'x = 2ms ± 5% at null/c0/8'
ok 'faster is no regression' "$gradsync" compare before --reference
for bad in 'x = soon at null/c0/8' 'x = 1ms ± x at null/c0/8' 'x = 1ms at null/c9/8' 'x = 1ms at null/c0/9' 'x = 1ms at null/c0/c1/8'; do
    reference "$bad"
    exits 2 "[reference] $bad" "$gradsync" compare before --reference
    like "$err" '^before/config.ini:4: key ' 'is placed'
done
reference
exits 2 'no published number' "$gradsync" compare before --reference
one_line "$err" 'is one line of error'
printf '[reference]\nx = 0.5ms ± 5%% at null/c0/8\n[null]\nsize = 8\n' >other.ini
exits 1 "another config's numbers" "$gradsync" compare before --reference --config other.ini

# ---- wrong use
mkdir -p none && exits 2 'an empty folder of runs' "$gradsync" compare none
exits 2 'nothing in common' "$gradsync" compare before <(:)
exits 2 'a run twice' "$gradsync" compare before before before
sed -i 5s/^/x/ after/launch-02.01.jsonl
exits 1 'a damaged recording' "$gradsync" compare after -o damaged.csv
like "$err" '^after/launch-02.01.jsonl:5: ' 'is named by line'
ok 'and nothing is written' test ! -e damaged.csv/compare.csv
done_testing
