/* SPDX-License-Identifier: Apache-2.0
 *
 * The summaries of all cells of a run.
 */
#pragma once

#include "reduce/summary.h"

struct run_summary {
    struct recorded *r;
    struct summary *cells; /* as r->cells */
    struct cell_status {
        const char *status;
        char *why; /* "": ok; owned */
        int launches;
        bool converged;
    } * status;
};

/* GS_OK or reported: damaged, or nothing recorded yet. run_summary_free in any case. */
int run_summary_read(struct run_summary *s, const char *dir);
void run_summary_free(struct run_summary *s);
