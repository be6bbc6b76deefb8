/* SPDX-License-Identifier: Apache-2.0
 *
 * Two checks of the verdicts by contrasts without a real difference, for each run and mode:
 *
 *   placebo  config and baseline ran the same operation in their own communicators: the share whose
 *            times alone would be called faster or slower
 *   A/A      the second copy of the baseline against the first, one for each family, judged as the
 *            only member of its family and without a floor
 *
 * The copies of the baseline may share a communicator, so the A/A rate lacks the differences between
 * communicators; the placebo rate has them. Both leave out contrasts of fewer than two launches,
 * because these never have a verdict of faster or slower.
 *
 * placebo.csv has a row for each run and mode: platform, workload, label, run_id, mode, contrasts and
 * called (placebo), aa and aa_called.
 */
#pragma once

#include "compare/compare.h"

#define PLACEBO_CSV "placebo.csv"
extern const char placebo_columns[];

struct placebo {
    const struct contrast *of; /* a contrast of the run and mode */
    size_t contrasts, called, aa, aa_called;
};

/* A row for each run and mode of a solved comparison, which must outlive them; *n rows. The caller
 * frees them. */
struct placebo *placebo_rows(const struct comparison *c, size_t *n);

/* Prints one line with a part for each platform and mode, which are never pooled; nothing if no config ran what its baseline ran. */
void placebo_print(const struct comparison *c);
/* The rows of placebo.csv. */
void placebo_put(struct csv *csv, const struct comparison *c);
/* Writes DIR/placebo.csv. GS_OK or reported. */
int placebo_write(const struct comparison *c, const char *dir);
