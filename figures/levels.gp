# SPDX-License-Identifier: Apache-2.0
#
# The y axis of figures with one curve for each index of $level: x, value, ends of the 95% interval.
# `also` is one more value that must be visible, or NaN. `shares`: the values are ratios, else times.
# Sets `unit`. The axis is logarithmic if the values lie far apart.

stats $level using 2 nooutput
low = STATS_min
high = STATS_max
if (also == also) { low = also < low ? also : low; high = also > high ? also : high }
stats $level using 3 nooutput
y_low = STATS_min > low / 1.3 && STATS_min < low ? STATS_min : low
stats $level using 4 nooutput
y_high = STATS_max < high * 1.3 && STATS_max > high ? STATS_max : high
unit = shares ? 1 : time_unit(high)
far = y_high / y_low > 1.6
y_low = far ? y_low / 1.06 : y_low - 0.06 * (y_high - y_low)
y_high = far ? y_high * 1.06 : y_high + 0.06 * (y_high - y_low)
y_low = y_low / unit
y_high = y_high / unit
set yrange [y_low : y_high]
if (far) {
    set logscale y
    y_text(v) = sprintf("%g", v)
    load "figures/ticks.gp"
}
