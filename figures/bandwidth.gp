# SPDX-License-Identifier: Apache-2.0
#
# Bus bandwidth against size, the limit of the platform above it.

load data
load "figures/words.gp"
y_title = isolated ? "bus bandwidth, isolated operation" : "bus bandwidth, steady state (T_ss)"
PLOT = 1.75
stats $curve using c_best nooutput
more = STATS_max > 0 ? "best, by the verdicts" : ""
load "figures/legend.gp"
STRIP = strips > 0 ? 0.2 : 0
load "figures/style.gp"

c_y = c_bus
c_low = c_bus_low
c_high = c_bus_high
y_text(v) = rate(v)
y_limit = limit
load "figures/curve.gp"
c_mark = 3
y_words = y_low * 1.1
features_side = "left"
load "figures/features.gp"
if (limit == limit) {
    set arrow 1 from graph 0, first limit to graph 1, first limit nohead linewidth 1 dashtype (4, 3) \
        linecolor rgb "#606060"
    set label 1 "limit " . rate(limit) at graph 0.02, first limit offset 0, 0.5 textcolor rgb "#404040"
    if (point_high > limit) {
        set label 2 "× above the limit" at screen 1 - RIGHT / WIDTH, 1 - (TOP - 0.1) / HEIGHT right \
            textcolor rgb "#D00000"
    }
}
if (strips > 0) { load "figures/strip.gp" }
plot for [k = 1 : n_rest] $curve index rest[k] - 1 using c_size:c_bus with linespoints linetype GREY_TONE, \
    for [k = 1 : n_lead] $curve index lead[k] - 1 using c_size:c_bus_low:c_bus_high with filledcurves linetype tone[lead[k]], \
    for [k = 1 : n_lead] $curve index lead[k] - 1 using c_size:c_bus with linespoints linetype tone[lead[k]], \
    $curve using c_size:(column(c_best) == 1 ? column(c_bus) : NaN) with points pointtype 6 pointsize 1.1 \
    linewidth 0.8 linecolor rgb "#000000", \
    $curve using c_size:(column(c_bus) > limit ? column(c_bus) : NaN) with points pointtype 2 pointsize 0.9 \
    linewidth 1.2 linecolor rgb "#D00000", \
    @features
