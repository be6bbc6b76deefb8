# SPDX-License-Identifier: Apache-2.0
#
# Bus bandwidth or time (latency.gp) against size: a line for each config, with a ribbon for its 95% interval and
# a ring at the best config of a size by verdict (panels.sql). Bandwidth is absolute, with the limit of the
# platform. Time is a ratio to the baseline, whose ribbon is the A/A floor and whose values stand below the axis;
# without a baseline it is absolute, too.
#   value          "time" or "bus"
#   value_text(v)  an absolute value as text
#   y_title        of absolute values
#   what_of        the measured quantity, for the title of ratios of times
#   features_side  left: words on features grow up from the lower edge; right: down from the upper one

if (!exists("value")) {
    load data
    value = "bus"
    y_title = isolated ? "bus bandwidth, isolated operation" : "bus bandwidth, steady state (T_ss)"
    value_text(v) = v >= 1e12 ? sprintf("%.3g TB/s", v / 1e12) : v >= 1e9 ? sprintf("%.3g GB/s", v / 1e9) : v >= 1e6 ? sprintf("%.3g MB/s", v / 1e6) : \
        v >= 1e3 ? sprintf("%.3g kB/s", v / 1e3) : sprintf("%.3g B/s", v)
    features_side = "left"
}
load "figures/words.gp"
PLOT = 1.75
as_ratio = baseline_at > 0 && value eq "time"
stats $curve using c_best nooutput
more = STATS_max > 0 ? "best, by the verdicts" : ""
if (as_ratio) { y_title = "time / that of " . label[baseline_at] . what_of }
load "figures/legend.gp"
STRIP = (strips > 0 ? 0.14 : 0) + (as_ratio ? 0.14 : 0)
load "figures/style.gp"

c_y = as_ratio ? c_ratio : value eq "bus" ? c_bus : c_time
c_low = as_ratio ? c_ratio_low : value eq "bus" ? c_bus_low : c_time_low
c_high = as_ratio ? c_ratio_high : value eq "bus" ? c_bus_high : c_time_high
y_text(v) = as_ratio ? sprintf("×%g", v) : value_text(v)

y_limit = limit
has_limit = value eq "bus" && limit == limit
if (value ne "bus") { y_limit = NaN }
load "figures/curve.gp"
is_labelled(v) = int(log10(v) / log10(2) + 0.5) % step == (step == 4 ? 2 : 0)

# Ratios: as many round ones as there is room for, and always 1. The ratios of curves with a colour lie in
# the picture. An interval, and a grey curve beyond a factor of FAR, may leave it: an arrow says so.
FAR = 3.
array ratio[35] = [0.01, 0.02, 0.05, 0.07, 0.1, 0.14, 0.2, 0.25, 0.33, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, \
    1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.4, 1.6, 2, 2.5, 3, 4, 7, 10, 14, 20, 50, 100]
if (as_ratio) {
    set autoscale y
    stats $curve using (column(c_y)) nooutput
    y_low = STATS_min > 0.97 ? 0.97 : STATS_min < 1 / FAR ? 1 / FAR : STATS_min
    y_high = STATS_max < 1.03 ? 1.03 : STATS_max > FAR ? FAR : STATS_max
    do for [k = 1 : n_lead] {
        stats $curve index lead[k] - 1 using (column(c_y)) nooutput
        if (exists("STATS_records")) { # else none of its sizes has a value of the baseline
            y_low = STATS_min < y_low ? STATS_min : y_low
            y_high = STATS_max > y_high ? STATS_max : y_high
        }
    }
    y_low = y_low / (y_high / y_low) ** 0.06
    y_high = y_high * (y_high / y_low) ** 0.2
    set yrange [y_low : y_high]
    set ytics ()
    room = 0.12 * log10(y_high / y_low) / PLOT
    shown = -9
    do for [i = 1 : |ratio|] {
        place = log10(ratio[i])
        if (ratio[i] >= y_low && ratio[i] <= y_high && (ratio[i] == 1 || (place - shown > room && abs(place) > room))) {
            set ytics add (y_text(ratio[i]) ratio[i])
            shown = place
        }
    }
}

# The baseline's own values, below the axis.
at_values = (KEY + 0.112 + (strips > 0 ? 0.13 : 0)) / HEIGHT
if (as_ratio) {
    array value_at[values]
    array value_of[values]
    stats $baseline using (value_at[int($0) + 1] = $1, value_of[int($0) + 1] = column(2), y_low) nooutput
    # At the labels of the axis, if most have a value; else evenly spread.
    aligned = 0
    do for [i = 1 : values] { aligned = aligned + is_labelled(value_at[i]) }
    do for [i = 1 : values] {
        if ((aligned > 3 ? is_labelled(value_at[i]) : (i - 1) % ((values + 6) / 7) == 0) && value_of[i] == value_of[i]) {
            set label 600 + i value_text(value_of[i]) at first value_at[i], screen at_values center font ",5"
        }
    }
    set label 600 label[baseline_at] at screen 0.02, at_values left font ",5.5" textcolor rgb "#404040"
}

# What NCCL ran (algorithm/protocol) in the curve of strip_of: $strip, between the x axis and the legend.
if (strips > 0) {
    array strip_from[strips]
    array strip_to[strips]
    array strip_text[strips]
    stats $strip using (strip_from[int($0) + 1] = $1, strip_to[int($0) + 1] = $2, strip_text[int($0) + 1] = strcol(3), y_low) nooutput
    inch = (log10(size_high * 1.4) - log10(size_low / 1.4)) / (WIDTH - LEFT - RIGHT)
    do for [i = 1 : strips] {
        left = i == 1 ? size_low / 1.4 : sqrt(strip_to[i - 1] * strip_from[i])
        right = i == strips ? size_high * 1.4 : sqrt(strip_to[i] * strip_from[i + 1])
        set object 500 + i rectangle from first left, screen (KEY + 0.06) / HEIGHT to first right, screen (KEY + 0.17) / HEIGHT \
            fillcolor rgb (i % 2 ? "#E4E4E4" : "#C4C4C4") fillstyle solid 1 border linecolor rgb "#FFFFFF"
        if ((log10(right) - log10(left)) / inch > 0.05 * strlen(strip_text[i])) {
            set label 550 + i strip_text[i] at first sqrt(left * right), screen (KEY + 0.112) / HEIGHT center font ",5.5"
        }
    }
    set label 549 strip_of . " ran" at screen 0.02, (KEY + 0.112) / HEIGHT left font ",5.5" textcolor rgb "#404040"
}

if (has_limit) {
    set arrow 1 from graph 0, first limit to graph 1, first limit nohead linewidth 1 dashtype (4, 3) linecolor rgb "#606060"
    set label 1 "limit " . rate(limit) at graph 0.02, first limit offset 0, 0.5 textcolor rgb "#404040"
}
if (has_limit && point_high > limit) {
    set label 2 "× above the limit" at screen 1 - RIGHT / WIDTH, 1 - (TOP - 0.1) / HEIGHT right textcolor rgb "#D00000"
}

# An arrow where an interval or a grey curve leaves the picture.
array cut_at[3 * |$curve|]
array cut_up[3 * |$curve|]
array cut_tone[3 * |$curve|]
cuts = 0
note_cut(x, v, tone) = v < y_low || v > y_high ? (cuts = cuts + 1, cut_at[cuts] = x, cut_up[cuts] = v > y_high, cut_tone[cuts] = tone, y_low) : y_low
do for [k = 1 : n_lead] {
    stats $curve index lead[k] - 1 using (note_cut(column(c_size), column(c_low), tone[lead[k]])) nooutput
    stats $curve index lead[k] - 1 using (note_cut(column(c_size), column(c_high), tone[lead[k]])) nooutput
}
do for [k = 1 : n_rest] { stats $curve index rest[k] - 1 using (note_cut(column(c_size), column(c_y), GREY_TONE)) nooutput }
do for [i = 1 : cuts] {
    sign = cut_up[i] ? "↑" : "↓"
    y = cut_up[i] ? y_high / (y_high / y_low) ** 0.03 : y_low * (y_high / y_low) ** 0.03
    set label 1000 + i sign at first cut_at[i], first y center font ",7"
    if (cut_tone[i] == GREY_TONE) { set label 1000 + i textcolor rgb "#808080" } else { set label 1000 + i textcolor linetype cut_tone[i] }
}
# A ribbon that leaves the picture is cut there: gnuplot would draw another shape.
cut(v) = v < y_low ? y_low : v > y_high ? y_high : v
# Bands come first and are translucent, so that they hide no curve.
curves = "for [k = 1 : n_lead] $curve index lead[k] - 1 using c_size:(cut(column(c_low))):(cut(column(c_high))) with filledcurves linetype tone[lead[k]], " . \
    "for [k = 1 : n_rest] $curve index rest[k] - 1 using c_size:(column(c_y)) with linespoints linetype GREY_TONE, " . \
    "for [k = 1 : n_lead] $curve index lead[k] - 1 using c_size:(column(c_y)) with linespoints linetype tone[lead[k]], " . \
    "$curve using c_size:(column(c_best) == 1 ? column(c_y) : NaN) with points pointtype 6 pointsize 1.1 linewidth 0.8 linecolor rgb '#000000', " . \
    "$curve using c_size:(has_limit && column(c_bus) > limit ? column(c_y) : NaN) with points pointtype 2 pointsize 0.9 linewidth 1.2 linecolor rgb '#D00000'"

# Marks the features of the curves ($marks). The curve of the baseline has words at an edge, and thin lines
# to its marks. In a figure of ratios it alone has marks, without switches: the strip shows them.
array mark_type[6] = [2, 12, 10, 8, 3, 1]
y_words = features_side eq "left" ? y_low * (y_high / y_low) ** 0.03 : y_high / (y_high / y_low) ** 0.03
mark(of_baseline, kind, v) = !as_ratio ? v : of_baseline == 1 && kind > 2 ? 1 : NaN
c_mark = value eq "bus" ? 3 : 2
words_shown = as_ratio ? worded_of_ratios : worded
# mark() of a line of $marks.
line_mark(i, v) = mark(1, real(word($marks[i], 4)), v)
do for [i = 1 : marks] {
    if (words_shown && word($marks[i], 6) eq "1" && line_mark(i, 1) == 1) {
        set label 9000 + i word($marks[i], 5) at first real(word($marks[i], 1)), first y_words @features_side rotate by 90 font ",5" \
            offset -0.35, 0 textcolor rgb "#404040"
    }
}
lines = words_shown == 0 ? "" : \
    ", $marks using 1:(column(6) == 1 ? mark(1, column(4), column(c_mark)) : NaN):(0):(y_words - mark(1, column(4), column(c_mark))) with vectors nohead linewidth 0.5 " \
    . "dashtype (2, 2) linecolor rgb '#808080'"
features = marks == 0 ? "NaN with points" : \
    "for [k = 1 : 6] $marks using 1:(column(4) == k ? mark(column(6), k, column(c_mark)) : NaN) with points pointtype mark_type[k] " \
    . "pointsize 0.7 linewidth 0.9 linecolor rgb '#303030'" . lines

plot @curves, @features
