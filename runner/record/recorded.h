/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run folder holds, indexed for reading: its cells and groups in the order of the plan, and
 * where in which recording the blocks of each group start. Needs neither the plugin nor, for what
 * was imported, a plan.
 */
#ifndef GS_RECORDED_H
#define GS_RECORDED_H

#include "plan/plan.h"
#include "record/ledger.h"
#include "record/raw.h"

#include <stdint.h>

struct rec_cell {
    char id[PLAN_ID];
    size_t group; /* in recorded.groups */
    char *config, *mode, *params;
    char *ran; /* by its notes: "RING/LL ctas=24"; "": unknown; "A | B": launches differ */
    int64_t size_B;
    double busbw_factor;     /* 0: no collective */
    int64_t launches;        /* it should have: as planned; of an import, as its config has most */
    char **metrics, **units; /* beyond the time */
    size_t n_metrics;
};

struct rec_group {
    char id[PLAN_ID];
    size_t first, n; /* in recorded.cells */
};

struct rec_span {
    size_t file, group; /* in ledger.files, recorded.groups */
    struct raw_place start;
};

struct recorded {
    char *dir, *run_id, *platform, *workload, *label;
    int64_t ranks, nodes, launches; /* launches: as planned */
    uint64_t seed;
    char **overrides; /* of the config, NULL-terminated */
    bool verified;    /* results were checked after each block */
    bool planned;     /* there is a plan.json */
    bool imported;    /* no block holds two configs, and nothing was planned */
    /* [limits] busbw, bytes a second, of configs/PLATFORM.ini; where there is none, of the config
     * that was recorded. NaN: no limit is given. */
    double limit;
    double precision; /* [measure] precision, relative */
    struct ledger *ledger;
    struct rec_cell *cells;
    size_t n_cells;
    struct rec_group *groups;
    size_t n_groups;
    struct rec_span *spans; /* by file, then place */
    size_t n_spans;
};

/* GS_OK or reported: damage, or files that are not as the manifest, where there is one, says. *out
 * is NULL with GS_OK when the folder has no line recorded yet. */
int recorded_read(struct recorded **out, const char *dir);
void recorded_free(struct recorded *r);

/* The span whose blocks of the group count in this launch (reduce.h), or NULL; *closed says whether
 * its attempt closed the group. */
const struct rec_span *recorded_span(const struct recorded *r, size_t group, int launch,
                                     bool *closed);

/* The value of a "key=value" word of cell.params into buf, or NULL. */
const char *recorded_param(const struct rec_cell *c, const char *key, char *buf, size_t n);

/* Both cells say what ran, and in every launch it is one and the same operation: whatever their
 * times differ by, the config did not change what was run. */
bool recorded_same_operation(const char *ran, const char *other);

#endif
