# SPDX-License-Identifier: Apache-2.0
#
# Power: how often a difference is found, against its size, in simulated campaigns with a known truth. At 0
# this is the rate of false differences. Green: the rates that a test requires.

load data
load "figures/words.gp"
y_title = "share of the campaigns that find it, %"
PLOT = 1.75
more = ""
ranks = 0
nodes = 0
array tone[4] = [3, 2, 1, 9]
load "figures/legend.gp"
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
load "figures/legend.gp"

stats $power using 1 nooutput
set xrange [-0.12 : STATS_max + 0.12]
set yrange [0 : 102]
set ytics 0, 20, 100
set xtics 1
set mxtics 4
set xlabel "true difference of the two times, %" offset 0, 0.6
GREEN = "#009E73"
set arrow 1 from first -0.12, first at_most to first 0.35, first at_most nohead front linewidth 2.5 dashtype solid linecolor rgb GREEN
set label 1 sprintf("at most %g%%", at_most) at first 0.4, first at_most left offset 0, 0.5 textcolor rgb "#00664A" front font ",6"
set arrow 2 from first least_size - 0.22, first at_least to first least_size + 0.22, first at_least nohead front linewidth 2.5 \
    dashtype solid linecolor rgb GREEN
set label 2 sprintf("at least %g%%", at_least) at first least_size + 0.28, first at_least left textcolor rgb "#00664A" front font ",6"
plot for [i = 1 : n] $power index i - 1 using 1:3:4 with filledcurves linetype tone[i] fillstyle transparent solid 0.15 noborder, \
    for [i = 1 : n] $power index i - 1 using 1:2 with linespoints linetype tone[i]
