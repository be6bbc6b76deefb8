/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls the functions of a plugin under test, one at a time on every rank. Each call is announced
 * before it is made. Afterwards its result, output and written values are checked.
 */
#pragma once

#include "rank/conformance_report.h"

/* Reserves stdout for the report. GS_OK, or GS_FAILED, reported. */
int conformance_begin(struct conformance *c, const struct wl_host *runner);
void conformance_end(struct conformance *c, int code);
int conformance_load(struct conformance *c, const char *path); /* GS_OK, or the error code */

/* The worst status of all ranks, so that all take the same path. Collective. */
enum wl_status conformance_agree(const struct conformance *c, enum wl_status mine);

/* The calls. Collective ones return the worst result of all ranks. Faults are reported. */
enum wl_status conformance_describe(struct conformance *c, const void *cell,
                                    const struct wl_job *job, struct wl_shape *shape);
enum wl_status conformance_open(struct conformance *c);
void conformance_close(struct conformance *c);
enum wl_status conformance_prepare(struct conformance *c, const void *cell, void **prepared);
void conformance_release(struct conformance *c, void *prepared);
bool conformance_sample(struct conformance *c, void *prepared, unsigned iters, double *time_s);
bool conformance_verify(struct conformance *c, void *prepared);
