/* SPDX-License-Identifier: Apache-2.0
 *
 * A pretended libnccl.so.2: real sums between real processes, over shared memory; an operation holds its GPU until its
 * peers have come. Its time follows from its variables, which it reads by getenv, once, as NCCL does:
 *   NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD   NS_PER_KIB is divided by their product
 *   NCCL_P2P_DISABLE=1   times 4
 *   PRETEND_NS_PER_KIB   200
 *   NCCL_CONF_FILE       its lines are put into the environment
 * Faults, in copies and elsewhere: NCCL_PRETEND = slow (twice as long), wrong, stuck, stuck1 (on rank 1 alone), refuse,
 * refuse1, greedy (2 GiB), crash, nothere (the library cannot be initialised), pending (the job's own communicator is in progress
 * for ever). `late-` before one: not before
 * the 60th call, when the sums are proven.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RANKS 8
#define SLOT ((size_t)16 << 20)

int pretend_device(void);
void pretend_use_device(int d);
void pretend_enter(int d, const void *library);
void pretend_leave(int d);
size_t *pretend_used(int d);
void pretend_enqueue(void *stream, void (*run)(void *), void *of);

struct shared {
    atomic_int come, begun[2];
    atomic_long round[RANKS]; /* operations that a rank has put into its slot; then taken */
    atomic_long taken[RANKS];
};

struct id {
    char name[128];
};

struct comm {
    struct shared *shared;
    char *slots; /* RANKS * SLOT */
    int ranks, rank, device, aborted, ops;
    long round, calls;
    char name[64];
};

struct operation {
    struct comm *comm;
    const void *send;
    void *recv;
    size_t count, width;
    int kind; /* 'r'educe, 'g'ather, 's'catter, 'b'roadcast, 'a'll to all, 'p'eer */
    int root;
    void *stream;
};

static long version = 22809;
static double ns_per_kib;
static char fault[32];
static int late;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static long number(const char *name, long otherwise)
{
    const char *v = getenv(name);
    return v && *v ? atol(v) : otherwise;
}

static void say(const char *text)
{
    const char *file = getenv("NCCL_DEBUG_FILE"), *level = getenv("NCCL_DEBUG");
    char path[4096] = "", host[64] = "";
    size_t n = 0;
    if (!level || strcmp(level, "INFO") || !file)
        return;
    gethostname(host, sizeof host - 1);
    for (const char *f = file; *f && n < 4000; f++)
        if (f[0] == '%' && (f[1] == 'h' || f[1] == 'p'))
            n += (size_t)(*++f == 'h' ? sprintf(path + n, "%s", host)
                                      : sprintf(path + n, "%ld", (long)getpid()));
        else
            path[n++] = *f;
    FILE *out = fopen(path, "a");
    if (!out)
        return;
    fprintf(out, "host:%ld NCCL INFO %s\n", (long)getpid(), text);
    fclose(out);
}

static void read_conf(void)
{
    const char *path = getenv("NCCL_CONF_FILE");
    char line[400];
    FILE *in = path ? fopen(path, "r") : NULL;
    while (in && fgets(line, sizeof line, in)) {
        char *value = strchr(line, '=');
        line[strcspn(line, "\n")] = '\0';
        if (value) {
            *value = '\0';
            setenv(line, value + 1, 0);
        }
    }
    if (in)
        fclose(in);
}

static void begin(void)
{
    read_conf();
    const char *f = getenv("NCCL_PRETEND");
    late = f && !strncmp(f, "late-", 5);
    snprintf(fault, sizeof fault, "%s", f ? f + (late ? 5 : 0) : "");
    ns_per_kib = (double)number("PRETEND_NS_PER_KIB", 200) /
                 (double)(number("NCCL_SOCKET_NTHREADS", 1) * number("NCCL_NSOCKS_PERTHREAD", 1));
    if (number("NCCL_P2P_DISABLE", 0))
        ns_per_kib *= 4;
    if (!strcmp(fault, "slow"))
        ns_per_kib *= 2;
    say("NCCL version 2.28.9+cuda13.0");
    say("Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0");
}

static int has_fault(const struct comm *c, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(fault, name, n) || (late && c && c->calls < 60))
        return 0;
    return !fault[n] || (fault[n] == '1' && c && c->rank == 1);
}

int ncclGetVersion(int *v)
{
    *v = (int)version;
    return 0;
}

const char *ncclGetErrorString(int code)
{
    (void)code;
    return "pretended error";
}

int ncclGetUniqueId(struct id *id)
{
    static atomic_int n;
    struct timespec t;
    memset(id, 0, sizeof *id);
    clock_gettime(CLOCK_MONOTONIC, &t);
    snprintf(id->name, sizeof id->name, "/pretend-%ld-%d-%ld", (long)getpid(), n++, t.tv_nsec);
    return 0;
}

/* As NCCL, until all ranks have come. */
int ncclCommInitRankConfig(struct comm **made, int ranks, struct id id, int rank, void *config)
{
    (void)config;
    pthread_once(&once, begin);
    struct comm *c = calloc(1, sizeof *c);
    size_t bytes = sizeof *c->shared + RANKS * SLOT;
    *c = (struct comm){.ranks = ranks, .rank = rank, .device = pretend_device()};
    snprintf(c->name, sizeof c->name, "%s", id.name);
    if (has_fault(c, "nothere") || has_fault(c, "refuse"))
        return 3;
    int fd = shm_open(id.name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        return 2;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED)
        return 2;
    c->shared = (struct shared *)p;
    c->slots = p + sizeof *c->shared;
    atomic_fetch_add(&c->shared->come, 1);
    while (atomic_load(&c->shared->come) < ranks)
        usleep(500);
    if (!rank)
        shm_unlink(id.name);
    *pretend_used(c->device) += (size_t)(has_fault(NULL, "greedy") ? 2048 : 200) << 20;
    *made = c;
    return 0;
}

int ncclCommInitRank(struct comm **made, int ranks, struct id id, int rank)
{
    return ncclCommInitRankConfig(made, ranks, id, rank, NULL);
}

struct one {
    struct comm **made;
    struct id id;
    int ranks, rank, device;
};

static void *init_one(void *of)
{
    struct one *o = of;
    pretend_use_device(o->device);
    ncclCommInitRank(o->made, o->ranks, o->id, o->rank);
    return NULL;
}

int ncclCommInitAll(struct comm **comms, int n, const int *devices)
{
    pthread_t threads[RANKS];
    struct one ones[RANKS];
    struct id id;
    ncclGetUniqueId(&id);
    for (int i = 0; i < n; i++) {
        ones[i] = (struct one){&comms[i], id, n, i, devices ? devices[i] : i};
        pthread_create(&threads[i], NULL, init_one, &ones[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int ncclCommCount(struct comm *c, int *n)
{
    *n = c->ranks;
    return 0;
}

int ncclCommUserRank(struct comm *c, int *rank)
{
    *rank = c->rank;
    return 0;
}

int ncclCommCuDevice(struct comm *c, int *device)
{
    *device = c->device;
    return 0;
}

int ncclCommGetAsyncError(struct comm *c, int *error)
{
    *error = c->aborted ? 3 : has_fault(c, "pending") ? 7 : 0;
    return 0;
}

int ncclCommAbort(struct comm *c)
{
    c->aborted = 1;
    return 0;
}

int ncclCommFinalize(struct comm *c)
{
    (void)c;
    return 0;
}

int ncclCommDestroy(struct comm *c)
{
    (void)c;
    return 0;
}

int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct comm *c)
{
    (void)scalar, (void)type, (void)residence;
    *op = 100 + c->ops++;
    return 0;
}

int ncclRedOpDestroy(int op, struct comm *c)
{
    (void)op, (void)c;
    return 0;
}

static void wait_all(struct comm *c, atomic_long *v, long round)
{
    for (int r = 0; r < c->ranks; r++)
        while (atomic_load(&v[r]) < round && !c->aborted)
            usleep(20);
}

/* Each rank puts its data into its slot; when all are there, each takes what it needs. */
static void run(void *of)
{
    struct operation *o = of;
    struct comm *c = o->comm;
    size_t bytes = o->count * o->width;
    pretend_enter(c->device, &once);
    if (has_fault(c, "crash"))
        abort();
    while (has_fault(c, "stuck") && !c->aborted)
        usleep(1000);
    long round = ++c->round;
    size_t in = (o->kind == 's' || o->kind == 'a') ? bytes * (size_t)c->ranks : bytes;
    if (in > SLOT)
        in = bytes = SLOT / (size_t)c->ranks; /* not needed here */
    memcpy(c->slots + (size_t)c->rank * SLOT, o->send, in);
    atomic_store(&c->shared->round[c->rank], round);
    wait_all(c, c->shared->round, round);
    usleep((useconds_t)((double)in / 1024 * ns_per_kib / 1e3));
    if (o->kind == 'r' || o->kind == 's') {
        float *to = o->recv;
        size_t from = o->kind == 's' ? (size_t)c->rank * o->count : 0;
        for (size_t i = 0; i < bytes / 4; i++) {
            float sum = 0;
            for (int r = 0; r < c->ranks; r++)
                sum += ((float *)(c->slots + (size_t)r * SLOT))[from + i];
            to[i] = sum + (has_fault(c, "wrong") ? 1 : 0);
        }
    } else if (o->kind == 'g') {
        for (int r = 0; r < c->ranks; r++)
            memcpy((char *)o->recv + (size_t)r * bytes, c->slots + (size_t)r * SLOT, bytes);
    } else if (o->kind == 'b') {
        memcpy(o->recv, c->slots + (size_t)o->root * SLOT, bytes);
    }
    atomic_store(&c->shared->taken[c->rank], round);
    wait_all(c, c->shared->taken, round);
    pretend_leave(c->device);
    free(o);
}

static _Thread_local struct {
    int depth, n;
    struct operation *v[64];
} group;

static int add(struct operation o)
{
    static const unsigned char width[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    struct operation *own = malloc(sizeof *own);
    o.width = width[o.width];
    o.comm->calls++;
    *own = o;
    if ((uintptr_t)o.stream & 1) /* captured, and never launched */
        return 0;
    if (group.depth)
        group.v[group.n++] = own;
    else
        pretend_enqueue(o.stream, run, own);
    return 0;
}

int ncclGroupStart(void)
{
    group.depth++;
    return 0;
}

int ncclGroupEnd(void)
{
    if (--group.depth)
        return 0;
    for (int i = 0; i < group.n; i++)
        pretend_enqueue(group.v[i]->stream, run, group.v[i]);
    group.n = 0;
    return 0;
}

#define OP(k, r) ((struct operation){comm, send, recv, count, (size_t)type, k, r, stream})
int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, struct comm *comm,
                  void *stream)
{
    (void)op;
    return add(OP('r', 0));
}

int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root,
               struct comm *comm, void *stream)
{
    (void)op;
    return add(OP('r', root));
}

int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, struct comm *comm,
                  void *stream)
{
    return add(OP('b', root));
}

int ncclBcast(void *recv, size_t count, int type, int root, struct comm *comm, void *stream)
{
    return ncclBroadcast(recv, recv, count, type, root, comm, stream);
}

int ncclAllGather(const void *send, void *recv, size_t count, int type, struct comm *comm,
                  void *stream)
{
    return add(OP('g', 0));
}

int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op,
                      struct comm *comm, void *stream)
{
    (void)op;
    return add(OP('s', 0));
}
