/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a cell (backend.h): from its parameters (work.c) or from a step file (work_step.c),
 * and the tasks of its mode (schedule.c).
 */
#pragma once

#include "iter_proxy/backend.h"

struct work_request {
    const struct proxy_cell *cell;
    enum proxy_backend_kind kind; /* never auto */
    int ranks;
    char *why;
    size_t why_size;
};

/* WL_OK; or `why` says what is wrong, and *w is empty. */
enum wl_status work_make(struct proxy_work *w, const struct work_request *q);
void work_free(struct proxy_work *w);

/* Do the tasks have this verb? */
bool work_has(const struct proxy_work *w, enum proxy_verb verb);

/* ---- for the two makers: false when `why` is written ---- */

/* Allocates zeroed room for this many of each. */
bool work_allocate(struct proxy_work *w, const struct work_request *q, size_t compute,
                   size_t collectives, size_t tasks);
/* On the host everything is computed and sent as fp32. */
bool work_add_gemm(struct proxy_work *w, const struct work_request *q, struct proxy_compute c);
void work_add_kernel(struct proxy_work *w, struct proxy_compute c);
/* `elements` of the whole buffer, which is padded to a multiple of the ranks. */
bool work_add_collective(struct proxy_work *w, const struct work_request *q,
                         struct proxy_collective c);
void work_add_task(struct proxy_work *w, enum proxy_verb verb, unsigned first, unsigned n);
bool work_wrong(const struct work_request *q, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Compute, collectives and the tasks of mode = overlapped, without the JOIN (work_step.c). */
bool work_from_step(struct proxy_work *w, const struct work_request *q);
/* Adds the tasks of mode = overlapped, by `issue` (enum proxy_issue), without the JOIN
 * (schedule.c). */
void schedule_synthetic(struct proxy_work *w, int issue);
/* Turns the tasks of mode = overlapped into those of `mode`, and adds the JOIN. */
void schedule_mode(struct proxy_work *w, int mode);
