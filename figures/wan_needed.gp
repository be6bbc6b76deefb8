# SPDX-License-Identifier: Apache-2.0
#
# The rate a link needs for a compute utilisation, by schedule: the model's lines and the published
# points, which lie on a grid of factors of 1.21 (their bars).

load data
load "figures/words.gp"
y_title = "Gbit/s needed"
PLOT = 1.9
load "figures/legend.gp"
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
load "figures/legend.gp"

set logscale y
set xrange [45 : 100]
set yrange [0.1 : 1000]
set ytics ("0.1" 0.1, "1" 1, "10" 10, "100" 100, "1000" 1000)
set xlabel "compute, % of the time" offset 0, 0.6
plot for [i = 1 : n] sprintf("$line%d", i) using 1:2 with lines linetype i, \
    $points using 1:2:($2 / 1.21):($2 * 1.21):3 with yerrorbars pointtype 7 pointsize 0.35 linewidth 0.8 \
        dashtype solid linecolor variable
