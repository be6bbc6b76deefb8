/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells and groups of a recorded run, and how plan.json and the recordings fill them.
 */
#pragma once

#include "base/text.h"
#include "plan/plan.h"
#include "record/host_load.h"
#include "record/ledger.h"
#include "record/raw.h"

#include <stdint.h>

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

struct rec_span {
    size_t file, group; /* in ledger.files, recorded.groups */
    struct raw_place start;
};

struct recorded {
    char *dir, *run_id, *platform, *workload, *label;
    char *plugin;                   /* its version */
    int64_t ranks, nodes, launches; /* launches: also those that replace one */
    uint64_t seed;
    char **overrides; /* of the config, NULL-terminated */
    bool verified;    /* the plugin verified the results after each block */
    bool planned;     /* there is a plan.json */
    bool imported;    /* no plan, and no block holds two configs */
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
    struct disturbed_launches disturbed; /* by other programs; none of an import */
};

struct rec_cell *recorded_find(const struct recorded *r, const char *id); /* NULL: none */
struct rec_cell *recorded_add(struct recorded *r, const char *id, const char *group);
void recorded_describe(struct rec_cell *c, const json_t *o); /* from plan.json or a cell line */
void recorded_set_params(struct rec_cell *c, json_t *params);
void recorded_set_metrics(struct rec_cell *c, const json_t *metrics); /* the first call counts */
/* Takes a note line; only the key "ran" matters. */
void recorded_note(struct recorded *r, const struct raw_line *note);
void recorded_free_cell(struct rec_cell *c);

/* After reading: sorts the cells by group, and counts the launches each should have. */
void recorded_index_groups(struct recorded *r);
void recorded_count_launches(struct recorded *r, int64_t planned);

/* True if two configs have a cell of the same size and mode, so that compare has something to do. */
bool recorded_compares(const struct recorded *r);

/* Copies the value of a "key=value" word of cell.params to buf; NULL: no such key. */
const char *recorded_param(const struct rec_cell *c, const char *key, char *buf, size_t n);

/* True if the library ran the same algorithm for both cells in every launch, and their params differ
 * in its tuning alone: then the config did not change the operation, whatever the times. */
bool recorded_same_operation(const char *ran, const char *params, const char *other_ran,
                             const char *other_params);
