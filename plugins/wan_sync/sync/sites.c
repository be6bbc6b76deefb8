/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync/sites.h"

#include <stdio.h>
#include <stdlib.h>

static void number(struct sites *s)
{
    int at = 0;
    for (int r = 0; r < s->ranks; r++)
        s->place[r] = r;
    for (int site = 0; site < s->n; site++) {
        int first = at;
        for (int r = 0; r < s->ranks; r++)
            if (s->site_of[r] == site)
                s->in_order[at++] = r;
        s->leader[site] = s->in_order[first];
        s->largest = at - first > s->largest ? at - first : s->largest;
    }
}

static bool gather_hosts(struct sites *s, int rank, MPI_Comm comm)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    snprintf(s->host[rank], sizeof s->host[rank], "%.*s", SITES_HOST_MAX - 1, name);
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->host, SITES_HOST_MAX, MPI_CHAR,
                         comm) == MPI_SUCCESS;
}

bool sites_open(struct sites *s, const struct wl_host *host, MPI_Comm comm, int site_ranks)
{
    size_t n = (size_t)host->ranks;
    int mine = site_ranks ? host->rank / site_ranks : host->node;
    *s = (struct sites){.ranks = host->ranks, .inside = MPI_COMM_NULL};
    s->site_of = calloc(n, sizeof *s->site_of);
    s->leader = calloc(n, sizeof *s->leader);
    s->in_order = calloc(n, sizeof *s->in_order);
    s->place = calloc(n, sizeof *s->place);
    s->host = calloc(n, sizeof *s->host);
    int good = s->site_of && s->leader && s->in_order && s->place && s->host, all = 0;
    if (MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !all ||
        !s->site_of || !s->leader || !s->in_order || !s->place ||
        MPI_Allgather(&mine, 1, MPI_INT, s->site_of, 1, MPI_INT, comm) != MPI_SUCCESS)
        return false;
    for (int r = 0; r < s->ranks; r++)
        s->n = s->site_of[r] >= s->n ? s->site_of[r] + 1 : s->n;
    number(s);
    return gather_hosts(s, host->rank, comm) &&
           MPI_Comm_split(comm, mine, host->rank, &s->inside) == MPI_SUCCESS;
}

const int *sites_inside(const struct sites *s, int rank, int *n)
{
    int site = s->site_of[rank], first = 0;
    while (s->in_order[first] != s->leader[site])
        first++;
    for (*n = 0; first + *n < s->ranks && s->site_of[s->in_order[first + *n]] == site;)
        ++*n;
    return s->in_order + first;
}

void sites_close(struct sites *s)
{
    if (s->inside != MPI_COMM_NULL)
        MPI_Comm_free(&s->inside);
    free(s->site_of);
    free(s->leader);
    free(s->in_order);
    free(s->place);
    free(s->host);
    *s = (struct sites){.inside = MPI_COMM_NULL};
}
