# SPDX-License-Identifier: Apache-2.0
#
# The x axis from spread(low) to spread(high) (verdict.gp): a label at 0, and on both sides from the end
# inward where there is room; a tick at every other edge.

room = 0.36 * (spread(high) - spread(low)) / (WIDTH - LEFT - RIGHT)
set xtics (change(1) 0)
do for [side = 0 : 1] {
    shown = 1e9
    do for [i = 1 : 9] {
        ratio = edge[side ? i : 20 - i]
        at = abs(spread(ratio))
        if (ratio >= low && ratio <= high) {
            if (at > 0.7 * room && shown - at > room) {
                set xtics add (change(ratio) spread(ratio))
                shown = at
            } else { set xtics add ("" spread(ratio) 1) }
        }
    }
}
set label 505 "scale: even within 1% of 0, logarithmic beyond" at screen 0.5, 0.06 / HEIGHT center textcolor rgb "#404040"
