# Not under ASan: what is read is fuzzed with it.
# Needs gnuplot
# What may be in a table that figures are drawn from.
draw() { "$top/figures/plot" "$1" "$PWD/$2" "$PWD/$3"; }
part() { sed -n "/^\\\$$2/,/^EOD/p" "$1"; } # PLOT NAME: a block of data

# ---- quotes, commas, axes and cells without a number; the last measurement of a cell counts
summary=run_id,platform,workload,label,cell_id,config,mode,ranks,nodes,size_B,params,median_s,ci_low_s,ci_high_s,busbw_Bps,limit_Bps,reason
compared=run_id,platform,workload,label,mode,size_B,params,baseline,config,launches,ratio,ratio_low,ratio_high,floor,verdict
mkdir -p panel/part same/part same/other
printf '%s\n' "$summary" \
    'r,p,w,,a,"x, ""y""",,2,1,8,size=8 dtype=f32,1e-6,1e-6,2e-6,8e6,,"one, two"' \
    'r,p,w,,b,"x, ""y""",,2,1,16,size=16 dtype=f32,1e-6,1e-6,2e-6,1.6e7,,' \
    'r,p,w,,c,"x, ""y""",,2,1,32,size=32 dtype=f32,2e-6,1e-6,2e-6,1.6e7,,' \
    'r,p,w,,d,"x, ""y""",,2,1,8,size=8 dtype=f64,3e-6,1e-6,2e-6,8e6,,' \
    'r,p,w,,e,z,,2,1,64,size=64 dtype=f32,,,,,,"crash, and no number"' \
    's,p,w,,a,"x, ""y""",,2,1,8,size=8 dtype=f32,5e-6,1e-6,2e-6,8e6,,' >panel/part/summary.csv
: >panel/part/iteration.csv
$ panels panel/out p/w panel/part && ls panel/out && grep -h '^array label\|^8 ' panel/out/*.plot

# ---- a config that ran what the baseline ran is first in nothing and best of nothing, and switches are by what ran
curve() { echo "r,p,w,,$1$2,$1,,2,1,$2,size=$2,$3,1e-6,4e-6,8e6,,"; } # CONFIG SIZE TIME
for size in 8 16 32; do
    for row in auto:2.0 twin:1.5 tree:3.0; do curve ${row%:*} $size ${row#*:}e-6; done
done | sed "1i $summary" >same/part/summary.csv
for size in 8 16 32; do
    echo "r,p,w,,,$size,size=$size,auto,twin,5,0.75,0.7,0.8,0.001,same operation"
    echo "r,p,w,,,$size,size=$size,auto,tree,5,1.5,1.4,1.6,0.001,slower"
done | sed "1i $compared" >same/part/compare.csv
printf '%s\n' platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,change,verdict,reason \
    'p,w,,auto,,,2,1,switch,11,8,16,,recorded,RING/LL ctas=4 to RING/LL128 ctas=4' >same/transitions.csv
: >same/part/iteration.csv
# Columns 8 to 11: whether it is the best, the ratio to the baseline and its interval; that of the baseline is the A/A floor.
$ panels same/out p/w same/part same/transitions.csv && part same/out/w.plot curve && part same/out/w.plot marks && grep '^marks =' same/out/w.plot
$ part same/out/w-sizes.plot map
# A curve with a single mark, and one with a mark without words beside it.
$ for figure in latency bandwidth; do draw $figure same/out/w.plot single; done
sed 's/p,w,,auto,,,2,1,switch,11,8,16/p,w,,tree,,,2,1,switch,11,8,16/' same/transitions.csv >same/other/transitions.csv
$ panels same/wordless p/w same/part same/other/transitions.csv && draw latency same/wordless/w.plot wordless
# A parameter that a row does not have is not among its parameters, and a size over 2 GiB keeps its digits.
printf 'size_B,param_size,param_gemms\n4294967296,8,\n' >wide.csv
$ gradsync query --format lines --table wide.csv 'SELECT size_B, params FROM wide'
$ draw verdict_map same/out/w-sizes.plot map && draw forest same/out/w-ratios.plot forest && grep -ho 'same operation' map.svg forest.svg | sort -u
# Each size of a map has a label if there is room.
sed "s/^n_sizes = .*/n_sizes = 6/; s/'twin'/'tree\/Simple'/; s/^array size.*/array size[6] = [2**18, 2**20, 2**22, 2**24, 2**26, 2**28]/" \
    same/out/w-sizes.plot >same/six.plot
$ draw verdict_map same/six.plot six && grep -oE '>[0-9]+ [KM]iB<' six.svg

# ---- a step with one operation under two names: configs are in the order of their times, a twin is never named first
for row in auto:2.50 twin:2.40 fast:2.45; do
    for mode in comm overlapped; do
        echo "r,p,w,,${row%:*}$mode,${row%:*},$mode,2,1,8,size=8 gemms=1,${row#*:}e-4,2.3e-4,2.6e-4,8e6,,"
    done
done | sed "1i $summary" >same/part/summary.csv
for mode in comm overlapped; do
    echo "r,p,w,,$mode,8,size=8 gemms=1,auto,twin,5,0.96,0.95,0.97,0.001,same operation"
    echo "r,p,w,,$mode,8,size=8 gemms=1,auto,fast,5,0.98,0.97,0.99,0.001,faster"
done | sed "1i $compared" >same/part/compare.csv
{
    printf 'run_id,platform,workload,label,config,ranks,nodes,size_B,params,compute_s,comm_s,'
    printf 'sequential_s,overlapped_s,overlapped_ci_low_s,overlapped_ci_high_s,exposed_s,hidden_s\n'
    for row in auto:2.50 twin:2.40 fast:2.45; do
        time=${row#*:}e-4
        echo "r,p,w,,${row%:*},2,1,8,size=8 gemms=1,1e-4,$time,3e-4,$time,2.3e-4,2.6e-4,1.5e-4,0.5e-4"
    done
} >same/part/iteration.csv
echo 'run_id,cell_id,platform,workload,copy,time_s' >same/part/samples.csv
$ panels same/step p/w same/part && grep -hE '^(array (by|again)_time|first_(time|comm))' same/step/*.plot | sort -u
$ draw ranks "$(grep -l '^array again_time' same/step/*.plot | head -n 1)" ranks && grep -o 'same operation' ranks.svg | sort -u
# The ratios in the same blocks decide which config is the fastest alone, as in the answer.
sed -i '/,comm,.*,fast,/s/0.98,.*/1.02,1.01,1.03,0.001,slower/' same/part/compare.csv
$ panels same/ratios p/w same/part && grep -h '^first_comm' same/ratios/*.plot

# ---- each kind of figure with one row, with no row, and with everything beyond the axes
# Gnuplot 5.4 crashes where labels are plotted and the only row is NaN.
$ grep -l 'with labels' $top/figures/*.gp
few() { # EDITS OUT: draws all figures of the tables of same/, with the lines that EDITS of sed leave
    local table script file plot
    mkdir -p "$2/part"
    for table in summary iteration compare samples; do sed "$1" same/part/$table.csv >"$2/part/$table.csv"; done
    panels "$2/out" p/w "$2/part" || return
    while read -r script file plot; do
        echo "$script ${plot%.plot}"
        draw "$script" "$2/out/$plot" "few-$script" || return
    done <"$2/out/list"
}
for name in auto twin fast; do
    for time in 2.3 2.4 2.6; do echo "r,${name}overlapped,p,w,0,${time}e-4"; done
done >>same/part/samples.csv
$ few '/twin/d' same/two
$ few '/twin/d; /fast/d' same/one
$ few '1!d' same/none
# An interval that leaves the picture has an arrow.
$ few '/twin/d; s/,0.98,0.97,0.99,/,1.5,0.001,900,/; s/,1.02,1.01,1.03,/,1.5,0.001,900,/' same/cut && grep -o '→' few-forest.svg | sort -u
# Curves of one point each, cut on both sides.
{
    echo "$summary"
    for size in 8 16 32; do curve auto $size 2e-6; done
    for row in one:8:1e-3 two:16:1e-9 three:32:2e-6; do
        IFS=: read -r name size time <<<"$row"
        echo "r,p,w,,$name,$name,,2,1,$size,size=$size,$time,${time%e*}e-12,9e3,8e6,1e9,"
    done
} >same/part/summary.csv
for table in iteration compare samples; do sed -i '1!d' same/part/$table.csv; done
$ few '' same/points
# An answer and claims without a row are not drawn.
whole_run raw/p/null/r && gradsync query -q raw --export csv
sed 1q csv/compare.csv | tee compare.csv >chosen.csv
$ asked none answer p compare.csv chosen.csv && wc -l <none/list
mkdir -p data/csv/wan
echo platform,kind,claim,quantity,unit,low,high,reached,limit_source,fraction,verdict | tee data/csv/wan/plan-claims.csv >limits.csv
$ asked none claims '' limits.csv && wc -l <none/list
$ asked none wan_claims plan && wc -l <none/list

# ---- synchronisations between sites: networks of one rate alone, and no line of one point
wan_row() { echo "r,$1,,$2,$2,tcp,fp32,4,4,$3,1,0,1,,$4,$5,0,0.5,0.5,0.5,0.5,$6"; } # PLATFORM CONFIG SIZE RATE RTT BOUND
{
    printf 'run_id,platform,label,config,strategy,transport,wire,ranks,sites,size_B,every,overlap,fragments,step_s,'
    printf 'rate_Bps,rtt_s,loss,sync_s,sync_ci_low_s,sync_ci_high_s,model_sync_s,bound_s\n'
    for size in 65536 16777216; do # three sites have four times the rate of the fourth
        wan_row unequal ring $size 3125000 0.03 "$(awk "BEGIN { print $size / 3125000 + 0.015 }")"
    done
} >wan.csv
wan_panel() { asked wan wan_sync "$1" wan.csv && wc -l <wan/list && grep -hE '^(n =|detail|array)' wan/*; }
$ wan_panel sync_rtt_small
for size in 65536 16777216; do
    wan_row equal ring $size 12500000 0.03 "$(awk "BEGIN { print 1.5 * $size / 12500000 + 0.015 }")"
done >>wan.csv
wan_row equal direct 65536 12500000 0.03 0.0228643 >>wan.csv
$ wan_panel sync_size_slow
# One RTT gives no line.
$ wan_panel sync_rtt_small
