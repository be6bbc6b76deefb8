/* SPDX-License-Identifier: Apache-2.0
 *
 * Names the ranks, links and hosts that are slower than their peers.
 *
 * Peers are entities that should be equal: the same test, GPUs (or CPUs) of one model, links of one
 * kind. Each such family is judged by suspects_outliers, with an equal share of 5%, so that a machine
 * without a fault has a suspect in at most 5% of cases.
 *
 * A pair's time is split into what its ranks and its link contribute. A host all of whose ranks are
 * slow is named in their place, and two hosts all of whose links are.
 */
#pragma once

#include "suspects/suspects_data.h"

#include <stdbool.h>
#include <stddef.h>

struct family {
    size_t n, rows;
    const double *x; /* [row * n + entity], log-times; NaN: none in any row */
    size_t fitted; /* parameters taken from the same values before: of a pair, those of its ranks */
};

struct excess {
    double value;  /* log: over the others that are not slow */
    double lo, hi; /* 95% interval; NaN with one row */
    double p;      /* adjusted for the family */
    bool slow;
};

/* alpha: of the family. *seen: the excess that would have been found in 90% of cases; NaN: none,
 * because there are no others. */
void suspects_outliers(const struct family *f, double alpha, struct excess *out, double *seen);

/* y[a * n + b] for a < b; NaN: not measured. rank[n] and link[n * n], for a < b, get the
 * contributions; NaN: none. */
void suspects_pair_effects(const double *y, size_t n, double *rank, double *link);

#define SUSPECTS_ALPHA 0.05

/* One test in which an entity is slower. */
struct finding {
    size_t test;
    struct excess excess;
};

struct suspect {
    enum suspect_kind kind;
    /* Ranks. A host and a route (between hosts) are named by a rank on it. */
    size_t a, b;
    bool silent;              /* a link that did not answer */
    struct finding *findings; /* the largest excess first */
    size_t n;
};

struct verdicts {
    struct suspect *v; /* by kind, then rank */
    size_t n, links;   /* links: pairs that were measured */
    /* Relative: this excess would have been found; NaN: not judged. */
    double seen[SUSPECT_KINDS][SUSPECTS_TESTS];
    bool compared; /* anything with anything */
};

void suspects_judge(struct verdicts *out, const struct suspects_data *d);
/* Each rank and link against its own past; ranks are matched by host and GPU. */
void suspects_judge_since(struct verdicts *out, const struct suspects_data *d,
                          const struct suspects_data *past);
void suspects_verdicts_free(struct verdicts *v);
