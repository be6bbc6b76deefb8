# SPDX-License-Identifier: Apache-2.0
#
# Draws the last plot again as PNG and PDF, at the same size on paper as the SVG.

DPI = 200
set terminal pngcairo size int(WIDTH * DPI), int(HEIGHT * DPI) font "DejaVu Sans,6.75" fontscale DPI / 96. \
    linewidth DPI / 96. pointscale DPI / 96. noenhanced
set output out . ".png"
replot
# Pango counts 96 dots an inch where a PDF has 72 points.
set terminal pdfcairo size WIDTH, HEIGHT font "DejaVu Sans,6.75" fontscale 72 / 96. linewidth 72 / 96. pointscale 72 / 96. \
    noenhanced
set output out . ".pdf"
replot
