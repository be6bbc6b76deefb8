# SPDX-License-Identifier: Apache-2.0
#
# Three tics or more on a logarithmic y axis from y_low to y_high. y_text(v): the label of a tic.

set ytics ()
if (y_high / y_low > 10) {
    do for [e = -10 : 14] {
        do for [m = 1 : 9] {
            v = m * 10. ** e
            if (v >= y_low * 0.999 && v <= y_high * 1.001) {
                if (m == 1 || (y_high / y_low < 1000 && (m == 2 || m == 5))) { set ytics add (y_text(v) v) } else { set ytics add ("" v 1) }
            }
        }
    }
} else {
    # Even steps of 1, 2 or 5, as many as there is room for.
    each = 10. ** floor(log10((y_high - y_low) / 3))
    each = each * ((y_high - y_low) / 3 / each >= 5 ? 5 : (y_high - y_low) / 3 / each >= 2 ? 2 : 1)
    shown = 0
    do for [i = ceil(y_low / each * 0.999) : floor(y_high / each * 1.001)] {
        v = 1. * i * each
        if (shown == 0 || log10(v / shown) > 0.1 * log10(y_high / y_low)) {
            set ytics add (y_text(v) v)
            shown = v
        } else { set ytics add ("" v 1) }
    }
}
