/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/team.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROBES = 100, PROBES_LEAST = 5, TAG_PROBE = 1 };
#define PROBES_NS 20000000 /* after this time, only PROBES_LEAST probes */

/* Time from choosing an instant to the instant: a broadcast on one node, plus the other nodes' delay. */
#define LEAD_NS 20000
#define LEAD_DELAYS 1.5 /* per hop of the broadcast's tree */
#define SPIN_NS 500000  /* a sleep may end this late */

/* Marks calls that may wait for another rank, so that the shims first look for the hung rank. */
static void wait_begins(const struct team *t)
{
    atomic_store(&t->beat->waiting, 1);
}

static void wait_ends(const struct team *t)
{
    atomic_store(&t->beat->waiting, 0);
}

/* A node is the ranks that share memory; nodes are numbered by their lowest rank. */
static void find_nodes(struct team *t)
{
    MPI_Comm local, leaders;
    MPI_Comm_split_type(t->comm, MPI_COMM_TYPE_SHARED, t->rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &t->local_rank);
    MPI_Comm_size(local, &t->local_ranks);
    MPI_Comm_split(t->comm, t->local_rank == 0 ? 0 : MPI_UNDEFINED, t->rank, &leaders);
    int node[2] = {0, 0};
    if (t->local_rank == 0) {
        MPI_Comm_rank(leaders, &node[0]);
        MPI_Comm_size(leaders, &node[1]);
        MPI_Comm_free(&leaders);
    }
    MPI_Bcast(node, 2, MPI_INT, 0, local);
    t->node = node[0];
    t->nodes = node[1];
    MPI_Comm_free(&local);
}

int team_join(struct team *t, struct beat *beat)
{
    *t = (struct team){.beat = beat};
    int given, length;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_dup(MPI_COMM_WORLD, &t->comm);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    find_nodes(t);
    if (gethostname(t->host, sizeof t->host - 1))
        t->host[0] = '\0';
    MPI_Get_library_version(t->mpi, &length);
    t->mpi[strcspn(t->mpi, ",\n")] = '\0';
    if (given < MPI_THREAD_MULTIPLE)
        return fail(GS_CANNOT,
                    "%s was built without MPI_THREAD_MULTIPLE, which overlap needs; choose another "
                    "with MPI_HOME",
                    t->mpi);
    return GS_OK;
}

int64_t team_max(const struct team *t, int64_t value)
{
    wait_begins(t);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, t->comm);
    wait_ends(t);
    return value;
}

void team_worst(const struct team *t, int *values, int *ranks, size_t n)
{
    struct {
        int value, rank;
    } *pairs = xcalloc(n, sizeof *pairs);
    for (size_t i = 0; i < n; i++) {
        pairs[i].value = values[i];
        pairs[i].rank = t->rank;
    }
    wait_begins(t);
    MPI_Allreduce(MPI_IN_PLACE, pairs, (int)n, MPI_2INT, MPI_MAXLOC, t->comm);
    wait_ends(t);
    for (size_t i = 0; i < n; i++) {
        values[i] = pairs[i].value;
        ranks[i] = pairs[i].rank;
    }
    free(pairs);
}

void team_share(const struct team *t, void *data, size_t n, int from)
{
    wait_begins(t);
    MPI_Bcast(data, (int)n, MPI_BYTE, from, t->comm);
    wait_ends(t);
}

void team_meet(const struct team *t)
{
    wait_begins(t);
    MPI_Barrier(t->comm);
    wait_ends(t);
}

char **team_texts(const struct team *t, const char *text)
{
    int n = (int)strlen(text) + 1, total = 0;
    AUTO_FREE int *lengths = xcalloc((size_t)t->ranks, sizeof *lengths);
    AUTO_FREE int *places = xcalloc((size_t)t->ranks, sizeof *places);
    wait_begins(t);
    MPI_Gather(&n, 1, MPI_INT, lengths, 1, MPI_INT, 0, t->comm);
    for (int r = 0; r < t->ranks; total += lengths[r++])
        places[r] = total;
    AUTO_FREE char *all = xmalloc((size_t)total);
    MPI_Gatherv(text, n, MPI_CHAR, all, lengths, places, MPI_CHAR, 0, t->comm);
    wait_ends(t);
    char **texts = t->rank == 0 ? xcalloc((size_t)t->ranks, sizeof *texts) : NULL;
    for (int r = 0; texts && r < t->ranks; r++)
        texts[r] = xstrdup(all + places[r]);
    return texts;
}

void team_texts_free(const struct team *t, char **texts)
{
    for (int r = 0; texts && r < t->ranks; r++)
        free(texts[r]);
    free(texts);
}

/* Rank 0 answers the clock probes of `rank` until they end. */
static void answer(const struct team *t, int rank)
{
    for (;;) {
        int more;
        MPI_Recv(&more, 1, MPI_INT, rank, TAG_PROBE, t->comm, MPI_STATUS_IGNORE);
        uint64_t now = clock_now_ns();
        if (!more)
            return;
        MPI_Send(&now, 1, MPI_UINT64_T, rank, TAG_PROBE, t->comm);
    }
}

static void ask(struct team *t)
{
    struct clock_probe probes[PROBES];
    uint64_t began = clock_now_ns();
    int n = 0, more = 1;
    while (more) {
        probes[n].sent = clock_now_ns();
        MPI_Send(&more, 1, MPI_INT, 0, TAG_PROBE, t->comm);
        MPI_Recv(&probes[n].theirs, 1, MPI_UINT64_T, 0, TAG_PROBE, t->comm, MPI_STATUS_IGNORE);
        probes[n].back = clock_now_ns();
        n++;
        more = n < PROBES && (n < PROBES_LEAST || probes[n - 1].back - began < PROBES_NS);
    }
    MPI_Send(&more, 1, MPI_INT, 0, TAG_PROBE, t->comm);
    t->clock_offset_ns = clock_offset_ns(probes, (size_t)n, &t->reach_ns);
}

/* One rank at a time: a second one would lengthen the round trips of the first. Ranks on rank 0's
 * node share its clock. On other nodes every rank probes, although they share a clock too: this takes
 * a millisecond per rank and no second step. */
void team_align_clocks(struct team *t)
{
    if (t->nodes == 1)
        return;
    wait_begins(t);
    t->reach_ns = 0;
    for (int r = 1; r < t->ranks; r++) {
        int elsewhere = t->rank == r && t->node != 0;
        MPI_Bcast(&elsewhere, 1, MPI_INT, r, t->comm);
        if (elsewhere && t->rank == r)
            ask(t);
        else if (elsewhere && t->rank == 0)
            answer(t, r);
    }
    MPI_Allreduce(MPI_IN_PLACE, &t->reach_ns, 1, MPI_UINT64_T, MPI_MAX, t->comm);
    wait_ends(t);
}

void team_start(const struct team *t)
{
    int hops = 0; /* of the broadcast's tree */
    while (1 << hops < t->ranks)
        hops++;
    double travel_ns = LEAD_DELAYS * (double)t->reach_ns * hops;
    wait_begins(t);
    MPI_Barrier(t->comm);
    uint64_t at = clock_now_ns() + LEAD_NS + (uint64_t)travel_ns;
    MPI_Bcast(&at, 1, MPI_UINT64_T, 0, t->comm);
    wait_ends(t);
    at -= (uint64_t)t->clock_offset_ns;
    for (uint64_t now = clock_now_ns(); now < at; now = clock_now_ns())
        if (at - now > SPIN_NS)
            nanosleep(&(struct timespec){0, (long)((at - now - SPIN_NS) % 1000000000)}, NULL);
}
