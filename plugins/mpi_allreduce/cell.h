/* SPDX-License-Identifier: Apache-2.0
 *
 * A cell of mpi_allreduce: its parameters, and the sizes computed from them before allocation.
 */
#pragma once

#include "common/mpi_calls.h"
#include "common/payload.h"
#include "mpi_allreduce/slots.h"
#include "workload.h"

enum metric { T_SS, L_ISO };
enum buffers { HOT, COLD };

struct cell {
    uint64_t size;
    int dtype, op;
    bool in_place;
    int buffers, metric, algorithm;
    int collective;
};

extern const struct wl_param cell_params[];
extern const char *const algorithms[]; /* by enum allreduce_kind */
extern const char *const cell_added[]; /* parameters added later (wl_plugin.added) */

enum wl_status cell_describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                             char *why, size_t why_size);

struct payload_kind cell_payload(const struct cell *c, int ranks);
size_t cell_element_B(const struct cell *c);
size_t cell_count(const struct cell *c); /* elements of the larger buffer */
const struct mpi_operation *cell_operation(const struct cell *c);
size_t cell_scratch_B(const struct cell *c, int ranks);
struct slots_shape cell_slots(const struct cell *c);
