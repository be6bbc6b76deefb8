/* SPDX-License-Identifier: Apache-2.0
 *
 * From an effect to a verdict. With b = log(1 + equivalence) and the A/A floor f, in logarithms:
 *
 *   equivalent    the interval lies inside (-b, b): any difference is smaller than the user cares for
 *   faster        the interval lies below -f, the effect below -b, and the family's adjusted p is
 *                 below 0.05; slower: the same on the other side
 *   inconclusive  all else, and everything with one launch or without a floor
 * An equivalent effect is small, not absent, if its interval lies on one side of 0: `small` has its
 * direction, the reason its size. Only an interval that includes 0 shows no difference.
 *
 *   same operation  set by compare.c, not here: the recording says that both configs ran the same
 *                   algorithm, protocol and number of CTAs, so the config causes no difference,
 *                   whatever the times are
 *
 * The floor is the distance between the two copies of the baseline in the same blocks, where nothing
 * differs. The interval already contains its random part: each launch creates the communicators anew
 * and in another order, so the difference between two communicators is drawn anew in each launch, and
 * the interval comes from the variance between launches, with launches - 1 degrees of freedom. Older
 * recordings, whose cell lines have no "prepared" (record.h), had one communicator for both copies and
 * the same order in every launch; there neither floor nor interval contains the effect of the order.
 *
 * A difference must pass Holm's test over its family at 5%. The test uses p_interval; or the larger
 * of p_interval and p_permutation, if p_permutation can reach 5% at all (p_least times the size of the
 * family). With five launches p_permutation is at least 0.0625. So p_holm is never below p_interval,
 * and below 0.05 only if the interval excludes 0.
 */
#pragma once

#include "compare/contrast.h"

#include <stdbool.h>
#include <stdint.h>

#define JUDGEMENT_ALPHA 0.05
#define JUDGEMENT_MOST_LAUNCHES 1000

enum verdict {
    VERDICT_FASTER,
    VERDICT_SLOWER,
    VERDICT_EQUIVALENT,
    VERDICT_INCONCLUSIVE,
    VERDICT_SAME,
    VERDICTS
};
extern const char *const verdict_names[VERDICTS];
/* Is it faster or slower? */
bool verdict_is_difference(enum verdict v);

struct judgement {
    enum verdict verdict;
    int64_t needed; /* further launches for a verdict with 80% power and the same spread; 0: it has
                         one; -1: none would do, or more than JUDGEMENT_MOST_LAUNCHES */
    int small;      /* equivalent, and the interval excludes 0: -1 shorter, 1 longer; else 0 */
    char reason[256]; /* of inconclusive, same operation and small; else "" */
};

/* Is it inconclusive, and the effect below the bound? Then more launches would most likely show an
 * effect below the bound. */
bool judgement_is_hopeless(const struct judgement *j, const struct effect *e, double equivalence);
/* "0.5 to 0.9%", of gains or losses in ascending order. Returns buf. */
const char *judgement_span(char *buf, size_t n, double low, double high);

/* equivalence: relative, > 0. floor: a logarithm >= 0; NaN: none, so no verdict. */
struct judgement judge_effect(const struct effect *e, double equivalence, double floor,
                              double p_holm);

/* The p of a member of a family of n for Holm's test. */
double judgement_p(const struct effect *e, size_t n);
/* Does that use p_permutation? */
bool judgement_permutes(const struct effect *e, size_t n);

/* Holm's step-down adjustment of a family's p, in place. Skips NaN. */
void contrast_holm(double *p, size_t n);
