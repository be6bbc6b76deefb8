/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin on trial: its functions called one at a time on every rank, each call announced before
 * it is made and judged after it: what it returned, printed, wrote, and set.
 */
#ifndef GS_CONFORMANCE_CALLS_H
#define GS_CONFORMANCE_CALLS_H

#include "rank/conformance_report.h"

/* Stdout becomes the report's alone. GS_OK, or GS_FAILED reported. */
int conformance_begin(struct conformance *c, const struct wl_host *runner);
void conformance_end(struct conformance *c, int code);
int conformance_load(struct conformance *c, const char *path); /* GS_OK, or the fault's code */

/* The worst status of all ranks, so that all go the same way. Collective. */
enum wl_status conformance_agree(const struct conformance *c, enum wl_status mine);

/* The calls. Those that are collective return what all ranks agree on; faults are reported. */
enum wl_status conformance_describe(struct conformance *c, const void *cell,
                                    const struct wl_job *job, struct wl_shape *shape);
enum wl_status conformance_open(struct conformance *c);
void conformance_close(struct conformance *c);
enum wl_status conformance_prepare(struct conformance *c, const void *cell, void **prepared);
void conformance_release(struct conformance *c, void *prepared);
bool conformance_sample(struct conformance *c, void *prepared, unsigned iters, double *time_s);
bool conformance_verify(struct conformance *c, void *prepared);

#endif
