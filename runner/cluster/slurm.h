/* SPDX-License-Identifier: Apache-2.0
 *
 * What gradsync asks of Slurm, one program run each.
 */
#ifndef GS_SLURM_H
#define GS_SLURM_H

#include "cluster/campaign.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- limits ---- */

struct partition {
    char name[128];
    bool up;
    double max_time_s; /* INFINITY: none */
    long max_nodes, total_nodes;
};
/* The one that a config names, "" for the default. GS_OK or reported, with the line of the config:
 * no such partition (with the nearest), no default; or Slurm is not here. */
int slurm_partition(struct partition *p, const struct config *c, const char *name);
int slurm_array_max(long *indices); /* largest index of an array, plus 1 */

/* ---- jobs ---- */

struct job {
    long array_job; /* the id that sbatch printed */
    size_t array;   /* of the campaign */
    long index;     /* of the task in the array */
    long id;        /* of this task's job */
    char state[24], reason[64];
};
struct queue {
    struct job *v; /* by array, index, then job */
    size_t n;
};
/* Every job of the campaign that Slurm still knows, ended ones too: one squeue. */
int slurm_queue(struct queue *q, const struct campaign *c);
void queue_free(struct queue *q);

enum job_life { JOB_WAITS, JOB_RUNS, JOB_ENDED };
enum job_life job_life(const struct job *j);

/* The command that submits array `k` held, its tasks being "1-3,7%4": NULL-terminated, freed with
 * slurm_command_free. */
char **slurm_submit_command(const struct campaign *c, size_t k, const char *indices);
void slurm_command_free(char **argv);

int slurm_submit(const struct campaign *c, size_t k, const char *indices, long *job);
int slurm_release(const long *jobs, size_t n);
int slurm_cancel(const long *jobs, size_t n);

#endif
