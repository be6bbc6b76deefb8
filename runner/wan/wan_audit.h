/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares claims about a training with what is possible. A claim is [model] claim.NAME = VALUE or
 * LOW..HIGH; claim.NAME.source, or source for all, names its publication. Finds claims that are
 * physically impossible, and claims that the model of this config does not reach. Each finding
 * gives the arithmetic.
 */
#pragma once

#include "base/text.h"
#include "wan/training.h"
#include "workload.h"

#include <stdbool.h>

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

/* Returns one finding per claim, in the order of the config, *n of them. The caller frees them with
 * wan_findings_free. NULL, reported: a claim has a fault. */
struct wan_finding *wan_audit(const struct config *c, const struct wan_map *m,
                              const struct wan_training *t, size_t *n);
void wan_findings_free(struct wan_finding *f, size_t n);

/* claim.NAME; the help says what it is about. Ends with a NULL name. */
extern const struct wl_param wan_claims[];
