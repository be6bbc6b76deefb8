/* SPDX-License-Identifier: Apache-2.0
 *
 * The price: what communication costs a job, by intervention (plugins/price). In some blocks of
 * steps every large collective is left out (none), or has one element (one), or half of its elements
 * (half). A job whose collectives are in a CUDA graph has its price by whole launches instead.
 */
#pragma once

#include "job/tune_start.h"

#include <stdbool.h>

/* A share of the step, and its 95% interval. The step becomes shorter by this share; a negative one:
 * longer. */
struct price_share {
    double value, lo, hi;
};

struct price_answer {
    bool known;
    char why[512];                 /* !known: the reason, one line */
    double step_s;                 /* of the slowest rank, as the job is */
    struct price_share none, half; /* of the slowest rank */
    /* What one element still costs the rank that waits longest, against no communication at all; NaN:
     * unknown. */
    struct price_share waiting;
    int blocks;
    int launches; /* that are compared; 0: blocks of one launch */
    double noise; /* half the width of the interval of none: a smaller cost cannot be seen */
};

/* From the visits of a job; false: the arms are not those of a price. */
bool price_from(struct price_answer *a, const struct trial_comm *c);
/* Is the interval narrow enough to end the job? */
bool price_enough(const struct price_answer *a);
/* What `tune` and `compare` print of it; the caller frees. */
char *price_sentence(const struct price_answer *a);
/* A sentence on how far other launches differ, which the interval does not include. Other prices of the job
 * are looked for beside `run`. NULL: nothing to say. The caller frees. */
char *price_caveat(const struct price_answer *a, const char *run);
/* "steps vary, so ..."; NULL: they do not. The caller frees. */
char *price_noise(const struct price_answer *a);

/* The price in a recording, as it is printed; a->known is false if the recording has none. GS_OK or
 * reported. */
int price_read(struct price_answer *a, const char *dir);

/* The visits of a launch, for a price that takes so long. calls: of a step. */
void price_config(struct trial_config *c, double seconds, int64_t calls, uint64_t seed);

/* One launch, whose results are worthless. */
struct price_launch {
    const struct trial_config *config; /* with the arms auto, and none, one or half */
    double deadline_s;                 /* without a step: the job hangs */
    double most_s;                     /* the launch ends by then; 0: no limit */
    /* The result. */
    struct price_answer answer;
    struct trial_ranks ranks;
    const struct trial_comm *lead; /* NULL: answer.why says why there is nothing to record */
    struct job_watch *watch;
    int status; /* exit code of a command that failed */
};

/* The launch ends as soon as the price is known, or by the first signal. *run: its recording, which the
 * caller seals and frees; NULL: none. GS_OK, also if there is no price, or reported: nothing can be
 * started. */
int price_take(const struct tune_job *j, struct price_launch *p, const char *platform,
               char *const *command, char **run);
void price_launch_free(struct price_launch *p);
