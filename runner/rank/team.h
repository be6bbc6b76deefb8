/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of one attempt, and how they agree. Every function but team_leave is collective; what
 * they return is the same on every rank, so that all take the same way afterwards.
 */
#ifndef GS_TEAM_H
#define GS_TEAM_H

#include "rank/beat.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team {
    MPI_Comm comm; /* the runner's own: plugins never meet its messages */
    struct beat *beat;
    int rank, ranks, local_rank, local_ranks, node, nodes;
    int64_t clock_offset_ns; /* rank 0's clock minus this one's; 0 on rank 0's node */
    uint64_t reach_ns;       /* the longest one-way delay between rank 0 and another node's rank */
    char host[64];
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
};

/* GS_OK or GS_CANNOT, reported: MPI cannot give threads. Ends with team_leave. */
int team_join(struct team *t, struct beat *beat);
void team_leave(struct team *t);

/* The largest on any rank. */
int team_max(const struct team *t, int value);
uint64_t team_max_u64(const struct team *t, uint64_t value);
/* Each value with the lowest rank that has the largest: values[i] becomes that maximum. */
void team_worst(const struct team *t, int *values, int *ranks, size_t n);
/* What `from` has in `data`, everywhere. */
void team_share(const struct team *t, void *data, size_t n, int from);

/* Nobody goes on before all are here. */
void team_meet(const struct team *t);

/* Every rank's text on rank 0, by rank, freed with team_texts_free; NULL on the others. */
char **team_texts(const struct team *t, const char *text);
void team_texts_free(const struct team *t, char **texts);

/* Measures clock_offset_ns anew: between nodes clocks drift apart. Does nothing on one node. */
void team_align_clocks(struct team *t);

/* Leaves at one instant, which rank 0 names and each waits for by its own clock. A rank that hears
 * of it too late leaves at once, and its delay shows as skew in the recording. */
void team_start(const struct team *t);

#endif
