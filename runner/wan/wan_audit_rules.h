/* SPDX-License-Identifier: Apache-2.0
 *
 * The known claims about a training. Each rule computes the best possible value and explains it.
 */
#pragma once

#include "base/text.h"
#include "wan/advice.h"

#include <stdbool.h>

#define WAN_CLAIM_TOLERANCE 0.01 /* claims are rounded */

/* Impossible: physics forbids it. Unreached: physics allows it, but not what this plan assumes (its
 * mfu, overlap, strategy, streams). Contradicted: another claim or a known fact says otherwise. */
enum wan_verdict { WAN_POSSIBLE, WAN_UNREACHED, WAN_IMPOSSIBLE, WAN_CONTRADICTED };

struct wan_finding {
    const struct config_entry *entry;
    const char *name, *unit, *what; /* "sync_time", "s", "one synchronisation" */
    double low, high;               /* the claim, in SI units */
    bool high_is_good; /* true: low must not exceed `possible`; false: high must not be below it */
    double possible;   /* the best value that physics allows */
    double reached;    /* the value that this plan reaches */
    enum wan_verdict verdict;
    struct text why;
};

/* One step within the limits of physics, or of the plan. */
struct wan_reach {
    double compute_s; /* on all GPUs */
    double sync_s;    /* one synchronisation */
    double step_s, efficiency;
};

/* The values that the claims of a config are compared with. */
struct wan_ground {
    const struct config *config;
    const struct wan_map *map;
    const struct wan_training *t;
    struct wan_case plan;
    struct wan_reach physics; /* GPUs at their peak, links at their rate, all overlapped */
    struct wan_reach reached; /* within the plan */
    double bytes, rtt_low, rtt_high;
};

struct wan_rule {
    struct wl_param claim; /* claim.NAME; help: the quantity */
    bool high_is_good; /* true: impossible if the low end of the claim is above the best value */
    double (*best)(const struct wan_ground *g, const struct wan_reach *by);
    /* Writes f->why; may set the verdict to contradicted. */
    void (*why)(const struct wan_ground *g, struct wan_finding *f);
};
extern const struct wan_rule wan_rules[]; /* ends with a NULL name */
