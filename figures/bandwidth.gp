# SPDX-License-Identifier: Apache-2.0
#
# Bus bandwidth against size, and the limit of the platform.

load data
value = "bus"
y_title = isolated ? "bus bandwidth, isolated operation" : "bus bandwidth, steady state (T_ss)"
what_of = isolated ? ", isolated operation" : ", steady state"
value_text(v) = v >= 1e9 ? sprintf("%.3g GB/s", v / 1e9) : v >= 1e6 ? sprintf("%.3g MB/s", v / 1e6) : \
    v >= 1e3 ? sprintf("%.3g kB/s", v / 1e3) : sprintf("%.3g B/s", v)
features_side = "left"
load "figures/config_curves.gp"
plot @limit_curve, @curves, @features
