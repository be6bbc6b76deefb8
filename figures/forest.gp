# SPDX-License-Identifier: Apache-2.0
#
# Every config against the baseline: the ratio of times with its 95% interval, and for each size the A/A
# floor, the band inside which two copies of the baseline differ. The pale band is that of equivalence.

load data
load "figures/words.gp"
load "figures/verdict.gp"
y_title = (workload eq "train" ? "step time in launches of their own" : "time in the same blocks") . ", against "
if (strlen(y_title . baseline) > 56) {
    detail = detail . (detail eq "" ? "" : "\n") . "baseline: " . baseline
    y_title = y_title . "the baseline"
} else { y_title = y_title . baseline }
ROW = rows > 20 ? 0.115 : 0.15
KEY = 0.205
longest = 1
lines = 1
do for [i = 1 : rows] {
    label[i] = broken(label[i])
    longest = widest_line(label[i]) > longest ? widest_line(label[i]) : longest
    lines = lines_of(label[i]) > lines ? lines_of(label[i]) : lines
}
LEFT = 0.65 + 0.055 * longest
# Long names stand above their bars, so that the bars have room.
above = 3.25 - LEFT < 1.2
if (above) { LEFT = groups == 1 && size[1] == 0 ? 0.15 : 0.65; ROW = 0.14 + 0.115 * lines } else { if (lines > 1) { ROW = 0.25 } }
PLOT = 0.1 + ROW * last
load "figures/style.gp"
# A name hides the lines behind it.
set style textbox opaque noborder fillcolor rgb "#FFFFFF" margins 0.3, 0.3

stats $forest using 3 nooutput
low = STATS_records > 0 && STATS_min < 0.98 ? STATS_min : 0.98
stats $forest using 4 nooutput
high = STATS_records > 0 && STATS_max > 1.02 ? STATS_max : 1.02
# Every ratio lies in the picture. An interval beyond a factor of 10 is cut, and an arrow says so.
stats $forest using 2 nooutput
least = STATS_records > 0 && STATS_min < 0.1 ? STATS_min / 1.05 : 0.1
most = STATS_records > 0 && STATS_max > 10 ? STATS_max * 1.05 : 10
low = low < least ? least : low
high = high > most ? most : high
clip(r) = r > high ? high : r < low ? low : r
set xrange [spread(low) - 0.3 : spread(high) + 0.3]
set yrange [last + 0.2 : above ? 0.1 : 0.3]
load "figures/spread.gp"
set ytics ()
do for [i = 1 : rows] {
    if (above) {
        set label 100 + i label[i] at screen (LEFT + 0.05) / WIDTH, first place[i] - (0.02 + 0.115 * lines_of(label[i])) / ROW left front boxed font ",6.5"
    } else { set ytics add (label[i] place[i]) }
}
set ytics scale 0
if (above) { unset ytics }
set grid noytics
do for [g = 1 : groups] {
    set label 20 + g bytes(size[g]) at screen 0.04 / WIDTH, first top[g] + 0.5 left textcolor rgb "#404040"
    set object 20 + g rectangle from first spread(1 / (1 + floor_of[g])), first top[g] to first spread(1 + floor_of[g]), first bottom[g] \
        fillcolor rgb "#C4C4C4" fillstyle solid 1 noborder behind
    if (g > 1) { set arrow 20 + g from screen 0.04 / WIDTH, first top[g] - 0.3 to graph 1, first top[g] - 0.3 nohead linewidth 0.4 linecolor rgb "#C0C0C0" }
}
if (equivalence > 0) {
    set object 1 rectangle from first -spread(1 + equivalence), graph 0 to first spread(1 + equivalence), graph 1 \
        fillcolor rgb "#EFEFEF" fillstyle solid 1 noborder behind
}
set arrow 1 from first 0, graph 0 to first 0, graph 1 nohead linewidth 0.8 linecolor rgb "#404040" back
do for [k = 1 : 5] {
    x = legend_at[k]
    set label 200 + k "" at screen (x + 0.04) / WIDTH, 0.315 / HEIGHT point pointtype mark[k] pointsize 0.6 linecolor rgb shade[k]
    set label 210 + k verdict[k] at screen (x + 0.12) / WIDTH, 0.315 / HEIGHT left font ",6"
}
set label 220 "bar: 95% interval; grey: A/A floor" . (equivalence > 0 ? "; pale: equivalent" : "") . (groups < n_sizes ? sprintf("; %d of %d sizes", groups, n_sizes) : "") \
    at screen 0.5, 0.185 / HEIGHT center textcolor rgb "#404040"
do for [i = 1 : |$forest|] {
    if (real(word($forest[i], 3)) < low) { set label 1000 + i "←" at first spread(low) - 0.1, first real(word($forest[i], 1)) center font ",7" }
    if (real(word($forest[i], 4)) > high) { set label 2000 + i "→" at first spread(high) + 0.1, first real(word($forest[i], 1)) center font ",7" }
}
plot for [k = 1 : 5] $forest using ($5 == k ? spread($2) : NaN):1:(spread(clip($3))):(spread(clip($4))) with xerrorbars \
    pointtype mark[k] pointsize 0.5 linewidth 1 dashtype solid linecolor rgb shade[k]
