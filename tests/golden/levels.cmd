# Figures of what varies in levels, of pairs of configs, of several sizes and of the answer: panels and texts drawn
# from tables whose answers are known.
# Not under ASan: it draws.
make() { panels $1 $2 $3; } # OUT P/W CSV
draw() { # FIGURE PLOT [SED]: draws the panel, with edits; $svg is what comes of it
    sed "${3:-}" $2 >edited.plot && $top/figures/plot $1 $PWD/edited.plot $PWD/drawn && svg=$(<drawn.svg)
}
texts() { grep -oE "$1" <<<"$svg" | sort -u; } # REGEX: what the drawing says of it
block() { sed -n "/^\\\$$1/,/^EOD/p" $2; }     # NAME PLOT
head=run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,median_s,ci_low_s,ci_high_s,busbw_Bps,limit_Bps,status
iteration=run_id,platform,workload,label,config,ranks,nodes,size_B,params,compute_s,comm_s,sequential_s,overlapped_s,overlapped_ci_low_s,overlapped_ci_high_s,exposed_s,hidden_s
mkdir steps all pairs sizes answer answer/{alone,jobs} curves
for dir in steps all pairs sizes curves; do echo run_id,platform,workload,cell_id,copy,time_s >$dir/samples.csv; done
n=0
{ echo $head
    for config in auto ctas=16 ctas=2 ctas=8; do for mode in sequential overlapped; do
        n=$((n + 1)) && echo "r,p,iter_proxy,,c$n,$config,$mode,4,1,1048576,size=1MiB gemms=1 mode=$mode,$n.5e-4,$n.4e-4,$n.6e-4,,,ok"
    done; done; } >steps/summary.csv
{ echo $iteration
    for config in auto ctas=16 ctas=2 ctas=8; do
        echo "r,p,iter_proxy,,$config,4,1,1048576,size=1MiB gemms=1 mode=overlapped,1e-4,2e-4,3e-4,2.5e-4,2.4e-4,2.6e-4,1.5e-4,0.5e-4"
    done; } >steps/iteration.csv
# Steps in the order of CTAs, over compute alone; what NCCL chooses is a line across.
plot=out/iter_proxy-size-1MiB-by.plot
$ make out p/iter_proxy steps && block level $plot && grep -E '^(array across|detail)' $plot && grep ctas out/list
order() { grep -oE '<g transform="translate\([0-9.]+,[0-9.]+\)"[^>]*><text>auto<' <<<"$svg" | sed 's/.*translate([0-9.]*,\([0-9]*\).*/\1/' | xargs | awk '{ print ($1 > $2 ? "lower" : "higher") " first" }'; }
$ draw ctas $plot && order
$ draw ctas $plot 's/^array across.*/array across[2] = [2.4, 2.5]/' && order
# Contention goes from none to high; a level that nobody measured is left out.
{ echo $head
    for config in auto ring/LL; do for contention in none high low; do
        n=$((n + 1)) && echo "r,p,nccl_allreduce,,c$n,$config,,4,1,8,size=8 contention=$contention,$n.5e-6,$n.4e-6,$n.6e-6,1e9,2e9,ok"
    done; done; } >all/summary.csv
$ make out2 p/nccl_allreduce all && block level out2/nccl_allreduce-size-8B-by.plot
$ draw contention out2/nccl_allreduce-size-8B-by.plot
# Pairs of configs: a chain of intervals that overlap, while verdicts tell a from auto in the step; nobody compared a with b.
{ echo $head
    for config in auto a b; do echo "r,p,iter_proxy,,$config,$config,overlapped,4,1,8,size=8 mode=overlapped algorithm=$config,1,1,1,,,ok"; done
    echo "r,p,iter_proxy,,ac,a,comm,4,1,8,size=8 mode=comm algorithm=a,1.1,1.05,1.15,,,ok"; } >pairs/summary.csv
printf '%s\n' $iteration 'r,p,iter_proxy,,auto,4,1,8,size=8 mode=overlapped algorithm=auto,1,1,2,1.1,1.0,1.2,0,0' \
    'r,p,iter_proxy,,a,4,1,8,size=8 mode=overlapped algorithm=a,1,1.1,2,1.2,1.1,1.3,0,0' \
    'r,p,iter_proxy,,b,4,1,8,size=8 mode=overlapped algorithm=b,1,0.9,2,1.3,1.25,1.4,0,0' >pairs/iteration.csv
verdicts=run_id,platform,workload,label,mode,size_B,params,baseline,config,launches,ratio,ratio_low,ratio_high,floor,verdict
row='r,p,iter_proxy,,overlapped,8,size=8 mode=overlapped algorithm'
printf '%s\n' $verdicts "$row=a,auto,a,5,1.09,1.08,1.1,0,slower" "$row=b,auto,b,5,1,0.9,1.1,0,inconclusive" \
    'r,p,iter_proxy,,comm,8,size=8 mode=comm algorithm=a,auto,a,5,0.9,0.8,0.95,0,faster' >pairs/compare.csv
printf '%s\n' $verdicts "$row=auto,b,auto,5,0.9,0.8,0.95,0,faster" >pairs/chosen.csv
plot=out4/iter_proxy.plot
$ make out4 p/iter_proxy pairs && grep -E '^(baseline_at|detail|array (alone|step|against_first|comm_(low|high))) ?' $plot
$ block forest out4/iter_proxy-overlapped-ratios.plot
said='short dashes: opposite verdicts|thick black: auto|[0-9]+ configs? beats .* compared\)|95% interval of the median|>1.000 .. 1.200<'
$ draw ranks $plot && texts "$said|no config shown[^<]*|shortest step: [^<]*|overlap[^<]*|tie[^<]*|±|[0-9]=<|○ not shown"
sed -i 's/0.9,0.8,0.95,0,faster/0.9,0.8,1.1,0,inconclusive/' pairs/chosen.csv
$ make out4 p/iter_proxy pairs && draw ranks $plot && texts 'no config shown[^<]*'
# A step at several sizes, each at clocks of its own: over compute alone, unless a size lacks it.
{ echo $head
    for s in 1 2 4; do echo "r,p,iter_proxy,,c$s,auto,overlapped,4,1,$s,size=$s mode=overlapped,$((s * 8)),$((s * 7)),$((s * 9)),,,ok"; done; } >sizes/summary.csv
{ echo $iteration
    for s in 1 2 4; do echo "r,p,iter_proxy,,auto,4,1,$s,size=$s mode=overlapped,$((s * 4)),1,1,$((s * 8)),$((s * 7)),$((s * 9)),0,0"; done; } >sizes/iteration.csv
plot=out5/iter_proxy-overlapped.plot
of_sizes() { make out5 p/iter_proxy sizes && grep '^shares' $plot && block curve $plot | cut -d' ' -f1-4 && draw latency $plot && texts 'iteration time[^<]*|clocks may differ[^<]*'; }
$ of_sizes
sed -i 's/,4,1,2,size=2 mode=overlapped,8,/,4,1,2,size=2 mode=overlapped,,/' sizes/iteration.csv
$ of_sizes
# The answer: what the config with the highest bandwidth costs, a row for each step. A verdict comes before a lower ratio;
# one of the same operation is left out.
small='iter_proxy,,overlapped,1024,size=1KiB gemms=1 mode=overlapped' large='iter_proxy,,overlapped,2048,size=2KiB gemms=2 mode=overlapped'
printf '%s\n' $verdicts,level "r1,p,$small ctas=8,win,a,5,0.8,0.75,0.85,0,faster,synthetic" \
    "r1,p,$small ctas=0,win,b,5,0.7,0.5,1.1,0,inconclusive,synthetic" "r0,p,$small ctas=0,win,b,5,0.1,0.1,0.1,0,faster,synthetic" \
    "r2,p,$large ctas=0,win,b,5,0.8,0.5,1.25,0,inconclusive,synthetic" "r2,p,$large ctas=0,win,c,5,0.1,0.1,0.1,0,same operation,synthetic" \
    "r2,q,$large ctas=0,win,b,5,0.1,0.1,0.1,0,faster,synthetic" \
    'r2,p,iter_proxy,,comm,4096,size=4KiB gemms=2 mode=comm ctas=0,win,b,5,0.1,0.1,0.1,0,faster,alone' >answer/chosen.csv
printf '%s\n' $verdicts,level 'r3,p,trial,,,0,config=win,auto,win,5,1.25,1.2,1.3,0,slower,trial' \
    'r3,p,trial,,,0,config=b,auto,b,5,0.5,0.5,0.5,0,faster,trial' >answer/compare.csv
head -n 1 answer/chosen.csv >answer/alone/chosen.csv
lost() { # PLATFORM TABLE…: the rows and texts of its answer
    asked lost answer "$@" && cp lost/answer.plot . &&
        block lost answer.plot && tr ';' '\n' <answer.plot | grep -E '^ ?(array (label|pair|heading)\[|not_shown)'
}
$ lost p answer/compare.csv answer/chosen.csv
$ draw answer answer.plot && texts 'shorter step[^<]*|against the best[^<]*|highest bandwidth,|or with the baseline[^<]*|scale: [^<]*|<filter id=.textbox.|no step was[^<]*'
$ draw answer answer.plot 's/ 2.0 2.0 2.0 1$/ 5 4 6 1/' && texts 'scale: [^<]*'
$ lost p answer/compare.csv answer/alone/chosen.csv && draw answer answer.plot
one='r4,p,train,,,0'
printf '%s\n' $verdicts,level "$one,batch=4 cap=25 lr=1,cap=25,cap=100,5,0.9,0.85,0.95,0,faster,training" \
    "$one,batch=8 cap=25 lr=1,cap=25,cap=100,5,0.8,0.75,0.85,0,faster,training" "$one,batch=8 cap=25 lr=2,cap=25,lr=2,5,0.95,0.9,0.99,0,faster,training" \
    "$one,batch=8 cap=25 launch=graph lr=1,cap=25,cap=100,5,0.8,0.75,0.85,0,faster,training" \
    'r5,p,trial,,,1169072128,step_size=1169072128,auto,b,1,,,,,inconclusive,trial' >answer/jobs/compare.csv
$ lost p answer/{jobs/compare,alone/chosen}.csv && draw answer answer.plot && texts 'step time with the[^<]*'
# Of tune: each proof is a row, since its job may be another one; a race is named, a price is no setting.
of_tune='p,train,proof,,0,config=NCCL_X=2,auto,NCCL_X=2,4'
printf '%s\n' $verdicts,level "20261126T152746Z-proof-feb5,$of_tune,0.8,0.75,0.85,0,faster,training" \
    "20261127T092746Z-proof-feb6,$of_tune,1.1,0.9,1.3,0,inconclusive,training" \
    '20261126T152405Z-tune-82d8,p,train,race,,0,config=NCCL_X=2,auto,NCCL_X=2,1,,,,,inconclusive,training' \
    '20261126T152431Z-5450,p,trial,,,8,step_size=8,auto,none,1,,,,,inconclusive,price' >answer/jobs/compare.csv
$ lost p answer/{jobs/compare,alone/chosen}.csv && draw answer answer.plot && texts 'step time of the job[^<]*|shorter step[^<]*|races of[^<]*'
# Curves: auto and the fastest have a colour, the others are grey; a strip has what NCCL ran.
{ echo $head,ran
    for config in auto a b c d ctas=8; do for size in 1 2 4; do
        n=$((n + 1)) && echo "r,p,nccl_allreduce,,k$n,$config,,4,1,$((size * 1024)),size=${size}KiB contention=none,${n}e-6,${n}e-6,${n}e-6,1e9,2e9,ok,RING/$([ $size = 4 ] && echo SIMPLE || echo LL) ctas=2"
    done; done
    echo "r,p,nccl_allreduce,,z,auto,,4,1,1024,size=1KiB contention=high,1e-6,1e-6,1e-6,1e9,2e9,ok,"; } >curves/summary.csv
plot=out6/nccl_allreduce-contention-none.plot
$ make out6 p/nccl_allreduce curves && grep -E '^(detail|n_lead|n_rest|array (lead|tone))' $plot && block strip $plot
$ draw bandwidth $plot && texts 'auto ran|[0-9] other configs|fill-opacity'
$ draw bandwidth $plot 's/^limit = .*/limit = 1.01e9/' && texts 'limit 1.01 GB/s'
awk 'NF == 11 && $1 == 2048 { $10 = 0.01; $11 = 200 } { print }' $plot >wide.plot
$ draw latency wide.plot && texts '↑|↓'
$ draw forest out4/iter_proxy-overlapped-ratios.plot '/^\$forest/,/^EOD/s/^1 1.09 1.08 1.1 2/1 1.09 0.01 1.1 4/' && texts '←|→'
# The bandwidth that a utilisation needs: the legend explains line, mark and bar.
{ echo schedule,kind,utilisation,rate_bps
    for s in 'every step' 'in 8 fragments'; do printf '%s\n' "$s,model,0.5,1e9" "$s,model,0.9,9e9" "$s,published,0.5,1e9"; done; } >needed.csv
mkdir -p data/csv/wan && cp needed.csv data/csv/wan && asked needed wan_needed ''
$ draw wan_needed needed/wan_needed.plot && texts 'line: model|mark: published|bar: one step of its grid'
# Two numbers of CTAs make no curve.
sed -i '/ctas=8/d' steps/{summary,iteration}.csv
$ make out3 p/iter_proxy steps && ls out3/*-by.plot
