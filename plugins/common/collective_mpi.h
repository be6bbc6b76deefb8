/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI's own collectives. The call's count is the larger buffer's (collective.h).
 *
 * MPI_Bcast has one buffer on each rank: the root's is `send`, and its `recv` is not written.
 */
#pragma once

#include "common/allreduce_p2p.h"
#include "common/collective.h"

extern const struct allreduce collectives_mpi[COLLECTIVES];
