# SPDX-License-Identifier: Apache-2.0
#
# The project's question in one picture: the configs in the order of their bandwidth, communication
# alone, on the left, and in the order of their iteration time on the right. Where lines cross the
# bandwidth has misjudged a config. A bracket joins neighbours whose 95% intervals overlap: a tie.
# The first of either order and the baseline are drawn so that the eye can follow them. A config that ran
# what the baseline ran is the baseline under another name: it stands below it, and has no place.

load data
load "figures/words.gp"
y_title = ""
PLOT = 0.16 + 0.17 * n
KEY = -0.07
longest = 1
do for [i = 1 : n] { longest = strlen(label[i]) > longest ? strlen(label[i]) : longest }
LEFT = 0.72 + 0.058 * longest
RIGHT = 1.28
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
do for [i = 1 : n] {
    best = bus(i) > best ? bus(i) : best
    most = time[i] > most ? time[i] : most
}
rate_unit = best >= 1e9 ? 1e9 : 1e6
first_alone = 1
first_in_step = 1
do for [i = 1 : n] {
    first_alone = by_comm[i] == 1 ? i : first_alone
    first_in_step = by_time[i] == 1 ? i : first_in_step
}
ink(i) = i == first_in_step ? "#0072B2" : i == first_alone ? "#D55E00" : i == 1 ? "#000000" : "#B0B0B0"
weight(i) = ink(i) eq "#B0B0B0" ? 0.8 : 1.8
half(i) = (time_high[i] - time_low[i]) / 2
set label 1 "bus bandwidth alone, " . (rate_unit == 1e9 ? "GB/s" : "MB/s") at screen (LEFT - 0.02) / WIDTH, 1 - (TOP - 0.1) / HEIGHT right
set label 2 "iteration time, " . time_name(most) at screen 1 - (RIGHT - 0.02) / WIDTH, 1 - (TOP - 0.1) / HEIGHT left
set label 3 "first alone: " . label[first_alone] at screen 0.48, 0.2 / HEIGHT right textcolor rgb ink(first_alone)
set label 4 "first in the step: " . label[first_in_step] at screen 0.52, 0.2 / HEIGHT left textcolor rgb ink(first_in_step)
twins = 0
do for [i = 1 : n] { twins = twins + again_comm[i] + again_time[i] }
set label 5 "grey bar: 95% intervals overlap, a tie" . (twins ? "; ≡ same operation as the baseline" : "") \
    at screen 0.5, 0.07 / HEIGHT center font ",6" textcolor rgb "#404040"
place(by, again) = again ? "≡" : sprintf("%d", by)
do for [i = 1 : n] {
    set label 10 + i label[i] at screen (LEFT - 0.64) / WIDTH, first by_comm[i] right
    set label 30 + i digits(bus(i) / rate_unit, 3) at screen (LEFT - 0.25) / WIDTH, first by_comm[i] right
    set label 50 + i place(by_comm[i], again_comm[i]) at screen (LEFT - 0.1) / WIDTH, first by_comm[i] right
    set label 70 + i place(by_time[i], again_time[i]) at screen 1 - (RIGHT - 0.22) / WIDTH, first by_time[i] right
    set label 90 + i digits(time[i] / time_unit(most), 4) . " ± " . digits(half(i) / time_unit(most), 2) \
        at screen 1 - (RIGHT - 0.3) / WIDTH, first by_time[i] left
    set arrow 10 + i from first 0, first by_comm[i] to first 1, first by_time[i] nohead linewidth weight(i) linecolor rgb ink(i)
    do for [j = 1 : n] {
        if (by_comm[j] == by_comm[i] + 1 && comm_high[i] >= comm_low[j]) {
            set arrow 40 + i from screen (LEFT - 0.06) / WIDTH, first by_comm[i] to screen (LEFT - 0.06) / WIDTH, first by_comm[j] nohead \
                linewidth 2 linecolor rgb "#909090"
        }
        if (by_time[j] == by_time[i] + 1 && time_high[i] >= time_low[j]) {
            set arrow 70 + i from screen 1 - (RIGHT - 0.06) / WIDTH, first by_time[i] to screen 1 - (RIGHT - 0.06) / WIDTH, first by_time[j] nohead \
                linewidth 2 linecolor rgb "#909090"
        }
    }
}
plot for [i = 1 : n] by_comm every ::i - 1::i - 1 using (0):2 with points pointtype 7 pointsize 0.5 linecolor rgb ink(i), \
    for [i = 1 : n] by_time every ::i - 1::i - 1 using (1):2 with points pointtype 7 pointsize 0.5 linecolor rgb ink(i)
