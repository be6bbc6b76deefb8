/* SPDX-License-Identifier: Apache-2.0
 *
 * The best config of each group and mode, and how it compares with every other config there.
 *
 * The best config is the one with the lowest ratio of those that were shown to be faster than the
 * baseline; if there is none, it is the baseline. The others are then judged against it in the same
 * blocks, by the rules of judgement.h. It was chosen by those blocks, so the true difference to a
 * close rival tends to be smaller than the measured one.
 */
#pragma once

#include "base/text.h"
#include "compare/compare.h"

struct winner {
    const struct contrast *first; /* of its family */
    const struct contrast *best;  /* NULL: the baseline */
    const struct contrast *small; /* without a best one: the config that shortens the time most, by
                                     less than the bound of equivalence; NULL: none */
    size_t rivals;                /* all other configs */
    size_t counts[VERDICTS];      /* their verdicts against the best config */
    struct words alike;           /* measured rivals that were not shown to be slower */
};

struct winners {
    struct winner *v;
    size_t n;
};

/* One winner for each family of the solved comparison, which must outlive them. */
void winners_find(struct winners *w, const struct comparison *c, long threads);
void winners_free(struct winners *w);

const char *winner_config(const struct winner *w);
/* Is it the baseline, with no rival that is or may be faster, by however little? */
bool winner_is_confirmed(const struct winner *w);
/* The config to print as the fastest: the best one, the small one, or the baseline if confirmed; "-"
 * while nothing is decided. */
const char *winner_shown(const struct winner *w);
