/* SPDX-License-Identifier: Apache-2.0
 *
 * In front of MPI, by its profiling names (PMPI_). This object must load into programs without MPI, so
 * it finds functions and objects of MPI only when MPI is called. A collective that is left out copies
 * nothing: a copy on the host would take a good part of the time that is to be seen.
 *
 * Half and one element are for reductions alone: only there must all ranks have the same count and type, so that all make the
 * call smaller. The others are whole in these arms, and left out in `none`, by their bytes, which
 * are equal on all ranks.
 */
#include "common/clock.h"
#include "engine/engine.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default) /* mpi.h's own declarations have it */

static const char *const libmpi[] = {"libmpi.so.40", "libmpi.so", NULL};

static void *find_real(void **known, const char *symbol)
{
    return engine_real(known, libmpi, symbol, "this MPI lacks it");
}

/* A profiler's function of the name, as the program would call it; else MPI's own. */
#define REAL(name)                                                                                 \
    __extension__({                                                                                \
        static void *known_;                                                                       \
        if (!__atomic_load_n(&known_, __ATOMIC_RELAXED))                                           \
            __atomic_store_n(&known_, dlsym(RTLD_NEXT, "MPI_" #name), __ATOMIC_RELAXED);           \
        (__typeof__(&MPI_##name))find_real(&known_, "PMPI_" #name);                                \
    })

/* These are addresses. A program that is linked to MPI may hold the object itself (a copy
 * relocation), so the library's is looked for last. */
static void *global(const char *symbol)
{
    void *object = dlsym(RTLD_DEFAULT, symbol), *known = NULL;
    return object ? object : find_real(&known, symbol);
}
#define WORLD ((MPI_Comm)global("ompi_mpi_comm_world"))
#define SELF ((MPI_Comm)global("ompi_mpi_comm_self"))
#define NO_COMM ((MPI_Comm)global("ompi_mpi_comm_null"))
#define INT ((MPI_Datatype)global("ompi_mpi_int"))
#define BYTE ((MPI_Datatype)global("ompi_mpi_byte"))
#define PACKED ((MPI_Datatype)global("ompi_mpi_packed"))
#define SUM ((MPI_Op)global("ompi_mpi_op_sum"))
#define MINIMUM ((MPI_Op)global("ompi_mpi_op_min"))

/* ---- communicators ---- */

struct known {
    struct known *next;
    MPI_Comm handle, shadows[ENGINE_ARMS];
    struct lane_comm *lane;
    int ranks, rank;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *all;
static struct lane *lane;
static unsigned ended;            /* communicators */
static MPI_Datatype byte, packed; /* types of objects; known once there is a lane */

/* NULL: of one rank, between groups, or no memory. */
static struct known *known(MPI_Comm comm)
{
    struct known *c = all;
    while (c && c->handle != comm)
        c = c->next;
    if (c)
        return c->lane ? c : NULL;
    int inter = 0;
    c = calloc(1, sizeof *c);
    if (!c || REAL(Comm_size)(comm, &c->ranks) || REAL(Comm_rank)(comm, &c->rank) ||
        REAL(Comm_test_inter)(comm, &inter)) {
        free(c);
        return NULL;
    }
    c->handle = comm;
    for (size_t i = 0; i < ENGINE_ARMS; i++)
        c->shadows[i] = NO_COMM;
    c->next = all;
    all = c;
    if (c->ranks < 2)
        engine_write_alone();
    if (c->ranks < 2 || inter)
        return NULL;
    if (!lane) {
        lane = lane_new("mpi", 0, "", NULL);
        byte = BYTE;
        packed = PACKED;
    }
    c->lane = lane ? lane_comm_new(lane, c->ranks, c->rank) : NULL;
    return c->lane ? c : NULL;
}

/* ---- shadows: communicators with another algorithm ----
 *
 * Open MPI's `tuned` reads its control variables when a communicator is made, and keeps them for it, if the job was
 * started with coll_tuned_use_dynamic_rules=1. */

static bool write_variable(const char *name, int value, int *before, char *why, size_t n)
{
    int index, count;
    MPI_T_cvar_handle handle;
    if (REAL(T_cvar_get_index)(name, &index)) {
        snprintf(why, n, "this MPI has no control variable %s", name);
        return false;
    }
    if (REAL(T_cvar_handle_alloc)(index, NULL, &handle, &count) ||
        REAL(T_cvar_read)(handle, before) || REAL(T_cvar_write)(handle, &value)) {
        snprintf(why, n, "the control variable %s cannot be set", name);
        return false;
    }
    REAL(T_cvar_handle_free)(&handle);
    return true;
}

static bool right_sums(MPI_Comm comm, int ranks, int rank)
{
    static const int counts[] = {1, 4096, 1 << 20};
    int *v = malloc(sizeof *v << 20);
    bool right = v;
    for (size_t i = 0; i < sizeof counts / sizeof *counts && right; i++) {
        for (int k = 0; k < counts[i]; k++)
            v[k] = rank + 1;
        right = !REAL(Allreduce)(MPI_IN_PLACE, v, counts[i], INT, SUM, comm);
        for (int k = 0; k < counts[i] && right; k++)
            right = v[k] == ranks * (ranks + 1) / 2;
    }
    free(v);
    return right;
}

static void make_shadow(struct known *c, size_t arm)
{
    const struct engine_arm *a = &engine_config()->arms[arm];
    int before[8] = {0}, good = 1, provided, flag = 0;
    size_t n = 0;
    char why[300] = "";
    uint64_t began = now_ns();
    REAL(T_init_thread)(MPI_THREAD_SINGLE, &provided);
    for (n = 0; n < a->n_mpi && n < 8 && !*why; n++) {
        char name[200];
        const char *value = strchr(a->mpi[n], '=');
        snprintf(name, sizeof name, "%.*s", (int)(value - a->mpi[n]), a->mpi[n]);
        if (!write_variable(name, atoi(value + 1), &before[n], why, sizeof why))
            break;
    }
    good = !*why;
    if (REAL(Allreduce)(MPI_IN_PLACE, &good, 1, INT, MINIMUM, c->handle))
        good = 0;
    if (good && REAL(Comm_split)(c->handle, 0, c->rank, &c->shadows[arm]))
        good = 0;
    while (n--) {
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(a->mpi[n], "="), a->mpi[n]);
        write_variable(name, before[n], &flag, why + strlen(why), 1);
    }
    REAL(T_finalize)();
    if (good)
        good = right_sums(c->shadows[arm], c->ranks, c->rank);
    int here = good;
    REAL(Allreduce)(&here, &good, 1, INT, MINIMUM, c->handle);
    if (!good) {
        c->shadows[arm] = NO_COMM;
        if (!*why)
            snprintf(why, sizeof why, here ? "it failed on another rank" : "wrong sums");
        arm_died(a->id, why);
    }
    journal_clean(why);
    journal_line(lane_journal(lane),
                 "{\"type\":\"made\",\"name\":\"mpi\",\"ranks\":%d,\"rank\":%d,\"arm\":\"%s\","
                 "\"ready\":%s,\"made_s\":%.3f,\"memory_B\":0,\"why\":\"%s\"}",
                 c->ranks, c->rank, a->id, good ? "true" : "false",
                 (double)(now_ns() - began) * 1e-9, good ? "" : why);
}

/* A job that makes and ends communicators all the time has no shadows of the later ones: their proofs would take longer than
 * its steps. All ranks must have the same. */
#define ENDED_MOST 8

static bool lasts(const struct known *c)
{
    int here = ended < ENDED_MOST, everywhere = 0;
    return !REAL(Allreduce)(&here, &everywhere, 1, INT, MINIMUM, c->handle) && everywhere;
}

/* A rank without this object would take the engine's own collectives for the job's. */
static bool are_all_here(const struct known *c)
{
    const char *world = getenv("PMIX_NAMESPACE"); /* a script may start several */
    char key[64], own[80], answer[8] = "here";
    snprintf(key, sizeof key, "mpi.%016llx",
             (unsigned long long)engine_hash(0, world, world ? strlen(world) : 0));
    snprintf(own, sizeof own, "%s.%d", key, c->rank);
    agree(own, answer, sizeof answer);
    return agree_wait(key, c->ranks, engine_config()->wait_s, NULL, NULL) < 0;
}

/* All ranks of the communicator are here: it was just made. */
static void adopt(MPI_Comm comm)
{
    static bool all_here;
    if (!engine_config() || comm == NO_COMM)
        return;
    pthread_mutex_lock(&lock);
    struct known *c = known(comm);
    if (c && comm == WORLD)
        all_here = are_all_here(c);
    if (c && ended < ENDED_MOST)
        journal_line(lane_journal(lane),
                     "{\"type\":\"made\",\"name\":\"mpi\",\"ranks\":%d,\"rank\":%d,\"arm\":\"\","
                     "\"ready\":true,\"made_s\":0,\"memory_B\":0,\"why\":\"\"}",
                     c->ranks, c->rank);
    if (c && all_here && engine_arms() && lasts(c))
        for (size_t i = 1; i < engine_config()->n_arms; i++)
            if (engine_config()->arms[i].n_mpi && !arm_is_dead(engine_config()->arms[i].id))
                make_shadow(c, i);
    pthread_mutex_unlock(&lock);
}

/* A job of NCCL gets its arms from there. */
static void begin(int code)
{
    void *nccl = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (!nccl && !code)
        adopt(WORLD);
}

int MPI_Init(int *argc, char ***argv)
{
    int code = REAL(Init)(argc, argv);
    begin(code);
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = REAL(Init_thread)(argc, argv, required, provided);
    begin(code);
    return code;
}

#define MAKES(name, parameters, arguments)                                                         \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        int code = REAL(name) arguments;                                                           \
        if (!code)                                                                                 \
            adopt(*made);                                                                          \
        return code;                                                                               \
    }
MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKES(Cart_create,
      (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *made),
      (comm, n, dims, periods, reorder, made))

/* The job ends it next. */
static void forget(const MPI_Comm *comm)
{
    struct known *gone = NULL;
    pthread_mutex_lock(&lock);
    for (struct known **at = &all; *at; at = &(*at)->next)
        if ((*at)->handle == *comm) {
            gone = *at;
            *at = gone->next;
            break;
        }
    if (gone && gone->lane)
        lane_comm_end(gone->lane);
    ended += gone && gone->lane;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; gone && i < ENGINE_ARMS; i++)
        if (gone->shadows[i] != NO_COMM)
            REAL(Comm_free)(&gone->shadows[i]);
    free(gone);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    forget(comm);
    return REAL(Comm_free)(comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    forget(comm);
    return REAL(Comm_disconnect)(comm);
}

int MPI_Finalize(void)
{
    if (lane)
        lane_write_end(lane);
    lane = NULL;
    return REAL(Finalize)();
}

/* ---- what a call is ---- */

/* per_rank: `count` is that of one rank. smaller: it can be made smaller. *comm becomes the one to use. Bytes that ranks
 * give each other are often an object (mpi4py pickles them): without them the job would read garbage. */
static enum engine_part part_of(MPI_Comm *comm, enum engine_func func, long count,
                                MPI_Datatype type, bool per_rank, bool smaller)
{
    int size = 0;
    enum engine_part part = PART_ALL;
    if (!engine_is_on() || REAL(Type_size)(type, &size))
        return PART_ALL;
    pthread_mutex_lock(&lock);
    if (engine_config()) {
        struct known *c = known(*comm);
        if (c) {
            size_t bytes = (size_t)count * (size_t)size * (per_rank ? (size_t)c->ranks : 1);
            bool object = !smaller && func != FUNC_ALL_TO_ALL && (type == byte || type == packed);
            if (object) /* its size may be another one each time */
                lane_other(lane, bytes);
            struct turn t = lane_call(c->lane, func, object ? 0 : bytes, false);
            part = t.part;
            if (c->shadows[t.arm] != NO_COMM)
                *comm = c->shadows[t.arm];
        }
    } else {
        int ranks = 1;
        REAL(Comm_size)(*comm, &ranks);
        if (ranks > 1)
            part =
                engine_fixed(func, (size_t)count * (size_t)size * (per_rank ? (size_t)ranks : 1));
    }
    pthread_mutex_unlock(&lock);
    return part == PART_NONE || smaller ? part : PART_ALL;
}

/* ---- collectives ---- */

#define OPEN(...) __VA_ARGS__
#define SMALLER(count) (int)engine_part_count(part, (size_t)count)

/* A collective and its non-blocking twin, whose last parameter is a request. `asked`: how much of it
 * to communicate. The parameters, and the arguments of MPI's own function, are in parentheses. One that is left out has
 * a request that is complete at once, and no null request: a program may wait for any of its requests. */
#define COLLECTIVE(name, twin, asked, parameters, arguments)                                       \
    int MPI_##name(OPEN parameters)                                                                \
    {                                                                                              \
        enum engine_part part = asked;                                                             \
        return part == PART_NONE ? MPI_SUCCESS : REAL(name)(OPEN arguments);                       \
    }                                                                                              \
    int MPI_##twin(OPEN parameters, MPI_Request *request)                                          \
    {                                                                                              \
        enum engine_part part = asked;                                                             \
        return part == PART_NONE ? REAL(Ibarrier)(SELF, request)                                   \
                                 : REAL(twin)(OPEN arguments, request);                            \
    }

COLLECTIVE(Allreduce, Iallreduce, part_of(&comm, FUNC_ALL_REDUCE, count, type, false, true),
           (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, recv, SMALLER(count), type, op, comm))

COLLECTIVE(Reduce, Ireduce, part_of(&comm, FUNC_REDUCE, count, type, false, true),
           (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (send, recv, SMALLER(count), type, op, root, comm))

COLLECTIVE(Bcast, Ibcast, part_of(&comm, FUNC_BROADCAST, count, type, false, false),
           (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (buffer, count, type, root, comm))

COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           part_of(&comm, FUNC_REDUCE_SCATTER, count, type, true, true),
           (const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (send, recv, SMALLER(count), type, op, comm))

static int size_of(MPI_Comm comm)
{
    int n = 0;
    REAL(Comm_size)(comm, &n);
    return n;
}

/* MPI reads the counts until a non-blocking operation is complete, so they are kept: the latest of
 * some hundred calls of a thread. */
static const int *smaller_counts(enum engine_part part, const int *counts, int n)
{
    static _Thread_local struct {
        int *v[256];
        unsigned next;
    } * kept __attribute__((tls_model("initial-exec")));
    if (part == PART_ALL || (!kept && !(kept = calloc(1, sizeof *kept))))
        return counts;
    int **v = &kept->v[kept->next++ % 256], *less = realloc(*v, (size_t)n * sizeof *less);
    if (!less)
        return counts;
    *v = less;
    for (int i = 0; i < n; i++)
        less[i] = part == PART_ONE ? counts[i] > 0 : SMALLER(counts[i]);
    return less;
}

static enum engine_part part_of_counts(MPI_Comm *comm, enum engine_func func, const int *counts,
                                       MPI_Datatype type, bool smaller)
{
    long sum = 0;
    for (int i = 0, n = size_of(*comm); i < n; i++)
        sum += counts[i];
    return part_of(comm, func, sum, type, false, smaller);
}

COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           part_of_counts(&comm, FUNC_REDUCE_SCATTER, counts, type, true),
           (const void *send, void *recv, const int counts[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (send, recv, smaller_counts(part, counts, size_of(comm)), type, op, comm))

COLLECTIVE(Allgather, Iallgather, part_of(&comm, FUNC_ALL_GATHER, count, type, true, false),
           (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
            MPI_Datatype type, MPI_Comm comm),
           (send, send_count, send_type, recv, count, type, comm))

COLLECTIVE(Allgatherv, Iallgatherv, part_of_counts(&comm, FUNC_ALL_GATHER, counts, type, false),
           (const void *send, int send_count, MPI_Datatype send_type, void *recv,
            const int counts[], const int places[], MPI_Datatype type, MPI_Comm comm),
           (send, send_count, send_type, recv, counts, places, type, comm))

COLLECTIVE(Alltoall, Ialltoall, part_of(&comm, FUNC_ALL_TO_ALL, count, type, true, false),
           (const void *send, int send_count, MPI_Datatype send_type, void *recv, int count,
            MPI_Datatype type, MPI_Comm comm),
           (send, send_count, send_type, recv, count, type, comm))

/* ---- what no arm leaves out ---- */

static void count_other(long count, MPI_Datatype type)
{
    int size = 0;
    if (!engine_config() || !lane || REAL(Type_size)(type, &size))
        return;
    pthread_mutex_lock(&lock);
    lane_other(lane, (size_t)count * (size_t)size);
    pthread_mutex_unlock(&lock);
}

static long sum_of(const int *counts, MPI_Comm comm)
{
    long sum = 0;
    for (int i = 0, n = engine_config() ? size_of(comm) : 0; i < n; i++)
        sum += counts[i];
    return sum;
}

#define COUNTED(name, count, type, parameters, arguments)                                          \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        count_other(count, type);                                                                  \
        return REAL(name) arguments;                                                               \
    }
#define COUNTED_SEND(name)                                                                         \
    COUNTED(name, n, type, (const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm c), \
            (b, n, type, to, tag, c))
#define COUNTED_ISEND(name)                                                                        \
    COUNTED(                                                                                       \
        name, n, type,                                                                             \
        (const void *b, int n, MPI_Datatype type, int to, int tag, MPI_Comm c, MPI_Request *r),    \
        (b, n, type, to, tag, c, r))
COUNTED_SEND(Send)
COUNTED_SEND(Ssend)
COUNTED_SEND(Bsend)
COUNTED_SEND(Rsend)
COUNTED_ISEND(Isend)
COUNTED_ISEND(Issend)
COUNTED_ISEND(Irsend)
COUNTED(Sendrecv, n, type,
        (const void *b, int n, MPI_Datatype type, int to, int tag, void *rb, int rn,
         MPI_Datatype rtype, int from, int rtag, MPI_Comm c, MPI_Status *s),
        (b, n, type, to, tag, rb, rn, rtype, from, rtag, c, s))
COUNTED(Sendrecv_replace, n, type,
        (void *b, int n, MPI_Datatype type, int to, int tag, int from, int rtag, MPI_Comm c,
         MPI_Status *s),
        (b, n, type, to, tag, from, rtag, c, s))
COUNTED(Alltoallv, sum_of(n, c), type,
        (const void *b, const int n[], const int d[], MPI_Datatype type, void *rb, const int rn[],
         const int rd[], MPI_Datatype rtype, MPI_Comm c),
        (b, n, d, type, rb, rn, rd, rtype, c))
COUNTED(Gather, n, type,
        (const void *b, int n, MPI_Datatype type, void *rb, int rn, MPI_Datatype rtype, int root,
         MPI_Comm c),
        (b, n, type, rb, rn, rtype, root, c))
COUNTED(Gatherv, n, type,
        (const void *b, int n, MPI_Datatype type, void *rb, const int rn[], const int d[],
         MPI_Datatype rtype, int root, MPI_Comm c),
        (b, n, type, rb, rn, d, rtype, root, c))
COUNTED(Scatter, rn, rtype,
        (const void *b, int n, MPI_Datatype type, void *rb, int rn, MPI_Datatype rtype, int root,
         MPI_Comm c),
        (b, n, type, rb, rn, rtype, root, c))
COUNTED(Scatterv, rn, rtype,
        (const void *b, const int n[], const int d[], MPI_Datatype type, void *rb, int rn,
         MPI_Datatype rtype, int root, MPI_Comm c),
        (b, n, d, type, rb, rn, rtype, root, c))
