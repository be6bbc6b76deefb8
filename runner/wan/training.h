/* SPDX-License-Identifier: Apache-2.0
 *
 * The training of the [model] section: its compute, its gradient, and how often it synchronises.
 * The section also holds claims about it (claim.*).
 */
#pragma once

#include "config/config.h"
#include "wan/net.h"

#define WAN_TARGETS_MAX 16

struct wan_training {
    double parameters, layers, width, sequence, tokens; /* a global step */
    double gpus;                                        /* 0: sum over [sites] */
    double peak_flops, mfu;
    double compute_s;   /* measured time per step; 0: computed from the FLOPs */
    double bits, group; /* bits on the wire; group: values that share a 16-bit scale */
    double every, fragments, outer_s, straggle_s;
    double backward, overlap; /* compute beside which a fragment's exchange can run, in steps */
    double sync_s;            /* measured time of one all-reduce of it all; 0: from the links */
    int strategy;             /* enum wan_strategy; WAN_STRATEGIES: the best */
    double target_tokens;
    char targets_text[WL_TEXT_MAX];
    double targets[WAN_TARGETS_MAX]; /* of targets_text: shares of compute in a step, 0 to 1 */
    size_t n_targets;
};

/* The table that reads [model]; ends with a NULL name. */
extern const struct wl_param wan_training_words[];

/* GS_OK or GS_USAGE. Reports every fault: unknown keys, bad values, and impossible ones with the
 * arithmetic. Fills in gpus from the map. */
int wan_training_read(struct wan_training *t, const struct config *c, const struct wan_map *m);
/* Bytes of one synchronised gradient, its scales included. */
double wan_training_bytes(const struct wan_training *t, double bits);
/* FLOPs of a token: 6 * parameters, and for attention 12 * layers * width * sequence. */
double wan_training_flops(const struct wan_training *t);
/* Seconds of a step: as measured, or by its FLOPs, the peak and mfu. */
double wan_training_compute_s(const struct wan_training *t);

/* far_s[n]: the delay from a site to the one that is farthest from it, on the fastest way, which
 * may lead through other sites; nearest_s: the shortest between any two. */
double wan_bound_s(const struct wan_net *net, double bytes, const double *far_s, double nearest_s);

/* For any algorithm, number of streams and congestion control. Uses the rates of the sites, and the
 * links' where they are less together. */
double wan_map_bound_s(const struct wan_map *m, double bytes);

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
    const struct wan_carrier *carrier; /* NULL: adds no time */
};

/* Sets the strategy, and flat to the ranks per site that wan_sync runs it over: those of [sites]
 * where it does not sum inside a site first. */
void wan_case_strategy(struct wan_case *c, enum wan_strategy strategy);
/* The case of the config itself. */
struct wan_case wan_case_of(const struct wan_map *m, const struct wan_training *t);
struct wan_outcome wan_evaluate(const struct wan_case *c);
/* The strategy with the shortest synchronisation, as wan_sync runs it with the ranks of [sites]. */
enum wan_strategy wan_best_strategy(const struct wan_map *m, const struct wan_training *t);
/* The smallest H that reaches the efficiency, all else as in c; infinite if there is none. */
double wan_every_for(const struct wan_case *c, double efficiency);
/* The smallest factor on all rates that reaches the efficiency; infinite if there is none. */
double wan_factor_for(const struct wan_case *c, double efficiency);

/* The site without which the others train fastest, at least a tenth faster than with it. False:
 * none. */
struct wan_left_out {
    size_t row;
    enum wan_strategy strategy;
    struct wan_outcome o;
};

bool wan_slow_site(const struct wan_case *c, struct wan_left_out *out);
