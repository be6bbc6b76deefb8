/* SPDX-License-Identifier: Apache-2.0
 *
 * What one launch of a job under trial says, in lines for its user. The interval is over the blocks
 * of this launch: what would differ in another one is not in it, which is why `compare` gives a
 * verdict over several launches only.
 */
#ifndef GS_TRIAL_RESULT_H
#define GS_TRIAL_RESULT_H

#include "trial/trial_ranks.h"

#include <stddef.h>

struct trial_effect {
    size_t blocks;
    double ratio, lo,
        hi;             /* of times, to the baseline's first copy; NaN with less than two blocks */
    double unavailable; /* share of the calls that could not have the arm */
};

struct trial_effect trial_effect(const struct trial_comm *c, const char *arm, int64_t copy);
/* By say(): a line an arm. */
void trial_result_say(const struct trial_comm *c);
/* The fastest arm whose interval lies below 1 and below the A/A difference; NULL: none. */
const char *trial_result_best(const struct trial_comm *c);
/* Reports why there is no visit at all; GS_FAILED. */
int trial_result_explain(const struct trial_ranks *r);

#endif
