# SPDX-License-Identifier: Apache-2.0
#
# Marks the features of the curves ($marks). The curve of the baseline has words at an edge, and thin lines
# to its marks (features_side: left grows up from the lower edge, right down from the upper one). In a
# figure of ratios it alone has marks, without switches (the strip shows them) and knees (of absolute
# curves). Add `features` to a plot.

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
