/* SPDX-License-Identifier: Apache-2.0
 *
 * Did NCCL run what an arm requested? NCCL ignores an algorithm that it cannot run, and limits the
 * number of CTAs. The answer comes from what NCCL reported for each call (journal.h), and not from
 * the request.
 */
#pragma once

#include "trial/trial_ranks.h"

enum taken {
    TAKEN_HONOURED,
    TAKEN_UNKNOWN,     /* this NCCL does not report it */
    TAKEN_CLAMPED,     /* another number of CTAs */
    TAKEN_IGNORED,     /* another algorithm or protocol */
    TAKEN_UNAVAILABLE, /* NCCL has it for no collective of the step */
};

struct trial_taken {
    enum taken how;
    char text[256]; /* "clamped: NCCL ran at most 24 CTAs" */
};

struct trial_taken trial_taken(const struct trial_comm *c, const char *arm, int64_t copy);
/* Is the time of the arm really that of what it requested, as far as is known? */
bool trial_taken_counts(const struct trial_taken *t);
/* "ring/LL128 ctas=8 98%, tree/LL ctas=1 2%": shares of the calls that NCCL reported; or, with
 * `expected`, of those that have the lowest cost in its table. Empty: none. The caller frees. */
char *trial_taken_shares(const struct trial_comm *c, const char *arm, int64_t copy, bool expected);
