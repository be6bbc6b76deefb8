/* SPDX-License-Identifier: Apache-2.0
 *
 * Precisions, algorithms and costs of each backend, known without loading it.
 */
#pragma once

#include "iter_proxy/backend.h"

/* Names of the choices, by the enums of backend.h; each ends with NULL. */
extern const char *const proxy_backends[];
extern const char *const proxy_precisions[];
extern const char *const proxy_modes[];
extern const char *const proxy_layouts[];
extern const char *const proxy_launches[];
extern const char *const proxy_issues[];
extern const char *const proxy_algorithms[];
extern const char *const proxy_protocols[];
extern const char *const proxy_collectives[];
extern const char *const proxy_policies[];
extern const char *const proxy_memories[];

/* WL_SKIP and *why if this backend (not PROXY_AUTO) lacks the precision, algorithm, ... */
enum wl_status traits_accept(enum proxy_backend_kind kind, const struct proxy_cell *cell, char *why,
                             size_t n);

/* Replaces `auto` by the precision that this backend uses for it. */
int traits_precision(enum proxy_backend_kind kind, int precision);

/* The same for the collectives of a step. */
enum wl_status traits_accept_work(enum proxy_backend_kind kind, const struct proxy_cell *cell,
                                  const struct proxy_work *w, char *why, size_t n);

/* The precision in which this backend multiplies a GEMM that was recorded in `precision`. */
int traits_step_precision(enum proxy_backend_kind kind, int precision);

/* Payload, bus bandwidth and approximate time of one iteration; adds the memory. */
void traits_cost(enum proxy_backend_kind kind, const struct proxy_cell *cell,
                 const struct proxy_work *w, int ranks, struct wl_shape *shape);

/* Do the parameters of the cell fit each other, with any backend? WL_OK; or WL_FAIL, and `why` names the
 * parameter. */
enum wl_status traits_judge(const struct proxy_cell *c, const struct wl_job *job, char *why,
                            size_t n);
