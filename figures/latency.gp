# SPDX-License-Identifier: Apache-2.0
#
# Time of one operation or training step against size. Absolute times of a step are over compute alone: each
# size is a group of its own, and clocks differ between groups. A step without compute alone is drawn as
# time, with a warning in the figure.

load data
value = "time"
y_title = shares ? "iteration time / compute alone (same blocks)" : isolated ? "latency of an isolated operation (L_iso)" : "time of one " . of_what . ", steady state (T_ss)"
what_of = of_what eq "iteration" ? ", training step" : isolated ? ", isolated operation" : ", steady state"
value_text(v) = shares && baseline_at == 0 ? sprintf("%g", v) : baseline_at == 0 ? seconds(v) : v >= 1e-3 ? sprintf("%.3g ms", v * 1e3) : sprintf("%.3g µs", v * 1e6)
features_side = "right"
if (of_what eq "iteration" && !shares && baseline_at == 0) {
    set label 4 "clocks may differ between sizes" at graph 0.02, 0.04 left textcolor rgb "#404040"
}
load "figures/bandwidth.gp"
