/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: the cells of one workload section, in groups. The configs of a group are compared inside
 * blocks. The same config, plugin and seed give the same plan.
 *
 * Every key of a workload section is a parameter of the plugin, and a list is an axis of the sweep
 * ("8:128MiB:x2", "1:9:+2", "a, b, c"). The cells are the product of all axes. Three keys change it:
 *   zip = size, bucket           these axes advance together and have equal lengths
 *   exclude = dtype=int32 op=max, size=8 algorithm=tree    leaves out cells that match all terms of
 *                                                          one clause
 *   configs = auto, ring/LL128, ctas=8    these combinations of WL_CONFIG parameters, instead of all
 * A ';' may separate clauses too, in quotes: a bare ';' begins a comment in an .ini file.
 * label.h describes the labels of configs and modes.
 */
#pragma once

#include "config/config.h"
#include "config/settings.h"
#include "plugin/plugin.h"

#include <stdint.h>

#define PLAN_ID 17 /* 16 hex digits of a SHA-256, and the terminator */

struct cell {
    char id[PLAN_ID]; /* of "platform=…\nworkload=…\nranks=…\nnodes=…\n" and sorted "key=value\n" */
    char *config; /* label */
    char *mode;   /* WL_MODE values joined by "/"; "" */
    char *params; /* "key=value key=value": every parameter, table order */
    char *skip;   /* why describe() skips it; NULL: it is measured */
    void *values; /* the plugin's cell struct */
    struct wl_shape shape;
    bool baseline; /* visited twice per block if its group compares configs */
};

struct group {
    char id[PLAN_ID];
    size_t first, n; /* in plan.cells: a group's cells are consecutive */
};

struct plan {
    struct settings set;
    struct config *config; /* owned */
    char *section;         /* "nccl_allreduce latency" */
    char *workload;        /* "nccl_allreduce" */
    char *label;           /* "latency" or "" */
    struct plugin *plugin; /* owned */
    struct cell *cells;
    size_t n_cells;
    struct group *groups;
    size_t n_groups;
    uint64_t seed;
    char config_sha256[65];
};

void plan_free(struct plan *p);
AUTO_POINTER(struct plan, plan_free)
bool plan_is_train(const struct plan *p); /* of [train]: the command of a user, not a plugin */
void cell_free(struct cell *c);

/* Does the group hold two configs or more? Its baseline is then visited twice per block. */
bool group_compares(const struct plan *p, const struct group *g);
/* Visits of this cell in each block of the group: 2 for the baseline of a comparison, else 1. */
int group_copies(const struct plan *p, const struct group *g, const struct cell *c);

/* The same for all cells: starts of the command in each launch of [train]. */
size_t plan_visits(const struct plan *p);

/* The cell with this id; NULL: none. */
const struct cell *cell_find(const struct plan *p, const char *id);
/* A cell's name for messages: the parameters in which the plan's cells differ, and the id, e.g.
 * "size=16 algorithm=ring (347751c7b5e48f63)". Returns buf. */
const char *cell_name(const struct plan *p, const struct cell *cell, char *buf, size_t n);

/* An estimate of the time and memory that a run needs. */
struct plan_cost {
    double time_s;             /* all launches, if every group converges at once */
    double most_s;             /* if none converges: budgets and max_blocks stop them */
    uint64_t host_B, device_B; /* of the largest group, on one rank */
};
struct plan_cost plan_cost(const struct plan *p);
uint64_t plan_free_memory(void); /* bytes free on the machine and in its control groups */
/* GS_OK, or GS_CANNOT, reported, if the largest group needs more than the free memory. */
int plan_memory_check(const struct plan *p);

/* A run folder holds config.ini (a copy of the config) and plan.json (plan_io.h). plan_read builds
 * the plan again from both, and fails if other cell ids come out (another plugin version). */
int plan_write(const struct plan *p, const char *dir);
int plan_read(struct plan **out, const char *dir);
