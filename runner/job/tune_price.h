/* SPDX-License-Identifier: Apache-2.0
 *
 * The price of communication for tune, from the engine of trial (trial_price.h).
 */
#pragma once

#include "job/tune_answer.h"

#include <stdint.h>

/* p->known is false, with the reason said, if there is none. GS_OK, or reported. *run: its recording;
 * NULL: none. The caller frees it. */
struct tune_price_request {
    const char *platform, *out, *log; /* log: a file for what the command prints */
    char **command;
    double step_s, left_s; /* step_s: about; 0: unknown. left_s: for the visits */
    int64_t calls;         /* of a step; 0: unknown */
    long seed;
};
int tune_price_take(struct tune_price *p, const struct tune_price_request *q, char **run);
