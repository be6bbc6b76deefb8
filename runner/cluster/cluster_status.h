/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign stands at: for each task what its recordings lack, what Slurm says of its job,
 * and, where the two leave something to be done, why and what to do.
 */
#ifndef GS_CLUSTER_STATUS_H
#define GS_CLUSTER_STATUS_H

#include "cluster/campaign.h"
#include "cluster/jobs.h"
#include "cluster/slurm.h"

/* In the order in which a cell that is several of them in its launches is counted, last first. */
enum work_state { WORK_DONE, WORK_WAITING, WORK_RUNNING, WORK_MISSING, WORK_FAILED };
enum { WORK_STATES = 5 };

struct task_status {
    enum work_state state; /* DONE: nothing is missing, though cells may have failed */
    size_t missing;        /* groups */
    long job;              /* that the words below are about: "12_3"; 0: none */
    bool held;             /* submitted and never released */
    char why[256], remedy[160];
};

struct cell_fail {
    size_t run;
    int launch;
    char *cell; /* config and parameters */
    char kind[16];
    char *why;
};

struct run_status {
    size_t cells[WORK_STATES], n_cells;
    size_t skipped; /* of those that are done */
    bool complete;  /* every launch lacks nothing */
};

struct cluster_status {
    struct task_status *tasks; /* as campaign.tasks */
    struct run_status *runs;   /* as campaign.runs */
    struct cell_fail *fails;   /* the last of each cell that was given up, skips left out */
    size_t n_fails;
    long *orphans; /* jobs that Slurm has and the ledger has not */
    size_t *orphan_arrays, n_orphans;
};

/* The recordings, the ledger and one query. With `ask` false, Slurm is not asked and no task waits
 * or runs. GS_OK or reported. */
int cluster_status_read(struct cluster_status *s, const struct campaign *c, bool ask);
void cluster_status_free(struct cluster_status *s);

#endif
