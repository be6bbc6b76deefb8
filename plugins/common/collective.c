/* SPDX-License-Identifier: Apache-2.0 */
#include "common/collective.h"

#include <stdio.h>

const char *const collective_names[COLLECTIVES + 1] = {[COLLECTIVE_ALLREDUCE] = "allreduce",
                                                       [COLLECTIVE_ALLGATHER] = "allgather",
                                                       [COLLECTIVE_REDUCESCATTER] =
                                                           "reducescatter"};

double collective_busbw_factor(enum collective c, double ranks)
{
    return (c == COLLECTIVE_ALLREDUCE ? 2 : 1) * (ranks - 1) / ranks;
}

bool collective_divides(enum collective c, uint64_t size, size_t element_B, const char *dtype,
                        int ranks, char *why, size_t n)
{
    bool blocks = c != COLLECTIVE_ALLREDUCE;
    uint64_t unit = element_B * (blocks ? (uint64_t)ranks : 1);
    if (size && size % unit == 0)
        return true;
    if (blocks)
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
    return range(c == COLLECTIVE_ALLGATHER, rank, ranks, count, in_place);
}

struct collective_range collective_output(enum collective c, int rank, int ranks, size_t count,
                                          bool in_place)
{
    return range(c == COLLECTIVE_REDUCESCATTER, rank, ranks, count, in_place);
}
