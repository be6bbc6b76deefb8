/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that Slurm measures. `submit` makes a folder for each section of a config,
 * CAMPAIGN/PLATFORM/WORKLOAD/RUN, which every compute node must see. It holds, beside config and plan:
 *   job.sh               the job script; may be edited before it is submitted again
 *   jobs.jsonl           the ledger: how many launches there are, then one line a job
 *   slurm-JOB_INDEX.out  the output of a job
 * Every attempt writes a recording of its own there. No other state is stored: the recordings tell what
 * is measured, and Slurm which jobs wait or run.
 *
 * A crash at any moment loses no job and measures nothing twice. A job is submitted held, its comment
 * names its run, and it is released when its line in the ledger is on disk. To submit again finds every
 * job by its comment, also one that Slurm has queued again after a preemption, releases those that are
 * held, and submits only what is neither measured nor in the hands of a job.
 */
#pragma once

#include "base/text.h"
#include "cluster/slurm.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

#define CAMPAIGNS "data/campaigns"

/* A launch, which one job of the array measures. */
struct camp_task {
    bool missing;                /* it lacks a cell that it has not given up */
    const struct slurm_job *job; /* alive, or the last one that Slurm still knows; NULL: none */
    long last_job;               /* of the ledger; 0: none */
};

struct camp_run {
    char *dir;        /* absolute: CAMPAIGN/PLATFORM/WORKLOAD/RUN */
    const char *name; /* its last part, the id of the run */
    int throttle, retries;
    struct camp_task *tasks; /* by launch, from 1 */
    size_t n_tasks, n_missing;
    size_t n_cells, n_failed; /* cells; given up in a launch, but not skipped */
    int lock;                 /* -1: not locked */
};

struct campaign {
    struct camp_run *runs;
    size_t n;
    struct slurm_queue queue;
};

/* The folder of the campaign that measures these plans: the one that is unfinished, or else a new one
 * below `root`, whose scripts Slurm has checked. The caller frees *folder. GS_OK, or reported. */
int campaign_make(struct plan *const *plans, size_t n, const char *root, char **folder);

/* Finds the runs at or below `folder`, and reads what they lack. GS_OK, or reported: there is none, or
 * a recording is damaged. `locked`: others may not submit or take them meanwhile. */
int campaign_read(struct campaign *c, const char *folder, bool locked);
/* Asks Slurm for the jobs of these runs. */
int campaign_ask(struct campaign *c);
void campaign_free(struct campaign *c);
/* Is it the folder of a campaign, or of a run in one? */
bool campaign_is(const char *folder);

/* Releases and submits. Only after campaign_ask. GS_OK, or reported. */
int campaign_submit(struct campaign *c);
/* The command that submits these launches ("1-3,7%2"). */
void campaign_command(struct words *w, const char *dir, const char *indices);

/* Copies a run whose launches are all measured to RAW/PLATFORM/WORKLOAD/RUN: verified, with a manifest,
 * read-only. *target is its path, which the caller frees; *taken tells that it was not there yet.
 * GS_OK, or reported. */
int campaign_take(const struct camp_run *r, const char *raw, char **target, bool *taken);
