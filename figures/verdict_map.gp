# SPDX-License-Identifier: Apache-2.0
#
# The verdict on every config at every size. The colour gives the direction, its depth the size of the
# change. The sign in the cell, or the change if there is room, repeats it without colour.

load data
load "figures/words.gp"
load "figures/verdict.gp"
y_title = "against " . baseline
PLOT = 0.14 * rows
KEY = 0.26
longest = 1
do for [i = 1 : rows] { longest = strlen(label[i]) > longest ? strlen(label[i]) : longest }
LEFT = 0.15 + 0.055 * longest
RIGHT = 0.06
load "figures/style.gp"

set border 0
unset grid
set xrange [0.5 : n_sizes + 0.5]
set yrange [rows + 0.5 : 0.5]
set xlabel "size of the buffer on one rank" offset 0, 0.6
set xtics scale 0 ()
COLUMN = (WIDTH - LEFT - RIGHT) / n_sizes
# Every column has a label if there is room, in smaller letters if need be.
widest = 1
do for [j = 1 : n_sizes] { widest = strlen(bytes(size[j])) > widest ? strlen(bytes(size[j])) : widest }
room(points) = 0.04 + widest * 0.0078 * points
TIC = room(6.75) < COLUMN || room(5.5) > COLUMN ? 6.75 : 5.5
skip = ceil(room(TIC) / COLUMN)
letters = sprintf(",%g", TIC)
set xtics font letters
do for [j = 1 : n_sizes : skip] { set xtics add (bytes(size[j]) j) }
set ytics scale 0 ()
do for [i = 1 : rows] { set ytics add (label[i] i) }

# Three depths: below 3%, below 20%, more. Blue for faster, orange for slower.
depth(r) = abs(log(r)) < 0.03 ? 1 : abs(log(r)) < 0.2 ? 2 : 3
array blue[3] = [0xC6E2F4, 0x7FBEE4, 0x2F8DC4]
array orange[3] = [0xFADCC4, 0xF2AE7A, 0xDD7430]
colour(v, r) = v == 1 ? blue[depth(r)] : v == 2 ? orange[depth(r)] : v == 3 ? 0xE4E4E4 : v == 5 ? 0xBEBEBE : 0xFFFFFF
wide = COLUMN > 0.34
number(r) = r >= 10 ? sprintf("×%.3g", r) : r >= 2 ? sprintf("×%.1f", r) : sprintf("%s%.1f%%", signed(r), 100 * abs(r - 1))
cell_text(v, r) = wide && v < 3 ? number(r) : sign[int(v)]
array in_numbers[5] = ["−%", "+%", sign[3], sign[4], sign[5]]
do for [k = 1 : 5] {
    x = legend_at[k]
    set object 200 + k rectangle from screen x / WIDTH, 0.135 / HEIGHT to screen (x + 0.13) / WIDTH, 0.235 / HEIGHT \
        fillcolor rgb colour(k, 1.1) fillstyle solid 1 border linecolor rgb "#A0A0A0" linewidth 0.4
    says = wide ? in_numbers[k] : sign[k]
    set label 200 + k says at screen (x + 0.065) / WIDTH, 0.185 / HEIGHT center font ",5"
    set label 210 + k verdict[k] at screen (x + 0.17) / WIDTH, 0.185 / HEIGHT left font ",6"
}
set label 220 "pale: less than 3%;  middle: less than 20%;  deep: more" at screen 0.5, 0.06 / HEIGHT center textcolor rgb "#404040"
do for [i = 1 : |$map|] {
    set label 1000 + i cell_text(real(word($map[i], 3)), real(word($map[i], 4))) at first real(word($map[i], 1)), first real(word($map[i], 2)) center \
        front font (wide ? ",6" : ",4.5")
}
plot $map using 1:2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):(colour($3, $4)) with boxxyerror \
        fillcolor rgb variable fillstyle solid 1 border linecolor rgb "#FFFFFF" linewidth 0.5
