/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank is at which site, and who takes part in an exchange between sites.
 */
#ifndef SITES_H
#define SITES_H

#include "workload.h"

#include <mpi.h>

#define SITES_HOST_MAX 64

struct sites {
    int n;                        /* sites */
    int *site_of;                 /* by rank */
    int *leader;                  /* by site: its lowest rank */
    int *in_order;                /* every rank, site by site */
    int *place;                   /* 0, 1, 2 ...: what `inside` calls its ranks */
    int ranks, largest;           /* ranks of the largest site */
    char (*host)[SITES_HOST_MAX]; /* by rank: what it is called there */
    MPI_Comm inside;              /* the ranks of this rank's site, the leader first */
};

/* site_ranks: so many ranks in a row are a site; 0: the ranks of a node. Collective. False: no
 * memory, or MPI failed; sites_close() in both cases. */
bool sites_open(struct sites *s, const struct wl_host *host, MPI_Comm comm, int site_ranks);
/* The ranks of that rank's site, its leader first; how many they are. */
const int *sites_inside(const struct sites *s, int rank, int *n);
void sites_close(struct sites *s);

#endif
