/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of a run folder: what its exit code stands for, in a line for people and in JSON.
 */
#ifndef GS_OUTCOME_H
#define GS_OUTCOME_H

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct run_outcome {
    char *section, *dir; /* NULL: it came to no folder */
    int code;            /* enum gs_exit */
    bool complete, interrupted;
    bool nothing;                  /* no group was measured */
    size_t cells, failed, skipped; /* failed, skipped: in one launch or more */
};

void outcome_begin(struct run_outcome *o, const struct plan *p, const char *dir);
/* Counts the cells of a complete folder. GS_OK; GS_FAILED when one failed, GS_CANNOT when all were
 * skipped, reported with the first reason. */
int outcome_judge(struct run_outcome *o, const struct plan *p, const char *dir);
/* Has this machine skipped every cell in some launch? Then it will in the others too. */
bool outcome_all_skipped(const struct plan *p, const char *dir);
/* Renames the recordings of attempts that skipped every cell to skipped-LL.AA.jsonl: the folder
 * then counts as not measured, the reasons stay, and `resume` measures it on a machine that can. */
void outcome_set_skipped_aside(const struct plan *p, const char *dir);
/* Is no group of the folder measured, in any launch? */
bool outcome_nothing(const struct plan *p, const char *dir);
/* Where the recording lies and what to do next. */
void outcome_say(const struct run_outcome *o);
void outcome_print(const struct run_outcome *o, size_t n); /* JSON on stdout */
void outcome_free(struct run_outcome *o);

#endif
