/* SPDX-License-Identifier: Apache-2.0
 *
 * What the model says of a training on a map: what a plan gives, which strategy and how many steps
 * between synchronisations to choose, what bandwidth an efficiency needs, and what else could be
 * done.
 */
#ifndef GS_WAN_ADVICE_H
#define GS_WAN_ADVICE_H

#include "wan/training.h"

struct wan_outcome {
    double sync_s;     /* one synchronisation of everything */
    double bytes;      /* that one site sends in it */
    double exposed_s;  /* of it, nothing is computed */
    double step_s;     /* mean over the H steps */
    double efficiency; /* compute / step */
    double tokens_per_s;
    double seconds; /* to target_tokens; NaN when there is none */
};

struct wan_case {
    const struct wan_map *map;
    const struct wan_training *training;
    enum wan_strategy strategy;
    double bits, every;
    double factor;                     /* on all rates of the WAN; 1: as they are */
    bool equal_shares;                 /* of a direct exchange */
    double flat;                       /* wan_net.flat */
    const struct wan_carrier *carrier; /* NULL: none that costs time of its own (model.h) */
};

/* The case of the config itself. */
struct wan_case wan_case_of(const struct wan_map *m, const struct wan_training *t);
struct wan_outcome wan_evaluate(const struct wan_case *c);
/* The strategy with the shortest step. */
enum wan_strategy wan_best_strategy(const struct wan_map *m, const struct wan_training *t);
/* The least H for an efficiency, all else as in c; infinite when none reaches it. */
double wan_every_for(const struct wan_case *c, double efficiency);
/* The factor on all rates for an efficiency; infinite when none reaches it. */
double wan_factor_for(const struct wan_case *c, double efficiency);
/* The same training on other hardware, synchronised every step by a ring over its nodes. */
struct wan_outcome wan_alternative_outcome(const struct wan_training *t,
                                           const struct wan_alternative *a);
/* The least end of the map, up or down, bytes/s. */
double wan_map_rate(const struct wan_map *m);

#endif
