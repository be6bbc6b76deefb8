/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounds in which everybody meets everybody once: in each, every rank has at most one peer. With n
 * ranks there are n - 1 rounds, with an odd n as many as ranks, and one rank sits out in each.
 */
#pragma once

static inline int round_count(int ranks)
{
    return (ranks + 1) / 2 * 2 - 1;
}

/* The peer of `rank` in round 0 to round_count - 1; -1: it sits out, or there is no such rank or
 * round. The last seat stays, the others go round. */
static inline int round_peer(int rank, int round, int ranks)
{
    int last = round_count(ranks);
    if (rank < 0 || round < 0 || round >= last)
        return -1;
    int peer = rank == last ? round : rank == round ? last : (2 * round - rank + 2 * last) % last;
    return peer < ranks ? peer : -1;
}
