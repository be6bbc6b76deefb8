# SPDX-License-Identifier: Apache-2.0
#
# The rate a link needs for a compute utilisation, by schedule: the model's lines and the published
# points, which lie on a grid of factors of 1.21 (their bars).

load data
load "figures/words.gp"
y_title = "Gbit/s needed"
PLOT = 1.9
KEY = 0.17 + 0.14 * ((n + 1) / 2)
ranks = 0
nodes = 0
load "figures/style.gp"
unset label 500
set label 500 title_of at screen 0.5, 1 - 0.08 / HEIGHT center
# A line and the mark of its points, as they are drawn.
array form[5] = [7, 4, 9, 6, 11]
array large[5] = [0.5, 0.6, 0.62, 0.6, 0.62]
array ink[5] = ["#000000", "#0072B2", "#D55E00", "#6A3D7C", "#009E73"]
array stroke[5] = [1, 12, 14, 13, 11]
do for [i = 1 : n] {
    x = 0.3 + (i - 1) % 2 * 1.5
    y = KEY - 0.06 - (i - 1) / 2 * 0.14
    set arrow 200 + i from screen x / WIDTH, y / HEIGHT to screen (x + 0.4) / WIDTH, y / HEIGHT nohead \
        linewidth 1.2 dashtype stroke[i] linecolor rgb ink[i]
    set label 200 + i "" at screen (x + 0.2) / WIDTH, y / HEIGHT point pointtype form[i] pointsize large[i] linewidth 1 linecolor rgb ink[i]
    set label 300 + i label[i] at screen (x + 0.47) / WIDTH, y / HEIGHT left
}
set label 400 "line: model   mark: published   bar: one step of its grid, ÷1.21 to ×1.21" at screen 0.5, 0.07 / HEIGHT center font ",6.2" textcolor rgb "#404040"

set logscale y
set xrange [45 : 100]
set yrange [0.1 : 1000]
set ytics ("0.1" 0.1, "1" 1, "10" 10, "100" 100, "1000" 1000)
set xlabel "compute, % of the time" offset 0, 0.6
plot for [i = 1 : n] sprintf("$line%d", i) using 1:2 with lines linewidth 1.2 dashtype stroke[i] linecolor rgb ink[i], \
    for [i = 1 : n] $points using 1:($3 == i ? $2 : NaN):($2 / 1.21):($2 * 1.21) with yerrorbars pointtype form[i] \
        pointsize large[i] linewidth 0.8 dashtype solid linecolor rgb ink[i]
