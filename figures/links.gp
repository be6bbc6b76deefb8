# SPDX-License-Identifier: Apache-2.0
#
# Bandwidth against step time, one point a setting, one panel a link ($rows: links.sql). If the order by
# bandwidth were the order by step time, the points would fall from left to right. A line joins two
# settings whose orders are shown to be opposite. The panels share one plot, as formats.gp draws the last
# plot again: x is 0 to 1 in each, y is 0 to 1 in the lowest one and begins EACH higher in the next one.

load data
load "figures/words.gp"
set datafile separator ","
platform = ""; workload = ""; detail = ""; y_title = ""; ranks = 0; nodes = 0
EACH = 1.55
PANELS = 3
PLOT = 4.65
KEY = 0.3
LEFT = 0.42
load "figures/style.gp"
set bmargin at screen (KEY + 0.28) / HEIGHT
set tmargin at screen 1 - 0.4 / HEIGHT
array title[3] = ["NVLink: ResNet-50, batch 4, replayed on 2 H100s", "Sockets over loopback: nanoGPT on 2 H100s", \
    "Host memory (no peer access): nanoGPT on 2 H100s"]
array settings[3] = ["settings: DDP's bucket size, or the number of CTAs", "settings: threads × sockets of each thread", \
    "settings: the protocol, or the number of channels"]
array left[3]; array right[3]; array bottom[3]; array top[3]
set xrange [0 : 1]
set yrange [0 : (PANELS - 1) * EACH + 1]
unset label
unset border
unset tics
unset grid
# A name hides the lines behind it.
set style textbox opaque noborder fillcolor rgb "#FFFFFF" margins 0.1, 0.1
base(p) = (PANELS - p) * EACH
x_of(p, v) = (v - left[p]) / (right[p] - left[p])
y_of(p, v) = base(p) + (v - bottom[p]) / (top[p] - bottom[p])
nice(span) = span > 80 ? 10 ** ceil(log10(span / 4)) / 4. : span > 8 ? 2 : span > 4 ? 1 : span > 1.5 ? 0.5 : span > 0.4 ? 0.1 : 0.05
n = 100
do for [p = 1 : PANELS] {
    set xrange [*:*]
    set yrange [*:*]
    stats $rows using (column(2) == p && strcol(1) eq "point" ? column(5) : NaN) nooutput
    low = STATS_min
    stats $rows using (column(2) == p && strcol(1) eq "point" ? column(6) : NaN) nooutput
    left[p] = low - 0.14 * (STATS_max - low); right[p] = STATS_max + 0.14 * (STATS_max - low)
    stats $rows using (column(2) == p && strcol(1) eq "point" ? column(8) : NaN) nooutput
    low = STATS_min
    stats $rows using (column(2) == p && strcol(1) eq "point" ? column(9) : NaN) nooutput
    bottom[p] = low - 0.2 * (STATS_max - low); top[p] = STATS_max + 0.14 * (STATS_max - low)
    set xrange [0 : 1]
    set yrange [0 : (PANELS - 1) * EACH + 1]
    set arrow n + 1 from first 0, first base(p) to first 1, first base(p) nohead linewidth 0.8 linecolor rgb "#404040"
    set arrow n + 2 from first 0, first base(p) to first 0, first base(p) + 1 nohead linewidth 0.8 linecolor rgb "#404040"
    set label n + 1 title[p] at screen 0.5, first base(p) + 1.22 center
    set label n + 2 settings[p] at screen 0.5, first base(p) + 1.11 center textcolor rgb "#404040"
    set label n + 3 "step [ms]" at screen 0.02, first base(p) + 1.04 left
    set label n + 4 "bandwidth of the all-reduces alone [GB/s]" at graph 0.5, first base(p) - 0.21 center
    each = nice(right[p] - left[p])
    do for [k = ceil(left[p] / each) : floor(right[p] / each)] {
        set label n + 10 + (k % 40) sprintf("%g", k * each) at first x_of(p, k * each), first base(p) - 0.09 center
        set arrow n + 10 + (k % 40) from first x_of(p, k * each), first base(p) to first x_of(p, k * each), first base(p) + 1 \
            nohead back linewidth 0.5 linecolor rgb "#E2E2E2"
    }
    each = nice(top[p] - bottom[p])
    do for [k = ceil(bottom[p] / each) : floor(top[p] / each)] {
        set label n + 50 + (k % 40) sprintf("%g", k * each) at first -0.015, first y_of(p, k * each) right
        set arrow n + 50 + (k % 40) from first 0, first y_of(p, k * each) to first 1, first y_of(p, k * each) \
            nohead back linewidth 0.5 linecolor rgb "#E2E2E2"
    }
    n = n + 100
}
set label 1 "●" at screen 0.03, 0.1 / HEIGHT left
set label 2 "default" at screen 0.065, 0.1 / HEIGHT left
set label 3 "○" at screen 0.22, 0.1 / HEIGHT left
set label 4 "other settings" at screen 0.255, 0.1 / HEIGHT left
set label 5 "╌╌" at screen 0.49, 0.1 / HEIGHT left textcolor rgb "#D55E00"
set label 6 "opposite orders are shown" at screen 0.56, 0.1 / HEIGHT left
is(kind) = strcol(1) eq kind
field(row, n) = n == 1 ? row[1 : strstrt(row . ",", ",") - 1] : field(row[strstrt(row, ",") + 1 : *], n - 1)
do for [i = 1 : |$rows|] {
    p = int(field($rows[i], 2))
    if (field($rows[i], 1) eq "point") {
        set label 500 + i field($rows[i], 3) at first x_of(p, real(field($rows[i], 4))), first y_of(p, real(field($rows[i], 7))) \
            offset 0, ((i + p) % 2 ? -0.8 : 0.85) center boxed front font ",6"
    }
}
plot $rows using (is("reversed") ? x_of(int($2), $4) : NaN):(y_of(int($2), $5)):(x_of(int($2), $6) - x_of(int($2), $4)):(y_of(int($2), $7) - y_of(int($2), $5)) \
        with vectors nohead linewidth 1.3 dashtype 12 linecolor rgb "#D55E00", \
    $rows using (is("point") ? x_of(int($2), $4) : NaN):(y_of(int($2), $7)):(x_of(int($2), $5)):(x_of(int($2), $6)):(y_of(int($2), $8)):(y_of(int($2), $9)) \
        with xyerrorbars pointtype 7 pointsize 0.01 linewidth 0.9 dashtype solid linecolor rgb "#707070", \
    $rows using (is("point") ? x_of(int($2), $4) : NaN):(y_of(int($2), $7)) with points pointtype 7 pointsize 0.62 linecolor rgb "#000000", \
    $rows using (is("point") && strstrt(strcol(3), "default") == 0 ? x_of(int($2), $4) : NaN):(y_of(int($2), $7)) \
        with points pointtype 7 pointsize 0.38 linecolor rgb "#FFFFFF"
