# SPDX-License-Identifier: Apache-2.0
#
# Claims and measurements as a share of the physical limit. Left of the line a value is possible, right
# of it impossible.

load data
load "figures/words.gp"
y_title = ""
PLOT = 0.06 + 0.22 * rows
KEY = 0.02
LEFT = 0.12
RIGHT = 0.15
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 501 detail font ",5.5"
set label 500 "claims against physical limits" at screen 0.5, 1 - 0.08 / HEIGHT center

stats $claims using 2 nooutput
low = STATS_min < 0.1 ? STATS_min / 1.5 : 0.07
high = STATS_max > 3 ? STATS_max * 2 : 6
set logscale x
set xrange [low : high]
set yrange [rows + 0.6 : 0.2]
set xtics ()
do for [e = -4 : 4] {
    do for [m = 1 : 9] {
        v = m * 10. ** e
        if (v >= low && v <= high) {
            if (m == 1) { set xtics add (sprintf("%g", v) v) } else { set xtics add ("" v 1) }
        }
    }
}
set xlabel "claimed or measured ÷ possible" offset 0, 0.6
unset ytics
set grid noytics
set border 1
array shade[3] = ["#0072B2", "#D55E00", "#E69F00"]
do for [i = 1 : rows] {
    set label 20 + i name[i] at screen 0.12 / WIDTH, first i - 0.25 left font ",6"
    set arrow 20 + i from first 1, first i to first 1, first i + 0.45 nohead linewidth 1.5 dashtype solid linecolor rgb "#009E73" back
    share = real(word($claims[i], 2))
    set label 1000 + i digits(share, 3) at first (share < 1 ? 1 : share), first i + 0.22 left offset 0.7, 0 font ",5.5" textcolor rgb "#303030"
    set label 220 + i what[i] at screen 1 - 0.06 / WIDTH, first i - 0.25 right font ",5.5" textcolor rgb "#606060"
}
plot $claims using (low):($1 + 0.22):($2 - low):(0) with vectors nohead linewidth 0.5 dashtype solid linecolor rgb "#B0B0B0", \
    for [k = 1 : 3] $claims using 2:($3 == k ? $1 + 0.22 : NaN) with points pointtype (k == 2 ? 9 : k == 3 ? 13 : 7) pointsize 0.6 \
        linecolor rgb shade[k]
