/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests to Slurm, each of which runs one of its programs, and the job scripts of a campaign.
 *
 * The ledger of a campaign: one line per submission, with its job and tasks. A line is on disk
 * before the job may start, and stays after Slurm has forgotten the job.
 * Submits tasks so that a crash at any moment loses no job. An array is submitted held; it is
 * released when its line in the ledger is on disk. A job that a crash left held is found by its
 * comment.
 */
#pragma once

#include "base/text.h"
#include "cluster/campaign.h"
#include "config/config.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

int slurm_array_max(long *indices); /* largest index of an array + 1 */

/* ---- jobs ---- */

struct job {
    long array_job; /* the id that sbatch printed */
    size_t array;   /* index in campaign.arrays */
    long index;     /* index in the job array */
    long id;        /* job id of this task */
    char state[24], reason[64];
    bool mine; /* this user submitted it from this campaign folder */
};

struct queue {
    struct job *v; /* sorted by array, index, job */
    size_t n;
};

/* All jobs of the campaign that Slurm still knows, including ended ones. Runs one squeue. */
int slurm_queue(struct queue *q, const struct campaign *c);
void slurm_queue_free(struct queue *q);

enum job_life { JOB_WAITS, JOB_RUNS, JOB_ENDED };

enum job_life slurm_job_life(const struct job *j);

/* Adds the command that submits the indices ("1-3,7%4") of array `k`, held. */
void slurm_submit_command(struct words *w, const struct campaign *c, size_t k, const char *indices);
int slurm_release(const long *jobs, size_t n);
int slurm_cancel(const long *jobs, size_t n);

struct submission {
    long job;
    size_t array;
    char *indices; /* "1-3,7" */
};

struct jobs {
    struct submission *v; /* in order of submission */
    size_t n;
    bool cancelled; /* cancelled after the last submission */
};

/* GS_OK (empty without a ledger) or reported. */
int slurm_jobs_read(struct jobs *j, const struct campaign *c);
void slurm_jobs_free(struct jobs *j);

/* Append a line and fsync it. */
int slurm_jobs_add(const struct campaign *c, long job, size_t array, const char *indices);
int slurm_jobs_cancelled(const struct campaign *c);

bool slurm_jobs_knows(const struct jobs *j, long job);
/* Job of the last submission with this task; 0: none. */
long slurm_jobs_last(const struct jobs *j, const struct campaign *c, size_t task);

/* Submits the wanted tasks (NULL: all), one submission per array. GS_OK or reported. */
int slurm_submit_tasks(const struct campaign *c, const bool *wanted);

/* "1-3,7%4": indices of the wanted tasks of array k; NULL: none. The caller frees it. */
char *slurm_submit_indices(const struct campaign *c, size_t k, const bool *wanted);

/* Plans with equal resources. They share one array, or several if the cluster limits its size. */
struct shape {
    char *text; /* from script_shape */
    double time_s;
    size_t *plans, n; /* indices into `plans` of slurm_shapes */
};

struct shapes {
    struct shape *v;
    size_t n;
};

/* Groups plans by resources. GS_OK, or GS_USAGE with every fault reported. */
int slurm_shapes(struct shapes *s, struct plan *const *plans, size_t n);
/* Checks nodes and time against the partitions. Lowers the time of a shape to the partition's limit
 * if only its worst case exceeds that. GS_OK or reported. */
int slurm_check(struct shapes *s, struct plan *const *plans);
void slurm_shapes_free(struct shapes *s);

/* Adds tasks and arrays; plans[i] is run i. An array has fewer than `array_max` indices. `script`
 * receives the file name and text of each job script. */
int slurm_tasks(struct campaign *c, const struct shapes *s, struct plan *const *plans,
                long array_max,
                int (*script)(const struct campaign *c, const char *name, const char *text));
