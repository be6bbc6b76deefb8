/* SPDX-License-Identifier: Apache-2.0
 *
 * The families of entities that are compared with each other, and their values (judge.h).
 */
#pragma once

#include "suspects/suspects_data.h"

struct peers {
    enum suspect_kind kind;
    size_t test;
    size_t *a, *b; /* entities, as in struct suspect */
    double *x;     /* [row * n + entity] */
    size_t n, rows, fitted;
    /* The contribution of each rank to the times of its links, [row * ranks + rank]. Many links: it is
     * already subtracted from x, and this is NULL. Few links: judge.c subtracts it for the ranks that
     * are slow in this test (as rank_kind). */
    double *of_rank;
    enum suspect_kind rank_kind;
};

struct families {
    struct peers *v;
    size_t n;
};

void families_make(struct families *f, const struct suspects_data *d);
void families_free(struct families *f);

/* The number of the first rank on the same host. */
size_t families_host(const struct suspects_data *d, size_t rank);
