# SPDX-License-Identifier: Apache-2.0
#
# The project's question in one picture. Left: configs by bus bandwidth, communication alone. Right: the
# same configs by iteration time. Both columns are in the order of the medians, each with its 95% interval;
# only verdicts tell whether two configs differ:
#   dots         filled: faster or slower than the baseline, by verdict; open: no difference shown
#   short dashes the verdicts against the baseline are opposite, alone and in the step
#   thick black  the baseline
#   orange       highest bandwidth, if some config is shown to be faster in the step
#   blue         shortest step, if it is shown to be faster than the orange one
#   grey         anything else: crossing grey lines claim nothing
#   ≡            the same operation as the baseline
# The legend names the config with the highest bandwidth or the shortest step only if a verdict supports it.

load data
load "figures/words.gp"
y_title = ""
first_alone = first_comm
first_in_step = first_time

# A value with its interval. All digits of the interval are as fine as those of the value, unless it is wide.
bus(seconds) = size_B / seconds * 2. * (ranks - 1) / ranks
best = 0
most = 0
beaten_by = 0
compared = 0
twins = 0
others_alone = 0
others_step = 0
do for [i = 1 : n] {
    best = bus(comm[i]) > best ? bus(comm[i]) : best
    most = time[i] > most ? time[i] : most
    beaten_by = beaten_by + (against_first[i] == 1)
    compared = compared + (against_first[i] > 0)
    twins = twins + again_comm[i] + again_time[i]
    others_alone = others_alone + (i != baseline_at && !again_comm[i] && alone[i] != 2)
    others_step = others_step + (i != baseline_at && !again_time[i] && step[i] != 2)
}
rate_unit = best >= 1e9 ? 1e9 : 1e6
fine(x, d) = sprintf(sprintf("%%.%df", d > 0 ? d : 0), x)
end(x, of, d) = x < of * 3 && x > of / 3 ? fine(x, decimals(of, d)) : digits(x, d)
interval(low, of, high, d) = low == low && high == high ? end(low, of, d) . " .. " . end(high, of, d) : ""
array rate_text[n]
array rate_interval[n]
array time_text[n]
array time_interval[n]
longest = 1
wide_rate = 1
wide_rates = 0
wide_time = 1
wide_times = 1
do for [i = 1 : n] {
    rate_text[i] = digits(bus(comm[i]) / rate_unit, 3)
    rate_interval[i] = interval(bus(comm_high[i]) / rate_unit, bus(comm[i]) / rate_unit, bus(comm_low[i]) / rate_unit, 3)
    time_text[i] = digits(time[i] / time_unit(most), 4)
    time_interval[i] = interval(time_low[i] / time_unit(most), time[i] / time_unit(most), time_high[i] / time_unit(most), 4)
    longest = strlen(label[i]) > longest ? strlen(label[i]) : longest
    wide_rate = strlen(rate_text[i]) > wide_rate ? strlen(rate_text[i]) : wide_rate
    wide_rates = strlen(rate_interval[i]) > wide_rates ? strlen(rate_interval[i]) : wide_rates
    wide_time = strlen(time_text[i]) > wide_time ? strlen(time_text[i]) : wide_time
    wide_times = strlen(time_interval[i]) > wide_times ? strlen(time_interval[i]) : wide_times
}
CHAR = 0.056               # of names and values
SMALL = 0.042              # of intervals
SIGN = twins ? 0.17 : 0.07 # for ≡ and the dot
left_value = 0.04 + CHAR * longest + 0.06 + CHAR * wide_rate
RIGHT = SIGN + CHAR * wide_time + 0.05 + SMALL * wide_times + 0.04
# Beside long names only the times have an interval.
if (3.4 - left_value - 0.05 - SMALL * wide_rates - SIGN - RIGHT < 0.3) { wide_rates = 0 }
LEFT = left_value + 0.05 + SMALL * wide_rates + SIGN
PLOT = 0.16 + 0.17 * n

# What the legend has room for in a line.
is_first(i, code, others) = i == baseline_at ? others == 0 && n > 1 : code == 1
of_bandwidth = is_first(first_alone, alone[first_alone], others_alone)
of_step = is_first(first_in_step, step[first_in_step], others_step) || against_first[first_in_step] == 1
words_alone = of_bandwidth ? "highest bandwidth: " . label[first_alone] : "no config shown to have the highest bandwidth"
words_step = of_step ? "shortest step: " . label[first_in_step] : "no config shown to be shortest in the step"
together = of_bandwidth && of_step && first_alone == first_in_step
apart = !together && strlen(words_alone . words_step) > 54
lines = 5 + apart
KEY = 0.125 * lines + 0.1 - 0.4
load "figures/style.gp"

unset border
unset tics
unset xlabel
unset grid
set xrange [0 : 1]
set yrange [n + 0.6 : 0.4]
BLACK = "#000000"; DARK = "#505050"; GREY = "#B0B0B0"
changes_places(i) = alone[i] == 1 && step[i] == 2 || alone[i] == 2 && step[i] == 1
ink(i) = i == baseline_at ? BLACK : i == first_in_step && against_first[i] == 1 ? "#0072B2" : \
    i == first_alone && beaten_by ? "#D55E00" : changes_places(i) ? DARK : GREY
weight(i) = ink(i) eq GREY ? 0.7 : ink(i) eq DARK ? 1.0 : 1.9
dash(i) = ink(i) eq "#D55E00" ? 12 : ink(i) eq DARK ? 14 : 1
differs(code) = code == 1 || code == 2

set label 1 "bus bandwidth alone, " . (rate_unit == 1e9 ? "GB/s" : "MB/s") at screen 0.04 / WIDTH, 1 - (TOP - 0.1) / HEIGHT left
set label 2 "iteration time, " . time_name(most) at screen 1 - 0.04 / WIDTH, 1 - (TOP - 0.1) / HEIGHT right
do for [i = 1 : n] {
    set label 10 + i label[i] at screen (0.04 + CHAR * longest) / WIDTH, first by_comm[i] right
    set label 100 + i rate_text[i] at screen left_value / WIDTH, first by_comm[i] right
    if (wide_rates) {
        set label 200 + i rate_interval[i] at screen (left_value + 0.05) / WIDTH, first by_comm[i] left font ",5.5" textcolor rgb "#404040"
    }
    if (again_comm[i]) { set label 300 + i "≡" at screen (LEFT - 0.05) / WIDTH, first by_comm[i] right }
    if (again_time[i]) { set label 400 + i "≡" at screen 1 - (RIGHT - 0.05) / WIDTH, first by_time[i] left }
    set label 510 + i time_text[i] at screen 1 - (RIGHT - SIGN - CHAR * wide_time) / WIDTH, first by_time[i] right
    set label 600 + i time_interval[i] at screen 1 - (RIGHT - SIGN - CHAR * wide_time - 0.05) / WIDTH, first by_time[i] left \
        font ",5.5" textcolor rgb "#404040"
    set arrow 10 + i from first 0, first by_comm[i] to first 1, first by_time[i] nohead linewidth weight(i) \
        dashtype dash(i) linecolor rgb ink(i) back
}

# The legend: the first config on each side, whether it is beaten, and the meaning of dots and lines.
row(k) = (0.06 + 0.125 * (lines - k)) / HEIGHT
reference = "the baseline"
if (baseline_at && strlen(label[baseline_at]) <= 12) { reference = label[baseline_at] }
word_ink(i, said) = !said || ink(i) eq GREY || ink(i) eq DARK ? BLACK : ink(i)
if (together) {
    set label 3 "highest bandwidth, shortest step: " . label[first_alone] at screen 0.5, row(1) center
} else {
    middle = 0.5 + 0.025 * (strlen(words_alone) - strlen(words_step)) / WIDTH
    set label 3 words_alone at screen middle - 0.02, row(1) right textcolor rgb word_ink(first_alone, of_bandwidth)
    set label 4 words_step at screen middle + 0.02, row(1) left textcolor rgb word_ink(first_in_step, of_step)
}
if (apart) {
    set label 3 at screen 0.5, row(1) center
    set label 4 at screen 0.5, row(2) center
}
that = label[first_alone] . (of_bandwidth || strlen(label[first_alone]) > 12 ? "" : " (highest median)")
on_first = "in the step " . that . " was not compared with the others"
some = compared < n - 1 ? sprintf(" (%d of %d compared)", compared, n - 1) : ""
if (compared) { on_first = "no config shown to beat " . that . " in the step" . some }
if (beaten_by) { on_first = plural(beaten_by, "config") . (beaten_by == 1 ? " beats " : " beat ") . that . " in the step" . (some eq "" ? ", by verdict" : some) }
set label 5 on_first at screen 0.5, row(2 + apart) center
set label 6 "● faster or slower than " . reference . ", by verdict   ○ no difference shown" at screen 0.5, row(3 + apart) center textcolor rgb "#404040"
set label 7 "short dashes: opposite verdicts" . (baseline_at ? "   thick black: " . reference : "") at screen 0.5, row(4 + apart) center \
    textcolor rgb "#404040"
set label 8 "small: 95% interval of the median" . (twins ? "   ≡ same operation as " . reference : "") at screen 0.5, row(5 + apart) center \
    textcolor rgb "#404040"

plot for [i = 1 : n] by_comm every ::i - 1::i - 1 using (0):2 with points pointtype 7 pointsize 0.5 linecolor rgb ink(i), \
    for [i = 1 : n] by_time every ::i - 1::i - 1 using (1):2 with points pointtype 7 pointsize 0.5 linecolor rgb ink(i), \
    by_comm using (differs(alone[$1]) || $1 == baseline_at ? NaN : 0):2 with points pointtype 7 pointsize 0.28 linecolor rgb "#FFFFFF", \
    by_time using (differs(step[$1]) || $1 == baseline_at ? NaN : 1):2 with points pointtype 7 pointsize 0.28 linecolor rgb "#FFFFFF"
