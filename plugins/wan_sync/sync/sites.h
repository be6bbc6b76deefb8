/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank is at which site, and which ranks take part in an exchange between sites.
 */
#pragma once

#include "workload.h"

#include <mpi.h>

#define SITES_HOST_MAX 64

struct sites {
    int n;                        /* sites */
    int *site_of;                 /* by rank */
    int *leader;                  /* by site: its lowest rank */
    int *in_order;                /* every rank, site by site */
    int *place;                   /* 0, 1, 2 ...: the ranks of `inside` */
    int ranks, largest;           /* ranks of the largest site */
    char (*host)[SITES_HOST_MAX]; /* by rank: its host name */
    MPI_Comm inside;              /* the ranks of this rank's site, the leader first */
};

/* site_ranks: number of consecutive ranks per site; 0: the ranks of a node are a site. Collective.
 * False: no memory, or MPI failed. Call sites_close() in both cases. */
bool sites_open(struct sites *s, const struct wl_host *host, MPI_Comm comm, int site_ranks);
/* Lists the ranks of that rank's site, the leader first. Returns how many. */
const int *sites_inside(const struct sites *s, int rank, int *n);
void sites_close(struct sites *s);
