/* SPDX-License-Identifier: Apache-2.0
 *
 * The collectives that plugins measure: buffers, bus bandwidth and results, as nccl-tests defines
 * them (its doc/PERFORMANCE.md). Pure host C.
 *
 * `size` is the larger of a rank's two buffers. All-gather and reduce-scatter cut it into one block for
 * each rank.
 *
 * Below: rounds in which all pairs of ranks meet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collective {
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_REDUCESCATTER,
    COLLECTIVES
};
extern const char *const collective_names[COLLECTIVES + 1]; /* NULL-terminated */

/* busbw = size / time * factor. */
double collective_busbw_factor(enum collective c, double ranks);

/* False: `why` says why a buffer of `size` bytes cannot be used, and what can. */
bool collective_divides(enum collective c, uint64_t size, size_t element_B, const char *dtype,
                        int ranks, char *why, size_t n);

/* A rank's buffer of `count` elements: what it sends, and what it receives. In place both lie in
 * one buffer, at these offsets. */
struct collective_range {
    size_t first, n; /* elements */
};
struct collective_range collective_input(enum collective c, int rank, int ranks, size_t count,
                                         bool in_place);
struct collective_range collective_output(enum collective c, int rank, int ranks, size_t count,
                                          bool in_place);

/* Device memory of one NCCL communicator on one rank, estimated; only plans use it. NCCL allocates about
 * 6 MiB for each channel and peer (buffers of LL, LL128 and Simple). It has up to 24 channels over
 * NVLink. */
#define COMM_MEMORY_B (UINT64_C(144) << 20)

/* ---- rounds ---- */

/* Rounds in which everybody meets everybody once: in each, every rank has at most one peer. With n
 * ranks there are n - 1 rounds, with an odd n as many as ranks, and one rank sits out in each. */
static inline int collective_rounds(int ranks)
{
    return (ranks + 1) / 2 * 2 - 1;
}

/* The peer of `rank` in round 0 to collective_rounds - 1; -1: it sits out, or there is no such rank or
 * round. The last seat stays, the others go round. */
static inline int collective_round_peer(int rank, int round, int ranks)
{
    int last = collective_rounds(ranks);
    if (rank < 0 || round < 0 || round >= last)
        return -1;
    int peer = rank == last ? round : rank == round ? last : (2 * round - rank + 2 * last) % last;
    return peer < ranks ? peer : -1;
}
