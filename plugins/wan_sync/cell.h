/* SPDX-License-Identifier: Apache-2.0
 *
 * A cell of wan_sync: its parameters, and the values that are computed from them before anything is
 * allocated.
 */
#pragma once

#include "common/wan_model.h"
#include "wan_sync/strategy.h"
#include "wan_sync/wire.h"
#include "workload.h"

/* CELL_FIRST: then the strategies of the model, in its order. */
enum cell_strategy { CELL_MPI, CELL_FIRST };
enum cell_shares { SHARES_EQUAL, SHARES_LP };
enum cell_inside { INSIDE_BY_MPI, INSIDE_BY_NCCL };

struct cell {
    uint64_t size;
    int strategy, wire, inside;
    int64_t streams;
    uint64_t block;
    int shares;
    int64_t fragments, overlap;
    int64_t every, accumulate;
    double compute;
    int64_t tokens, target_tokens;
    int64_t site_ranks;
    char rates[WL_TEXT_MAX];
    int pattern;
    double timeout;
    char interface[WL_TEXT_MAX], congestion[WL_TEXT_MAX];
    int64_t port;
    double probe;
};

extern const struct wl_param cell_params[];
extern const char *const cell_strategies[], *const cell_wires[];

enum wl_status cell_describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                             char *why, size_t why_size);

/* What each of the ranks of a link may have at each other one (strategy.h), so that a rank holds 16 MiB of
 * blocks of all. Not for CELL_MPI. */
size_t cell_ahead_B(const struct cell *c, int ranks);
size_t cell_count(const struct cell *c); /* elements */
/* Elements of fragment f: [cell_fragment(c, f), cell_fragment(c, f + 1)). */
size_t cell_fragment(const struct cell *c, int64_t f);
/* Steps from the start of a fragment's exchange until its sum is needed; 0: nothing overlaps. */
int64_t cell_steps_beside(const struct cell *c);
/* The strategy of the model; not for CELL_MPI. */
enum wan_strategy cell_model(const struct cell *c);
/* The fixed part of a schedule's shape for `count` elements among `members`. */
struct schedule_shape cell_shape(const struct cell *c, int members, size_t count);
/* Parses `rates`, at most `most` numbers. Returns how many; -1: not numbers. */
int cell_rates(const struct cell *c, double *rate, int most);
