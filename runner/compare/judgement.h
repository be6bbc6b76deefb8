/* SPDX-License-Identifier: Apache-2.0
 *
 * From an effect to a verdict. With b = log(1 + equivalence) and the A/A floor f, in logarithms:
 *
 *   equivalent    the interval lies inside (-b, b): whatever the difference is, it is below what
 *                 the user called a difference
 *   faster        the interval lies below -f, the effect itself below -b, and the family's
 *                 adjusted p is below 0.05; slower: the same on the other side
 *   inconclusive  all else, and everything that rests on one launch or has no floor
 *   same operation  given by compare.c, not here: the recording says that both configs ran the same
 *                   algorithm, protocol and number of CTAs, so their difference is no effect of the
 *                   config, whatever the times say
 *
 * The floor is how far apart the two copies of the baseline were in the same blocks: a difference
 * that the method makes of nothing. Its random part is in the interval already: what differs
 * between two communicators of one launch is drawn anew in each launch, since each launch creates
 * them anew and in another order, and the interval is made from the variance between launches, with
 * launches - 1 degrees of freedom. Recordings whose cell lines have no "prepared" (record.h) are
 * older: there the copies shared one communicator and the order was the same in every launch, so
 * neither floor nor interval contains the part of the difference that comes from the order.
 *
 * A difference must pass Holm's test over its family at 5%. What enters it is p_interval, and where
 * p_permutation can reach 5% at all (p_least times the family's size) the larger of the two: five
 * launches give the latter no less than 0.0625. So p_holm is never below p_interval, and below 0.05
 * only where the interval excludes 0.
 */
#ifndef GS_JUDGEMENT_H
#define GS_JUDGEMENT_H

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
    int64_t needed;   /* more launches that settle it with 80% power, the spread staying as it is;
                         0: it is settled; -1: more would not, or more than the most */
    char reason[256]; /* of inconclusive and same operation; else "" */
};

/* equivalence: relative, > 0; floor: a logarithm >= 0, or NaN: there is none, and so no verdict;
 * p_holm: of the family. */
struct judgement judge_effect(const struct effect *e, double equivalence, double floor,
                              double p_holm);

/* The p that a member of a family of n enters Holm's test with (see above). */
double judgement_p(const struct effect *e, size_t n);
/* Does p_permutation enter it too? */
bool judgement_permutes(const struct effect *e, size_t n);

/* Against a published value, `e` of the measured over it: equivalent when the interval lies inside
 * the tolerance, slower or faster when it lies outside altogether. */
struct judgement judge_reference(const struct effect *e, double tolerance);

#endif
