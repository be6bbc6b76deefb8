/* SPDX-License-Identifier: Apache-2.0
 *
 * Which entities are compared with each other, and by what values (judge.h).
 */
#pragma once

#include "suspects/suspects_data.h"

struct peers {
    enum suspect_kind kind;
    size_t test;
    size_t *a, *b; /* entities, as in struct suspect */
    double *x;     /* [row * n + entity] */
    size_t n, rows, fitted;
    /* Of few links: what each rank contributes, [row * ranks + rank]. It is taken away where the rank is
     * slow in this test (kind rank_kind). With many links, x is without it. NULL: nothing is. */
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
