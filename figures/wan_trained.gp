# SPDX-License-Identifier: Apache-2.0
#
# Compute as a share of the training time against the steps between two synchronisations: points are
# measured, lines modelled.

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

stats $curve using 1 nooutput
set logscale x
set xrange [STATS_min / 1.2 : STATS_max * 1.2]
set yrange [0 : 100]
set xlabel "steps from one synchronisation to the next, H" offset 0, 0.6
plot for [i = 1 : n] $curve index i - 1 using 1:3 with lines linetype i, \
    for [i = 1 : n] $curve index i - 1 using 1:2 with points linetype i
