# SPDX-License-Identifier: Apache-2.0
#
# A legend under the plot, in as many columns as the longest of label[1..n] allows. Load it twice: before
# style.gp it sets the height (KEY), after style.gp it draws. `more`, if not "", is one more entry, a ring.

if (!exists("ROWS")) {
    longest = strlen(more)
    do for [i = 1 : n] { longest = strlen(label[i]) > longest ? strlen(label[i]) : longest }
    entries = n + (more ne "")
    COLUMN = 0.45 + 0.058 * longest
    COLUMNS = int(3.3 / COLUMN)
    COLUMNS = COLUMNS < 1 ? 1 : COLUMNS > entries ? entries : COLUMNS
    ROWS = (entries + COLUMNS - 1) / COLUMNS
    COLUMNS = (entries + ROWS - 1) / ROWS
    KEY = 0.04 + 0.125 * ROWS
} else {
    do for [i = 1 : entries] {
        x = (WIDTH - COLUMNS * COLUMN) / 2 + (i - 1) / ROWS * COLUMN + 0.05
        y = KEY - 0.06 - (i - 1) % ROWS * 0.125
        if (i <= n) {
            set arrow 200 + i from screen x / WIDTH, y / HEIGHT to screen (x + 0.28) / WIDTH, y / HEIGHT \
                nohead linetype i
            set label 200 + i "" at screen (x + 0.14) / WIDTH, y / HEIGHT point linetype i
        } else {
            set label 200 + i "" at screen (x + 0.14) / WIDTH, y / HEIGHT point pointtype 6 pointsize 1.1 \
                linewidth 0.8 linecolor rgb "#000000"
        }
        entry = i <= n ? label[i] : more
        set label 300 + i entry at screen (x + 0.34) / WIDTH, y / HEIGHT left
    }
}
