/* SPDX-License-Identifier: Apache-2.0
 *
 * The race: which settings stay in, and which one wins. Pure functions of the times that were
 * measured. A round measures the baseline (entry 0) and every entry that is still in.
 *
 * Times are logarithms. An entry's effect is the mean over its rounds of its time less the
 * baseline's. Few rounds do not tell how much a launch differs from the next. So the spread is pooled
 * over all entries, and RACE_PRIOR_DF more degrees of freedom have a spread of RACE_PRIOR_SD: after
 * one round the interval rests on that guess alone. A wrong guess costs time, not truth: the proof
 * measures anew.
 *
 * An entry drops out if its interval excludes that it is the shortest, or that it shortens the step
 * by `worth`, or by as much as the proof can show: a smaller gain would not be printed.
 */
#pragma once

#include "compare/contrast.h"

#include <stdbool.h>
#include <stddef.h>

#define RACE_PRIOR_SD 0.01
#define RACE_PRIOR_DF 2
#define RACE_ROUNDS 64

struct race_entry {
    int weight; /* how much it changes */
    bool out, failed;
    size_t n;                  /* rounds in which it was measured with the baseline */
    double log_s[RACE_ROUNDS]; /* by round; NaN: not measured */
    double effect, lo, hi;     /* against the baseline; NaN: not measured. 95% intervals */
};

struct race {
    struct race_entry *v;
    size_t n;
    int rounds;       /* with a measured baseline */
    int proofs;       /* launches of the proof; 0: unknown */
    double worth, sd; /* sd: the pooled spread of a difference of two launches */
    double df;        /* of sd */
};

void race_begin(struct race *r, double worth, int proofs); /* with the baseline */
size_t race_enter(struct race *r, int weight);             /* its index */
void race_free(struct race *r);
/* A time of one entry in a round, from 0; a later one of the same replaces it. */
void race_time(struct race *r, int round, size_t entry, double step_s);
void race_failed(struct race *r, size_t entry);
/* Computes effects and intervals; drops losers. */
void race_judge(struct race *r);
size_t race_left(const struct race *r); /* entries that are in, without the baseline */
/* The shortest that is in, if it may be shorter than the baseline by `worth`; 0: none. */
size_t race_best_open(const struct race *r);
/* Of the entries that are in and look shorter than the baseline by `worth` the shortest, or among
 * those that cannot be told from it the one that changes least. 0: none looks so. */
size_t race_winner(const struct race *r);
/* True: another round would gain nothing: no entry is left that may be shorter than the winner by what matters. */
bool race_decided(const struct race *r);

/* ---- the proof ---- */

/* The starts of a launch of the proof: the baseline, the baseline again, the winner. */
enum { PROOF_BASE, PROOF_AGAIN, PROOF_WINNER, PROOF_STARTS };

/* Is the winner shorter than the baseline, by `worth` or more? e: the effect that `compare` prints for
 * the recording of the proof; floor: the difference of the two baselines. */
bool race_proven(const struct effect *e, double floor, double worth);
