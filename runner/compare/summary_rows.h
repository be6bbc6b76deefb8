/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of a summary (summary_table.h), grouped by question and sorted.
 */
#pragma once

#include "compare/winner.h"
#include "reduce/axes.h"

struct summary_request {
    const struct comparison *shown; /* contrasts to print */
    const struct winners *winners;  /* a line for the best config of each group; NULL: a line for
                                       each contrast */
    const char *best_of;            /* of --best-of, or NULL */
};

struct summary_row {
    const struct contrast
        *c;                 /* if the baseline is best in its family, the family's first contrast */
    const struct winner *w; /* NULL: a line for this contrast alone */
    size_t question;
};

struct question {
    const struct contrast *of; /* a contrast of the run and mode */
    /* settled: the baseline is confirmed best; small: shorter by less than the bound */
    size_t rows, faster, slower, settled, small, open;
    const struct contrast *largest; /* difference; NULL: none */
    const char *config;             /* of all its rows; NULL: they differ */
    struct axes axes;
};

struct summary_rows {
    struct summary_row *rows; /* by question; differences first, the largest first */
    size_t n;
    struct question *questions; /* the highest level of evidence first */
    size_t n_questions;
};

void summary_rows_find(struct summary_rows *s, const struct summary_request *q);
void summary_rows_free(struct summary_rows *s);
