/* SPDX-License-Identifier: Apache-2.0
 *
 * One start of the user's command with a setting. The times of its steps come from the preloaded
 * object (plugins/price), which counts steps by the sequence of collectives; without it, from the
 * lines that the command prints. The command is ended as soon as there are enough.
 */
#pragma once

#include "base/family.h"
#include "job/job_output.h"
#include "job/job_process.h"
#include "job/job_watch.h"
#include "job/trial_ranks.h"
#include "job/tune_setting.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A variable of a setting: the start runs without communication (plugins/price/preload.h). */
#define TUNE_ARM "GRADSYNC_PRICE_ARM"

struct tune_job {
    char *command; /* for a shell */
    char *out;    /* an absolute folder that all ranks see; each start makes one of its own in it */
    char *object; /* libgradsync-price.so; NULL: none */
    char *python; /* folder of sitecustomize.py; NULL: not to be used */
    struct interrupts *interrupts;
    double measure_s; /* time of steps in a start */
    double step_s;    /* of the job, about; 0: unknown */
    int64_t calls;    /* collectives of a step; 0: unknown */
    int64_t bytes;    /* of these; 0: unknown */
    bool ask_link;    /* let NCCL report its link */
    int log;          /* file for what the command prints */
};

/* Consecutive steps, the slowest rank. */
struct tune_sample {
    uint64_t ns;
    int64_t steps;
    double at; /* Unix seconds */
};

struct tune_started {
    struct job_watch *watch; /* its GPUs, and what else ran on them */
    struct tune_sample *v;
    size_t n;
    double took_s, step_s; /* step_s: the median of the samples */
    double line_steps;     /* steps between two printed lines, about */
    int64_t ranks, nodes, calls, bytes, nccl;
    double memory_B;         /* the most that PyTorch allocated on a GPU; 0: unknown */
    int torch;               /* bits: what the job has of PyTorch's */
    char torch_changed[160]; /* what a switch changed; "": nothing */
    enum tune_link link;     /* with ask_link */
    const char *kind;        /* as in a fail line; NULL: measured */
    char why[600];
    bool stopped;  /* by a second signal */
    bool captured; /* the collectives are in a CUDA graph */
    bool gloo;     /* DDP made many steps over Gloo, which nothing sees */
};

/* GS_OK, also if the command failed, or reported: nothing can be started. */
int tune_start(const struct tune_job *j, const struct tune_setting *s, double timeout_s,
               struct tune_started *r);
/* How long a start will take that knows what this one had to find. */
double tune_next_s(const struct tune_started *r);
void tune_started_free(struct tune_started *r);

/* The words of a command as one line for a shell; a single word is one already. */
char *tune_command(char **words);
/* GS_OK, or GS_USAGE, reported: there is no such program. */
int tune_command_find(const char *program);
/* Its words without their secrets. */
json_t *tune_command_record(char **words);
/* *words: as the command was given, NULL at the end; the caller frees each of them and the list. GS_OK or
 * reported: secrets are missing in the environment, or `path`, which has `recorded`, is damaged. */
int tune_command_restore(char ***words, const json_t *recorded, const char *path);

/* ---- a launch of another kind, such as that of a price ---- */

struct tune_launch {
    struct job_output output; /* the first member: what is behind it may be the caller's */
    const struct tune_job *job;
    struct trial_folder ranks;
    double looked_at;
};

/* Until `over`, whose context is the launch, the deadline or the first signal: half a launch is worth
 * nothing, and one that hangs would keep who pressed Ctrl-C waiting. The caller ends the launch.
 * GS_OK, or reported. */
int tune_launch_run(struct tune_launch *l, const struct tune_setting *s,
                    const struct trial_config *config, double timeout_s, bool (*over)(void *),
                    struct job_ended *ended);
/* What the ranks wrote so far. It reports nothing: they may be writing. */
int tune_launch_ranks(struct trial_ranks *all, const struct tune_launch *l);
void tune_launch_end(struct tune_launch *l);
