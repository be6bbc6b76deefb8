/* SPDX-License-Identifier: Apache-2.0
 *
 * Contrasts as a table of the store, temp.compare with the columns of compare.csv, and what
 * `gradsync compare --all` prints of it. And the table `again`: the contrasts that several runs have
 * measured, each beside that of the run before.
 *
 * There platform, workload, label, mode, size, parameters, baseline and config are the
 * same; machine and software need not be, because the question is whether another one agrees.
 *
 *   same        both have the same verdict, and neither is inconclusive
 *   same operation  in at least one, the config ran what its baseline ran. Two such verdicts do
 *               not show whether times repeat
 *   open        at least one is inconclusive; nothing is contradicted
 *   different   one is equivalent, the other faster or slower
 *   contrary    one is faster, the other slower
 *
 * The later run's [measure] equivalence judges both. The intervals cover launches on one machine, so
 * they need not contain the value of another machine. How many overlap tells how much of the
 * difference between the runs they explain. Contrasts without numbers are left out, and those that a
 * run has several times because its launches have different origins.
 *
 * It has the columns of `compare` for the later run; then run_id, launches, ratio with its interval, and
 * verdict of the earlier run; then agreement, and overlap (yes or no).
 */
#pragma once

#include "compare/verdicts.h"
#include "store/store.h"

/* Fills temp.compare and temp.placebo from a solved comparison. GS_OK or reported. */
int contrasts_put(struct store *s, const struct comparison *c);
/* A table for each run and baseline, then the verdicts of each mode, and the placebo. GS_OK or
 * reported. */
int contrasts_print(struct store *s);

/* Fills the table `again`, which is empty, from the table `compare`. GS_OK or reported. */
int again_make(struct store *s);
