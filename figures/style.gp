# SPDX-License-Identifier: Apache-2.0
#
# The look of every figure: as wide as a column of a paper, text of 6.75 points. Needs `out` (the file
# without its ending), the panel's variables, and these sizes in inches:
#   PLOT        height of the plotting area
#   KEY         height of the legend under it
#   y_title     of the y axis
#   LEFT        room for the y axis (0.50 unless set)
# The colours are Okabe and Ito's, which the colour-blind can tell apart; in greyscale the markers and
# the dashes do. Each config has one of the 24 line types below in every figure (tones in panels.sql):
# auto black, ring/LL vermilion, ring/LL128 blue, ring/Simple green, tree/LL orange, tree/LL128 purple,
# tree/Simple sky, ctas=4 brown, and so on with other markers and dashes. COLOURS may hold eight others. GREY_TONE: configs that a figure
# does not stress.

WIDTH = 3.4
TOP = 0.36 + (detail eq "" ? 0 : strstrt(detail, "\n") ? 0.26 : 0.13)
if (!exists("STRIP")) { STRIP = 0 }
BOTTOM = 0.40 + KEY + STRIP
if (!exists("LEFT")) { LEFT = 0.50 }
if (!exists("RIGHT")) { RIGHT = 0.15 }
HEIGHT = TOP + PLOT + BOTTOM

set terminal svg size WIDTH * 96, HEIGHT * 96 font "DejaVu Sans,6.75" fontscale 96 / 72. linewidth 1 noenhanced background "white"
set output out . ".svg"
set encoding utf8
set lmargin at screen LEFT / WIDTH
set rmargin at screen 1 - RIGHT / WIDTH
set tmargin at screen 1 - TOP / HEIGHT
set bmargin at screen BOTTOM / HEIGHT

if (!exists("COLOURS")) { COLOURS = "" }
if (COLOURS eq "") { COLOURS = "#000000 #D55E00 #0072B2 #009E73 #E69F00 #CC79A7 #56B4E9 #8C6D31" }
MARKS = "7 5 9 13 11 6 4 8"
DASHES = "1 11 12 13 14 15 16 17"
set dashtype 11 (16, 4)
set dashtype 12 (8, 4)
set dashtype 13 (12, 3, 3, 3)
set dashtype 14 (3, 3)
set dashtype 15 (8, 3, 3, 3, 3, 3)
set dashtype 16 (5, 2)
set dashtype 17 (20, 3, 3, 3)
# The ninth config begins again with the first colour, with another marker and another dash.
turn(i) = 1 + (i - 1 + 3 * ((i - 1) / 8)) % 8
hue(i) = word(COLOURS, 1 + (i - 1) % 8)
do for [i = 1 : 24] {
    set linetype i linecolor rgb hue(i) linewidth 1.2 pointtype int(word(MARKS, turn(i))) pointsize 0.36 \
        dashtype int(word(DASHES, turn(i)))
}
set linetype GREY_TONE linecolor rgb "#A8A8A8" linewidth 0.8 pointtype 7 pointsize 0.16 dashtype 1

set border 3 linewidth 0.8 linecolor rgb "#404040"
set tics nomirror out scale 0.5, 0.25 textcolor rgb "#000000"
set xtics offset 0, 0.35
set ytics offset 0.6, 0
set grid xtics ytics linetype 1 linecolor rgb "#E2E2E2" linewidth 0.5 dashtype solid, \
    linetype 1 linecolor rgb "#E2E2E2" linewidth 0.5 dashtype solid
unset key
set style fill transparent solid 0.18 noborder

plural(n, word) = sprintf("%d %s%s", n, word, n == 1 ? "" : "s")
job = plural(ranks, "rank") . (nodes > 1 ? sprintf(" on %d nodes", nodes) : "")
set label 500 sprintf("%s · %s · %s", platform, workload, job) at screen 0.5, 1 - 0.08 / HEIGHT center
if (detail ne "") { set label 501 detail at screen 0.5, 1 - 0.21 / HEIGHT center textcolor rgb "#404040" }
# The title of the y axis is horizontal, above the axis.
set label 502 y_title at screen 0.02, 1 - (TOP - 0.1) / HEIGHT left
