# SPDX-License-Identifier: Apache-2.0
#
# Distribution of the iteration time, overlapped, by config; median and p95 on the curve.

load data
y_title = "share of iterations no longer than this"
PLOT = 1.75
highest = 0
do for [i = 1 : n] {
    label[i] = label[i] . sprintf(": median %#.4g, p95 %#.4g ms", median[i] * 1e3, p95[i] * 1e3)
    highest = p95[i] > highest ? p95[i] : highest
}
more = ""
load "figures/legend.gp"
load "figures/style.gp"
load "figures/legend.gp"

# The slowest few iterations would squeeze all the others into a corner: the axis ends beyond every
# p95, and says what it leaves out.
stats $ecdf using 1 nooutput
shortest = STATS_min
longest = STATS_max
span = highest - shortest
end = longest > highest + 0.6 * span ? highest + 0.6 * span : longest
set xrange [(shortest - 0.03 * span) * 1e3 : (end + 0.03 * span) * 1e3]
set yrange [0 : 1.02]
set ytics 0.25
set xlabel "iteration time, overlapped, ms" . (end < longest ? sprintf("  (longest: %#.4g)", longest * 1e3) : "") \
    offset 0, 0.6
plot for [i = 1 : n] $ecdf index i - 1 using (column(1) * 1e3):2 with lines linetype i, \
    for [i = 1 : n] median every ::i - 1::i - 1 using (column(2) * 1e3):(0.50) with points linetype i pointsize 0.7, \
    for [i = 1 : n] p95 every ::i - 1::i - 1 using (column(2) * 1e3):(0.95) with points linetype i pointsize 0.7
