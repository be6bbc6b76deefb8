# SPDX-License-Identifier: Apache-2.0
#
# The step of a user's job against the share of its bytes that is communicated, and the step with one
# element of each collective: what it exceeds no communication is waiting for other ranks.
# $share_of: share of the bytes, step. From setting.plot of `gradsync tune`.

load data
load "figures/words.gp"
workload = "tune"
PLOT = 1.5
KEY = 0.05
unit = time_unit(base)
y_title = sprintf("step time [%s]", time_name(base))
detail = "what the step takes with a part of the bytes"
load "figures/style.gp"
set xrange [-0.14 : 1.08]
top = base # of the race; the launch for the price may be slower
do for [i = 1 : |$share_of|] { top = real(word($share_of[i], 2)) > top ? real(word($share_of[i], 2)) : top }
set yrange [0 : top * 1.12 / unit]
set xtics ("none" 0, "half of the bytes" 0.5, "all" 1)
do for [i = 1 : |$share_of|] {
    step = real(word($share_of[i], 2)) / unit
    set label 20 + i with_unit(step, time_name(base)) at first real(word($share_of[i], 1)), first step \
        offset 0, 0.8 center font ",6"
}
plot $share_of using 1:($2 / unit) with linespoints linetype 1 pointsize 0.6
