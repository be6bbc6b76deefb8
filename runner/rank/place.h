/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank this process is, from what the launcher set in the environment: known before MPI is,
 * for the messages of a process that never calls it.
 */
#ifndef GS_PLACE_H
#define GS_PLACE_H

struct rank_place {
    int rank, ranks, local_rank; /* 0, 1, 0 when no launcher started us */
    char host[64];
};

void place_find(struct rank_place *p);

#endif
