/* SPDX-License-Identifier: Apache-2.0
 *
 * Names the ranks, links and hosts that are slower than their peers.
 *
 * Peers are entities that should be equal: the same test, GPUs (or CPUs) of one model, links of one
 * kind. Each such family is judged by outliers.h with an equal share of 5%, so that a machine without a
 * fault has a suspect in at most 5% of cases.
 *
 * A pair's time is split into what its ranks and its link contribute (pair_effects.h). Between
 * hosts, it is first split into what the hosts and the link between two hosts contribute.
 */
#pragma once

#include "suspects/outliers.h"
#include "suspects/suspects_data.h"

#define SUSPECTS_ALPHA 0.05

/* One test in which an entity is slower. */
struct finding {
    size_t test;
    struct excess excess;
};

struct suspect {
    enum suspect_kind kind;
    /* Ranks. A host, a network (of a host) and a route (between hosts) are named by a rank on it. */
    size_t a, b;
    bool silent;              /* a link that did not answer */
    bool shared;              /* a link that is slow while others run, but not alone */
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
void verdicts_free(struct verdicts *v);

/* For both: adds a finding to the suspect of its entity. Then sorts all, and turns slow ranks into a
 * slow host where every rank of it is slow alike. */
void verdicts_add(struct verdicts *v, enum suspect_kind kind, size_t a, size_t b,
                  const struct finding *f);
void verdicts_finish(struct verdicts *v, const struct suspects_data *d);
