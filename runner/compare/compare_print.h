/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a solved comparison: its answer in sentences, or JSON.
 */
#pragma once

#include "compare/compare.h"

/* Which contrasts are shown. Verdicts are computed first, so a filter changes no number. */
struct compare_filter { /* NULL: any */
    const char *size, *mode, *platform, *config;
};

/* *shown has those of c that match. It borrows them: free only shown->v. GS_OK; or GS_USAGE,
 * reported: a value that no contrast has. */
int compare_filter(const struct compare_filter *f, const struct comparison *c,
                   struct comparison *shown);

struct summary_request {
    const struct comparison *shown; /* contrasts to print */
    const struct winners *winners;  /* a line for the best config of each group; NULL: a line for
                                       each contrast */
    const char *best_of;            /* of --best-of, or NULL */
};

/* The answer: for each question (a run and a mode) a sentence, and below it one line for each group,
 * the largest differences first. Modes are different questions and are never counted together. */
void summary_print(const struct summary_request *q);

/* `gradsync compare --json` (docs/formats.md): one object with the best config of each group that has a contrast in c, and these contrasts. */
void comparison_print_json(const struct comparison *c, const struct winners *w);
