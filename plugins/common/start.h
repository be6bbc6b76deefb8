/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of host samples and the start that the ranks share.
 */
#ifndef START_H
#define START_H

#include <mpi.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Returns on all ranks at nearly the same time. A barrier lets its first rank go a message's time
 * before its last, which is as long as the smallest operation; on one node, where the ranks read
 * one clock, they therefore also wait for an instant that rank 0 names. */
int start_together(MPI_Comm comm, int nodes);

#endif
