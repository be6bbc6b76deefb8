# SPDX-License-Identifier: Apache-2.0
#
# A legend under the plot, in as many columns as the longest text allows. Load it twice: before style.gp
# it sets the height (KEY), after style.gp it draws. The entries are label[1..n], or of curves with a
# colour (lead) and one for the others. `more`, if not "", is one more entry, a ring.

if (!exists("ROWS")) {
    n_keys = exists("n_lead") ? n_lead + (n_rest > 0) : n
    array key_label[n_keys]
    array key_tone[n_keys]
    do for [i = 1 : n_keys] {
        of = exists("n_lead") && i <= n_lead ? lead[i] : i
        key_tone[i] = exists("n_lead") && i > n_lead ? GREY_TONE : exists("tone") ? tone[of] : of
        key_label[i] = exists("n_lead") && i > n_lead ? sprintf(n_rest == 1 ? "%d other config" : "%d other configs", n_rest) : label[of]
    }
    longest = strlen(more)
    do for [i = 1 : n_keys] { longest = strlen(key_label[i]) > longest ? strlen(key_label[i]) : longest }
    entries = n_keys + (more ne "")
    COLUMN = 0.42 + 0.053 * longest
    # One that is longer than the figure is wide gets smaller letters.
    KEY_FONT = 6.75 * (COLUMN > 3.35 ? 3.35 / COLUMN : 1)
    COLUMN = COLUMN > 3.35 ? 3.35 : COLUMN
    COLUMNS = int(3.3 / COLUMN)
    COLUMNS = COLUMNS < 1 ? 1 : COLUMNS > entries ? entries : COLUMNS
    ROWS = (entries + COLUMNS - 1) / COLUMNS
    COLUMNS = (entries + ROWS - 1) / ROWS
    KEY = 0.04 + 0.125 * ROWS
} else {
    do for [i = 1 : entries] {
        x = (WIDTH - COLUMNS * COLUMN) / 2 + (i - 1) / ROWS * COLUMN + 0.05
        y = KEY - 0.06 - (i - 1) % ROWS * 0.125
        if (i <= n_keys) {
            set arrow 200 + i from screen x / WIDTH, y / HEIGHT to screen (x + 0.28) / WIDTH, y / HEIGHT \
                nohead linetype key_tone[i]
            set label 200 + i "" at screen (x + 0.14) / WIDTH, y / HEIGHT point linetype key_tone[i]
        } else {
            set label 200 + i "" at screen (x + 0.14) / WIDTH, y / HEIGHT point pointtype 6 pointsize 1.1 \
                linewidth 0.8 linecolor rgb "#000000"
        }
        entry = i <= n_keys ? key_label[i] : more
        set label 300 + i entry at screen (x + 0.34) / WIDTH, y / HEIGHT left font sprintf(",%.2f", KEY_FONT)
    }
}
