# SPDX-License-Identifier: Apache-2.0
#
# What communication costs: the share of the step that goes without it, by job and link ($rows: price.sql).
# Dark: measured inside the job. Light: in a replay of its step. Hollow: the interval has 0 in it.

load data
load "figures/words.gp"
set datafile separator ","
platform = ""; workload = ""; detail = ""; y_title = ""; ranks = 0; nodes = 0
place(link, kind, ranks, platform) = kind eq "job" ? link . ", " . ranks . " × H" . platform[2:4] : link
shown(kind) = kind eq "job" || kind eq "replay"
stats $rows using (shown(strcol(2)) ? $5 : NaN) nooutput
rows = STATS_records
least = STATS_min < 0 ? 25 * floor(100 * STATS_min / 25) : 0
ROW = 0.165
PLOT = ROW * rows + 0.05
KEY = 0.02
LEFT = 2.22
RIGHT = 0.3
load "figures/style.gp"
unset label
set label 1 "share of the step that communication costs" at screen 0.5, 1 - 0.1 / HEIGHT center
set label 2 "bar: 95% interval" at screen 0.5, 1 - 0.23 / HEIGHT center textcolor rgb "#404040"
set xrange [least : 100]
set yrange [rows - 0.4 : -0.7]
apart = least < 0 ? 50 : 25
set xtics 0, apart format "%g%%"
set ytics scale 0
set border 1
set grid noytics
set label 3 "■" at screen 0.14, 0.11 / HEIGHT left textcolor rgb "#303030"
set label 4 "in the job" at screen 0.18, 0.11 / HEIGHT left
set label 5 "■" at screen 0.36, 0.11 / HEIGHT left textcolor rgb "#8CC4E8"
set label 6 "in a replay of the step" at screen 0.40, 0.11 / HEIGHT left
set label 7 "□" at screen 0.72, 0.11 / HEIGHT left textcolor rgb "#303030"
set label 8 "0 is possible" at screen 0.76, 0.11 / HEIGHT left
thick = 0.3
field(row, n) = n == 1 ? row[1 : strstrt(row . ",", ",") - 1] : field(row[strstrt(row, ",") + 1 : *], n - 1)
do for [i = 1 : |$rows|] {
    if (shown(field($rows[i], 2))) {
        set label 20 + i sprintf("%.1f%%", 100 * real(field($rows[i], 4))) at first 100 * real(field($rows[i], 6)), first i - 1 \
            left offset 0.6, 0 font ",6"
    }
}
plot $rows using (0):0:(0):(strcol(2) eq "job" && $5 > 0 ? 100 * $4 : 0):($0 - thick):($0 + thick) with boxxyerror fillcolor rgb "#303030" fillstyle solid 1 noborder, \
    $rows using (strcol(2) eq "job" && $5 <= 0 ? 0 : NaN):0:(0):(100 * $4):($0 - thick):($0 + thick) with boxxyerror linecolor rgb "#303030" dashtype solid fillstyle empty border, \
    $rows using (0):0:(0):(strcol(2) eq "replay" ? 100 * $4 : 0):($0 - thick):($0 + thick) with boxxyerror fillcolor rgb "#8CC4E8" fillstyle solid 1 noborder, \
    $rows using (shown(strcol(2)) ? 100 * $4 : NaN):0:(100 * $5):(100 * $6):ytic(place(strcol(1), strcol(2), strcol(12), strcol(9)) . ": " . strcol(3)) with xerrorbars pointtype 7 pointsize 0.01 linewidth 1 dashtype solid linecolor rgb "#000000"
