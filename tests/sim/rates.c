/* SPDX-License-Identifier: Apache-2.0 */
#include "rates.h"

#include "base/err.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>

static struct interval wilson(size_t hits, size_t trials)
{
    const double z = 1.959963984540054;
    double n = (double)trials, p = (double)hits / n, middle = p + z * z / (2 * n);
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)), scale = 1 + z * z / n;
    return (struct interval){(middle - half) / scale, (middle + half) / scale, 0.95};
}

int rates_report(const struct rate_bounds *rates, const size_t *hits, const size_t *trials,
                 size_t n)
{
    int code = GS_OK;
    puts("quantity,method,campaigns,rate,rate_low,rate_high,least,most");
    for (size_t i = 0; i < n; i++) {
        struct interval ci = wilson(hits[i], trials[i]);
        double rate = (double)hits[i] / (double)trials[i];
        printf("%s,%s,%zu,%.4f,%.4f,%.4f,%g,%g\n", rates[i].quantity, rates[i].method, trials[i],
               rate, ci.lo, ci.hi, rates[i].least, rates[i].most);
        if (rate < rates[i].least || rate > rates[i].most)
            code = fail(GS_FAILED, "%s, %s: %.4f, held to %g … %g", rates[i].quantity,
                        rates[i].method, rate, rates[i].least, rates[i].most);
    }
    return code;
}
