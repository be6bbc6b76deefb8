/* SPDX-License-Identifier: Apache-2.0 */
#include "common/collective.h"

#include <stdio.h>
#include <string.h>

const char *const collective_names[COLLECTIVES + 1] = {[COLLECTIVE_ALLREDUCE] = "allreduce",
                                                       [COLLECTIVE_ALLGATHER] = "allgather",
                                                       [COLLECTIVE_REDUCESCATTER] = "reducescatter",
                                                       [COLLECTIVE_ALLTOALL] = "alltoall",
                                                       [COLLECTIVE_BROADCAST] = "broadcast",
                                                       [COLLECTIVE_REDUCE] = "reduce",
                                                       [COLLECTIVE_SENDRECV] = "sendrecv"};

static const struct traits {
    double shares; /* busbw factor: so many times (n-1)/n; 0: 1 */
    bool reduces;
    bool cuts_input, cuts_output; /* the buffer is one block of `count`, not all of it */
    bool blocks;                  /* count must be a multiple of the ranks */
} of[COLLECTIVES] = {
    [COLLECTIVE_ALLREDUCE] = {.shares = 2, .reduces = true},
    [COLLECTIVE_ALLGATHER] = {.shares = 1, .cuts_input = true, .blocks = true},
    [COLLECTIVE_REDUCESCATTER] = {.shares = 1,
                                  .reduces = true,
                                  .cuts_output = true,
                                  .blocks = true},
    [COLLECTIVE_ALLTOALL] = {.shares = 1, .blocks = true},
    [COLLECTIVE_BROADCAST] = {0},
    [COLLECTIVE_REDUCE] = {.reduces = true},
    [COLLECTIVE_SENDRECV] = {0},
};

double collective_busbw_factor(enum collective c, double ranks)
{
    return of[c].shares > 0 ? of[c].shares * (ranks - 1) / ranks : 1;
}

bool collective_reduces(enum collective c)
{
    return of[c].reduces;
}

bool collective_divides(enum collective c, uint64_t size, size_t element_B, const char *dtype,
                        int ranks, char *why, size_t n)
{
    uint64_t unit = element_B * (of[c].blocks ? (uint64_t)ranks : 1);
    if (size && size % unit == 0)
        return true;
    if (of[c].blocks)
        snprintf(
            why, n,
            "size=%llu does not divide into one block of dtype=%s for each of the %d ranks, as "
            "collective=%s needs: use a multiple of %llu",
            (unsigned long long)size, dtype, ranks, collective_names[c], (unsigned long long)unit);
    else
        snprintf(why, n, "size=%llu is not a multiple of the %zu bytes of dtype=%s",
                 (unsigned long long)size, element_B, dtype);
    return false;
}

static struct collective_range range(bool cut, int rank, int ranks, size_t count, bool in_place)
{
    size_t block = count / (size_t)ranks;
    if (!cut)
        return (struct collective_range){0, count};
    return (struct collective_range){in_place ? block * (size_t)rank : 0, block};
}

struct collective_range collective_input(enum collective c, int rank, int ranks, size_t count,
                                         bool in_place)
{
    return range(of[c].cuts_input, rank, ranks, count, in_place);
}

struct collective_range collective_output(enum collective c, int rank, int ranks, size_t count,
                                          bool in_place)
{
    return range(of[c].cuts_output, rank, ranks, count, in_place);
}

int collective_parts(enum collective c, int rank, int ranks)
{
    if (c == COLLECTIVE_ALLGATHER || c == COLLECTIVE_ALLTOALL)
        return ranks;
    return c == COLLECTIVE_REDUCE && rank != COLLECTIVE_ROOT ? 0 : 1;
}

struct collective_part collective_part(enum collective c, int rank, int ranks, size_t count, int i)
{
    size_t block = count / (size_t)ranks, me = (size_t)rank;
    switch (c) {
    case COLLECTIVE_ALLGATHER:
        return (struct collective_part){block * (size_t)i, block, i, 0};
    case COLLECTIVE_ALLTOALL:
        return (struct collective_part){block * (size_t)i, block, i, block * me};
    case COLLECTIVE_REDUCESCATTER:
        return (struct collective_part){0, block, COLLECTIVE_REDUCED, block * me};
    case COLLECTIVE_BROADCAST:
        return (struct collective_part){0, count, COLLECTIVE_ROOT, 0};
    case COLLECTIVE_SENDRECV:
        return (struct collective_part){0, count, (rank + ranks - 1) % ranks, 0};
    default:
        return (struct collective_part){0, count, COLLECTIVE_REDUCED, 0};
    }
}
