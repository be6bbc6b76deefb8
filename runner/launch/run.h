/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of a run: plan, folder, launches, attempts, manifest. What is missing is asked of the
 * ledger before each attempt, so that running and resuming are the same thing. A run that a signal
 * ended returns GS_FAILED: not all that was asked for is measured.
 */
#ifndef GS_RUN_H
#define GS_RUN_H

#include "plan/plan.h"

#include <stdbool.h>

#define RUN_DATA "data/raw" /* unless -o says otherwise */

struct run_options {
    const char *const *overrides; /* NULL, or NULL-terminated "section:key=value" */
    const char *data;             /* where platform/workload/run goes, e.g. "data/raw" */
    const char *workload;         /* this section (or all of this plugin) alone; NULL: all */
    bool quiet, json;             /* json: a summary on stdout */
    bool *interrupted;            /* NULL, or set when a signal ended run_config */
    int first, last; /* launches of a run folder that are measured; 0: all, which makes it final */
};

/* Every workload section of a config into run folders of their own; one that fails does not keep
 * the next from running. Returns the worst exit code, everything reported. */
int run_config(const char *config, const struct run_options *options);

/* What a run folder lacks, by its own plan. Nothing to do: says so, GS_OK. */
int run_folder(const char *dir, const struct run_options *options);

/* Steps that joined ranks (joined.h) take by themselves. *dir is the caller's. */
int run_make_folder(const struct plan *p, const char *data, char **dir);

#endif
