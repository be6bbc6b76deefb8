# SPDX-License-Identifier: Apache-2.0
#
# The axes of figures against size, both logarithmic. Needs the columns c_y, c_low and c_high of $curve, and
# y_text(v), the label of a tic of the y axis.

set logscale xy
set xlabel "size of the buffer on one rank" offset 0, 0.6
stats $curve using c_size nooutput
size_low = STATS_min
size_high = STATS_max
set xrange [size_low / 1.4 : size_high * 1.4]
octaves = log10(size_high / size_low) / log10(2)
step = octaves > 10 ? 4 : octaves > 5 ? 2 : 1
set xtics ()
do for [e = 0 : 44] {
    v = 2. ** e
    if (v >= size_low && v <= size_high) {
        if (e % step == (step == 4 ? 2 : 0)) { set xtics add (bytes(v) v) } else { set xtics add ("" v 1) }
    }
}

# The points set the range; an interval may reach beyond it.
stats $curve using c_y nooutput
point_low = STATS_min
point_high = STATS_max
stats $curve using c_low nooutput
y_low = STATS_min > point_low / 1.5 ? STATS_min : point_low / 1.5
stats $curve using c_high nooutput
y_high = STATS_max < point_high * 1.5 ? STATS_max : point_high * 1.5
# Room for the limit and for what is written above it.
if (exists("y_limit") && y_limit == y_limit && y_limit > y_high / 1.5) { y_high = y_limit * (y_limit / y_low) ** 0.08 }
y_low = 10 ** (floor(log10(y_low) * 10) / 10.)
y_high = 10 ** (ceil(log10(y_high) * 10 + 0.5) / 10.)
set yrange [y_low : y_high]
load "figures/ticks.gp"
load "figures/legend.gp"
