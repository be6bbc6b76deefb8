/* SPDX-License-Identifier: Apache-2.0
 *
 * The training of the [model] section: its compute, its gradient, and how often it synchronises.
 * The section also holds claims about it (claim.*) and alternatives (alt.*).
 */
#pragma once

#include "config/config.h"
#include "wan/model.h"
#include "wan/net.h"

#define WAN_TARGETS_MAX 16

struct wan_training {
    double parameters, layers, width, sequence, tokens; /* a global step */
    double gpus;                                        /* 0: sum over [sites] */
    double peak_flops, mfu;
    double compute_s;   /* measured time per step; 0: computed from the FLOPs */
    double micro_batch; /* sequences per GPU and micro-batch; 0: unknown */
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

/* Alternative hardware for the training. */
struct wan_alternative {
    const char *name; /* the key behind "alt."; owned by the config */
    double gpus, nodes;
    double rate_Bps, rtt_s; /* between its nodes; rate 0: takes no time */
};

/* The tables that read [model] and alt.NAME; each ends with a NULL name. */
extern const struct wl_param wan_training_words[], wan_alternative_words[];

/* GS_OK or GS_USAGE. Reports every fault: unknown keys, bad values, and impossible ones with the
 * arithmetic. Fills in gpus from the map. */
int wan_training_read(struct wan_training *t, const struct config *c, const struct wan_map *m);
/* Returns the alternatives of the config, *n of them; the caller frees the array. NULL: a fault,
 * reported. */
struct wan_alternative *wan_alternatives_read(const struct config *c, size_t *n);

/* Bytes of one synchronised gradient, its scales included. */
double wan_training_bytes(const struct wan_training *t, double bits);
double wan_training_compute_s(const struct wan_training *t);
struct wan_job wan_training_job(const struct wan_training *t);
struct wan_schedule wan_training_schedule(const struct wan_training *t);
