# SPDX-License-Identifier: Apache-2.0
#
# Parts of the iteration time in two lanes for each config, the shortest iteration on top: compute above,
# communication below, hidden while there is compute and exposed after it. The hatching can be told apart
# in grey. The whisker is the 95% interval of the iteration's time.

load data
load "figures/words.gp"
y_title = "iteration, overlapped"
PLOT = 0.1 + 0.21 * n
KEY = 0.48
longest = 1
most = 0
do for [i = 1 : n] {
    longest = strlen(label[i]) > longest ? strlen(label[i]) : longest
    end = compute[i] + exposed[i]
    most = end > most ? end : most
}
# A whisker may leave the picture, a bar may not.
bars = most
do for [i = 1 : n] { most = time_high[i] > most ? (time_high[i] < 1.3 * bars ? time_high[i] : 1.3 * bars) : most }
LEFT = 0.15 + 0.058 * longest
load "figures/style.gp"

unit = time_unit(most)
set xrange [0 : most * 1.02 / unit]
set yrange [n + 0.6 : 0.4]
set xlabel time_name(most) offset 0, 0.6
set ytics ()
do for [i = 1 : n] {
    set ytics add (label[i] by_time[i])
    if (time_high[i] > most) { set label 300 + i "→" at graph 1, first by_time[i] center }
}
set grid noytics

array part[3] = ["compute", "exposed communication", "hidden communication"]
array fill[3] = ["#C8C8C8", "#D55E00", "#0072B2"]
array pattern[3] = [3, 3, 4]
set style fill solid 1 border linecolor rgb "#303030"
do for [k = 1 : 3] {
    x = 0.3 + (k - 1) % 2 * 1.5
    y = KEY - 0.08 - (k - 1) / 2 * 0.14
    set object k rectangle from screen x / WIDTH, (y - 0.04) / HEIGHT to screen (x + 0.12) / WIDTH, (y + 0.04) / HEIGHT \
        fillcolor rgb fill[k] fillstyle pattern pattern[k] border linecolor rgb "#303030" linewidth 0.5
    set label 200 + k part[k] at screen (x + 0.17) / WIDTH, y / HEIGHT left
}
set label 210 "├•┤ time, 95% interval" at screen 1.79 / WIDTH, y / HEIGHT left
set label 211 "parts and time are separate medians: parts need not add up" at screen 0.5, 0.08 / HEIGHT center textcolor rgb "#404040"

# Communication begins before the end of compute by what is hidden.
end(k, i) = (compute[i] + (k == 2 ? exposed[i] : 0)) / unit
begin(k, i) = (k == 2 ? compute[i] : k == 3 && hidden[i] < compute[i] ? compute[i] - hidden[i] : 0) / unit
above(k) = k == 1 ? 0.36 : -0.02
below(k) = k == 1 ? -0.02 : 0.36
plot for [k = 1 : 3] by_time using (begin(k, $1)):2:(begin(k, $1)):(end(k, $1)):($2 - above(k)):($2 + below(k)) \
        with boxxyerror fillcolor rgb fill[k] fillstyle pattern pattern[k] border linecolor rgb "#303030" linewidth 0.5 dashtype solid, \
    by_time using (time[$1] / unit):2:(time_low[$1] / unit):(time_high[$1] / unit) with xerrorbars \
        pointtype 7 pointsize 0.45 linewidth 1.2 dashtype solid linecolor rgb "#000000"
