/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats.h"
#include "base/text.h"
#include "suspects/suspects_data.h"

#include <math.h>
#include <stdlib.h>

static double median_of(const double *x, size_t n, size_t step, double *scratch)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i * step]))
            scratch[k++] = x[i * step];
    return stats_quantile_of(scratch, k, 0.5);
}

/* The visits in which the test ran, and those of them that begin a launch. */
struct used {
    double *x; /* [visit * n + entity] */
    int *launch;
    size_t visits, launches;
};

static void take_used(struct used *u, const struct suspects_data *d, size_t test, bool centred)
{
    size_t n = suspects_entities(d, test);
    double *scratch = xcalloc(n + 1, sizeof *scratch);
    *u = (struct used){.x = xcalloc(d->visits * n + 1, sizeof *u->x),
                       .launch = xcalloc(d->visits + 1, sizeof *u->launch)};
    for (size_t v = 0; v < d->visits; v++) {
        const double *from = d->x[test] + v * n;
        double centre = median_of(from, n, 1, scratch), *to = u->x + u->visits * n;
        if (!isfinite(centre))
            continue;
        for (size_t i = 0; i < n; i++)
            to[i] = from[i] - (centred ? centre : 0);
        u->launches += u->visits == 0 || u->launch[u->visits - 1] != d->launch[v];
        u->launch[u->visits++] = d->launch[v];
    }
    free(scratch);
}

size_t suspects_rows(const struct suspects_data *d, size_t test, bool centred, double **x)
{
    size_t n = suspects_entities(d, test), row = 0;
    struct used u;
    take_used(&u, d, test, centred);
    if (u.launches < 2) {
        free(u.launch);
        *x = u.x;
        return u.visits;
    }
    double *rows = xcalloc(u.launches * n, sizeof *rows);
    double *scratch = xcalloc(u.visits, sizeof *scratch);
    for (size_t v = 0, end; v < u.visits; v = end, row++) {
        for (end = v; end < u.visits && u.launch[end] == u.launch[v]; end++)
            ;
        for (size_t i = 0; i < n; i++)
            rows[row * n + i] = median_of(u.x + v * n + i, end - v, n, scratch);
    }
    free(scratch);
    free(u.launch);
    free(u.x);
    *x = rows;
    return row;
}
