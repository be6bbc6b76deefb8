# SPDX-License-Identifier: Apache-2.0
#
# Time of one synchronisation between sites against the size or the RTT, by strategy; the last line is
# the bound.

load data
load "figures/words.gp"
y_title = "one synchronisation"
PLOT = 1.9
load "figures/legend.gp"
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center

set linetype n linecolor rgb "#808080" linewidth 2 pointtype 0 dashtype 14
c_size = 1
c_y = 2
c_low = 3
c_high = 4
y_text(v) = seconds(v)
load "figures/curve.gp"
if (by_rtt) {
    unset logscale x
    set xlabel "round trip between sites, ms" offset 0, 0.6
    set xrange [0 : size_high * 1.1]
    set xtics auto
}
plot for [i = 1 : n] $curve index i - 1 using 1:3:4 with filledcurves linetype i, \
    for [i = 1 : n] $curve index i - 1 using 1:2 with linespoints linetype i
