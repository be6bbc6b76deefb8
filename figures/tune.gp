# SPDX-License-Identifier: Apache-2.0
#
# The step of a user's job with each setting that tune measured, shortest first: the part that is left
# without communication, and what communication costs. The line is that part of the job as it is: no
# setting of communication passes it. $bars (setting.plot of `gradsync tune`): row, step, low and high,
# 1: the proof. share: of the step that communication costs, its interval; NaN: unknown.

load data
load "figures/words.gp"
y_title = ""
workload = "tune"
ROW = 0.20
PLOT = 0.1 + ROW * rows
KEY = share == share ? 0.34 : 0.20
LEFT = 0.2
RIGHT = 0.2
detail = share == share ? sprintf("communication costs %.1f%% [%.1f, %.1f] of the step", 100 * share, 100 * share_lo, 100 * share_hi) : ""
stats $bars using 5 nooutput
if (STATS_max == 1) { detail = detail . (strlen(detail) ? "; " : "") . "dot: the proof" }
load "figures/style.gp"
# A name hides the lines behind it.
set style textbox opaque noborder fillcolor rgb "#FFFFFF" margins 0.2, 0.1
stats $bars using 4 nooutput
unit = time_unit(STATS_max)
stats $bars using ($4 / unit) nooutput
longest = STATS_max
set xrange [0 : longest * 1.04]
set yrange [rows + 0.55 : 0.35]
set xlabel sprintf("step time [%s]", time_name(STATS_max * unit)) offset 0, 0.6
unset ytics
set border 1
set grid noytics
rest = share == share ? base * (1 - share) / unit : NaN
do for [i = 1 : rows] {
    # Long names of settings begin alike.
    shown = strlen(name[i]) > 62 ? "…" . substr(name[i], strlen(name[i]) - 60, strlen(name[i])) : name[i]
    set label 20 + i shown at first longest * 0.012, first i - 0.33 left front boxed font ",5.6"
}
if (share == share) {
    set arrow 1 from first rest, graph 0 to first rest, graph 1 nohead front linewidth 1.2 dashtype 12 linecolor rgb "#D55E00"
    set object 1 rectangle from first base * (1 - share_hi) / unit, graph 0 to first base * (1 - share_lo) / unit, graph 1 \
        behind fillcolor rgb "#D55E00" fillstyle transparent solid 0.15 noborder
    key_y = 0.10 / HEIGHT
    set label 507 "■" at screen 0.06, key_y left textcolor rgb "#909090"
    set label 508 "compute" at screen 0.10, key_y left
    set label 509 "■" at screen 0.29, key_y left textcolor rgb "#8CC4E8"
    set label 510 "communication" at screen 0.33, key_y left
    set label 511 "╌" at screen 0.60, key_y left textcolor rgb "#D55E00"
    set label 512 "without communication" at screen 0.64, key_y left
}
least(a, b) = a < b ? a : b
thick = 0.2
plot $bars using (0):($1 + 0.1):(0):($2 / unit):($1 + 0.1 - thick):($1 + 0.1 + thick) with boxxyerror fillcolor rgb "#8CC4E8" fillstyle solid 1 noborder, \
    $bars using (0):($1 + 0.1):(0):(share == share ? least($2 / unit, rest) : 0):($1 + 0.1 - thick):($1 + 0.1 + thick) with boxxyerror fillcolor rgb "#909090" fillstyle solid 1 noborder, \
    $bars using ($2 / unit):($1 + 0.1):($3 / unit):($4 / unit) with xerrorbars pointtype 7 pointsize 0.01 linewidth 1 dashtype solid linecolor rgb "#000000", \
    $bars using ($5 == 1 ? $2 / unit : NaN):($1 + 0.1) with points pointtype 7 pointsize 0.5 linecolor rgb "#000000"
