# SPDX-License-Identifier: Apache-2.0
#
# Iteration time against the number of CTAs of the all-reduce. In sequence, more CTAs are faster;
# overlapped, they take multiprocessors from the GEMMs. Horizontal lines: NCCL's own choice, and compute
# alone. Times are divided by compute alone in the same blocks, because clocks differ between groups.

load data
load "figures/words.gp"
y_title = "iteration time / compute alone (same blocks)"
PLOT = 1.75
more = ""
load "figures/legend.gp"
RIGHT = 0.62
load "figures/style.gp"
load "figures/legend.gp"

also = 1
shares = 1
load "figures/levels.gp"
set logscale x 2
set xlabel "CTAs of the all-reduce" offset 0, 0.6
set xrange [mark[1] / 1.25 : mark[|mark|] * 1.25]
set xtics ()
do for [i = 1 : |mark|] { set xtics add (sprintf("%d", mark[i]) mark[i]) }
# Words beside lines that lie close stand apart, in the order of the lines; a short line leads to each.
array name[3] = ["auto", "auto", "compute"]
array height[3] = [across[1] / unit, across[2] / unit, 1]
array colour[3] = [hue(1), hue(2), "#707070"]
place(v) = far ? log(v / y_low) / log(y_high / y_low) : (v - y_low) / (y_high - y_low)
array at[3]
do for [i = 1 : 3] { at[i] = height[i] == height[i] ? place(height[i]) : NaN }
gap = 0.09
do for [turn = 1 : 40] {
    do for [i = 1 : 2] {
        do for [j = i + 1 : 3] {
            up = height[i] >= height[j] ? i : j
            down = i + j - up
            if (at[up] - at[down] < gap) {
                middle = (at[up] + at[down]) / 2
                at[up] = middle + gap / 2
                at[down] = middle - gap / 2
            }
        }
    }
}
do for [i = 1 : 3] {
    if (height[i] == height[i]) {
        set arrow 400 + i from graph 0, first height[i] to graph 1, first height[i] nohead linewidth 1 \
            dashtype 16 linecolor rgb colour[i]
        set arrow 410 + i from graph 1, first height[i] to graph 1.05, graph at[i] nohead linewidth 0.7 linecolor rgb colour[i]
        set label 400 + i name[i] at graph 1.06, graph at[i] left textcolor rgb colour[i]
    }
}
plot for [i = 1 : n] $level index i - 1 using 1:($2 / unit):($3 / unit):($4 / unit) with yerrorbars \
        linetype i dashtype solid linewidth 1, \
    for [i = 1 : n] $level index i - 1 using 1:($2 / unit) with linespoints linetype i
