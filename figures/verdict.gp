# SPDX-License-Identifier: Apache-2.0
#
# Shared by the figures of verdicts: the verdicts, their colours, and their legend.

array verdict[5] = ["faster", "slower", "equivalent", "inconclusive", "same operation"]
array shade[5] = ["#0072B2", "#D55E00", "#000000", "#909090", "#606060"]
array mark[5] = [11, 9, 7, 6, 1]
array legend_at[5] = [0.03, 0.53, 1.06, 1.77, 2.54]
array sign[5] = ["▼", "▲", "=", "?", "≡"]

# Around 0 even, further out logarithmic: 1% and 500% in one picture.
spread(ratio) = asinh(log(ratio) / 0.01)
array edge[19] = [0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5, 10]
# As the text of a tic, which is a format.
change(r) = r >= 2 ? sprintf("×%g", r) : r < 0.55 ? sprintf("÷%g", 1 / r) : r == 1 ? "0" : sprintf("%s%g%%%%", signed(r), 100 * abs(r - 1))
signed(r) = r < 1 ? "−" : "+"
