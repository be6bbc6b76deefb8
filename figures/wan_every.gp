# SPDX-License-Identifier: Apache-2.0
#
# Compute as a share of the training time against the steps between two synchronisations, by the bits of
# an element on the wire.

load data
load "figures/words.gp"
y_title = "compute, % of the time"
PLOT = 1.7
load "figures/legend.gp"
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
load "figures/legend.gp"

set logscale x
set xrange [1 : 1000]
set yrange [0 : 100]
set xlabel "steps from one synchronisation to the next, H" offset 0, 0.6
set arrow 1 from first 1, 95 to first 1000, 95 nohead linecolor rgb "#009E73" linewidth 1 dashtype 14
set label 1 "95%" at first 1.1, 92 left textcolor rgb "#009E73"
plot for [i = 1 : n] sprintf("$line%d", i) using 1:2 with linespoints linetype i
