/* SPDX-License-Identifier: Apache-2.0
 *
 * The rank of this process, from the launcher's environment variables. The shim needs it for its
 * messages, and never calls MPI.
 */
#pragma once

struct rank_place {
    int rank, ranks, local_rank; /* 0, 1, 0 without a launcher */
    char host[64];
};

void place_find(struct rank_place *p);
