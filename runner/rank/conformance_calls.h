/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin on trial: its functions called one at a time on every rank, each call announced before
 * it is made and judged after it: what it returned, printed, wrote, and set.
 */
#ifndef GS_TRIAL_H
#define GS_TRIAL_H

#include "rank/conformance_report.h"

/* Stdout becomes the report's alone. GS_OK, or GS_FAILED reported. */
int trial_begin(struct trial *t, const struct wl_host *lent);
void trial_end(struct trial *t, int code);
int trial_load(struct trial *t, const char *path); /* GS_OK, or the fault's code */

/* The worst status of all ranks, so that all go the same way. Collective. */
enum wl_status trial_agree(const struct trial *t, enum wl_status mine);

/* The calls. Those that are collective return what all ranks agree on; faults are reported. */
enum wl_status trial_describe(struct trial *t, const void *cell, const struct wl_job *job,
                              struct wl_shape *shape);
enum wl_status trial_open(struct trial *t);
void trial_close(struct trial *t);
enum wl_status trial_prepare(struct trial *t, const void *cell, void **prepared);
void trial_release(struct trial *t, void *prepared);
bool trial_sample(struct trial *t, void *prepared, unsigned iters, double *time_s);
bool trial_verify(struct trial *t, void *prepared);

#endif
