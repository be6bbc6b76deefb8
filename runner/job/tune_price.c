/* SPDX-License-Identifier: Apache-2.0 */
#include "job/tune_price.h"

#include "base/err.h"
#include "base/text.h"
#include "trial/trial_job.h"
#include "trial/trial_price.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARMS 5      /* visits of a block: auto twice, none, one, half */
#define BLOCKS 16   /* that the time should be enough for */
#define VISIT_S 2.0 /* at most */
#define STEPS_LEAST 5
#define STEPS_MOST 250

/* Visits short enough for BLOCKS in the time, and blocks few enough for it. */
static void shape(struct trial_options *o, const struct tune_price_request *q)
{
    double visit_s = fmin(VISIT_S, q->left_s / (ARMS * BLOCKS));
    double steps = q->step_s > 0 ? ceil(visit_s / q->step_s) : STEPS_LEAST;
    steps = fmin(fmax(steps, STEPS_LEAST), STEPS_MOST);
    double block_s = ARMS * steps * fmax(q->step_s, 1e-6);
    o->steps.value = (long)steps;
    o->blocks.value = (long)fmin(fmax(q->left_s / block_s, 6), 1000);
    o->seconds = (long)ceil(q->left_s);
}

static void take(struct tune_price *p, const struct price_answer *a)
{
    *p = (struct tune_price){.known = a->known,
                             .step_s = a->step_s,
                             .none = a->none.value,
                             .none_lo = a->none.lo,
                             .none_hi = a->none.hi,
                             .half = a->half.value,
                             .waiting = a->waiting.value,
                             .noise = a->noise};
}

int tune_price_take(struct tune_price *p, const struct tune_price_request *q, char **run)
{
    struct price_answer a = {0};
    struct trial_options o = {.platform = q->platform,
                              .out = q->out,
                              .launches = {1, 1, 1},
                              .visit_s = {1, 1, 1},
                              .warmup = {10, 0, 1000},
                              .deadline = {20, 1, 1000},
                              .seed = {q->seed, 0, q->seed},
                              .calls = {q->calls, 0, 32768},
                              .log = q->log};
    char *line[] = {(char *)"sh", (char *)"-c", q->command[0], NULL};
    bool quoted = !q->command[1] && q->command[0][0]; /* one word: a line for a shell */
    shape(&o, q);
    int code = price_measure(&o, quoted ? line : q->command, &a);
    take(p, &a);
    *run = a.run;
    a.run = NULL;
    if (!p->known && a.captured)
        say("tune: no price: the collectives are in a CUDA graph, in which nothing can be left "
            "out");
    else if (!p->known)
        say("tune: no price: %s", *a.why ? a.why : "the job ended before it was known");
    else if (p->noise > 0.02)
        say("tune: the steps of this job vary, so a difference of less than %.1f%% cannot be seen; "
            "a likely reason is the host: see whether a smaller batch makes the step shorter",
            100 * p->noise);
    price_free(&a);
    return code == GS_USAGE ? code : GS_OK; /* without a price there may be a setting */
}
