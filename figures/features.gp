# SPDX-License-Identifier: Apache-2.0
#
# Marks the features of the curves ($marks, column c_mark). One curve has words at y_words, and thin
# lines to its marks (features_side: left grows up from there, right down). Add `features` to a plot.

array mark_type[6] = [2, 12, 10, 8, 3, 1]
features = marks == 0 ? "NaN with points" : \
    "$marks using 1:(column(6) == 1 ? column(c_mark) : NaN):(0):(y_words - column(c_mark)) with vectors nohead linewidth 0.5 " \
    . "dashtype (2, 2) linecolor rgb '#808080', " \
    . "for [k = 1 : 6] $marks using 1:(column(4) == k ? column(c_mark) : NaN) with points pointtype mark_type[k] " \
    . "pointsize 0.7 linewidth 0.9 linecolor rgb '#303030', " \
    . "$marks using 1:(column(6) == 1 ? y_words : NaN):5 with labels font ',5' " . features_side . " rotate by 90 " \
    . "offset -0.35, 0 textcolor rgb '#404040'"
