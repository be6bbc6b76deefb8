/* SPDX-License-Identifier: Apache-2.0
 *
 * What communication costs a job, by intervention (plugins/price): in some blocks of steps every
 * large collective is left out (none), or has one element (one), or half of its elements (half). The
 * results of the job are worthless, so the job is ended as soon as the answer is known.
 */
#pragma once

#include "trial/trial_ranks.h"

#include <stdbool.h>

/* A share of the step, and its 95% interval. The step becomes shorter by this share; a negative one:
 * longer. */
struct price_share {
    double value, lo, hi;
};

struct price_answer {
    bool known;
    char why[512];                      /* !known: the reason, one line */
    double step_s;                      /* of the slowest rank, as the job is */
    struct price_share none, one, half; /* of the slowest rank */
    struct price_share again;           /* auto's second copy: 0 but for noise */
    /* The parts of the price. waiting: what one element still costs the rank that waits longest,
     * against no communication at all. transfer: what all elements cost more than one. */
    struct price_share waiting, transfer;
    int blocks;
    double noise;  /* half the width of the interval of none: a smaller cost cannot be seen */
    bool captured; /* !known: the collectives are in a CUDA graph; GRADSYNC_PRICE_ARM can be used */
    long long calls; /* a step */
    double bytes;    /* a step */
    char *run;       /* the recording; NULL: none. The caller frees */
};

/* From the visits of a job; false: the arms are not those of a price. */
bool price_from(struct price_answer *a, const struct trial_comm *c, size_t draws);
/* Is the interval narrow enough to end the job? */
bool price_enough(const struct price_answer *a);
/* Prints it, by say(). */
void price_say(const struct price_answer *a);
void price_free(struct price_answer *a);

/* The path of libgradsync-price.so; NULL, reported: it is not there. The caller frees. For a job with
 * CUDA graphs: LD_PRELOAD=PATH GRADSYNC_PRICE_ARM=none fixes an arm for the whole launch. */
char *price_library(void);
/* A shared object of gradsync, beside the program or installed; else as above. who: for the error. */
char *price_find_object(const char *who, const char *name);
