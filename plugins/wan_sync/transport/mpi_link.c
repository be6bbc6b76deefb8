/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport mpi: MPI point to point. A block's id is its tag.
 */
#include "common/clock.h"
#include "common/mpi_calls.h"
#include "wan_sync/transport/link.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define EAGER_NS 50000
#define LEAST_NS 20000
#define MOST_NS 500000
#define PART 64

struct mpi_link {
    struct link base;
    MPI_Comm comm;
    MPI_Request *request;
    struct link_event *event; /* by request: what it is when it has finished */
    int *finished;            /* of MPI_Testsome */
    int n, cap;
    int told, finished_n; /* finished[told..finished_n) were not told yet */
    uint64_t moved_ns;    /* when something was begun or finished last */
    atomic_bool aborted;
};

/* MPI makes progress only inside its calls. At first poll again at once, for events that come soon; later
 * pause between polls, so that other processes can run. A pause is a small fraction of the wait so far, so
 * it adds only that fraction to the wait. */
static void pause_between_polls(uint64_t since_ns, uint64_t end_ns)
{
    uint64_t now = now_ns();
    if (now - since_ns < EAGER_NS || now >= end_ns) {
        sched_yield();
        return;
    }
    uint64_t ns = (now - since_ns) / PART;
    ns = ns < LEAST_NS ? LEAST_NS : ns;
    ns = ns < MOST_NS ? ns : MOST_NS;
    ns = end_ns - now < ns ? end_ns - now : ns;
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static int failed(struct mpi_link *l, const char *what, int rc)
{
    mpi_good(rc, what, l->base.why, sizeof l->base.why);
    return -1;
}

static bool make_room(struct mpi_link *l)
{
    if (l->n < l->cap)
        return true;
    int cap = l->cap ? 2 * l->cap : 256;
    MPI_Request *request = realloc(l->request, (size_t)cap * sizeof *request);
    l->request = request ? request : l->request;
    struct link_event *event = realloc(l->event, (size_t)cap * sizeof *event);
    l->event = event ? event : l->event;
    int *finished = realloc(l->finished, (size_t)cap * sizeof *finished);
    l->finished = finished ? finished : l->finished;
    if (!request || !event || !finished)
        return HOST_WHY(false, l->base.why, sizeof l->base.why, "mpi: no memory for %d requests",
                        cap);
    l->cap = cap;
    return true;
}

static int send_mpi(struct link *link, int peer, uint32_t id, const void *data, size_t bytes)
{
    struct mpi_link *l = (struct mpi_link *)link;
    if (!make_room(l))
        return -1;
    int rc = MPI_Isend(data, (int)bytes, MPI_BYTE, peer, (int)id, l->comm, &l->request[l->n]);
    if (rc != MPI_SUCCESS)
        return failed(l, "MPI_Isend", rc);
    l->event[l->n++] = (struct link_event){.done = LINK_SENT, .peer = peer, .id = id};
    l->moved_ns = now_ns();
    return 0;
}

/* Begins to receive every message that has arrived. */
static int receive_all(struct mpi_link *l)
{
    for (;;) {
        int came = 0, bytes = 0;
        MPI_Message message;
        MPI_Status status;
        int rc = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, l->comm, &came, &message, &status);
        if (rc != MPI_SUCCESS)
            return failed(l, "MPI_Improbe", rc);
        if (!came)
            return 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        void *data = malloc((size_t)bytes + 1);
        if (!make_room(l) || !data) {
            free(data);
            return LINK_WHY(l->base.why, sizeof l->base.why, "mpi: no memory for a block");
        }
        rc = MPI_Imrecv(data, bytes, MPI_BYTE, &message, &l->request[l->n]);
        if (rc != MPI_SUCCESS) {
            free(data);
            return failed(l, "MPI_Imrecv", rc);
        }
        l->event[l->n++] = (struct link_event){.done = LINK_RECEIVED,
                                               .peer = status.MPI_SOURCE,
                                               .id = (uint32_t)status.MPI_TAG,
                                               .data = data,
                                               .bytes = (size_t)bytes};
        l->moved_ns = now_ns();
    }
}

/* Finished requests are MPI_REQUEST_NULL; they are taken out once all were told. */
static void compact(struct mpi_link *l)
{
    int kept = 0;
    for (int i = 0; i < l->n; i++) {
        if (l->request[i] == MPI_REQUEST_NULL)
            continue;
        l->request[kept] = l->request[i];
        l->event[kept++] = l->event[i];
    }
    l->n = kept;
    l->told = l->finished_n = 0;
}

static int next_mpi(struct link *link, struct link_event *ev, double timeout_s)
{
    struct mpi_link *l = (struct mpi_link *)link;
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        if (atomic_load(&l->aborted))
            return LINK_WHY(l->base.why, sizeof l->base.why, "mpi: aborted past the deadline");
        if (l->told < l->finished_n) {
            *ev = l->event[l->finished[l->told++]];
            return 1;
        }
        if (l->finished_n > 0)
            compact(l);
        if (receive_all(l) < 0)
            return -1;
        int rc =
            l->n ? MPI_Testsome(l->n, l->request, &l->finished_n, l->finished, MPI_STATUSES_IGNORE)
                 : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return failed(l, "a block over MPI", rc);
        if (l->finished_n == MPI_UNDEFINED)
            l->finished_n = 0;
        if (l->finished_n > 0) {
            l->moved_ns = now_ns();
            continue;
        }
        if (now_ns() >= end)
            return 0;
        pause_between_polls(l->moved_ns, end);
    }
}

static void abort_mpi(struct link *link)
{
    atomic_store(&((struct mpi_link *)link)->aborted, true);
}

/* Blocks on their way, which only a failure leaves, keep their memory: MPI cannot cancel a message that
 * both ends have begun. */
static void close_mpi(struct link *link)
{
    struct mpi_link *l = (struct mpi_link *)link;
    for (int i = l->told; i < l->finished_n; i++)
        free(l->event[l->finished[i]].data);
    for (int i = 0; i < l->n; i++)
        if (l->request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&l->request[i]);
    MPI_Comm_free(&l->comm);
    free(l->request);
    free(l->event);
    free(l->finished);
    free(l);
}

static const struct link_ops mpi_ops = {
    .name = "mpi",
    .send = send_mpi,
    .next = next_mpi,
    .abort = abort_mpi,
    .close = close_mpi,
};

int mpi_link_open(struct link **link, MPI_Comm comm, char *why, size_t n)
{
    struct mpi_link *l = calloc(1, sizeof *l);
    if (!l)
        return LINK_WHY(why, n, "out of memory");
    l->base.ops = &mpi_ops;
    if (!mpi_good(mpi_dup(comm, &l->comm), "MPI_Comm_dup", why, n)) {
        free(l);
        return -1;
    }
    *link = &l->base;
    return 0;
}
