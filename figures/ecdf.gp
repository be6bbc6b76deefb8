# SPDX-License-Identifier: Apache-2.0
#
# Distribution of the overlapped iteration time of auto, the config with the highest bandwidth and the
# one with the shortest step; the curve marks median and p95.

load data
load "figures/words.gp"
y_title = "share of all samples; marks: their median and p95"
PLOT = 1.75
n = |of_ecdf|
array all_label[|label|]
do for [i = 1 : |label|] { all_label[i] = label[i] }
do for [i = 1 : n] {
    role = (of_ecdf[i] == baseline_at ? ", baseline" : "") . (of_ecdf[i] == first_comm ? ", highest bandwidth" : "") . \
        (of_ecdf[i] == first_time ? ", shortest step" : "")
    label[i] = all_label[of_ecdf[i]] . role
    tone[i] = tone[of_ecdf[i]]
}
highest = 0
do for [i = 1 : n] { highest = p95[i] > highest ? p95[i] : highest }
unit = time_unit(highest)
do for [i = 1 : n] {
    label[i] = label[i] . ": median " . digits(median[i] / unit, 4) . ", p95 " . digits(p95[i] / unit, 4) . " " . time_name(highest)
}
more = ""
load "figures/legend.gp"
load "figures/style.gp"
load "figures/legend.gp"

# The slowest few iterations would squeeze all the others into a corner: the axis is logarithmic where
# the p95 is far out, ends beyond every p95 and says what it leaves out.
stats $ecdf using 1 nooutput
shortest = STATS_min
longest = STATS_max
if (highest > 3 * shortest) {
    set logscale x
    end = longest > 3 * highest ? 3 * highest : longest
    set xrange [shortest / 1.05 / unit : end * 1.05 / unit]
    set xtics ()
    do for [e = -4 : 9] {
        do for [m = 1 : 9] {
            if (m == 1 || m == 2 || m == 5) { set xtics add (sprintf("%g", m * 10. ** e) m * 10. ** e) }
        }
    }
} else {
    span = highest - shortest
    end = longest > highest + 0.6 * span ? highest + 0.6 * span : longest
    set xrange [(shortest - 0.03 * span) / unit : (end + 0.03 * span) / unit]
}
set yrange [0 : 1.02]
set ytics 0.25
set xlabel "iteration time, overlapped, " . time_name(highest) . (end < longest ? " (longest: " . digits(longest / unit, 4) . ")" : "") \
    offset 0, 0.6
plot for [i = 1 : n] $ecdf index i - 1 using (column(1) / unit):2 with lines linetype tone[i], \
    for [i = 1 : n] median every ::i - 1::i - 1 using (column(2) / unit):(0.50) with points linetype tone[i] pointsize 0.7, \
    for [i = 1 : n] p95 every ::i - 1::i - 1 using (column(2) / unit):(0.95) with points linetype tone[i] pointsize 0.7
