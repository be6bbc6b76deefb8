#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The figures of what varies in levels: iteration time against the number of CTAs, and the time of
# an operation against contention; and what figures of training steps say of pairs of configs and of
# several sizes. They are drawn from tables whose answers are known.
. "$(dirname "$0")/lib.sh"

mkdir -p steps all
head='run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,median_s,'
head+='ci_low_s,ci_high_s,busbw_Bps,limit_Bps,status'
{
    echo "$head"
    n=0
    for config in auto ctas=16 ctas=2 ctas=8; do
        for mode in sequential overlapped; do
            n=$((n + 1))
            row="r,p,iter_proxy,,c$n,$config,$mode,4,1,1048576,size=1MiB gemms=1 mode=$mode"
            echo "$row,$n.5e-4,$n.4e-4,$n.6e-4,,,ok"
        done
    done
} >steps/summary.csv
{
    printf 'run_id,platform,workload,label,config,ranks,nodes,size_B,params,compute_s,comm_s,'
    printf 'sequential_s,overlapped_s,overlapped_ci_low_s,overlapped_ci_high_s,exposed_s,hidden_s\n'
    for config in auto ctas=16 ctas=2 ctas=8; do
        printf 'r,p,iter_proxy,,%s,4,1,1048576,size=1MiB gemms=1 mode=overlapped,' $config
        echo '1e-4,2e-4,3e-4,2.5e-4,2.4e-4,2.6e-4,1.5e-4,0.5e-4'
    done
} >steps/iteration.csv
echo 'run_id,platform,workload,cell_id,copy,time_s' >steps/samples.csv
ok 'panels are made of a step at several numbers of CTAs' panels \
    "$tmp/out" p/iter_proxy "$tmp/steps"
plot=$tmp/out/iter_proxy-size-1MiB-by.plot
is "$(sed -n '/^\$level/,/^EOD/p' "$plot")" '$level << EOD
2 5.5 5.4 5.6
8 7.5 7.4 7.6
16 3.5 3.4 3.6


2 2.5 2.4 2.6
8 2.5 2.4 2.6
16 2.5 2.4 2.6
EOD' 'points are in the order of CTAs, as times over compute alone'
is "$(grep '^array across' "$plot")" 'array across[2] = [3, 2.5]' \
    'the CTAs that NCCL chooses are a line across'
ok 'make learns which figure of CTAs to draw' grep -q \
    'figure,ctas,p/iter_proxy,p/iter_proxy-size-1MiB-by)' "$tmp/out/figures.mk"

{
    echo "$head"
    for config in auto ring/LL; do
        for contention in none high low; do
            n=$((n + 1))
            row="r,p,nccl_allreduce,,c$n,$config,,4,1,8,size=8 contention=$contention"
            echo "$row,$n.5e-6,$n.4e-6,$n.6e-6,1e9,2e9,ok"
        done
    done
} >all/summary.csv
echo 'run_id,platform,workload,cell_id,copy,time_s' >all/samples.csv
ok 'panels are made of an all-reduce beside contention' panels \
    "$tmp/out2" p/nccl_allreduce "$tmp/all"
plot2=$tmp/out2/nccl_allreduce-size-8B-by.plot
is "$(sed -n '/^\$level/,/^EOD/p' "$plot2")" '$level << EOD
1 9.5e-6 9.4e-6 9.6e-6
2 1.15e-5 1.14e-5 1.16e-5
4 1.05e-5 1.04e-5 1.06e-5


1 1.25e-5 1.24e-5 1.26e-5
2 1.45e-5 1.44e-5 1.46e-5
4 1.35e-5 1.34e-5 1.36e-5
EOD' 'contention goes from none to high, and a level that nobody measured is left out'
ok 'the figure of CTAs is drawn' "$top/figures/draw" ctas "$plot" "$tmp/ctas"
auto_at() { grep -oE '<g transform="translate\([0-9.]+,[0-9.]+\)"[^>]*><text>auto<' ctas.svg | sed 's/.*,\([0-9]*\).*translate.*//; s/.*translate([0-9.]*,\([0-9]*\).*/\1/'; }
sed 's/^array across.*/array across[2] = [2.4, 2.5]/' "$plot" >low.plot
ok 'the figure of CTAs with auto the other way around is drawn' "$top/figures/draw" ctas "$tmp/low.plot" "$tmp/ctas"
ok 'the words stand in the order of their lines' eval 'set -- $(auto_at); [ "$1" -gt "$2" ]'
ok 'the figure of contention is drawn' "$top/figures/draw" contention "$plot2" "$tmp/contention"

# ---- pairs of configs: a chain of intervals that overlap, auto 1.0 to 1.2, a 1.1 to 1.3, b 1.25 to
# 1.4, while verdicts tell a from auto in the step, and nobody has compared a with b.
mkdir -p pairs
{
    echo "$head"
    for config in auto a b; do
        row="r,p,iter_proxy,,$config,$config,overlapped,4,1,8"
        echo "$row,size=8 mode=overlapped algorithm=$config,1,1,1,,,ok"
    done
    echo "r,p,iter_proxy,,ac,a,comm,4,1,8,size=8 mode=comm algorithm=a,1.1,1.05,1.15,,,ok"
} >pairs/summary.csv
{
    head -n 1 steps/iteration.csv
    echo 'r,p,iter_proxy,,auto,4,1,8,size=8 mode=overlapped algorithm=auto,1,1,2,1.1,1.0,1.2,0,0'
    echo 'r,p,iter_proxy,,a,4,1,8,size=8 mode=overlapped algorithm=a,1,1.1,2,1.2,1.1,1.3,0,0'
    echo 'r,p,iter_proxy,,b,4,1,8,size=8 mode=overlapped algorithm=b,1,0.9,2,1.3,1.25,1.4,0,0'
} >pairs/iteration.csv
verdicts='run_id,platform,workload,label,mode,size_B,params,baseline,config,launches,ratio,'
verdicts+='ratio_low,ratio_high,floor,verdict'
{
    echo "$verdicts"
    row='r,p,iter_proxy,,overlapped,8,size=8 mode=overlapped algorithm'
    echo "$row=a,auto,a,5,1.09,1.08,1.1,0,slower"
    echo "$row=b,auto,b,5,1,0.9,1.1,0,inconclusive"
    echo 'r,p,iter_proxy,,comm,8,size=8 mode=comm algorithm=a,auto,a,5,0.9,0.8,0.95,0,faster'
} >pairs/compare.csv
{
    echo "$verdicts"
    echo "$row=auto,b,auto,5,0.9,0.8,0.95,0,faster"
} >pairs/chosen.csv
cp steps/samples.csv pairs
ok 'panels are made of a step whose configs were compared' panels \
    "$tmp/out4" p/iter_proxy "$tmp/pairs"
plot4=$tmp/out4/iter_proxy.plot
is "$(grep -E '^(baseline_at|array (alone|step|against_first)) ?' "$plot4" | sed 's/.*= //' |
    paste -sd' ')" '1 [0, 1, 0] [0, 2, 3] [1, 0, 0]' \
    'a pair has the verdict of its own contrast, 0 without one, whatever the intervals'
is "$(grep -E '^array comm_(low|high)' "$plot4" | sed 's/.*= //' | paste -sd' ')" \
    '[NaN, 1.05, NaN] [NaN, 1.15, NaN]' \
    'communication alone has the interval of its own cell, or none'
forest=$(sed -n '/^\$forest/,/^EOD/p' "$tmp/out4/iter_proxy-overlapped-ratios.plot" | sed 1d)
is "$forest" '1 1.09 1.08 1.1 2
2 1 0.9 1.1 4
EOD' 'the forest has the intervals of its own table'
ok 'the figure of ranks is drawn' "$top/figures/draw" ranks "$plot4" "$tmp/ranks"
like "$(<ranks.svg)" 'short dashes: opposite verdicts +thick black: auto' \
    'the legend names the lines of opposite verdicts and that of the baseline'
like "$(cat ranks.svg)" '1 config beats b \(highest median\) in the step \(1 of 2 compared\)' \
    'the figure says which configs beat the one that is first alone'
unlike "$(cat ranks.svg)" 'overlap|tie' 'the figure speaks of no overlap and no tie'
like "$(<ranks.svg)" '95% interval of the median.*>1.000 .. 1.200<' \
    'a time has the ends of its interval, and the legend says what they are'
unlike "$(<ranks.svg)" '±|[0-9]=<|○ not shown' 'the figure has no ranks'
like "$(<ranks.svg)" 'no config shown to have the highest bandwidth' \
    'no config is named first by bandwidth without a verdict'
like "$(<ranks.svg)" 'shortest step: auto' 'a verdict against the first by bandwidth names the shortest step'
sed -i 's/0.9,0.8,0.95,0,faster/0.9,0.8,1.1,0,inconclusive/' pairs/chosen.csv
ok 'panels are made of a step without a verdict' panels "$tmp/out4" \
    p/iter_proxy "$tmp/pairs"
ok 'the figure of ranks without a verdict is drawn' "$top/figures/draw" ranks "$plot4" "$tmp/ranks"
like "$(<ranks.svg)" 'no config shown to be shortest in the step' \
    'no config is named first in the step without a verdict'

# ---- a step at several sizes: each is a group at clocks of its own
mkdir -p sizes
{
    echo "$head"
    for size in 1 2 4; do
        row="r,p,iter_proxy,,c$size,auto,overlapped,4,1,$size,size=$size mode=overlapped"
        echo "$row,$((size * 8)),$((size * 7)),$((size * 9)),,,ok"
    done
} >sizes/summary.csv
{
    head -n 1 steps/iteration.csv
    for size in 1 2 4; do
        row="r,p,iter_proxy,,auto,4,1,$size,size=$size mode=overlapped"
        echo "$row,$((size * 4)),1,1,$((size * 8)),$((size * 7)),$((size * 9)),0,0"
    done
} >sizes/iteration.csv
cp steps/samples.csv sizes
ok 'panels are made of a step at several sizes' panels "$tmp/out5" \
    p/iter_proxy "$tmp/sizes"
plot5=$tmp/out5/iter_proxy-overlapped.plot
drawn=$(grep '^shares' "$plot5"; sed -n '/^\$curve/,/^EOD/p' "$plot5" | sed 1d | cut -d' ' -f1-4)
is "$drawn" 'shares = 1
1 2 1.75 2.25
2 2 1.75 2.25
4 2 1.75 2.25
EOD' 'times at several sizes are drawn over compute alone of the same blocks'
ok 'the figure over compute alone is drawn' "$top/figures/draw" latency "$plot5" "$tmp/shares"
like "$(cat shares.svg)" 'iteration time / compute alone' \
    'the axis says that times are over compute alone'
sed -i 's/,4,1,2,size=2 mode=overlapped,8,/,4,1,2,size=2 mode=overlapped,,/' sizes/iteration.csv
ok 'panels are made where one size has no compute alone' panels \
    "$tmp/out5" p/iter_proxy "$tmp/sizes"
is "$(grep '^shares' "$plot5"; grep -c '^4 32 28 36' "$plot5")" 'shares = 0
1' 'plain times are drawn where one size has no compute alone'
ok 'the figure of plain times is drawn' "$top/figures/draw" latency "$plot5" "$tmp/times"
like "$(cat times.svg)" 'clocks may differ between sizes' \
    'the figure of plain times warns that clocks may differ'

# ---- the answer: what the config with the highest bandwidth costs, a row for each step
mkdir -p answer
rows="$verdicts,level"
small='iter_proxy,,overlapped,1024,size=1KiB gemms=1 mode=overlapped'
large='iter_proxy,,overlapped,2048,size=2KiB gemms=2 mode=overlapped'
{
    echo "$rows"
    echo "r1,p,$small ctas=8,win,a,5,0.8,0.75,0.85,0,faster,synthetic"
    echo "r1,p,$small ctas=0,win,b,5,0.7,0.5,1.1,0,inconclusive,synthetic"
    echo "r0,p,$small ctas=0,win,b,5,0.1,0.1,0.1,0,faster,synthetic"
    echo "r2,p,$large ctas=0,win,b,5,0.8,0.5,1.25,0,inconclusive,synthetic"
    echo "r2,p,$large ctas=0,win,c,5,0.1,0.1,0.1,0,same operation,synthetic"
    echo "r2,q,$large ctas=0,win,b,5,0.1,0.1,0.1,0,faster,synthetic"
    alone='iter_proxy,,comm,4096,size=4KiB gemms=2 mode=comm'
    echo "r2,p,$alone ctas=0,win,b,5,0.1,0.1,0.1,0,faster,alone"
} >answer/chosen.csv
{
    echo "$rows"
    echo 'r3,p,trial,,,0,config=win,auto,win,5,1.25,1.2,1.3,0,slower,trial'
    echo 'r3,p,trial,,,0,config=b,auto,b,5,0.5,0.5,0.5,0,faster,trial'
} >answer/compare.csv
lost() {
    mkdir -p "$tmp/$1" && bash "$top/figures/panel" "$gradsync" "$tmp/$1/answer.plot" "${*:2}" answer &&
        cp "$tmp/$1/answer.plot" "$tmp/answer.plot"
}
rows_of() { sed -n '/^\$lost/,/^EOD/p' "$tmp/answer.plot" | sed '1d; $d; s/\.0 / /g' | cut -d' ' -f2-; }
ok 'the panel of the answer is written' lost p answer/compare.csv answer/chosen.csv
is "$(rows_of)" '1.25 1.17647058824 1.33333333333 1
1.25 0.8 2 0
2 2 2 1' \
    'a verdict comes before a lower ratio, and one of the same operation is left out'
texts_of() { tr ';' '\n' <"$tmp/answer.plot" | sed -n -E "s/^ ?($1).* = //p"; }
is "$(texts_of 'array (label|pair|heading)\[')" \
    "['1KiB gemms=1', '2KiB gemms=2', 'step']
['win → a', 'win → b', 'auto → b']
['synthetic steps', 'trials inside a job: baseline → best other']" \
    'each row names the step and both configs, below its level of evidence'
ok 'the answer is drawn' "$top/figures/draw" answer "$tmp/answer.plot" "$tmp/answer"
like "$(<answer.svg)" 'step time against the best other config' 'the axis is true of every row'
like "$(<answer.svg)" 'highest bandwidth,<.*or by the baseline where no bandwidth was measured' \
    'the title names both kinds of rows'
sed 's/ 2.0 2.0 2.0 1$/ 5 4 6 1/' "$tmp/answer.plot" >far.plot
ok 'an answer far from 0 is drawn' "$top/figures/draw" answer "$tmp/far.plot" "$tmp/far"
like "$(<far.svg)" 'scale: even within 1% of 0' 'a scale that is not linear is explained'
like "$(<answer.svg)" "<filter id='textbox'" 'the box behind a heading, which hides the axis, is in the SVG'
mkdir answer/alone answer/jobs
head -n 1 answer/chosen.csv >answer/alone/chosen.csv
ok 'the panel of a platform with jobs alone is written' lost p answer/compare.csv answer/alone/chosen.csv
ok 'the answer of jobs alone is drawn' "$top/figures/draw" answer "$tmp/answer.plot" "$tmp/answer"
{
    echo "$rows"
    one='r4,p,train,,,0'
    echo "$one,batch=4 cap=25 lr=1,cap=25,cap=100,5,0.9,0.85,0.95,0,faster,training"
    echo "$one,batch=8 cap=25 lr=1,cap=25,cap=100,5,0.8,0.75,0.85,0,faster,training"
    echo "$one,batch=8 cap=25 lr=2,cap=25,lr=2,5,0.95,0.9,0.99,0,faster,training"
    echo "$one,batch=8 cap=25 launch=graph lr=1,cap=25,cap=100,5,0.8,0.75,0.85,0,faster,training"
    echo "r5,p,trial,,,1169072128,step_size=1169072128,auto,b,1,,,,,inconclusive,trial"
} >answer/jobs/compare.csv
ok 'the panel of jobs with axes is written' lost p answer/{jobs/compare,alone/chosen}.csv
is "$(texts_of 'array label|not_shown')" \
    "'not shown: 1 step without an interval'
['job batch=4', 'job batch=8', 'job batch=8, CUDA graph']" \
    'a row for each value of an axis of a training; what is left out is counted'
like "$(<answer.svg)" 'time lost by the baseline' \
    'jobs alone, which have no bandwidth, are drawn by what their baseline loses'
ok 'the panel of a platform without a step is written' lost none answer/compare.csv \
    answer/chosen.csv
ok 'an empty answer is drawn' "$top/figures/draw" answer "$tmp/answer.plot" "$tmp/answer"
like "$(<answer.svg)" 'no step was compared yet' 'an empty answer says so'

# ---- curves: colours, titles, and what NCCL ran
mkdir -p curves
{
    echo "$head,ran"
    for config in auto a b c d ctas=8; do
        for size in 1024 2048 4096; do
            n=$((n + 1))
            ran=RING/LL
            [ $size != 4096 ] || ran=RING/SIMPLE
            echo "r,p,nccl_allreduce,,k$n,$config,,4,1,$size,size=$((size / 1024))KiB contention=none,${n}e-6,${n}e-6,${n}e-6,1e9,2e9,ok,$ran ctas=2"
        done
    done
    echo "r,p,nccl_allreduce,,z,auto,,4,1,1024,size=1KiB contention=high,1e-6,1e-6,1e-6,1e9,2e9,ok,"
} >curves/summary.csv
cp steps/samples.csv curves
ok 'panels of six configs are written' panels "$tmp/out6" p/nccl_allreduce "$tmp/curves"
plot6=$tmp/out6/nccl_allreduce-contention-none.plot
is "$(grep '^detail' "$plot6")" "detail = 'no contention'" 'the title has words for a parameter'
is "$(grep '^detail' "$plot4" "$tmp/out/iter_proxy-size-1MiB-by.plot" | cut -d= -f2-)" " ''
 '1 MiB'" 'a size has its unit'
is "$(grep -E '^(n_lead|n_rest|array lead)' "$plot6" | paste -sd' ')" 'n_lead = 4 n_rest = 2 array lead[4] = [1, 2, 3, 4]' \
    'four configs have a colour, auto and the fastest first'
is "$(grep '^array tone' "$plot6" | sed 's/.*\[\(.*\)\]/\1/' | tr -d ' ' | tr , '\n' | sort -n | uniq -d)" '' \
    'no two configs of a panel look alike'
is "$(grep '^array tone' "$plot6" | sed 's/.*, //')" '10]' 'a config has its own line type wherever it stands'
is "$(sed -n '/^\$strip/,/^EOD/p' "$plot6")" '$strip << EOD
1024 2048 "RING/LL"
4096 4096 "RING/SIMPLE"
EOD' 'the strip has a stretch for each algorithm and protocol'
ok 'a curve with a strip is drawn' "$top/figures/draw" bandwidth "$plot6" "$tmp/curve"
like "$(<curve.svg)" 'auto ran' 'the strip names its config'
like "$(<curve.svg)" '2 other configs' 'the legend counts the grey configs'
like "$(<curve.svg)" 'fill-opacity' 'bands are translucent'
sed 's/^limit = .*/limit = 1.01e9/' "$plot6" >far.plot
ok 'a curve near the limit is drawn' "$top/figures/draw" bandwidth "$tmp/far.plot" "$tmp/curve"
like "$(<curve.svg)" 'limit 1.01 GB/s' 'the limit is named where its line is in the picture'
sed 's/^limit = .*/limit = 9e12/' "$plot6" >far.plot
ok 'a curve far below the limit is drawn' "$top/figures/draw" bandwidth "$tmp/far.plot" "$tmp/curve"
unlike "$(<curve.svg)" '>[- ]*limit' 'the limit is not named where its line is outside the picture'
awk 'NF == 11 && $1 == 2048 { $10 = 0.01; $11 = 200 } { print }' "$plot6" >far.plot
ok 'a curve with a wide interval is drawn' "$top/figures/draw" latency "$tmp/far.plot" "$tmp/curve"
like "$(<curve.svg)" '↑.*↓|↓.*↑' 'an arrow marks an interval that goes on'
sed '/^\$forest/,/^EOD/s/^1 1.09 1.08 1.1 2/1 1.09 0.01 1.1 4/' \
    "$tmp/out4/iter_proxy-overlapped-ratios.plot" >far.plot
ok 'a forest with a wide interval is drawn' "$top/figures/draw" forest "$tmp/far.plot" "$tmp/forest"
like "$(<forest.svg)" '←' 'an arrow marks a bar that goes on'
unlike "$(<forest.svg)" '→' 'no arrow stands where no bar goes on'

# ---- the bandwidth that a utilisation needs: the legend has lines and marks as drawn, and explains the bars
{
    echo 'schedule,kind,utilisation,rate_bps'
    for schedule in 'every step' 'in 8 fragments'; do
        printf '%s\n' "$schedule,model,0.5,1e9" "$schedule,model,0.9,9e9" "$schedule,published,0.5,1e9"
    done
} >needed.csv
bash "$top/figures/panel" "$gradsync" needed.plot needed.csv wan_needed
ok 'the needed bandwidth is drawn' "$top/figures/draw" wan_needed "$tmp/needed.plot" "$tmp/needed"
like "$(<needed.svg)" 'line: model.*mark: published.*bar: one step of its grid' 'the legend explains line, mark and bar'

# ---- too few numbers of CTAs
grep -v 'ctas=8' steps/summary.csv >less && mv less steps/summary.csv
grep -v 'ctas=8' steps/iteration.csv >less && mv less steps/iteration.csv
ok 'panels are made of two numbers of CTAs' panels "$tmp/out3" \
    p/iter_proxy "$tmp/steps"
is "$(find "$tmp/out3" -name '*-by.plot')" '' 'two numbers of CTAs make no curve'
done_testing
