/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranks of a trial ask each other, and what gradsync tells them, through files (agree.h).
 */
#ifndef GS_TUNER_TRIAL_ASK_H
#define GS_TUNER_TRIAL_ASK_H

#include "nccl_tuner/trial.h"

#define TRIAL_ANSWER 64

/* False: no agreement is possible. */
bool trial_ask(struct trial *t, const char *what, uint64_t a, uint64_t b,
               char answer[TRIAL_ANSWER]);
/* Tells the other ranks that this one found its step, which, and at which call. */
void trial_announce_step(const struct trial *t);
/* Have all ranks found this step at the same call? Ranks that have not run without the plugin, do
 * not see the folder, or see other calls. */
bool trial_all_found_step(const struct trial *t);
/* Is the time over, or has gradsync asked for the end? */
bool trial_asked_to_stop(const struct trial *t);
/* The number of the arm that gradsync wants to keep, or "none". */
void trial_read_keep(const struct trial *t, char answer[TRIAL_ANSWER]);

#endif
