/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/transports.h"

#include "wan_sync/transport/patience.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG_MASK 0x3fffffff /* MPI_TAG_UB is at least 2^31 - 1 with what is used today */

struct mpi_link {
    struct wan_link base;
    MPI_Comm comm;
    MPI_Request *request;
    struct wan_event *what; /* by request */
    size_t *bytes;
    int *finished; /* of MPI_Testsome */
    int n, cap;
    int done, done_n;  /* finished[done..done_n) were not told yet */
    uint64_t moved_ns; /* when something was posted or finished last */
    struct wan_link_stats stats;
    atomic_bool aborted;
};

static int failed(struct mpi_link *l, const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(rc, text, &n);
    snprintf(l->base.why, sizeof l->base.why, "mpi: %s: %.200s", what, text);
    return -1;
}

static bool make_room(struct mpi_link *l)
{
    if (l->n < l->cap)
        return true;
    int cap = l->cap ? 2 * l->cap : 256;
    MPI_Request *request = realloc(l->request, (size_t)cap * sizeof *request);
    l->request = request ? request : l->request;
    struct wan_event *what = realloc(l->what, (size_t)cap * sizeof *what);
    l->what = what ? what : l->what;
    size_t *bytes = realloc(l->bytes, (size_t)cap * sizeof *bytes);
    l->bytes = bytes ? bytes : l->bytes;
    int *finished = realloc(l->finished, (size_t)cap * sizeof *finished);
    l->finished = finished ? finished : l->finished;
    if (!request || !what || !bytes || !finished) {
        snprintf(l->base.why, sizeof l->base.why, "mpi: no memory for %d requests", cap);
        return false;
    }
    l->cap = cap;
    return true;
}

static int tag_of(uint64_t id)
{
    return (int)(id & TAG_MASK);
}

static int post(struct mpi_link *l, enum wan_done done, int peer, uint64_t id, size_t bytes)
{
    l->what[l->n] = (struct wan_event){done, peer, id};
    l->bytes[l->n++] = bytes;
    l->moved_ns = now_ns();
    return 0;
}

static int send_mpi(struct wan_link *link, int peer, uint64_t id, const void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag_of(id), l->comm, &l->request[l->n]);
    return rc == MPI_SUCCESS ? post(l, WAN_SENT, peer, id, bytes) : failed(l, "MPI_Isend", rc);
}

static int recv_mpi(struct wan_link *link, int peer, uint64_t id, void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag_of(id), l->comm, &l->request[l->n]);
    return rc == MPI_SUCCESS ? post(l, WAN_RECEIVED, peer, id, bytes) : failed(l, "MPI_Irecv", rc);
}

/* Finished requests are MPI_REQUEST_NULL; they are taken out once all were told. */
static void compact(struct mpi_link *l)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++) {
        if (l->request[i] == MPI_REQUEST_NULL)
            continue;
        l->request[kept] = l->request[i];
        l->what[kept] = l->what[i];
        l->bytes[kept++] = l->bytes[i];
    }
    l->n = kept;
    l->done = l->done_n = 0;
}

static int tell(struct mpi_link *l, struct wan_event *ev)
{
    int i = l->finished[l->done++];
    *ev = l->what[i];
    *(ev->done == WAN_SENT ? &l->stats.sent_B : &l->stats.received_B) += l->bytes[i];
    return 1;
}

static int next_mpi(struct wan_link *link, struct wan_event *ev, double timeout_s)
{
    struct mpi_link *l = (struct mpi_link *)link;
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        if (atomic_load(&l->aborted)) {
            snprintf(l->base.why, sizeof l->base.why, "mpi: aborted past the deadline");
            return -1;
        }
        if (l->done < l->done_n)
            return tell(l, ev);
        if (l->done_n > 0)
            compact(l);
        int rc = l->n ? MPI_Testsome(l->n, l->request, &l->done_n, l->finished, MPI_STATUSES_IGNORE)
                      : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return failed(l, "a block", rc);
        if (l->done_n == MPI_UNDEFINED)
            l->done_n = 0;
        if (l->done_n > 0) {
            l->moved_ns = now_ns();
            continue;
        }
        if (now_ns() >= end)
            return 0;
        patience(l->moved_ns, end);
    }
}

static void stats_mpi(const struct wan_link *link, struct wan_link_stats *stats)
{
    *stats = ((const struct mpi_link *)link)->stats;
}

static void abort_mpi(struct wan_link *link)
{
    atomic_store(&((struct mpi_link *)link)->aborted, true);
}

static void close_mpi(struct wan_link *link)
{
    struct mpi_link *l = (struct mpi_link *)link;
    compact(l);
    for (int i = 0; i < l->n; i++) { /* after a failure alone */
        if (l->what[i].done == WAN_RECEIVED)
            MPI_Cancel(&l->request[i]);
        MPI_Request_free(&l->request[i]);
    }
    MPI_Comm_free(&l->comm);
    free(l->request);
    free(l->what);
    free(l->bytes);
    free(l->finished);
    free(l);
}

static const struct wan_link_ops ops = {
    .name = "mpi",
    .send = send_mpi,
    .recv = recv_mpi,
    .next = next_mpi,
    .stats = stats_mpi,
    .abort = abort_mpi,
    .close = close_mpi,
};

int link_mpi_open(struct wan_link **link, MPI_Comm comm, char *why, size_t n)
{
    struct mpi_link *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(why, n, "out of memory");
        return -1;
    }
    l->base.ops = &ops;
    int rc = MPI_Comm_dup(comm, &l->comm);
    if (rc != MPI_SUCCESS) {
        failed(l, "MPI_Comm_dup", rc);
        snprintf(why, n, "%s", l->base.why);
        free(l);
        return -1;
    }
    MPI_Comm_set_errhandler(l->comm, MPI_ERRORS_RETURN);
    *link = &l->base;
    return 0;
}
