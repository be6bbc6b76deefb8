# SPDX-License-Identifier: Apache-2.0
#
# The claims of a plan, each divided by what the plan reaches; one row for each claim.

load data
load "figures/words.gp"
y_title = ""
PLOT = 0.1 + 0.15 * rows
KEY = 0.02
LEFT = 1.0
RIGHT = 1.2
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center

set logscale x
set xrange [0.01 : 100]
set yrange [rows + 0.6 : 0.4]
set xtics ("0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
set xlabel "claimed / reached by the plan" offset 0, 0.6
set ytics scale 0 ()
do for [i = 1 : rows] {
    set ytics add (label[i] i)
    set label 20 + i word_of[i] at screen 1 - (RIGHT - 0.08) / WIDTH, first i left
}
set grid noytics
set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead linecolor rgb "#009E73" linewidth 1.5
plot $claims using 2:1:2:3:($1 - 0.22):($1 + 0.22):4 with boxxyerror fillstyle solid 1 noborder linecolor variable, \
    $claims using (sqrt($2 * $3)):1:4 with points pointtype 7 pointsize 0.45 linecolor variable
