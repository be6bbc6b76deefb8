/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of one attempt, and how they agree. Every function is collective and
 * returns the same on every rank, so that all ranks take the same path.
 */
#pragma once

#include "rank/shim.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct team {
    MPI_Comm comm; /* only for the runner, separate from the plugins' messages */
    struct beat *beat;
    int rank, ranks, local_rank, local_ranks, node, nodes;
    int64_t clock_offset_ns; /* rank 0's clock minus this rank's; 0 on rank 0's node */
    uint64_t reach_ns;       /* longest one-way delay between rank 0 and a rank on another node */
    char host[64];
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
};

/* GS_OK, or GS_CANNOT, reported: MPI has no thread support. */
int team_join(struct team *t, struct beat *beat);

/* The largest on any rank. */
int64_t team_max(const struct team *t, int64_t value);
/* values[i] becomes its maximum over the ranks, ranks[i] the lowest rank that has it. */
void team_worst(const struct team *t, int *values, int *ranks, size_t n);
/* Broadcasts `data` from rank `from`. */
void team_share(const struct team *t, void *data, size_t n, int from);

/* A barrier. */
void team_meet(const struct team *t);

/* Gathers every rank's text on rank 0 (free with team_texts_free); NULL on the others. */
char **team_texts(const struct team *t, const char *text);
void team_texts_free(const struct team *t, char **texts);

/* Measures clock_offset_ns again, because clocks of nodes drift. Does nothing on one node. */
void team_align_clocks(struct team *t);

/* All ranks return at one instant, which rank 0 chooses and each awaits on its own clock. A rank that
 * learns of it too late returns at once; its delay appears as skew in the recording. */
void team_start(const struct team *t);
