/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan: the cells that a config asks one workload section to measure, in groups that are compared
 * inside blocks. Pure until plan_write; the same config, plugin and seed give the same plan.
 *
 * Sweep: every key of a workload section is a parameter of the plugin, and a list value is an axis
 * ("8:128MiB:x2", "1:9:+2", "a, b, c"). The cells are the full product, except that
 *   zip = size, bucket           those axes advance together (equal lengths)
 *   exclude = dtype=int32 op=max, size=8 algorithm=tree    cells that match every term of a clause
 *   configs = auto, ring/LL128, ctas=8    the WL_CONFIG combinations, in place of their product
 * Clauses may be separated by ';' too, in quotes: a bare ';' begins a comment in an .ini file.
 * Labels of configs and modes: label.h.
 */
#ifndef GS_PLAN_H
#define GS_PLAN_H

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
    char *skip;   /* why describe() skips it; NULL: it does not */
    void *values; /* plugin's cell struct */
    struct wl_shape shape;
    bool baseline; /* visited twice a block when its group compares two configs or more */
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

/* Takes ownership of config. GS_OK or a reported error: unknown key (nearest name), value out of
 * range, empty sweep, unequal zip, a cell that describe() fails with WL_FAIL (ranks < 2 …).
 * Cells that describe() skips stay in the plan and are skipped with their reason when run. A cell
 * whose shape is config_free has the defaults of the WL_CONFIG parameters and the label "". The
 * seed is the given one, or drawn. */
int plan_build(struct plan **out, struct config *config, const char *section);
/* Its steps: the plugin, what is said about it placed at the section's line; then the plan, which
 * owns config and plugin from the call on, whatever it returns; with settings that are read. */
int plan_plugin(struct plugin **out, const struct config *config, const char *section);
int plan_build_with(struct plan **out, struct config *config, const char *section,
                    struct plugin *plugin);
int plan_build_from(struct plan **out, struct config *config, const char *section,
                    struct plugin *plugin, const struct settings *set);
void plan_free(struct plan *p);

/* What running it takes. */
struct plan_cost {
    double time_s;             /* all launches, when every group stops at its first chance */
    double most_s;             /* when none converges: budgets and max_blocks end them */
    uint64_t host_B, device_B; /* the largest group's, on one rank */
};
struct plan_cost plan_cost(const struct plan *p);
uint64_t plan_free_memory(void); /* bytes; what the machine and its control groups leave */
/* GS_OK, or GS_CANNOT, reported, when the largest group needs more than the free memory here. */
int plan_memory_check(const struct plan *p);

/* A run folder holds config.ini (the config's bytes) and plan.json: section, overrides, seed,
 * launches, and what readers without the plugin (reduce, show) need of every cell, in plan order:
 * "cells": [{"id", "group", "config", "mode", "params": "key=value …", "size_B",
 * "busbw_factor"}]. plan_read rebuilds the plan from them and refuses one whose ids no
 * longer come out (another plugin version). */
int plan_write(const struct plan *p, const char *dir);
int plan_read(struct plan **out, const char *dir);

#endif
