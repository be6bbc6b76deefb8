/* SPDX-License-Identifier: Apache-2.0
 *
 * Precisions, algorithms and costs of each backend, known without loading it.
 */
#ifndef TRAITS_H
#define TRAITS_H

#include "iter_proxy/backend.h"

/* Names of the choices, by the enums of backend.h; each ends with NULL. */
extern const char *const proxy_backends[];
extern const char *const proxy_precisions[];
extern const char *const proxy_modes[];
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

/* Adds the memory and the approximate time of one step. */
void traits_cost(enum proxy_backend_kind kind, const struct proxy_cell *cell,
                 const struct wl_job *job, struct wl_shape *shape);

#endif
