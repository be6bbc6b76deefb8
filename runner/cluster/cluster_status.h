/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign stands at: for each task what its recordings lack, what Slurm says of its job,
 * and, where the two leave something to be done, why and what to do.
 */
#ifndef GS_STANDING_H
#define GS_STANDING_H

#include "cluster/campaign.h"
#include "cluster/jobs.h"
#include "cluster/slurm.h"

/* In the order in which a cell that is several of them in its launches is counted, last first. */
enum stand { STAND_DONE, STAND_WAITS, STAND_RUNS, STAND_LACKS, STAND_FAILED };
enum { STANDS = 5 };

struct task_stand {
    enum stand stand; /* DONE: nothing is missing, though cells may have failed */
    size_t missing;   /* groups */
    long job;         /* that the words below are about: "12_3"; 0: none */
    bool held;        /* submitted and never released */
    char why[256], remedy[160];
};

struct cell_fail {
    size_t run;
    int launch;
    char *cell; /* config and parameters */
    char kind[16];
    char *why;
};

struct run_stand {
    size_t cells[STANDS], n_cells;
    size_t skipped; /* of those that are done */
    bool complete;  /* every launch lacks nothing */
};

struct standing {
    struct task_stand *tasks; /* as campaign.tasks */
    struct run_stand *runs;   /* as campaign.runs */
    struct cell_fail *fails;  /* the last of each cell that was given up, skips left out */
    size_t n_fails;
    long *orphans; /* jobs that Slurm has and the ledger has not */
    size_t *orphan_arrays, n_orphans;
    bool asked; /* Slurm answered */
};

/* The recordings, the ledger and one query. With `ask` false, Slurm is not asked and no task waits
 * or runs. GS_OK or reported. */
int standing_take(struct standing *s, const struct campaign *c, bool ask);
void standing_free(struct standing *s);

#endif
