/* SPDX-License-Identifier: Apache-2.0 */
#include "base/student.h"

#include <math.h>

static double away_from_0(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2) (NIST DLMF 8.17.22). */
static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_0(1 + even * d);
        c = away_from_0(1 + even / c);
        f *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_0(1 + odd * d);
        c = away_from_0(1 + odd / c);
        f *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return f;
}

/* I_x(a, b); y is 1 - x, known to more digits than the difference when x is near 1. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0 || y <= 0)
        return x > 0;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                     : 1 - front * fraction(b, a, y) / b;
}

double student_tail(double t, double df)
{
    if (isinf(t))
        return t > 0 ? 0 : 1;
    double t2 = t * t, half = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t2), t2 / (df + t2));
    return t > 0 ? half : 1 - half;
}

static double density(double t, double df)
{
    return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) /
           sqrt(df * acos(-1));
}

/* Newton's steps, and halves of the bracket where one would leave it. */
double student_quantile(double tail, double df)
{
    double lo = 0, hi = 1, step = 1;
    while (student_tail(hi, df) > tail && hi < 1e300)
        hi *= 2;
    double t = (lo + hi) / 2;
    for (int i = 0; i < 200 && step > 1e-14 * t; i++) {
        double over = student_tail(t, df) - tail, next = t + over / density(t, df);
        *(over > 0 ? &lo : &hi) = t;
        if (!(next > lo && next < hi))
            next = (lo + hi) / 2;
        step = fabs(next - t);
        t = next;
    }
    return t;
}
