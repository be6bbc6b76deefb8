/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a whole run folder, after its manifest is verified: cells, groups, blocks and samples.
 */
#pragma once

#include "base/text.h"
#include "config/config.h"
#include "config/settings_tables.h"
#include "plan/plan.h"
#include "record/host_load.h"
#include "record/ledger.h"
#include "record/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- cells ---- */

struct rec_cell {
    char id[PLAN_ID];
    size_t group; /* in recorded.groups */
    char *config, *mode, *params;
    struct words values; /* the parameters: name, value, name, value... */
    char *ran; /* by its notes: "RING/LL ctas=24"; "": unknown; "A | B": launches differ */
    int64_t size_B;
    double busbw_factor; /* 0: not a collective */
    /* expected number: the plan's; for an import, the most that a size of its config has */
    int64_t launches;
    char **metrics, **units; /* besides the time */
    size_t n_metrics;
};

struct rec_group {
    char id[PLAN_ID];
    size_t first, n; /* in recorded.cells */
};

struct rec_file {       /* of the ledger */
    json_t *header;     /* NULL: no line is recorded yet */
    struct words notes; /* key, value, key, value... before its first cell */
    bool begun;         /* a cell was read */
};

struct rec_span {               /* of a group in a file */
    size_t file, group;         /* in ledger.files, recorded.groups */
    size_t first, n;            /* in recorded.blocks */
    bool closed;                /* its group line was read */
    size_t readings, throttled; /* of GPUs (host_load.h) */
};

struct rec_block {
    size_t cell, span; /* in recorded.cells, .spans */
    int copy, number;
    uint64_t iters;
    double at, skew_ns, spread_ns; /* NaN: not recorded, as in metrics */
    double *metrics;               /* those of its cell */
    uint64_t *time_ns;             /* one for each sample */
    size_t n;
};

struct recorded {
    char *dir, *run_id, *platform, *workload, *label;
    char *plugin;                   /* its version */
    int64_t ranks, nodes, launches; /* launches: also those that replace one */
    uint64_t seed;
    char **overrides; /* of the config, NULL-terminated */
    bool planned;     /* there is a plan.json */
    bool imported;    /* no plan, and no block holds two configs */
    /* [limits] busbw, bytes a second, of configs/PLATFORM.ini; where there is none, of the config
     * that was recorded. NaN: no limit is given. */
    double limit;
    struct config *config;      /* config.ini with the overrides; NULL: there is none */
    struct set_measure measure; /* its [measure], or the defaults */
    struct ledger *ledger;
    struct rec_file *files; /* as in the ledger; NULL: no line is recorded */
    size_t n_files;
    struct rec_cell *cells;
    size_t n_cells;
    struct rec_group *groups;
    size_t n_groups;
    struct rec_span *spans; /* by file, then place */
    size_t n_spans;
    struct rec_block *blocks; /* in the order of the recordings */
    size_t n_blocks;
    struct disturbed_launches disturbed; /* by other programs; none of an import */
};

/* Copies the value of a "key=value" word of cell.params to buf; NULL: no such key. */
const char *recorded_param(const struct rec_cell *c, const char *key, char *buf, size_t n);

/* True if the library ran the same algorithm for both cells in every launch, and their params differ
 * in its tuning alone: then the config did not change the operation, whatever the times. */
bool recorded_same_operation(const char *ran, const char *params, const char *other_ran,
                             const char *other_params);

/* ---- the run ---- */

/* Reads a run folder: its cells and groups in plan order, and its blocks. Needs no plugin, and no plan for
 * an imported run. */

/* GS_OK, or reported: damaged, or a file differs from the manifest. *out is NULL with GS_OK if no
 * line is recorded yet. */
int recorded_read(struct recorded **out, const char *dir);
/* The same; `also` takes each line, too (ledger.h). */
int recorded_read_with(struct recorded **out, const char *dir, const struct ledger_reader *also);
void recorded_free(struct recorded *r);
AUTO_POINTER(struct recorded, recorded_free)

/* The span whose blocks count for the group in this launch (summary.h), or NULL. *closed: its attempt
 * closed the group. */
const struct rec_span *recorded_span(const struct recorded *r, size_t group, int launch,
                                     bool *closed);
