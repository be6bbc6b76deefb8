/* SPDX-License-Identifier: Apache-2.0
 *
 * One start of the user's command with a setting. The times of its steps come from the preloaded
 * object (plugins/price), which counts steps by the sequence of collectives; without it, from the
 * lines that the command prints. The command is ended as soon as there are enough.
 *
 * And the launch for a price, in which large collectives are left out in some blocks of steps.
 */
#pragma once

#include "base/family.h"
#include "job/job_watch.h"
#include "job/trial_result.h"
#include "job/tune_setting.h"

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
    int64_t ranks, nodes, calls, nccl;
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

struct tune_price {
    const struct trial_config *config; /* with the arms auto, and none, one or half */
    double deadline_s;                 /* without a step: the job hangs */
    /* The result. */
    struct price_answer answer;
    struct trial_ranks ranks;
    const struct trial_comm *lead; /* NULL: answer.why says why there is nothing to record */
    struct job_watch *watch;
    int status; /* exit code of a command that failed */
};

/* One launch, whose results are worthless. It ends as soon as the price is known, or by the first
 * signal. GS_OK, also if there is no price, or reported: nothing can be started. */
int tune_price(const struct tune_job *j, struct tune_price *p);
void tune_price_free(struct tune_price *p);
/* The words of a command as one line for a shell; a single word is one already. */
char *tune_command(char **words);
