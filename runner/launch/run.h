/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a config or a run folder: plan, folder, launches, attempts, manifest; and tells the outcome.
 * Before each attempt the ledger lists the missing groups, so running and resuming are the same. A run
 * that a signal ended returns GS_FAILED, because it is incomplete.
 */
#pragma once

#include "base/family.h"
#include "base/text.h"
#include "launch/control.h"
#include "plan/plan.h"

#include <stdbool.h>

#define RUN_DATA "data/raw" /* default of -o */

struct run_options {
    const char **overrides; /* NULL, or NULL-terminated "section:key=value" */
    const char *data;       /* folder for platform/workload/run, e.g. "data/raw" */
    const char *workload;   /* only this section, or all sections of this plugin; NULL: all */
    bool quiet;
    char **dir;      /* may be NULL; set to the last run folder, for the caller to free */
    int launch;      /* the only one to measure; 0: all, and the run becomes final */
    bool commands;   /* of a run folder that this user did not begin: run its config's commands */
};

/* Runs every workload section of a config in its own run folder; the next section runs even if one
 * fails. Returns the worst exit code, everything reported. */
int run_config(const char *config, const struct run_options *options);
/* The same for the text of a config; messages call it `name`. */
int run_config_text(const char *name, const struct text *config, const struct run_options *options);

/* Measures the missing groups of a run folder. Reports GS_OK if nothing is missing. */
int run_folder(const char *dir, const struct run_options *options);

/* Creates the run folder of a plan. The caller frees *dir. */
int run_make_folder(const struct plan *p, const char *data, char **dir);
