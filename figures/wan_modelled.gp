# SPDX-License-Identifier: Apache-2.0
#
# Measured over modelled time of each synchronisation, a row for each network, by strategy. The bands are
# 5, 10 and 15%. Each row ends with the median and the greatest error of the model.

load data
load "figures/words.gp"
y_title = ""
PLOT = 0.1 + 0.16 * rows
KEY = 0.04 + 0.14 * ((n + 2) / 3)
longest = 1
do for [i = 1 : rows] { longest = strlen(network[i]) > longest ? strlen(network[i]) : longest }
LEFT = 0.15 + 0.06 * longest
RIGHT = 0.85
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
# Distinct shapes, open and filled, in distinct greys: marks lie on top of each other, and a mark below an open
# one still shows.
array form[6] = [6, 5, 8, 2, 4, 11]
array large[6] = [0.55, 0.36, 0.62, 0.5, 0.55, 0.6]
array ink[6] = ["#000000", "#8C8C8C", "#B03A00", "#0072B2", "#6A3D7C", "#009E73"]
do for [i = 1 : n] {
    x = 0.12 + (i - 1) % 3 * 1.12
    y = KEY - 0.06 - (i - 1) / 3 * 0.14
    set label 200 + i "" at screen x / WIDTH, y / HEIGHT point pointtype form[1 + (i - 1) % 6] pointsize large[1 + (i - 1) % 6] \
        linewidth 1 linecolor rgb ink[1 + (i - 1) % 6]
    set label 300 + i label[i] at screen (x + 0.1) / WIDTH, y / HEIGHT left font ",6.5"
}

stats $curve using 2 nooutput
low = STATS_min < 0.8 ? STATS_min / 1.05 : 0.8
high = STATS_max > 1.25 ? STATS_max * 1.05 : 1.25
set logscale x
set xrange [low : high]
set yrange [rows + 0.6 : 0.4]
# Outwards from 1, a tic has a label where there is room.
array tic[7] = [1.1, 1.25, 1.5, 2, 3, 5, 10]
room = 0.3 * log(high / low) / (WIDTH - LEFT - RIGHT)
set xtics ("1" 1)
shown_at = 0
do for [i = 1 : 7] {
    if (log(tic[i]) - shown_at > room) {
        set xtics add (sprintf("%g", tic[i]) tic[i], sprintf("%.2g", 1 / tic[i]) 1 / tic[i])
        shown_at = log(tic[i])
    } else { set xtics add ("" tic[i], "" 1 / tic[i]) }
}
set xlabel "measured ÷ modelled" offset 0, 0.6
set ytics scale 0 ()
do for [i = 1 : rows] {
    set ytics add (network[i] i)
    set label 20 + i note[i] at screen 1 - (RIGHT - 0.06) / WIDTH, first i left
}
set label 503 "median, worst" at screen 1 - (RIGHT - 0.06) / WIDTH, 1 - (TOP - 0.07) / HEIGHT left textcolor rgb "#404040"
set grid noytics noxtics
# From the widest: what the model may be wrong by, of the time measured.
error = "0.15 0.10 0.05"
shade = "#EEF6F2 #DCEEE5 #C4E3D4"
do for [k = 1 : 3] {
    e = real(word(error, k))
    set object 10 + k rectangle from first 1 / (1 + e), graph 0 to first 1 / (1 - e), graph 1 \
        fillcolor rgb word(shade, k) fillstyle solid 1 noborder behind
}
set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead linecolor rgb "#009E73" linewidth 1 back
plot for [i = 1 : n] $curve index i - 1 using 2:($1 + 0.5 * (i - (n + 1) / 2.) / (n + 1)) with points \
    pointtype form[1 + (i - 1) % 6] pointsize large[1 + (i - 1) % 6] linewidth 1 linecolor rgb ink[1 + (i - 1) % 6]
