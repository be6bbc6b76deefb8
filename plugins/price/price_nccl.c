/* SPDX-License-Identifier: Apache-2.0
 *
 * In front of NCCL. In a process of PyTorch libnccl is not in the global scope, so dlsym(RTLD_NEXT)
 * does not find its functions; a handle of the loaded library does.
 */
#include "price/preload.h"

#include "price/trial.h"

#define EXPORT __attribute__((visibility("default")))
#define GROUP_COMMS 8 /* of one group with sends and receives; more are whole */

typedef void *comm_t, *stream_t;

static const char *const libnccl[] = {"libnccl.so.2", NULL};
static const char *const libcuda[] = {"libcuda.so.1", NULL};

/* NCCL's function of the same name. */
#define REAL(name)                                                                                 \
    __extension__({                                                                                \
        static void *known_;                                                                       \
        (__typeof__(&name))price_real(&known_, libnccl, #name, "no libnccl.so.2 is loaded");       \
    })

EXPORT int ncclBcast(void *, size_t, int, int, comm_t, stream_t);
EXPORT int ncclGroupStart(void);
EXPORT int ncclGroupEnd(void);
EXPORT int ncclCommDestroy(comm_t);
EXPORT int ncclCommAbort(comm_t);
int ncclCommCount(comm_t, int *);
int ncclCommUserRank(comm_t, int *);

/* ---- what a call is ---- */

static bool about(uintptr_t handle, struct price_about *a)
{
    comm_t comm = (comm_t)handle;
    a->nccl = nccl_version();
    return !REAL(ncclCommCount)(comm, &a->ranks) && !REAL(ncclCommUserRank)(comm, &a->rank);
}

static size_t size_of(int type)
{
    static const unsigned char sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && (size_t)type < sizeof sizes ? sizes[type] : 0;
}

static bool is_captured(stream_t stream)
{
    static void *known;
    int (*capturing)(stream_t, int *), status = 0;
    *(void **)&capturing = price_real(&known, libcuda, "cuStreamIsCapturing", NULL);
    return capturing && !capturing(stream, &status) && status;
}

static void copy(void *to, const void *from, size_t bytes, stream_t stream)
{
    static void *known;
    int (*memcpy_async)(uintptr_t, uintptr_t, size_t, stream_t);
    *(void **)&memcpy_async = price_real(&known, libcuda, "cuMemcpyAsync", NULL);
    if (memcpy_async && to != from && bytes)
        memcpy_async((uintptr_t)to, (uintptr_t)from, bytes, stream);
}

static enum choice_part part_of(comm_t comm, enum nccl_func func, size_t count, int type,
                                stream_t stream, int *rank)
{
    struct price_comm *c = price_comm((uintptr_t)comm, about);
    if (!c || !size_of(type))
        return PART_ALL;
    if (rank)
        *rank = price_rank(c);
    bool per_rank =
        func == NCCL_ALL_GATHER || func == NCCL_REDUCE_SCATTER || func == NCCL_ALL_TO_ALL;
    size_t bytes = count * size_of(type) * (per_rank ? (size_t)price_ranks(c) : 1);
    return price_part(c, func, bytes, is_captured(stream));
}

/* ---- collectives ---- */

#define OPEN(...) __VA_ARGS__
#define LESS price_count(part, count)

/* A function in front of NCCL's of the same name. `asked`: how much of it to communicate; `without`: what
 * happens in place of a call that is left out. The parameters, and the arguments of NCCL's own
 * function, are in parentheses. */
#define CALL(name, asked, parameters, without, arguments)                                          \
    EXPORT int name(OPEN parameters);                                                              \
    int name(OPEN parameters)                                                                      \
    {                                                                                              \
        int rank __attribute__((unused)) = 0;                                                      \
        enum choice_part part = asked;                                                             \
        if (part == PART_NONE) {                                                                   \
            without;                                                                               \
            return NCCL_SUCCESS;                                                                   \
        }                                                                                          \
        return REAL(name)(OPEN arguments);                                                         \
    }

/* A rank's part of a buffer of all. NCCL knows an operation in place by the distance between its
 * buffers, so a smaller one moves. */
static char *own_part(const void *all, int rank, size_t count, int type)
{
    return (char *)(uintptr_t)all + (size_t)rank * count * size_of(type);
}

CALL(ncclAllReduce, part_of(comm, NCCL_ALL_REDUCE, count, type, stream, NULL),
     (const void *send, void *recv, size_t count, int type, int op, comm_t comm, stream_t stream),
     copy(recv, send, count *size_of(type), stream), (send, recv, LESS, type, op, comm, stream))

CALL(ncclReduce, part_of(comm, NCCL_REDUCE, count, type, stream, NULL),
     (const void *send, void *recv, size_t count, int type, int op, int root, comm_t comm,
      stream_t stream),
     (void)0, (send, recv, LESS, type, op, root, comm, stream))

CALL(ncclBroadcast, part_of(comm, NCCL_BROADCAST, count, type, stream, NULL),
     (const void *send, void *recv, size_t count, int type, int root, comm_t comm, stream_t stream),
     (void)0, (send, recv, LESS, type, root, comm, stream))

int ncclBcast(void *buffer, size_t count, int type, int root, comm_t comm, stream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

CALL(ncclAllGather, part_of(comm, NCCL_ALL_GATHER, count, type, stream, &rank),
     (const void *send, void *recv, size_t count, int type, comm_t comm, stream_t stream),
     copy(own_part(recv, rank, count, type), send, count *size_of(type), stream),
     (send == own_part(recv, rank, count, type) ? own_part(recv, rank, LESS, type) : send, recv,
      LESS, type, comm, stream))

CALL(ncclReduceScatter, part_of(comm, NCCL_REDUCE_SCATTER, count, type, stream, &rank),
     (const void *send, void *recv, size_t count, int type, int op, comm_t comm, stream_t stream),
     copy(recv, own_part(send, rank, count, type), count *size_of(type), stream),
     (send, recv == own_part(send, rank, count, type) ? own_part(send, rank, LESS, type) : recv,
      LESS, type, op, comm, stream))

CALL(ncclAlltoAll, part_of(comm, NCCL_ALL_TO_ALL, count, type, stream, NULL),
     (const void *send, void *recv, size_t count, int type, comm_t comm, stream_t stream), (void)0,
     (send, recv, LESS, type, comm, stream))

/* ---- sends and receives ----
 *
 * Their sizes may differ between ranks, as in an uneven all-to-all. So all of a group are one call of the
 * sequence, of a size that says nothing. */

static _Thread_local struct {
    int depth;
    size_t n;
    comm_t comms[GROUP_COMMS];
    enum choice_part parts[GROUP_COMMS];
} group __attribute__((tls_model("initial-exec")));

static enum choice_part part_of_group(comm_t comm, stream_t stream)
{
    size_t i = 0;
    while (i < group.n && group.comms[i] != comm)
        i++;
    if (i < group.n)
        return group.parts[i];
    struct price_comm *c = price_comm((uintptr_t)comm, about);
    if (!c || i == GROUP_COMMS)
        return PART_ALL;
    enum choice_part part = price_part(c, NCCL_SEND_RECV, TRIAL_PART_LEAST, is_captured(stream));
    if (group.depth) {
        group.comms[i] = comm;
        group.parts[i] = part;
        group.n++;
    }
    return part;
}

static enum choice_part part_of_peer(comm_t comm, size_t count, int type, stream_t stream)
{
    enum choice_part part = part_of_group(comm, stream);
    return count * size_of(type) >= TRIAL_PART_LEAST ? part : PART_ALL;
}

CALL(ncclSend, part_of_peer(comm, count, type, stream),
     (const void *send, size_t count, int type, int peer, comm_t comm, stream_t stream), (void)0,
     (send, LESS, type, peer, comm, stream))

CALL(ncclRecv, part_of_peer(comm, count, type, stream),
     (void *recv, size_t count, int type, int peer, comm_t comm, stream_t stream), (void)0,
     (recv, LESS, type, peer, comm, stream))

int ncclGroupStart(void)
{
    group.depth++;
    return REAL(ncclGroupStart)();
}

int ncclGroupEnd(void)
{
    if (group.depth > 0 && --group.depth == 0)
        group.n = 0;
    return REAL(ncclGroupEnd)();
}

/* ---- the end of a communicator ---- */

int ncclCommDestroy(comm_t comm)
{
    price_forget((uintptr_t)comm);
    return REAL(ncclCommDestroy)(comm);
}

int ncclCommAbort(comm_t comm)
{
    price_forget((uintptr_t)comm);
    return REAL(ncclCommAbort)(comm);
}
