# SPDX-License-Identifier: Apache-2.0
#
# What NCCL ran (algorithm/protocol) in the curve of strip_of: $strip, between the x axis and the legend.

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
