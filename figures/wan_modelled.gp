# SPDX-License-Identifier: Apache-2.0
#
# Each synchronisation as it was measured over what the model says of it; between the dashed lines it
# is within 10%.

load data
load "figures/words.gp"
y_title = "measured ÷ modelled"
PLOT = 1.7
load "figures/legend.gp"
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
load "figures/legend.gp"

stats $curve using 1 nooutput
set logscale xy
set xrange [STATS_min / 1.3 : STATS_max * 1.3]
stats $curve using ($2 / $1) nooutput
set yrange [STATS_min < 0.8 ? STATS_min / 1.1 : 0.75 : STATS_max > 1.3 ? STATS_max * 1.1 : 1.35]
set xtics ()
do for [e = -6 : 4] {
    do for [m = 1 : 9] { if (m == 1) { set xtics add (seconds(10. ** e) 10. ** e) } else { set xtics add ("" m * 10. ** e 1) } }
}
set ytics ("0.5" 0.5, "0.8" 0.8, "0.9" 0.9, "1" 1, "1.1" 1.1, "1.25" 1.25, "1.5" 1.5, "2" 2, "3" 3, "5" 5, "10" 10)
set xlabel "modelled time of one synchronisation" offset 0, 0.6
plot 1 with lines linewidth 1 dashtype solid linecolor rgb "#009E73", \
    1.1 with lines linewidth 0.8 dashtype 14 linecolor rgb "#009E73", \
    1 / 1.1 with lines linewidth 0.8 dashtype 14 linecolor rgb "#009E73", \
    for [i = 1 : n] $curve index i - 1 using 1:($2 / $1) with points linetype i
