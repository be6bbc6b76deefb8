/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the answer of a comparison on one screen: for each question (a run and a mode) a sentence,
 * and below it one line for each group, the largest differences first. Modes are different
 * questions and are never counted together.
 */
#ifndef GS_SUMMARY_TABLE_H
#define GS_SUMMARY_TABLE_H

#include "compare/winner.h"

struct summary_request {
    const struct comparison *shown; /* contrasts to print */
    const struct winners *winners;  /* a line for the best config of each group; NULL: a line for
                                       each contrast */
    const char *best_of;            /* of --best-of, or NULL */
};

void summary_print(const struct summary_request *q);

#endif
