/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync compare --again`: contrasts that more than one run has measured, each run's beside that
 * of the run before it. Alike are platform, workload, label, mode, size, parameters, baseline and
 * config; machine and software need not be, for whether another one says the same is the question.
 *
 *   same        one verdict, and it is none that leaves the question open
 *   same operation  in one of them or both the config ran what its baseline ran: two such verdicts
 *               agree by what was recorded, and say nothing of whether times repeat
 *   open        inconclusive in one of them or both: nothing is contradicted
 *   different   equivalent in the one, faster or slower in the other
 *   contrary    faster in the one, slower in the other
 *
 * Both are judged by the later run's [measure] equivalence. The intervals are of launches on one
 * machine, so they need not hold what another machine gives: how many overlap says how much of the
 * difference between the runs they account for.
 *
 * again.csv has the columns of compare.csv, of the later run, then the earlier one's run_id,
 * launches, ratio with its interval and verdict, and agreement, and overlap: yes or no.
 */
#ifndef GS_REPEATABILITY_H
#define GS_REPEATABILITY_H

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
    const struct contrast *first, *again; /* of the comparison; both have numbers */
};

struct repeats {
    const struct comparison *of;
    struct repeat *v; /* owned; those of the same two runs together */
    size_t n;
};

/* Of a solved comparison, which has to stay. A contrast without numbers is in none, nor one of
 * which a run has several, of launches of different origins. */
void repeats_find(struct repeats *r, const struct comparison *c);
void repeats_free(struct repeats *r);

/* The comparison has another run of its platform, workload and label. */
bool contrast_has_twin(const struct comparison *c, const struct contrast *one);

/* The first's verdict by the later run's bound: what it calls equivalent is the question's, not the
 * machine's. */
enum verdict repeat_earlier(const struct repeat *r);
enum agreement repeat_agreement(const struct repeat *r);
bool repeat_overlaps(const struct repeat *r);

#define AGAIN_CSV "again.csv"
/* GS_OK or reported. */
int repeats_write(const struct repeats *r, const char *dir);

#endif
