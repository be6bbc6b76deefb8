/* SPDX-License-Identifier: Apache-2.0
 *
 * In front of MPI, by its profiling names (PMPI_). This object must load into programs without MPI, so
 * it finds functions and objects of MPI only when MPI is called. A collective that is left out copies
 * nothing: a copy on the host would take a good part of the time that is to be seen. A
 * non-blocking one gives a null request, which MPI_Wait and MPI_Test take for completed.
 */
#include "price/trial.h"
#include "price/preload.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default) /* mpi.h's own declarations have it */

static const char *const libmpi[] = {"libmpi.so.40", "libmpi.so.12", "libmpi.so", NULL};

static void *find(void **known, const char *symbol)
{
    return price_real(known, libmpi, symbol, "this MPI lacks it");
}

/* MPI's own function of the name. */
#define REAL(name)                                                                                 \
    __extension__({                                                                                \
        static void *known_;                                                                       \
        (__typeof__(&MPI_##name))find(&known_, "PMPI_" #name);                                     \
    })

/* In Open MPI these are addresses. A program that is linked to MPI may hold the object itself (a copy
 * relocation), so the library's is looked for last. */
#ifdef OPEN_MPI
static void *global(const char *symbol)
{
    void *object = dlsym(RTLD_DEFAULT, symbol), *known = NULL;
    return object ? object : find(&known, symbol);
}
#define REQUEST_NULL ((MPI_Request)global("ompi_request_null"))
#define COMM_WORLD ((MPI_Comm)global("ompi_mpi_comm_world"))
#else
#define REQUEST_NULL MPI_REQUEST_NULL
#define COMM_WORLD MPI_COMM_WORLD
#endif

/* ---- what a call is ---- */

/* The communicator's name: its size, and a hash of its ranks' numbers in the job. */
static bool name_it(MPI_Comm comm, struct price_about *a)
{
    MPI_Group group, world;
    int *own = calloc((size_t)a->ranks * 2, sizeof *own), *job = own + a->ranks;
    if (!own || REAL(Comm_group)(comm, &group) || REAL(Comm_group)(COMM_WORLD, &world)) {
        free(own);
        return false;
    }
    for (int i = 0; i < a->ranks; i++)
        own[i] = i;
    REAL(Group_translate_ranks)(group, a->ranks, own, world, job);
    uint32_t hash = trial_hash(job, (size_t)a->ranks * sizeof *job);
    snprintf(a->id, sizeof a->id, "mpi-%d-%08x", a->ranks, hash);
    REAL(Group_free)(&group);
    REAL(Group_free)(&world);
    free(own);
    return true;
}

/* Two communicators of the same ranks must not have one name. Every rank of them sees them in the order of
 * their first calls, which is the same for all unless threads race; then no common step is found. */
static void number_it(struct price_about *a)
{
    static struct {
        char id[sizeof a->id];
        unsigned count;
    } seen[64];
    size_t i = 0;
    while (i < 63 && *seen[i].id && strcmp(seen[i].id, a->id))
        i++;
    snprintf(seen[i].id, sizeof seen[i].id, "%s", a->id);
    size_t n = strlen(a->id);
    snprintf(a->id + n, sizeof a->id - n, "-%u", seen[i].count++);
}

static bool about(uintptr_t handle, struct price_about *a)
{
    MPI_Comm comm = (MPI_Comm)handle;
    int inter = 0;
    if (REAL(Comm_size)(comm, &a->ranks) || REAL(Comm_rank)(comm, &a->rank) ||
        REAL(Comm_test_inter)(comm, &inter) || inter)
        return false;
    if (a->ranks > 1 && !name_it(comm, a))
        return false;
    number_it(a);
    return true;
}

/* per_rank: `count` is that of one rank. alike: false if the two sides have other types, so that the call cannot
 * be made smaller. */
static enum choice_part part_of(MPI_Comm comm, enum nccl_func func, long count, MPI_Datatype type,
                                bool per_rank, bool alike)
{
    struct price_comm *c = price_comm((uintptr_t)comm, about);
    int size = 0;
    if (!c || REAL(Type_size)(type, &size))
        return PART_ALL;
    size_t bytes = (size_t)count * (size_t)size * (per_rank ? (size_t)price_ranks(c) : 1);
    bool whole = !alike || (count < 2 && bytes >= TRIAL_PART_LEAST);
    return price_part(c, func, whole ? 0 : bytes, false);
}

/* ---- collectives ---- */

#define OPEN(...) __VA_ARGS__
#define SMALLER(count) (int)price_count(part, (size_t)(count))

/* A collective and its non-blocking twin, whose last parameter is a request. `asked`: how much of it
 * to communicate. The parameters, and the arguments of MPI's own function, are in parentheses. */
#define COLLECTIVE(name, twin, asked, parameters, arguments)                                       \
    int MPI_##name(OPEN parameters)                                                                \
    {                                                                                              \
        enum choice_part part = asked;                                                             \
        return part == PART_NONE ? MPI_SUCCESS : REAL(name)(OPEN arguments);                       \
    }                                                                                              \
    int MPI_##twin(OPEN parameters, MPI_Request *request)                                          \
    {                                                                                              \
        enum choice_part part = asked;                                                             \
        if (part == PART_NONE)                                                                     \
            *request = REQUEST_NULL;                                                               \
        return part == PART_NONE ? MPI_SUCCESS : REAL(twin)(OPEN arguments, request);              \
    }

COLLECTIVE(Allreduce, Iallreduce, part_of(comm, NCCL_ALL_REDUCE, count, type, false, true),
           (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, recv, SMALLER(count), type, op, comm))

COLLECTIVE(Reduce, Ireduce, part_of(comm, NCCL_REDUCE, count, type, false, true),
           (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (send, recv, SMALLER(count), type, op, root, comm))

COLLECTIVE(Bcast, Ibcast, part_of(comm, NCCL_BROADCAST, count, type, false, true),
           (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (buffer, SMALLER(count), type, root, comm))

COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           part_of(comm, NCCL_REDUCE_SCATTER, count, type, true, true),
           (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, recv, SMALLER(count), type, op, comm))

static int size_of(MPI_Comm comm)
{
    int n = 0;
    REAL(Comm_size)(comm, &n);
    return n;
}

/* MPI reads the counts until a non-blocking operation is complete, so they are kept: the latest of
 * some hundred calls. */
static const int *smaller_counts(enum choice_part part, const int *counts, int n)
{
    static _Thread_local int *kept[256] __attribute__((tls_model("initial-exec")));
    static _Thread_local unsigned next __attribute__((tls_model("initial-exec")));
    if (part == PART_ALL)
        return counts;
    int **v = &kept[next++ % 256], *less = realloc(*v, (size_t)n * sizeof *less);
    if (!less)
        return counts;
    *v = less;
    for (int i = 0; i < n; i++)
        less[i] = part == PART_ONE ? counts[i] > 0 : SMALLER(counts[i]);
    return less;
}

static enum choice_part part_of_counts(MPI_Comm comm, enum nccl_func func, const int *counts,
                                       MPI_Datatype type, bool alike)
{
    long all = 0;
    for (int i = 0, n = size_of(comm); i < n; i++)
        all += counts[i];
    return part_of(comm, func, all, type, false, alike);
}

COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           part_of_counts(comm, NCCL_REDUCE_SCATTER, counts, type, true),
           (const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (send, recv, smaller_counts(part, counts, size_of(comm)), type, op, comm))

static bool are_alike(const void *send, int send_count, MPI_Datatype send_type, int count,
                      MPI_Datatype type)
{
    return send == MPI_IN_PLACE || (send_count == count && send_type == type);
}

COLLECTIVE(Allgather, Iallgather,
           part_of(comm, NCCL_ALL_GATHER, count, type, true,
                   are_alike(send, send_count, send_type, count, type)),
           (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
            MPI_Datatype type, MPI_Comm comm),
           (send, SMALLER(send_count), send_type, recv, SMALLER(count), type, comm))

/* A rank may have nothing to send. */
COLLECTIVE(Allgatherv, Iallgatherv,
           part_of_counts(comm, NCCL_ALL_GATHER, counts, type,
                          send == MPI_IN_PLACE || send_type == type),
           (const void *send, int send_count, MPI_Datatype send_type, void *recv,
            const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm),
           (send, part == PART_ONE ? send_count > 0 : SMALLER(send_count), send_type, recv,
            smaller_counts(part, counts, size_of(comm)), places, type, comm))

COLLECTIVE(Alltoall, Ialltoall,
           part_of(comm, NCCL_ALL_TO_ALL, count, type, true,
                   are_alike(send, send_count, send_type, count, type)),
           (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
            MPI_Datatype type, MPI_Comm comm),
           (send, SMALLER(send_count), send_type, recv, SMALLER(count), type, comm))

int MPI_Comm_free(MPI_Comm *comm)
{
    price_forget((uintptr_t)*comm);
    return REAL(Comm_free)(comm);
}
