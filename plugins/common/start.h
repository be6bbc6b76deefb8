/* SPDX-License-Identifier: Apache-2.0
 *
 * The start that the ranks share.
 */
#ifndef START_H
#define START_H

#include "clock.h"

#include <mpi.h>

/* Returns on all ranks at nearly the same time. A barrier lets its first rank go a message's time
 * before its last, which is as long as the smallest operation; on one node, where the ranks read
 * one clock, they therefore also wait for an instant that rank 0 names. */
int start_together(MPI_Comm comm, int nodes);

#endif
