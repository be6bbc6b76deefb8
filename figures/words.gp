# SPDX-License-Identifier: Apache-2.0
#
# Formats quantities for labels, and the line type of what has no colour.
GREY_TONE = 25

seconds(t) = t >= 1 ? sprintf("%g s", t) : t >= 1e-3 ? sprintf("%g ms", t * 1e3) : \
    t >= 1e-6 ? sprintf("%g µs", t * 1e6) : sprintf("%g ns", t * 1e9)
# x with d significant digits, zeros kept: digits(2.8, 3) is "2.80", digits(252.1, 3) "252".
decimals(x, d) = x > 0 ? d - 1 - floor(log10(x)) : 0
digits(x, d) = sprintf(sprintf("%%.%df", decimals(x, d) > 0 ? decimals(x, d) : 0), x)
rate(r) = r >= 1e12 ? sprintf("%g TB/s", r / 1e12) : r >= 1e9 ? sprintf("%g GB/s", r / 1e9) : r >= 1e6 ? sprintf("%g MB/s", r / 1e6) : \
    r >= 1e3 ? sprintf("%g kB/s", r / 1e3) : sprintf("%g B/s", r)
# One unit for a figure whose longest time is t: `time / time_unit(t)` is then in time_name(t).
time_unit(t) = t < 1e-3 ? 1e-6 : t < 1 ? 1e-3 : 1
time_name(t) = t < 1e-3 ? "µs" : t < 1 ? "ms" : "s"
# Long names of settings stand on several lines, a part of the setting on each.
broken(s) = strlen(s) > 24 && strstrt(s, "/") > 0 ? s[1 : strstrt(s, "/")] . "\n" . broken(s[strstrt(s, "/") + 1 : *]) : s
widest_line(s) = strstrt(s, "\n") == 0 ? strlen(s) : strstrt(s, "\n") - 1 > widest_line(s[strstrt(s, "\n") + 1 : *]) ? \
    strstrt(s, "\n") - 1 : widest_line(s[strstrt(s, "\n") + 1 : *])
lines_of(s) = strstrt(s, "\n") == 0 ? 1 : 1 + lines_of(s[strstrt(s, "\n") + 1 : *])
# Three digits, as the advice has them: "682 MiB", "1.09 GiB".
power(b) = b >= 1023.5 * 2.0**20 ? 3 : b >= 1023.5 * 2.0**10 ? 2 : b >= 1023.5 ? 1 : 0
with_unit(v, unit) = sprintf(v >= 100 ? "%.0f %s" : "%.3g %s", v, unit)
bytes(b) = b > 0 ? with_unit(b / 1024.0**power(b), word("B KiB MiB GiB", 1 + power(b))) : ""
