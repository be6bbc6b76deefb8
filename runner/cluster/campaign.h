/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign: run folders that a cluster measures, one array task for each (run, launches). Its
 * folder lies where compute nodes see it, and everything about it is in there:
 *   campaign.json       what was asked, immutable; written last, so a folder without it is nothing
 *   runs/P/W/RUN/       run folders, without a manifest (collect makes the final copy)
 *   array-K.sh          the job script of array K: may be edited before a resume
 *   tasks.tsv           what each task measures, for people
 *   jobs.jsonl          the ledger: a line a submission, appended and fsynced before its release
 *   log/JOB_INDEX.out   what a job said
 * Which results are there is asked of the recordings, which jobs live of Slurm: no state is kept.
 */
#ifndef GS_CAMPAIGN_H
#define GS_CAMPAIGN_H

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

#define CAMPAIGN_FILE "campaign.json"
#define CAMPAIGN_LEDGER "jobs.jsonl"

struct camp_run {
    char *dir; /* below the campaign's: "runs/P/W/RUN" */
    char *platform, *section;
    int launches, retries;
};

struct camp_task { /* the t-th task is number t + 1 in tables, scripts and --task */
    size_t run, array;
    int first, last; /* launches */
};

struct camp_array { /* tasks of one shape of resources; index I is task first + I - 1 */
    char *script;   /* a name in the campaign's folder */
    size_t first, n;
    int throttle; /* 0: none */
};

struct campaign {
    char *dir; /* absolute */
    char *id;  /* the folder's name; a job's name, and with the array's number its comment */
    struct camp_run *runs;
    struct camp_task *tasks;
    struct camp_array *arrays;
    size_t n_runs, n_tasks, n_arrays;
};

bool campaign_is(const char *dir); /* a folder that holds a campaign.json */

/* Makes <root>/<id> with its folders. GS_OK or reported: cannot be written, a path that Slurm would
 * read as something else. */
int campaign_make(struct campaign *c, const char *root);
int campaign_add_run(struct campaign *c, const char *dir, const struct plan *p);
void campaign_add_task(struct campaign *c, struct camp_task t);
void campaign_add_array(struct campaign *c, const char *script, size_t first, size_t n,
                        int throttle);
int campaign_write(const struct campaign *c); /* tasks.tsv, campaign.json */

/* GS_OK or reported: GS_USAGE no campaign; GS_FAILED damaged. */
int campaign_read(struct campaign *c, const char *dir);
void campaign_free(struct campaign *c);

/* One submit, resume, cancel or collect at a time; freed with lock_free (lock.h). */
int campaign_lock(const struct campaign *c, int *fd);

/* A new file of the campaign's folder, never through a link. */
int campaign_file(const struct campaign *c, const char *name, const char *text, bool executable);

char *campaign_path(const struct campaign *c, const char *below); /* the caller's */

#endif
