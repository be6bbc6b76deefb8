# SPDX-License-Identifier: Apache-2.0
#
# Time of one operation against the contention on every GPU: GEMMs on 0, 20, 45 and 70% of its
# multiprocessors, memory traffic on 0, 5, 10 and 20%.

load data
load "figures/words.gp"
stats $level using 2 nooutput
y_title = "time of one operation, steady state (T_ss), " . time_name(STATS_max)
PLOT = 1.75
more = ""
load "figures/legend.gp"
load "figures/style.gp"
load "figures/legend.gp"

also = NaN
shares = 0
load "figures/levels.gp"
set xlabel "GEMMs and memory traffic (separate blocks)" offset 0, 0.6
set xrange [0.7 : 4.3]
set xtics ("none" 1, "low" 2, "medium" 3, "high" 4)
# Side by side, so that intervals do not hide one another.
beside(i) = (i - (n + 1) / 2.) * 0.05
plot for [i = 1 : n] $level index i - 1 using ($1 + beside(i)):($2 / unit):($3 / unit):($4 / unit) with yerrorbars \
        linetype tone[i] dashtype solid linewidth 1, \
    for [i = 1 : n] $level index i - 1 using ($1 + beside(i)):($2 / unit) with linespoints linetype tone[i]
