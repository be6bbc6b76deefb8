/* SPDX-License-Identifier: Apache-2.0
 *
 * Predictions for a training on a map: the outcome of a plan, the best strategy, and alternatives;
 * also the steps between synchronisations, or the bandwidth, that a given efficiency needs.
 */
#pragma once

#include "wan/training.h"

struct wan_outcome {
    double sync_s;     /* one synchronisation of the whole gradient */
    double bytes;      /* payload that one site sends in it */
    double exposed_s;  /* part of it without compute */
    double step_s;     /* mean over the H steps */
    double efficiency; /* compute / step */
    double tokens_per_s;
    double seconds; /* until target_tokens; NaN without a target */
};

struct wan_case {
    const struct wan_map *map;
    const struct wan_training *training;
    enum wan_strategy strategy;
    double bits, every;
    double factor;                     /* multiplies all rates of the WAN */
    bool equal_shares;                 /* of a direct exchange */
    bool end_shares;                   /* its shares know no pairs: wan_sync before 1.3.0 */
    double flat;                       /* wan_net.flat */
    const struct wan_carrier *carrier; /* NULL: adds no time (model.h) */
};

/* The case of the config itself. */
struct wan_case wan_case_of(const struct wan_map *m, const struct wan_training *t);
struct wan_outcome wan_evaluate(const struct wan_case *c);
/* Ranks per site that wan_sync runs a strategy over: those of [sites] where it does not sum inside a site
 * first. */
double wan_flat(const struct wan_map *m, enum wan_strategy strategy);
/* The strategy with the shortest synchronisation, as wan_sync runs it with the ranks of [sites]. */
enum wan_strategy wan_best_strategy(const struct wan_map *m, const struct wan_training *t);
/* The smallest H that reaches the efficiency, all else as in c; infinite if there is none. */
double wan_every_for(const struct wan_case *c, double efficiency);
/* The smallest factor on all rates that reaches the efficiency; infinite if there is none. */
double wan_factor_for(const struct wan_case *c, double efficiency);
/* The rate that the efficiency needs: of the slowest pair alone, if that is enough; else of each site,
 * and then of that pair too. Infinite if there is none. */
struct wan_need {
    double rate_Bps;
    bool of_pair, pair_too;
    size_t from, to; /* rows: the pair */
};
struct wan_need wan_need_for(const struct wan_case *c, double efficiency);
/* The site without which the others train fastest, at least a tenth faster than with it. False: none. */
struct wan_left_out {
    size_t row;
    enum wan_strategy strategy;
    struct wan_outcome o;
};
bool wan_slow_site(const struct wan_case *c, struct wan_left_out *out);
/* The same training on other hardware, synchronised every step by a ring over its nodes. */
struct wan_outcome wan_alternative_outcome(const struct wan_training *t,
                                           const struct wan_alternative *a);
