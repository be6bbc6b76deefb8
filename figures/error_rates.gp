# SPDX-License-Identifier: Apache-2.0
#
# Error rates of the verdicts, and of a test over raw iterations, in simulated campaigns with a known
# truth. The bar is the rate with its 95% interval; the green line is the required rate.

load data
load "figures/words.gp"
y_title = ""
PLOT = 0.1 + 0.15 * last
KEY = 0.02
LEFT = 2.02
RIGHT = 0.18
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
set label 501 detail at screen 0.5, 1 - 0.21 / HEIGHT center textcolor rgb "#404040"

set xrange [0 : 100]
set yrange [last + 0.4 : 0.2]
set xtics 0, 25, 100
set mxtics 5
set xlabel "share of the campaigns, %" offset 0, 0.6
set ytics scale 0 ()
do for [i = 1 : rows] { set ytics add (label[i] place[i]) }
set grid noytics
do for [g = 1 : groups] { set label 20 + g heading[g] at screen 0.06 / WIDTH, first heading_at[g] left textcolor rgb "#404040" }
plot $rates using (100 * $2):1:(0):(100 * $2):($1 - 0.33):($1 + 0.33) with boxxyerror fillcolor rgb "#C9DDEB" \
        fillstyle solid 1 border linecolor rgb "#5080A0" linewidth 0.5, \
    $rates using (100 * $2):1:(100 * $3):(100 * $4) with xerrorbars pointtype 7 pointsize 0.2 linewidth 1 dashtype solid \
        linecolor rgb "#000000", \
    $held using (100 * $2):($1 - 0.45):(0):(0.9) with vectors nohead linewidth 2 dashtype solid linecolor rgb "#009E73"
