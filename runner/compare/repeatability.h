/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync compare --again`: contrasts that more than one run has measured, each beside that of the
 * run before. Platform, workload, label, mode, size, parameters, baseline and config must be the
 * same; machine and software need not be, because the question is whether another one agrees.
 *
 *   same        both have the same verdict, and neither is inconclusive
 *   same operation  in at least one, the config ran what its baseline ran. Two such verdicts agree by
 *               what was recorded, and do not show whether times repeat
 *   open        at least one is inconclusive; nothing is contradicted
 *   different   one is equivalent, the other faster or slower
 *   contrary    one is faster, the other slower
 *
 * The later run's [measure] equivalence judges both. The intervals cover launches on one machine, so
 * they need not contain the value of another machine. How many overlap tells how much of the
 * difference between the runs they explain.
 *
 * again.csv has the columns of compare.csv for the later run; then run_id, launches, ratio with its
 * interval, and verdict of the earlier run; then agreement, and overlap (yes or no).
 *
 * Prints contrasts of several runs: for each two runs how often they agree, how their origins differ,
 * and every contrast that is different or contrary; then each run without a contrast in common.
 */
#pragma once

#include "compare/compare.h"

enum agreement {
    AGREEMENT_SAME,
    AGREEMENT_OPERATION,
    AGREEMENT_OPEN,
    AGREEMENT_DIFFERENT,
    AGREEMENT_CONTRARY,
    AGREEMENTS
};

struct repeat {
    const struct contrast *earlier, *later; /* of the comparison; both have numbers */
};

struct repeats {
    const struct comparison *of;
    struct repeat *v; /* owned; ordered by the pair of runs */
    size_t n;
};

/* The comparison must be solved, and must outlive *r. Leaves out contrasts without numbers, and those
 * that a run has several times because its launches have different origins. */
void repeats_find(struct repeats *r, const struct comparison *c);
void repeats_free(struct repeats *r);

/* Does the comparison have another run of the same platform, workload and label? */
bool contrast_has_twin(const struct comparison *c, const struct contrast *one);

#define AGAIN_CSV "again.csv"
extern const char again_columns[]; /* after compare_columns */
/* GS_OK or reported. */
int repeats_write(const struct repeats *r, const char *dir);

void repeats_print(const struct repeats *r); /* to stdout */
