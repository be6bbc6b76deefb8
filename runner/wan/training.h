/* SPDX-License-Identifier: Apache-2.0
 *
 * The training that a WAN carries, from the [model] section: what is computed, what is sent, how
 * often, and beside it what somebody claims of it (claim.*) and what could be done instead (alt.*).
 */
#ifndef GS_WAN_TRAINING_H
#define GS_WAN_TRAINING_H

#include "config/config.h"
#include "wan/model.h"
#include "wan/net.h"

struct wan_training {
    double parameters, layers, width, sequence, tokens; /* a global step */
    double gpus;                                        /* 0: those of [sites] */
    double peak_flops, mfu;
    double compute_s;   /* of a step, measured; 0: from the FLOPs */
    double micro_batch; /* sequences on one GPU at a time; 0: not said */
    double bits, group; /* on the wire; a scale of 16 bits for so many values below 16 bits */
    double every, fragments, overlap, outer_s, straggle_s;
    bool strict;
    int strategy; /* enum wan_strategy; WAN_STRATEGIES: the best */
    double target_tokens;
};

/* Something else that could be done. */
struct wan_alternative {
    const char *name; /* the key behind "alt."; owned by the config */
    double gpus, nodes;
    double rate_Bps, rtt_s; /* between its nodes; rate 0: takes no time */
};

/* The tables that read [model] and alt.NAME; each ends with a NULL name. */
extern const struct wl_param wan_training_words[], wan_alternative_words[];

/* GS_OK or GS_USAGE, every fault reported: a word or value that is none, or what cannot be, with
 * the arithmetic. gpus is filled in from the map. */
int wan_training_read(struct wan_training *t, const struct config *c, const struct wan_map *m);
/* The alternatives of the config, *n of them; free. NULL and reported: a fault. */
struct wan_alternative *wan_alternatives_read(const struct config *c, size_t *n);

/* Bytes of one synchronised gradient, its scales included. */
double wan_training_bytes(const struct wan_training *t, double bits);
double wan_training_compute_s(const struct wan_training *t);
struct wan_job wan_training_job(const struct wan_training *t);
struct wan_schedule wan_training_schedule(const struct wan_training *t);

#endif
