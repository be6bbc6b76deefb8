# SPDX-License-Identifier: Apache-2.0
#
# Time of one operation against size. For a training step: time over compute alone, because each size is
# a group of its own and clocks differ between groups. A step without compute alone is drawn as time,
# with a warning in the figure.

load data
load "figures/words.gp"
y_title = shares ? "iteration time / compute alone (same blocks)" : isolated ? "latency of an isolated operation (L_iso)" : "time of one " . of_what . ", steady state (T_ss)"
PLOT = 1.75
stats $curve using c_best nooutput
more = STATS_max > 0 ? "best, by the verdicts" : ""
load "figures/legend.gp"
STRIP = strips > 0 ? 0.2 : 0
load "figures/style.gp"

c_y = c_time
c_low = c_time_low
c_high = c_time_high
y_text(v) = shares ? sprintf("%g", v) : seconds(v)
load "figures/curve.gp"
c_mark = 2
y_words = y_high / 1.1
features_side = "right"
load "figures/features.gp"
if (of_what eq "iteration" && !shares) {
    set label 3 "clocks may differ between sizes" at graph 0.02, 0.04 left textcolor rgb "#404040"
}
if (strips > 0) { load "figures/strip.gp" }
plot for [k = 1 : n_rest] $curve index rest[k] - 1 using c_size:c_time with linespoints linetype GREY_TONE, \
    for [k = 1 : n_lead] $curve index lead[k] - 1 using c_size:c_time_low:c_time_high with filledcurves linetype tone[lead[k]], \
    for [k = 1 : n_lead] $curve index lead[k] - 1 using c_size:c_time with linespoints linetype tone[lead[k]], \
    $curve using c_size:(column(c_best) == 1 ? column(c_time) : NaN) with points pointtype 6 pointsize 1.1 \
    linewidth 0.8 linecolor rgb "#000000", \
    @features
