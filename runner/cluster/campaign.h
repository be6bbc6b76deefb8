/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign is a set of run folders that a Slurm cluster measures. Each array task measures some
 * launches of one run. The campaign folder must be visible to the compute nodes. It holds:
 *   campaign.json       runs, arrays and tasks; never changed. Written last: without it, no campaign
 *   runs/P/W/RUN/       run folders without a manifest (collect makes the final copy)
 *   array-K.sh          job script of array K; may be edited before a resume
 *   tasks.tsv           table of the tasks, for people
 *   jobs.jsonl          ledger: one line per submission, fsynced before the job is released
 *   log/JOB_INDEX.out   output of a job
 * No state is stored besides: results are read from the recordings, live jobs from Slurm.
 *
 * Also here, because a campaign names its cluster: the running of Slurm's programs.
 */
#pragma once

#include "base/text.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct reply {
    int status; /* exit status, or 128 + signal */
    struct text out, err;
};

/* All later programs are for this cluster; "": the one of this machine. */
void campaign_client_cluster(const char *name);
/* GS_OK when the program exited with 0. Otherwise one line was reported: GS_CANNOT for a missing
 * program or controller, GS_USAGE for a fault of the config, else GS_FAILED. `purpose` begins that
 * line: "nothing was submitted". Call campaign_reply_free in all cases. */
int campaign_client_run(struct reply *r, const char *const *argv, const char *purpose);
void campaign_reply_free(struct reply *r);

/* Safe in a #SBATCH line: letters, digits and the marks of Slurm's syntax. Excludes blanks, quotes,
 * expansions and comments. */
bool campaign_sbatch_value(const char *s);
/* The name of an sbatch option: "mail-user". */
bool campaign_sbatch_option(const char *s);
/* The name of an environment module: "mpi/openmpi-4.1". */
bool campaign_sbatch_module(const char *s);
/* Usable as the folder of a job. Slurm expands '%' and '\' in paths. */
bool campaign_sbatch_path(const char *s);
/* One line without control characters. */
bool campaign_sbatch_line(const char *s);

#define CAMPAIGN_LEDGER "jobs.jsonl"

struct camp_run {
    char *dir; /* relative to the campaign folder: "runs/P/W/RUN" */
    char *platform, *section;
    int launches, retries;
};

struct camp_task { /* tasks[t] has number t + 1 in tables, scripts and --task */
    size_t run, array;
    int first, last; /* launches */
};

struct camp_array { /* tasks with equal resources; index I is tasks[first + I - 1] */
    char *script;   /* file name in the campaign folder */
    size_t first, n;
    int throttle; /* 0: none */
};

struct campaign {
    char *dir;     /* absolute */
    char *cluster; /* [slurm] clusters; NULL: that of this machine */
    char *id;      /* name of the folder and of the jobs; part of the job comment */
    struct camp_run *runs;
    struct camp_task *tasks;
    struct camp_array *arrays;
    size_t n_runs, n_tasks, n_arrays;
};

bool campaign_is(const char *dir); /* a folder that holds a campaign.json */

/* Creates <root>/<id> and its subfolders. GS_OK, or reported: not writable, or a path that Slurm
 * would expand. */
int campaign_make(struct campaign *c, const char *root);
int campaign_add_run(struct campaign *c, const char *dir, const struct plan *p);
void campaign_add_task(struct campaign *c, struct camp_task t);
void campaign_add_array(struct campaign *c, const char *script, size_t first, size_t n,
                        int throttle);
int campaign_write(const struct campaign *c); /* writes tasks.tsv and campaign.json */

/* GS_OK, or reported: GS_USAGE if it is no campaign, GS_FAILED if damaged. */
int campaign_read(struct campaign *c, const char *dir);
void campaign_free(struct campaign *c);

/* Only one submit, resume, cancel or collect at a time. Closing *fd ends it. */
int campaign_lock(const struct campaign *c, int *fd);

/* Creates a new file in the campaign folder; never follows a link. */
int campaign_file(const struct campaign *c, const char *name, const char *text, bool executable);

char *campaign_path(const struct campaign *c, const char *below); /* the caller frees it */

bool campaign_configs_is_folder(const char *path); /* a folder, but no run folder or campaign */
/* Adds the file, or the *.ini files of the folder, sorted by name. GS_OK, or GS_USAGE (reported)
 * for a folder without configs. The caller frees the list with words_free. */
int campaign_configs_add(struct words *list, const char *path);
