# SPDX-License-Identifier: Apache-2.0
#
# What the figures of verdicts share: the four verdicts, how they look, and their legend.

array verdict[4] = ["faster", "slower", "equivalent", "inconclusive"]
array shade[4] = ["#0072B2", "#D55E00", "#000000", "#909090"]
array mark[4] = [11, 9, 7, 6]
array legend_at[4] = [0.25, 0.85, 1.5, 2.4]
array sign[4] = ["▼", "▲", "=", "?"]

# Around 0 even, further out logarithmic: 1% and 500% in one picture.
spread(ratio) = asinh(log(ratio) / 0.01)
array edge[19] = [0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5, 10]
# As the text of a tic, which is a format.
change(r) = r >= 2 ? sprintf("×%g", r) : r < 0.55 ? sprintf("÷%g", 1 / r) : r == 1 ? "0" : sprintf("%+g%%%%", 100 * (r - 1))
