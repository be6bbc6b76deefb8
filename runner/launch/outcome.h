/* SPDX-License-Identifier: Apache-2.0
 *
 * The outcome of a run folder: its exit code, a message, and a JSON summary.
 */
#pragma once

#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct run_outcome {
    char *section, *dir; /* NULL: no folder was created */
    bool no_folder;      /* none could be created */
    int code;            /* enum gs_exit */
    bool complete, interrupted;
    bool cut;                      /* the network to a host is cut */
    bool nothing;                  /* no group was measured */
    bool compares;                 /* the next step is `compare`, not `show` */
    size_t cells, failed, skipped; /* failed, skipped: in at least one launch */
};

void outcome_begin(struct run_outcome *o, const struct plan *p, const char *dir);
/* Says what will be measured, how long that takes, and where it is recorded. */
void outcome_announce(const struct plan *p, const char *dir);
/* Counts the failed and skipped cells. GS_OK; GS_FAILED if a cell failed; GS_CANNOT if all were
 * skipped. The first reason is reported. */
int outcome_judge(struct run_outcome *o, const struct plan *p, const char *dir);
/* True if every cell was skipped in some launch; this machine would skip them in the others too. */
bool outcome_all_skipped(const struct plan *p, const char *dir);
/* Renames recordings of attempts that skipped every cell to skipped-LL.AA.jsonl. They keep the
 * reasons, and `resume` can then measure the launch on a suitable machine. */
void outcome_set_skipped_aside(const struct plan *p, const char *dir);
/* Removes a run folder that was made outside of the lab of its config: it holds nothing that the
 * error did not say. Keeps a folder with a recording. */
void outcome_discard_without_lab(const struct plan *p, const char *dir);
/* True if no group is measured in any launch. */
bool outcome_nothing(const struct plan *p, const char *dir);
/* Reports where the recording is and what to do next. */
void outcome_say(const struct run_outcome *o);
/* For a complete training: how to get more launches, if compare leaves verdicts undecided.
 * workload, overrides: of the command, or NULL; data: its -o, or NULL: the default. */
void outcome_say_more(const struct run_outcome *o, const struct plan *p, const char *workload,
                      const char *const *overrides, const char *data);
void outcome_print(const struct run_outcome *o, size_t n); /* JSON on stdout */
void outcome_free(struct run_outcome *o);
