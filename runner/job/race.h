/* SPDX-License-Identifier: Apache-2.0
 *
 * The race: which settings stay in, and which one wins. Settings are measured in one of two ways. Inside the running job a block
 * visits each of them; otherwise a round launches the job once with each setting that is still in, and once as it is.
 *
 * A setting drops out if its interval excludes that it is the shortest, or that it shortens the step by `worth`; in launches
 * also by as much as the proof can show, since a smaller gain would not be printed.
 */
#pragma once

#include "compare/contrast.h"
#include "job/journal.h"
#include "job/tune_setting.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOCKS_LEAVE 4 /* before a setting may leave */
#define BLOCKS_MOST 16 /* what they do not decide is not decided inside a job */

enum race_way { IN_JOB, IN_LAUNCHES };

/* A setting, by its place in tune_settings. */
struct race_entry {
    bool inside; /* it can be compared in the running job */
    bool in[2];  /* it may win, by way */
    bool dead;   /* it cannot be visited */
    bool fixed;  /* the command or the program sets its variable, so that no launch can change it */
    bool untried; /* there was no time */
    bool failed;  /* its launch failed, or it is not advised */
    enum race_way way;
    struct effect effect; /* launches 0: it was not measured */
};

/* Are there enough blocks, or launches, for a number? */
static inline bool race_is_measured(const struct race_entry *e)
{
    return e->effect.launches >= (e->way == IN_JOB ? 2 : 1);
}

struct race {
    struct tune_settings set;
    struct race_entry *v; /* by setting; v[0] is not used */
    double worth;
    long proofs; /* launches of the proof; 0: all settings are only measured, in several launches */
};

/* Computes the effects. Returns the shortest setting that is in; 0: none has enough measurements. */
size_t race_measure(struct race *r, enum race_way way, const struct visits *all);
/* Measures and drops losers. True: they are decided, since one is shown to gain and no other can be shorter
 * than it by what matters, or none is left. */
bool race_judge(struct race *r, enum race_way way, const struct visits *all);
size_t race_left(const struct race *r, enum race_way way); /* settings that are in */
/* Of those that are in and look shorter than the job as it is by `worth` the shortest, or among those that cannot be told
 * from it the one that changes least. 0: none looks so. */
size_t race_winner(struct race *r, enum race_way way, const struct visits *all);
/* The shortest that is in; it may be shorter by `worth`. 0: none. */
size_t race_best_open(const struct race *r);

/* Is the winner shorter than the job as it is, by `worth` or more? e: the effect that `compare` prints for the recording of
 * the proof; floor: the difference of the two launches of the job as it is. */
bool race_proven(const struct effect *e, double floor, double worth);
