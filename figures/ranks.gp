# SPDX-License-Identifier: Apache-2.0
#
# The project's question in one picture. Left: configs by bus bandwidth, communication alone. Right: the
# same configs by iteration time. Medians give the order; only verdicts tell whether two configs differ:
#   dots         filled: faster or slower than the baseline, by verdict; open: no difference shown
#   short dashes the verdicts against the baseline are opposite, alone and in the step
#   thick black  the baseline
#   orange       highest bandwidth, if some config is shown to be faster in the step
#   blue         shortest step, if it is shown to be faster than the orange one
#   grey         anything else: crossing grey lines claim nothing
#   ranks        by verdict against the baseline; "2=" is shared
#   ≡            the same operation as the baseline: drawn below it, without a rank

load data
load "figures/words.gp"
y_title = ""
PLOT = 0.16 + 0.17 * n
longest = 1
first_alone = 1
first_in_step = 1
do for [i = 1 : n] {
    first_alone = by_comm[i] == 1 ? i : first_alone
    first_in_step = by_time[i] == 1 ? i : first_in_step
}
# Two long names need a line each.
apart = first_alone != first_in_step && strlen(label[first_alone] . label[first_in_step]) > 24
KEY = 0.2 + (apart ? 0.125 : 0)
do for [i = 1 : n] { longest = strlen(label[i]) > longest ? strlen(label[i]) : longest }
LEFT = 0.78 + 0.058 * longest
RIGHT = 1.24
load "figures/style.gp"

unset border
unset tics
unset xlabel
unset grid
set xrange [0 : 1]
set yrange [n + 0.6 : 0.4]
bus(i) = size_B / comm[i] * 2. * (ranks - 1) / ranks
best = 0
most = 0
beaten_by = 0
compared = 0
do for [i = 1 : n] {
    best = bus(i) > best ? bus(i) : best
    most = time[i] > most ? time[i] : most
    beaten_by = beaten_by + (against_first[i] == 1)
    compared = compared + (against_first[i] > 0)
}
rate_unit = best >= 1e9 ? 1e9 : 1e6
BLACK = "#000000"; DARK = "#505050"; GREY = "#B0B0B0"
changes_places(i) = alone[i] == 1 && step[i] == 2 || alone[i] == 2 && step[i] == 1
ink(i) = i == baseline_at ? BLACK : i == first_in_step && against_first[i] == 1 ? "#0072B2" : \
    i == first_alone && beaten_by ? "#D55E00" : changes_places(i) ? DARK : GREY
weight(i) = ink(i) eq GREY ? 0.7 : ink(i) eq DARK ? 1.0 : 1.9
dash(i) = ink(i) eq "#D55E00" ? 12 : ink(i) eq DARK ? 14 : 1
differs(code) = code == 1 || code == 2
half(i) = (time_high[i] - time_low[i]) / 2

set label 1 "bus bandwidth alone, " . (rate_unit == 1e9 ? "GB/s" : "MB/s") at screen (LEFT - 0.02) / WIDTH, 1 - (TOP - 0.1) / HEIGHT right
set label 2 "iteration time, " . time_name(most) at screen 1 - (RIGHT - 0.02) / WIDTH, 1 - (TOP - 0.1) / HEIGHT left
# Ranks by verdict: faster than the baseline, not told from it, slower. "2=" shares its rank with others.
array members_alone[3] = [0, 0, 0]
array members_step[3] = [0, 0, 0]
class(code) = code == 1 ? 1 : code == 2 ? 3 : 2
twins = 0
do for [i = 1 : n] {
    twins = twins + again_comm[i] + again_time[i]
    if (!again_comm[i]) { members_alone[class(alone[i])] = members_alone[class(alone[i])] + 1 }
    if (!again_time[i]) { members_step[class(step[i])] = members_step[class(step[i])] + 1 }
}
before(k, one, two) = (k > 1 ? one : 0) + (k > 2 ? two : 0)
rank(k, one, two, mine) = sprintf("%d%s", 1 + before(k, one, two), mine > 1 ? "=" : "")
place_alone(i) = again_comm[i] ? "≡" : rank(class(alone[i]), members_alone[1], members_alone[2], members_alone[class(alone[i])])
place_step(i) = again_time[i] ? "≡" : rank(class(step[i]), members_step[1], members_step[2], members_step[class(step[i])])
do for [i = 1 : n] {
    set label 10 + i label[i] at screen (LEFT - 0.72) / WIDTH, first by_comm[i] right
    set label 30 + i digits(bus(i) / rate_unit, 3) at screen (LEFT - 0.31) / WIDTH, first by_comm[i] right
    set label 50 + i place_alone(i) at screen (LEFT - 0.08) / WIDTH, first by_comm[i] right
    set label 70 + i place_step(i) at screen 1 - (RIGHT - 0.22) / WIDTH, first by_time[i] right
    set label 90 + i digits(time[i] / time_unit(most), 4) . " ± " . digits(half(i) / time_unit(most), 2) \
        at screen 1 - (RIGHT - 0.3) / WIDTH, first by_time[i] left
    set arrow 10 + i from first 0, first by_comm[i] to first 1, first by_time[i] nohead linewidth weight(i) \
        dashtype dash(i) linecolor rgb ink(i) back
}

# The legend: the first config on each side, whether it is beaten, and the meaning of dots and lines.
row(k) = (0.6 - 0.125 * k) / HEIGHT
reference = "the baseline"
if (baseline_at) { reference = label[baseline_at] }
word_ink(i) = ink(i) eq GREY || ink(i) eq DARK ? BLACK : ink(i)
if (first_alone == first_in_step) {
    set label 3 "highest bandwidth, shortest step: " . label[first_alone] at screen 0.5, row(1) center
} else {
    set label 3 "highest bandwidth: " . label[first_alone] at screen 0.48, row(1) right textcolor rgb word_ink(first_alone)
    set label 4 "shortest step: " . label[first_in_step] at screen 0.52, row(1) left textcolor rgb word_ink(first_in_step)
}
if (apart) {
    set label 3 at screen 0.5, row(0) center
    set label 4 at screen 0.5, row(1) center
}
on_first = "in the step " . label[first_alone] . " was not compared with the others"
some = compared < n - 1 ? sprintf(" (%d of %d compared)", compared, n - 1) : ""
if (compared) { on_first = "no config shown to beat " . label[first_alone] . " in the step" . some }
if (beaten_by) { on_first = plural(beaten_by, "config") . (beaten_by == 1 ? " beats " : " beat ") . label[first_alone] . " in the step" . (some eq "" ? ", by verdict" : some) }
set label 5 on_first at screen 0.5, row(2) center
set label 6 "● faster or slower than " . reference . ", by verdict   ○ not shown   = same verdict" at screen 0.5, row(3) center textcolor rgb "#404040"
set label 7 (twins ? "≡ same operation   " : "") . "short dashes: opposite verdicts" . (baseline_at ? "   thick black: " . reference : "") at screen 0.5, row(4) center \
    textcolor rgb "#404040"

plot for [i = 1 : n] by_comm every ::i - 1::i - 1 using (0):2 with points pointtype 7 pointsize 0.5 linecolor rgb ink(i), \
    for [i = 1 : n] by_time every ::i - 1::i - 1 using (1):2 with points pointtype 7 pointsize 0.5 linecolor rgb ink(i), \
    by_comm using (differs(alone[$1]) || $1 == baseline_at ? NaN : 0):2 with points pointtype 7 pointsize 0.28 linecolor rgb "#FFFFFF", \
    by_time using (differs(step[$1]) || $1 == baseline_at ? NaN : 1):2 with points pointtype 7 pointsize 0.28 linecolor rgb "#FFFFFF"
