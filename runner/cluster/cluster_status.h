/* SPDX-License-Identifier: Apache-2.0
 *
 * Status of a campaign. For each task: the groups that its recordings lack, the state of its job,
 * and, if the user has to act, the reason and the remedy. What was measured is read from plan.json
 * and the recordings, without the plugin. The reason comes from the state in Slurm and from the end
 * of the job's log, which outlives Slurm's memory of the job. Resume continues from there.
 */
#pragma once

#include "cluster/campaign.h"
#include "cluster/slurm.h"
#include "record/ledger.h"

#include <stdbool.h>
#include <stddef.h>

struct reason {
    char why[256], remedy[160];
};

/* For a waiting job. True: it is held until resume releases it. */
bool cluster_reason_waits(struct reason *r, const struct job *j);
/* For an ended job. `state` is NULL if Slurm no longer knows it; `log` is a path. */
void cluster_reason_ended(struct reason *r, const char *state, const char *log);
/* Remedy for a failed cell, by the kind of its fail line. */
const char *cluster_reason_failed(const char *kind);

/* A cell counts once, under the highest of the states that it has in its launches. */
enum work_state { WORK_DONE, WORK_WAITING, WORK_RUNNING, WORK_MISSING, WORK_FAILED };

enum { WORK_STATES = 5 };

struct task_status {
    enum work_state state; /* WORK_DONE: nothing is missing, but cells may have failed */
    size_t missing;        /* number of groups */
    long job;              /* the array job that `why` is about; 0: none */
    bool held;             /* submitted, but never released */
    struct reason reason;
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
    size_t skipped; /* cells that are done because they were skipped */
    bool complete;  /* no launch lacks a group */
};

struct cluster_status {
    struct task_status *tasks; /* parallel to campaign.tasks */
    struct run_status *runs;   /* parallel to campaign.runs */
    struct cell_fail *fails;   /* the last failure of each cell that was given up, without skips */
    size_t n_fails;
    struct orphan { /* a job that Slurm knows but the ledger lacks */
        long job;
        size_t array;
    } * orphans;
    size_t n_orphans;
};

/* Reads the recordings and the ledger. With `ask`, also queries Slurm once; without it, no task is
 * waiting or running. GS_OK or reported. */
int cluster_status_read(struct cluster_status *s, const struct campaign *c, bool ask);
void cluster_status_free(struct cluster_status *s);

/* GS_OK or reported. */
int cluster_resume(const char *dir, bool commands);

/* Measures the launches of one task; called by its job. `task` counts from 1. GS_OK or reported. */
int cluster_resume_task(const char *dir, long task);
