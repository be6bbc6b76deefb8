/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: the cells of one workload section, in groups. The configs of a group are compared inside
 * blocks. The same config, plugin and seed give the same plan.
 *
 * Every key of a workload section is a parameter of the plugin, and a list is an axis of the sweep
 * ("8:128MiB:x2", "1:9:+2", "a, b, c"). The cells are the product of all axes; with
 * configs = auto, ring/LL128, ctas=8, these combinations of WL_CONFIG parameters instead of all.
 * sweep.h describes the labels of configs and modes.
 */
#pragma once

#include "config/config.h"
#include "config/settings.h"
#include "plugin/plugin.h"

#include <stddef.h>
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

/* Does the group hold two configs or more? Its baseline is then visited twice per block. */
bool plan_group_compares(const struct plan *p, const struct group *g);
/* Visits of this cell in each block of the group: 2 for the baseline of a comparison, else 1. */
int plan_group_copies(const struct plan *p, const struct group *g, const struct cell *c);

/* The cell with this id; NULL: none. */
const struct cell *plan_cell_find(const struct plan *p, const char *id);
/* A cell's name for messages: the parameters in which the plan's cells differ, and the id, e.g.
 * "size=16 algorithm=ring (347751c7b5e48f63)". Returns buf. */
const char *plan_cell_name(const struct plan *p, const struct cell *cell, char *buf, size_t n);

/* ---- the order of groups and visits ---- */

/* The order of measurement. Pure functions: the same seed gives the same order on every rank and
 * machine, and an attempt that resumes a launch continues in its order. */

/* order[0..n): the order of the groups in this launch. It differs between launches, so that warm-up
 * and drift affect another group each time. */
void plan_order_groups(size_t *order, size_t n, uint64_t seed, int launch);

/* order[0..n): the preparation order of the slots of a group. It differs between launches. An effect
 * of the creation order of communicators is then noise between launches, which the interval covers,
 * and not a difference between configs. */
void plan_order_prepared(size_t *order, size_t n, uint64_t seed, int launch, size_t group);

/* order[0..n): the visit order of one block (from 1) of a group. Odd blocks are random; each even
 * block mirrors the one before, so that a linear drift cancels over the pair (ABBA). */
void plan_order_visits(size_t *order, size_t n, uint64_t seed, int launch, size_t group, int block);

/* The seed for the plugin: the same on every rank, another one in each launch. */
uint64_t plan_launch_seed(uint64_t seed, int launch);

/* ---- the plan of a section ---- */

/* Takes ownership of config and plugin, even on failure; plugin NULL: loads that of the section; set NULL:
 * reads the settings of the config. Returns
 * GS_OK, or a code after an error was reported: unknown key (with the nearest name), value out of range,
 * empty sweep, a cell for which describe() returns WL_FAIL. A cell that describe() skips stays in the
 * plan, with the reason. A cell whose shape is config_free gets the defaults of the WL_CONFIG parameters
 * and the label "". The seed is [measure] seed, or drawn if that is 0. */
int plan_build(struct plan **out, struct config *config, const char *section, struct plugin *plugin,
               const struct settings *set);

/* ---- the sections of a config ---- */

struct sections {
    struct plan **plans;
    size_t n;
    int left_out; /* GS_CANNOT: a section's plugin cannot be loaded on this machine, reported */
};

/* `workload`: name of a section, or of a plugin for all its sections; NULL: all sections. Each
 * fault of the config is an error before anything runs. If a plugin cannot be loaded here, only its
 * sections are left out. GS_OK or reported. Call plan_sections_free in both cases. */
int plan_sections(struct sections *s, const char *config, const char *const *overrides,
                  const char *workload);
/* The same for a config that was read; the plans share it. */
int plan_sections_of(struct sections *s, struct config *c, const char *workload);
void plan_sections_free(struct sections *s);

/* ---- what a plan takes, in time and memory ---- */

/* An estimate of the time and memory that a run needs. */
struct plan_cost {
    double time_s;             /* all launches, if every group converges at once */
    double most_s;             /* if none converges: budgets and max_blocks stop them */
    uint64_t host_B, device_B; /* of the largest group, on one rank */
};
struct plan_cost plan_cost(const struct plan *p);
/* GS_OK, or GS_CANNOT, reported, if the largest group needs more than the free memory. */
int plan_memory_check(const struct plan *p);

/* Prints the cells as a table: ids, config, mode and the parameters that vary. */
void plan_table(const struct plan *p);

/* A run folder holds config.ini (a copy of the config) and plan.json. plan_read builds
 * the plan again from both, and fails if other cell ids come out (another plugin version). */
int plan_write(const struct plan *p, const char *dir);
int plan_read(struct plan **out, const char *dir);
