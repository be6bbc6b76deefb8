/* SPDX-License-Identifier: Apache-2.0 */
#include "common/wan_strategy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *const wan_strategy_names[WAN_RECORDED] = {
    "ring", "direct", "oneshot", "hierarchical", NULL, "recursive_doubling", "rabenseifner"};

/* What the shares add up to when each takes what `t` lets it; the slope of that in t. */
static double shares_at(const double *up_Bps, size_t n, double bytes, double t, double *slope)
{
    double sum = 0, rates = 0, others = (double)(n - 2);
    for (size_t k = 0; k < n; k++)
        if (t * up_Bps[k] > bytes) {
            sum += (t * up_Bps[k] / bytes - 1) / others;
            rates += up_Bps[k];
        }
    *slope = rates / bytes / others;
    return sum;
}

/* That sum is convex and rises in t: Newton's steps from above end at the root, after as many as
 * there are different rates at most. */
double wan_shares(const double *up_Bps, size_t n, double bytes, double *x)
{
    double others = n > 2 ? (double)(n - 2) : 0;
    double slowest_Bps = INFINITY;
    for (size_t k = 0; k < n; k++)
        slowest_Bps = fmin(slowest_Bps, up_Bps[k]);
    double floor_s = bytes / slowest_Bps; /* x = 0 everywhere still sends D once */
    double t = floor_s * (1 + others), slope, sum = 0;
    for (bool more = others > 0; more;) {
        double over = shares_at(up_Bps, n, bytes, t, &slope) - 1;
        double next = fmax(floor_s, t - over / slope);
        more = over > 0 && next < t * (1 - 1e-15);
        t = fmin(t, next);
    }
    for (size_t k = 0; x && k < n; k++)
        sum += x[k] = others > 0 ? fmax(0, (t * up_Bps[k] / bytes - 1) / others) : up_Bps[k];
    for (size_t k = 0; x && k < n; k++)
        x[k] /= sum;
    return t;
}

/* ---- with pairs ---- */

/* The simplex method on a tableau of `rows` inequalities a y <= b, b >= 0, and one row of costs, with
 * `cols` columns and then b. Maximises the sum of y. basis[]: by row the column whose value it is. Bland's
 * rule: it ends. */
static void maximise(double *t, size_t rows, size_t cols, size_t *basis)
{
    size_t width = cols + 1;
    for (;;) {
        size_t in = 0, out = rows;
        while (in < cols && t[rows * width + in] >= -1e-12)
            in++;
        for (size_t r = 0; in < cols && r < rows; r++) {
            double a = t[r * width + in];
            if (a <= 1e-12)
                continue;
            double ratio = t[r * width + cols] / a;
            double least = out < rows ? t[out * width + cols] / t[out * width + in] : INFINITY;
            if (ratio < least || (ratio <= least && basis[r] < basis[out]))
                out = r;
        }
        if (out == rows)
            return;
        double pivot = t[out * width + in];
        for (size_t c = 0; c < width; c++)
            t[out * width + c] /= pivot;
        for (size_t r = 0; r <= rows; r++) {
            double by = t[r * width + in];
            for (size_t c = 0; r != out && by != 0 && c < width; c++)
                t[r * width + c] -= by * t[out * width + c];
        }
        basis[out] = in;
    }
}

/* With y = x / T, s = 1 / T = sum of y: maximise s, where D [s + (S-2) y_i] <= B_i and
 * D (y_i + y_j) <= B_ij. */
double wan_shares_of_pairs(const double *end_Bps, const double *pair_Bps, size_t n, double bytes,
                           double *x)
{
    size_t rows = n + n * (n - 1) / 2, cols = n + rows, width = cols + 1, r = n;
    double *t = n > WAN_SHARES_MOST ? NULL : calloc((rows + 1) * width, sizeof *t), sum = 0;
    size_t *basis = calloc(rows + 1, sizeof *basis);
    for (size_t i = 0; t && basis && i < n; i++) {
        for (size_t k = 0; k < n; k++)
            t[i * width + k] = 1;
        t[i * width + i] += (double)n - 2;
        t[i * width + cols] = end_Bps[i] / bytes;
        t[rows * width + i] = -1;
        for (size_t k = i + 1; k < n; k++, r++) {
            double out = pair_Bps[i * n + k], in = pair_Bps[k * n + i];
            double rate = fmin(out > 0 ? out : INFINITY, in > 0 ? in : INFINITY);
            t[r * width + i] = t[r * width + k] = 1;
            /* More than both ends carry is no limit. */
            t[r * width + cols] = fmin(rate, end_Bps[i] + end_Bps[k]) / bytes;
        }
    }
    for (size_t k = 0; t && basis && k < rows; k++) {
        basis[k] = n + k;
        t[k * width + n + k] = 1;
    }
    if (t && basis)
        maximise(t, rows, cols, basis);
    for (size_t i = 0; x && i < n; i++)
        x[i] = 0;
    for (size_t k = 0; t && basis && k < rows; k++)
        if (basis[k] < n) {
            sum += t[k * width + cols];
            if (x)
                x[basis[k]] = t[k * width + cols];
        }
    for (size_t i = 0; x && sum > 0 && i < n; i++)
        x[i] /= sum;
    free(t);
    free(basis);
    return sum > 0 ? 1 / sum : INFINITY;
}
