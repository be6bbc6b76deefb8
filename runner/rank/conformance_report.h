/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rank says of a plugin on trial, in the lines of conformance.h, to its last moment.
 */
#ifndef GS_TRIAL_REPORT_H
#define GS_TRIAL_REPORT_H

#include "rank/conformance_calls.h"

void trial_put(const struct trial *t, const char *kind, const char *text); /* one line */
void trial_at(struct trial *t, const char *call); /* where we go, before we go there */
void trial_catch_crashes(const struct trial *t);  /* a signal is a fault of the call we are in */

#endif
