/* SPDX-License-Identifier: Apache-2.0
 *
 * Slurm's programs, and the job script of a run. Slurm's own words are passed on: it checks what
 * it is asked for, and says why a job waits or ended.
 */
#pragma once

#include "base/text.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

/* Runs a program of Slurm, without a shell and with a deadline, and without the variables that would
 * change what it does (SBATCH_*, SLURM_* but SLURM_CONF and SLURM_CLUSTERS). Its stdout is in *out.
 * GS_OK, or reported in one line that begins with `purpose` ("nothing was submitted") and ends with
 * Slurm's words: GS_CANNOT. */
int slurm_call(struct text *out, const char *purpose, const char *const *argv);

/* ---- jobs ---- */

struct slurm_job {
    char *run;  /* the id of the run that its comment names */
    long array; /* the number that sbatch printed */
    long index; /* in the array: the launch that it measures */
    char state[24], reason[64];
};

struct slurm_queue {
    struct slurm_job *v;
    size_t n;
};

/* All jobs of gradsync that Slurm still knows, ended ones included: one squeue. */
int slurm_queue_read(struct slurm_queue *q);
bool slurm_job_alive(const struct slurm_job *j); /* it waits or runs */
bool slurm_job_held(const struct slurm_job *j);  /* it waits until it is released */

/* ---- the job script ---- */

/* The script that measures a launch of the run folder `dir`, the index of the array. GS_OK, or GS_USAGE with each value reported that cannot stand in a job script. */
int slurm_script(struct text *t, const struct plan *p, const char *dir);
/* May the folder be one of a job? Slurm expands '%' and '\' in paths. */
bool slurm_path(const char *path);

/* GS_OK, or reported. Slurm accepts a job that asks for more time than its partition allows, and then
 * never starts it. Lowers a computed [slurm] time to what the partition allows. */
int slurm_check_time(struct plan *p);
