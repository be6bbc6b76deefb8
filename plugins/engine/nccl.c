/* SPDX-License-Identifier: Apache-2.0
 *
 * In front of NCCL. In a process of PyTorch libnccl is not in the global scope, so dlsym(RTLD_NEXT) does not find
 * its functions; a handle of the loaded library, or the audit object, does.
 */
#include "common/clock.h"
#include "engine/copies.h"
#include "engine/cuda.h"
#include "engine/engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define TLS _Thread_local __attribute__((tls_model("initial-exec")))

typedef void *comm_t;
typedef cuda_stream stream_t;
struct nccl_id {
    char bytes[128];
};
enum { SUCCESS = 0, IN_PROGRESS = 7 };

/* The functions of an NCCL: name, parameters. */
#define NCCL_EACH(X)                                                                               \
    X(GetVersion, (int *version))                                                                  \
    X(GetUniqueId, (struct nccl_id * id))                                                          \
    X(CommCount, (comm_t comm, int *n))                                                            \
    X(CommUserRank, (comm_t comm, int *rank))                                                      \
    X(CommCuDevice, (comm_t comm, int *device))                                                    \
    NCCL_EACH_HOOKED(X)
#define NCCL_EACH_HOOKED(X)                                                                        \
    X(CommInitRank, (comm_t * comm, int n, struct nccl_id id, int rank))                           \
    X(CommInitRankConfig, (comm_t * comm, int n, struct nccl_id id, int rank, void *config))       \
    X(CommInitRankScalable,                                                                        \
      (comm_t * comm, int n, int rank, int n_ids, struct nccl_id *ids, void *config))              \
    X(CommInitAll, (comm_t * comms, int n, const int *devices))                                    \
    X(CommSplit, (comm_t comm, int color, int key, comm_t *new, void *config))                     \
    X(CommDestroy, (comm_t comm))                                                                  \
    X(CommAbort, (comm_t comm))                                                                    \
    X(CommGetAsyncError, (comm_t comm, int *error))                                                \
    X(RedOpCreatePreMulSum, (int *op, void *scalar, int type, int residence, comm_t comm))         \
    X(RedOpDestroy, (int op, comm_t comm))                                                         \
    X(AllReduce, (const void *send, void *recv, size_t count, int type, int op, comm_t comm,       \
                  stream_t stream))                                                                \
    X(Reduce, (const void *send, void *recv, size_t count, int type, int op, int root,             \
               comm_t comm, stream_t stream))                                                      \
    X(Broadcast, (const void *send, void *recv, size_t count, int type, int root, comm_t comm,     \
                  stream_t stream))                                                                \
    X(Bcast, (void *buffer, size_t count, int type, int root, comm_t comm, stream_t stream))       \
    X(AllGather,                                                                                   \
      (const void *send, void *recv, size_t count, int type, comm_t comm, stream_t stream))        \
    X(ReduceScatter, (const void *send, void *recv, size_t count, int type, int op, comm_t comm,   \
                      stream_t stream))                                                            \
    X(AlltoAll,                                                                                    \
      (const void *send, void *recv, size_t count, int type, comm_t comm, stream_t stream))        \
    X(Gather, (const void *send, void *recv, size_t count, int type, int root, comm_t comm,        \
               stream_t stream))                                                                   \
    X(Scatter, (const void *send, void *recv, size_t count, int type, int root, comm_t comm,       \
                stream_t stream))                                                                  \
    X(Send, (const void *send, size_t count, int type, int peer, comm_t comm, stream_t stream))    \
    X(Recv, (void *recv, size_t count, int type, int peer, comm_t comm, stream_t stream))          \
    X(GroupStart, (void))                                                                          \
    X(GroupEnd, (void))

struct nccl {
#define MEMBER(name, parameters) int(*name) parameters;
    NCCL_EACH(MEMBER)
#undef MEMBER
};
#define DECLARE(name, parameters) EXPORT int nccl##name parameters;
NCCL_EACH_HOOKED(DECLARE)
#undef DECLARE

/* ---- the job's own NCCL ---- */

/* The audit object finds this table by its name, and writes `real` (audit.c). */
struct gradsync_hook {
    const char *name;
    void (*mine)(void);
    void *real;
    const struct link_map *by; /* the object that bound it last */
};
EXPORT extern struct gradsync_hook gradsync_hooks[];
struct gradsync_hook gradsync_hooks[] = {
#define HOOK(name, parameters) {"nccl" #name, (void (*)(void))nccl##name, NULL, NULL},
    NCCL_EACH_HOOKED(HOOK)
#undef HOOK
        {NULL, NULL, NULL, NULL},
};

/* The function of an object behind the engine that the job would call without it: a profiler's. NULL: none, or it is not
 * known whether the job would: JAX asks NCCL itself by dlsym. */
static void *function_before(const char *name, const struct gradsync_hook *h)
{
    Dl_info info;
    struct link_map *map = NULL;
    void *f = dlsym(RTLD_NEXT, name);
    if (f && h->real && (!dladdr1(f, &info, (void **)&map, RTLD_DL_LINKMAP) || map != h->by))
        return NULL;
    return f;
}

/* first: the one that the job would call; else NCCL's own. */
static void find_function(void **known, const char *name, bool first)
{
    static const char *const libnccl[] = {"libnccl.so.2", NULL};
    static const struct gradsync_hook none;
    const struct gradsync_hook *h = gradsync_hooks;
    if (__atomic_load_n(known, __ATOMIC_RELAXED))
        return;
    while (h->name && strcmp(h->name, name))
        h++;
    h = h->name ? h : &none;
    void *f = first ? function_before(name, h) : NULL;
    f = f ? f : __atomic_load_n(&h->real, __ATOMIC_RELAXED);
    if (f)
        __atomic_store_n(known, f, __ATOMIC_RELAXED);
    else
        engine_real(known, libnccl, name, "no libnccl.so.2 is loaded");
}

/* NCCL's functions call each other, by their names; and a profiler's call those of NCCL. */
static TLS unsigned in_nccl;
static struct nccl job, inner;
#define JOB(name)                                                                                  \
    __extension__({                                                                                \
        struct nccl *of_ = in_nccl > 1 ? &inner : &job;                                            \
        find_function((void **)&of_->name, "nccl" #name, of_ == &job);                             \
        of_->name;                                                                                 \
    })

#define INSIDE_NCCL(call)                                                                          \
    __extension__({                                                                                \
        in_nccl++;                                                                                 \
        int code_ = call;                                                                          \
        in_nccl--;                                                                                 \
        code_;                                                                                     \
    })
#define REAL(name, ...) INSIDE_NCCL(JOB(name)(__VA_ARGS__))

/* ---- communicators ---- */

struct gpu; /* a lane: a GPU of this process */

struct comm {
    struct comm *next;
    comm_t handle;
    struct gpu *gpu;
    struct lane_comm *lane;
    uint64_t name; /* the same on all ranks; 0: unknown, so there are no shadows */
    int ranks, rank;
    unsigned splits; /* that it was split */
    comm_t shadows[ENGINE_ARMS];
    unsigned char config[256]; /* ncclConfig_t, as the job gave it */
    bool has_config;
    /* The latest call; and, for another NCCL that comes after it, the event behind it. */
    stream_t stream;
    cuda_event event;
    bool used, recorded;
    unsigned waited; /* the switch after which this communicator has waited for the others */
};

struct gpu {
    struct gpu *next;
    int device;
    cuda_context context;
    struct lane *lane;
    cuda_event marks[2][ENGINE_STEPS + 1];
    stream_t stream; /* of the call at hand */
    size_t library;  /* whose calls are in the streams: 0: the job's, else the number of an arm */
    unsigned switches;
    bool is_known;  /* the journal names the profiler, if the job has one */
    size_t taken_B; /* by copies */
    bool is_kept;   /* there are no shadows but those of the arm that is kept */
    bool stuck;     /* it did not pass a visit in time */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm *comms;
static struct gpu *gpus;

static struct {
    struct nccl f;
    void *library;
    char *why; /* it cannot be had */
    struct copy_environment environment;
} copies[ENGINE_ARMS];

/* A group of this thread. Room for variables of threads is scarce in an object that is preloaded beside one for
 * LD_AUDIT, so this is a pointer; it lasts as long as the process. */
struct group {
    int depth, calls;
    size_t arm;
    uint32_t started; /* copies: a bit each */
    struct {
        comm_t comm;
        enum engine_part part;
    } peers[8]; /* with sends and receives: one call of the sequence, since their sizes may differ
                   between ranks */
    size_t n_peers;
    struct making *making; /* communicators that are there at its end */
};

static struct group *this_group(void)
{
    static struct group none; /* without memory */
    static TLS struct group *own;
    if (!own)
        own = calloc(1, sizeof *own);
    return own ? own : &none;
}

static struct comm *find(comm_t handle)
{
    struct comm *c = comms;
    while (c && c->handle != handle)
        c = c->next;
    return c;
}

/* ---- the clock of a GPU ---- */

static void mark(void *ctx, unsigned set, unsigned i)
{
    struct gpu *g = ctx;
    const struct cuda *cu = cuda_driver();
    cuda_event *e = &g->marks[set][i];
    if (*e || !cu->event_create(e, 0))
        cu->event_record(*e, g->stream);
}

static bool passed(void *ctx, unsigned set, unsigned i)
{
    const struct gpu *g = ctx;
    return g->marks[set][i] && !cuda_driver()->event_query(g->marks[set][i]);
}

static double between_ns(void *ctx, unsigned set, unsigned i)
{
    const struct gpu *g = ctx;
    const struct cuda *cu = cuda_driver();
    float ms;
    cuda_event from = g->marks[set][0], to = g->marks[set][i];
    if (!from || !to || cu->event_ms(&ms, from, to))
        return -1;
    return (double)ms * 1e6;
}

/* Without the lock. A job whose GPU waits for this host in turn is not stopped: it goes on, and this GPU is not waited for
 * again. */
static void wait_for_visit(struct gpu *g)
{
    const struct timespec pause = {.tv_nsec = 20000};
    uint64_t until = now_ns() + 30000000000u;
    cuda_context before = cuda_enter(g->context);
    while (!lane_passed(g->lane) && !g->stuck) {
        g->stuck = now_ns() > until;
        nanosleep(&pause, NULL);
    }
    cuda_enter(before);
}

static struct gpu *gpu_of(comm_t comm)
{
    const struct cuda *cu = cuda_driver();
    char uuid[64];
    int version = 0, device = 0;
    REAL(CommCuDevice, comm, &device);
    struct gpu *g = gpus;
    while (g && g->device != device)
        g = g->next;
    if (g || !(g = calloc(1, sizeof *g)))
        return g;
    cuda_uuid(device, uuid, sizeof uuid);
    REAL(GetVersion, &version);
    g->device = device;
    const struct lane_clock clock = {
        .ctx = g, .mark = mark, .passed = passed, .between_ns = between_ns};
    g->lane = lane_new("nccl", version, uuid, cu ? &clock : NULL);
    if (!g->lane || (cu && cu->primary_context(&g->context, device))) {
        free(g);
        return NULL;
    }
    g->next = gpus;
    gpus = g;
    return g;
}

/* The object that has NCCL's AllReduce; first: the one that the job calls. */
static const char *library_of_job(bool first)
{
    Dl_info info;
    struct nccl *of = first ? &job : &inner;
    find_function((void **)&of->AllReduce, "ncclAllReduce", first);
    return dladdr(*(void **)&of->AllReduce, &info) ? info.dli_fname : "";
}

/* A communicator that the job has made, of two ranks or more. NULL: of fewer, or no memory. */
static struct comm *enter(comm_t handle, uint64_t name)
{
    int ranks, rank;
    if (REAL(CommCount, handle, &ranks) || REAL(CommUserRank, handle, &rank))
        return NULL;
    if (ranks < 2) {
        engine_write_alone();
        return NULL;
    }
    struct comm *c = calloc(1, sizeof *c);
    struct gpu *g = c ? gpu_of(handle) : NULL;
    if (!g || !(c->lane = lane_comm_new(g->lane, ranks, rank))) {
        free(c);
        return NULL;
    }
    const char *first = library_of_job(true);
    if (!g->is_known && strcmp(first, library_of_job(false)))
        journal_line(lane_journal(g->lane), "{\"type\":\"before\",\"object\":\"%s\"}", first);
    g->is_known = true;
    c->handle = handle;
    c->gpu = g;
    c->name = name;
    c->ranks = ranks;
    c->rank = rank;
    c->next = comms;
    comms = c;
    return c;
}

/* ---- copies ---- */

#define GAVE_UP "-" /* the word of a rank that waits no longer, since another one failed */

/* What every copy is given besides its arm: a log of its own; no port for monitoring, which all would want. */
static bool environment_of(size_t i)
{
    const struct engine_config *config = engine_config();
    const struct engine_arm *arm = &config->arms[i];
    struct copy_environment *e = &copies[i].environment;
    char **set = calloc(arm->n_set + 4, sizeof *set), file[4400];
    size_t n = 0;
    if (!set)
        return false;
    for (size_t k = 0; k < arm->n_set; k++)
        set[n++] = arm->set[k];
    snprintf(file, sizeof file, "NCCL_DEBUG_FILE=%s/copy.%s.%%h.%%p", config->out, arm->id);
    set[n++] = (char *)"NCCL_DEBUG=INFO";
    set[n++] = (char *)"NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING";
    set[n++] = strdup(file);
    set[n++] = (char *)"NCCL_RAS_ENABLE=0";
    *e = (struct copy_environment){
        .set = set, .n_set = n, .without = arm->without, .n_without = arm->n_without};
    return set[n - 2];
}

static void take_path(void *ctx, int rank, const char *answer)
{
    (void)rank;
    snprintf(ctx, 512, "%s", answer);
}

/* Loads copy i into this process. The file is made by one process of the host. */
static bool load(size_t i)
{
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    const struct engine_config *config = engine_config();
    const struct engine_arm *arm = &config->arms[i];
    char host[128] = "", by[300], at[300], who[64], mine[64], shared[512] = "", why[600] = "";
    pthread_mutex_lock(&loading);
    if (copies[i].library || copies[i].why) {
        pthread_mutex_unlock(&loading);
        return copies[i].library;
    }
    gethostname(host, sizeof host - 1);
    snprintf(by, sizeof by, "copy.%s.%s.by", host, arm->id);
    snprintf(at, sizeof at, "copy.%s.%s.at", host, arm->id);
    snprintf(mine, sizeof mine, "%ld", (long)getpid());
    snprintf(who, sizeof who, "%s", mine);
    bool first = agree(by, who, sizeof who) && !strcmp(who, mine);
    if (!first && agree_wait(at, 1, config->wait_s, take_path, shared) >= 0)
        snprintf(why, sizeof why, "process %s did not copy the library in time", who);
    if (*shared == '-')
        strcpy(why, GAVE_UP); /* that process says why */
    const char *path = arm->library ? arm->library : library_of_job(false);
    if (!*why && *path && environment_of(i))
        copies[i].library =
            copy_open(i, path, &copies[i].environment, shared, sizeof shared, why, sizeof why);
    if (first) {
        char answer[512];
        snprintf(answer, sizeof answer, "%s", copies[i].library ? shared : "-");
        size_t n = strlen(at);
        snprintf(at + n, sizeof at - n, ".0");
        agree(at, answer, sizeof answer);
    }
#define FUNCTION(name, parameters)                                                                 \
    *(void **)&copies[i].f.name = dlsym(copies[i].library, "nccl" #name);
    if (copies[i].library) {
        NCCL_EACH(FUNCTION)
    }
#undef FUNCTION
    const struct nccl *f = &copies[i].f;
    if (copies[i].library && !(f->CommInitRankConfig && f->GetUniqueId && f->AllReduce &&
                               f->GroupStart && f->GroupEnd && f->CommAbort)) {
        snprintf(why, sizeof why, "%s is no NCCL of 2.14 or later", path);
        copies[i].library = NULL;
    }
    if (!copies[i].library)
        copies[i].why = strdup(*why ? why : "its file was not found");
    pthread_mutex_unlock(&loading);
    return copies[i].library;
}

/* ---- shadows ---- */

/* A task for one communicator, in a thread of its own, since it may hang: to connect the job's communicator (arm 0),
 * or to make the shadow of an arm. */
struct task {
    pthread_t thread;
    struct comm *comm;
    size_t arm;
    cuda_context context;
    comm_t made;
    bool ok, hung;
    double took_s;
    size_t memory_B;
    char why[600];
};

static int sum_of_job(void *ctx, void *buffer, size_t count, stream_t s)
{
    comm_t comm = ((struct task *)ctx)->comm->handle;
    int code = REAL(AllReduce, buffer, buffer, count, 7, 0, comm, s);
    while (code == IN_PROGRESS) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        if (REAL(CommGetAsyncError, comm, &code))
            break;
    }
    return code;
}

static int sum_of_copy(void *ctx, void *buffer, size_t count, stream_t s)
{
    const struct task *t = ctx;
    return copies[t->arm].f.AllReduce(buffer, buffer, count, 7, 0, t->made, s);
}

/* The id travels by the folder of the launch. False: why. */
static bool share_id(struct task *t, struct nccl_id *id)
{
    const struct comm *c = t->comm;
    char key[160], hex[520] = "";
    snprintf(key, sizeof key, "%016llx.%s.id", (unsigned long long)c->name,
             engine_config()->arms[t->arm].id);
    if (!c->rank) {
        char own[200];
        int code = copies[t->arm].f.GetUniqueId(id);
        if (code) {
            snprintf(t->why, sizeof t->why, "ncclGetUniqueId failed with code %d", code);
            return false;
        }
        for (size_t i = 0; i < sizeof id->bytes; i++)
            snprintf(hex + 2 * i, 3, "%02x", (unsigned char)id->bytes[i]);
        snprintf(own, sizeof own, "%s.0", key);
        return agree(own, hex, sizeof hex);
    }
    if (agree_wait(key, 1, engine_config()->wait_s, take_path, hex) >= 0 ||
        strlen(hex) != 2 * sizeof id->bytes) {
        snprintf(t->why, sizeof t->why, "rank 0 made no communicator");
        return false;
    }
    for (size_t i = 0; i < sizeof id->bytes; i++) {
        unsigned byte;
        sscanf(hex + 2 * i, "%2x", &byte);
        id->bytes[i] = (char)byte;
    }
    return true;
}

/* The job's config, but blocking: a call that is still in progress would be an error to a job that blocks. */
static void *config_of(struct comm *c)
{
    struct {
        size_t size;
        unsigned magic, version;
        int blocking;
    } least = {24, 0xcafebeef, 21400, 1};
    if (!c->has_config)
        memcpy(c->config, &least, sizeof least);
    memcpy(c->config + offsetof(__typeof__(least), blocking), &least.blocking, sizeof(int));
    return c->config;
}

static void make_shadow(struct task *t)
{
    struct comm *c = t->comm;
    const struct cuda *cu = cuda_driver();
    const struct nccl *f = &copies[t->arm].f;
    struct nccl_id id;
    size_t before = 0, after = 0, all;
    if (!load(t->arm)) {
        snprintf(t->why, sizeof t->why, "%s", copies[t->arm].why);
        return;
    }
    if (cu)
        cu->memory(&before, &all);
    if (!share_id(t, &id))
        return;
    int code = f->CommInitRankConfig(&t->made, c->ranks, id, c->rank, config_of(c));
    if (code) {
        snprintf(t->why, sizeof t->why, "its communicator failed with code %d", code);
        t->made = NULL;
        return;
    }
    t->ok = cuda_known_sums(sum_of_copy, t, c->ranks, c->rank, (double)engine_config()->wait_s,
                            &t->hung, t->why, sizeof t->why);
    if (cu && !cu->memory(&after, &all) && before > after)
        t->memory_B = before - after;
}

static void *run_task(void *ctx)
{
    struct task *t = ctx;
    const struct cuda *cu = cuda_driver();
    double began = now_s();
    if (cu && t->context)
        cu->set_context(t->context);
    if (t->arm)
        make_shadow(t);
    else
        t->ok = cuda_known_sums(sum_of_job, t, t->comm->ranks, t->comm->rank,
                                (double)engine_config()->wait_s, &t->hung, t->why, sizeof t->why);
    t->took_s = now_s() - began;
    return NULL;
}

/* Has another rank of the communicator failed? Then this one would wait for it in vain. */
static bool another_failed(const struct comm *c, size_t arm)
{
    char key[200], answer[700];
    for (int r = 0; r < c->ranks; r++) {
        snprintf(key, sizeof key, "%016llx.%s.%d", (unsigned long long)c->name,
                 engine_config()->arms[arm].id, r);
        if (r != c->rank && agreed(key, answer, sizeof answer) && strcmp(answer, "ok"))
            return true;
    }
    return false;
}

/* Waits for a task. NULL: it goes on for ever, and keeps its memory. */
static struct task *end_of(struct task *t, double until_s)
{
    bool failed = false;
    while (t) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 20000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        if (!pthread_timedjoin_np(t->thread, NULL, &soon))
            return t;
        failed = t->arm && another_failed(t->comm, t->arm);
        if (!failed && now_s() < until_s)
            continue;
        struct task *ended = calloc(1, sizeof *ended);
        pthread_detach(t->thread);
        if (ended && failed)
            strcpy(ended->why, GAVE_UP);
        else if (ended)
            snprintf(ended->why, sizeof ended->why, "it hung for %llu s while it was made",
                     2 * (unsigned long long)engine_config()->wait_s);
        return ended;
    }
    return NULL;
}

static void run_tasks(struct comm *const *v, size_t n, size_t arm, struct task **tasks)
{
    double until_s = now_s() + 2 * (double)engine_config()->wait_s;
    for (size_t i = 0; i < n; i++) {
        tasks[i] = calloc(1, sizeof **tasks);
        if (!tasks[i])
            continue;
        *tasks[i] = (struct task){.comm = v[i], .arm = arm, .context = v[i]->gpu->context};
        if (pthread_create(&tasks[i]->thread, NULL, run_task, tasks[i])) {
            free(tasks[i]);
            tasks[i] = NULL;
        }
    }
    for (size_t i = 0; i < n; i++)
        tasks[i] = end_of(tasks[i], until_s);
}

struct votes {
    size_t fits;
    bool gave_up; /* the reason so far is that of a rank that gave up */
    char why[700];
};

static void take_here(void *ctx, int rank, const char *answer)
{
    struct votes *v = ctx;
    size_t fits = strtoull(answer, NULL, 10);
    (void)rank;
    v->fits = fits < v->fits ? fits : v->fits;
}

static void take_vote(void *ctx, int rank, const char *answer)
{
    struct votes *v = ctx;
    if (strcmp(answer, "ok") && (!*v->why || !strcmp(answer, GAVE_UP) < v->gave_up)) {
        v->gave_up = !strcmp(answer, GAVE_UP);
        snprintf(v->why, sizeof v->why, "rank %d: %s", rank, answer);
    }
}

/* Puts this rank's word and waits for those of the others. */
static int vote(const struct comm *c, const char *what, const char *word,
                void (*take)(void *, int, const char *), struct votes *v)
{
    char key[160], own[200], answer[700];
    snprintf(key, sizeof key, "%016llx.%s", (unsigned long long)c->name, what);
    snprintf(own, sizeof own, "%s.%d", key, c->rank);
    snprintf(answer, sizeof answer, "%s", word);
    agree(own, answer, sizeof answer);
    /* Another rank may still wait for what hangs. */
    return take ? agree_wait(key, c->ranks, 3 * engine_config()->wait_s, take, v) : -1;
}

static size_t cost_B = (size_t)400 << 20; /* of a copy; then as measured */

/* How many copies the memory of the GPU is enough for. */
static size_t fits(const struct comm *c)
{
    const struct cuda *cu = cuda_driver();
    size_t free_B = 0, all = 0, margin = (size_t)engine_config()->margin_MiB << 20;
    if (!cu)
        return ENGINE_ARMS;
    cuda_context before = cuda_enter(c->gpu->context);
    bool known = !cu->memory(&free_B, &all);
    cuda_enter(before);
    size_t most_B = all / 100 * engine_config()->percent;
    if (!known || free_B <= margin || most_B <= c->gpu->taken_B)
        return 0;
    size_t room_B = free_B - margin;
    return (room_B < most_B - c->gpu->taken_B ? room_B : most_B - c->gpu->taken_B) / cost_B;
}

static void write_made(const struct comm *c, const char *arm, const struct task *t, const char *why)
{
    char text[1400];
    snprintf(text, sizeof text, "%s", why);
    journal_clean(text);
    journal_line(lane_journal(c->gpu->lane),
                 "{\"type\":\"made\",\"name\":\"%016llx\",\"ranks\":%d,\"rank\":%d,\"arm\":\"%s\","
                 "\"ready\":%s,\"made_s\":%.3f,\"memory_B\":%zu,\"why\":\"%s\"}",
                 (unsigned long long)c->name, c->ranks, c->rank, arm, *text ? "false" : "true",
                 t ? t->took_s : 0, t ? t->memory_B : 0, text);
}

/* The shadows of one arm, of communicators of one operation. */
static void make_arm(struct comm *const *v, size_t n, size_t arm)
{
    const struct engine_arm *a = &engine_config()->arms[arm];
    struct task **tasks = calloc(n, sizeof *tasks);
    if (!tasks)
        return;
    run_tasks(v, n, arm, tasks);
    for (size_t i = 0; i < n; i++) /* all before any wait: they may be of one communicator */
        vote(v[i], a->id,
             tasks[i] && tasks[i]->ok ? "ok"
             : tasks[i]               ? tasks[i]->why
                                      : "no thread",
             NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        struct votes votes = {.why = ""};
        int missing = vote(v[i], a->id, "-", take_vote, &votes);
        if (missing >= 0)
            snprintf(votes.why, sizeof votes.why, "rank %d: nothing was heard of it", missing);
        pthread_mutex_lock(&lock);
        bool good = !*votes.why && tasks[i];
        if (good)
            v[i]->shadows[arm] = tasks[i]->made;
        if (good && tasks[i]->memory_B > ((size_t)16 << 20))
            cost_B = tasks[i]->memory_B;
        if (good)
            v[i]->gpu->taken_B += cost_B;
        pthread_mutex_unlock(&lock);
        if (*votes.why) {
            arm_died(a->id, votes.why);
            if (tasks[i] && tasks[i]->made && copies[arm].f.CommAbort)
                copies[arm].f.CommAbort(tasks[i]->made);
        }
        write_made(v[i], a->id, tasks[i], votes.why);
        free(tasks[i]);
    }
    free(tasks);
}

/* For communicators that one operation of the job has made. */
static void make_shadows(struct comm *const *v, size_t n)
{
    static uint64_t
        connected; /* the first communicator, so that NCCL's log says how it is linked */
    const struct engine_config *config = engine_config();
    struct votes votes = {.fits = ENGINE_ARMS};
    char word[32], why[200] = "";
    for (size_t i = 0; i < n; i++) {
        snprintf(word, sizeof word, "%zu", fits(v[i]));
        vote(v[i], "here", word, NULL, NULL);
    }
    for (size_t i = 0; i < n && !*why; i++) {
        int missing = vote(v[i], "here", word, take_here, &votes);
        if (missing >= 0)
            snprintf(why, sizeof why, "rank %d runs without gradsync, or does not see %s", missing,
                     config->out);
    }
    /* The ranks of one process may each have a thread that makes its communicator: all of them take part. */
    pthread_mutex_lock(&lock);
    connected = connected ? connected : v[0]->name;
    bool is_first = connected == v[0]->name;
    pthread_mutex_unlock(&lock);
    if (!*why && config->later && is_first && cuda_driver()) {
        struct task **tasks = calloc(n, sizeof *tasks);
        if (tasks)
            run_tasks(v, n, 0, tasks);
        for (size_t i = 0; tasks && i < n; i++) {
            if (tasks[i] && !tasks[i]->ok)
                snprintf(why, sizeof why, "the job's own NCCL: %.150s", tasks[i]->why);
            free(tasks[i]);
        }
        free(tasks);
    }
    for (size_t i = 0; i < n; i++)
        write_made(v[i], "", NULL, why);
    if (!engine_arms())
        return;
    size_t made = 0;
    for (size_t arm = 1; arm < config->n_arms; arm++) {
        if (!config->arms[arm].copy || arm_is_dead(config->arms[arm].id))
            continue;
        if (!*why && made++ < votes.fits) {
            make_arm(v, n, arm);
            continue;
        }
        char reason[300];
        snprintf(reason, sizeof reason, "%s",
                 *why ? why : "the memory of the GPU is not enough for another copy");
        arm_died(config->arms[arm].id, reason);
        write_made(v[0], config->arms[arm].id, NULL, reason);
    }
}

/* Communicators of an operation that is under way: of a group, they are there at its end. */
struct making {
    struct {
        comm_t *at;
        uint64_t name;
        unsigned char config[256];
        bool has_config;
    } v[64];
    size_t n;
};

static void add_making(struct making *m, comm_t *at, uint64_t name, const void *config)
{
    size_t size = 0;
    if (m->n == 64)
        return;
    m->v[m->n].at = at;
    m->v[m->n].name = name;
    if (config)
        memcpy(&size, config, sizeof size);
    m->v[m->n].has_config = config && size >= 20 && size <= sizeof m->v[m->n].config;
    if (m->v[m->n].has_config)
        memcpy(m->v[m->n].config, config, size);
    m->n++;
}

static void complete(const struct making *m)
{
    struct comm *made[64];
    size_t n = 0;
    double until_s = now_s() + (double)engine_config()->wait_s; /* a peer may never come */
    for (size_t i = 0; i < m->n; i++) {
        int code = IN_PROGRESS;
        comm_t handle = *m->v[i].at;
        while (handle && code == IN_PROGRESS && !REAL(CommGetAsyncError, handle, &code) &&
               code == IN_PROGRESS && now_s() < until_s)
            nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        if (!handle || code)
            continue;
        pthread_mutex_lock(&lock);
        struct comm *c = enter(handle, m->v[i].name);
        pthread_mutex_unlock(&lock);
        if (!c)
            continue;
        memcpy(c->config, m->v[i].config, sizeof c->config);
        c->has_config = m->v[i].has_config;
        made[n++] = c;
    }
    if (n)
        make_shadows(made, n);
}

/* The job's function has returned `code`. */
static int made(int code, comm_t *at, uint64_t name, const void *config)
{
    struct group *group = this_group();
    struct making one = {.n = 0};
    if ((code && code != IN_PROGRESS) || in_nccl || !engine_config())
        return code;
    if (group->depth && !group->making)
        group->making = calloc(1, sizeof *group->making);
    struct making *m = group->depth ? group->making : &one;
    if (!m)
        return code;
    add_making(m, at, name, config);
    if (!group->depth)
        complete(m);
    return code;
}

int ncclCommInitRank(comm_t *comm, int n, struct nccl_id id, int rank)
{
    return made(REAL(CommInitRank, comm, n, id, rank), comm, engine_hash(0, &id, sizeof id), NULL);
}

int ncclCommInitRankConfig(comm_t *comm, int n, struct nccl_id id, int rank, void *config)
{
    return made(REAL(CommInitRankConfig, comm, n, id, rank, config), comm,
                engine_hash(0, &id, sizeof id), config);
}

int ncclCommInitRankScalable(comm_t *comm, int n, int rank, int n_ids, struct nccl_id *ids,
                             void *config)
{
    return made(REAL(CommInitRankScalable, comm, n, rank, n_ids, ids, config), comm,
                engine_hash(0, ids, (size_t)n_ids * sizeof *ids), config);
}

int ncclCommInitAll(comm_t *all, int n, const int *devices)
{
    static unsigned calls;
    struct {
        long pid;
        unsigned call;
        uint64_t ns;
    } self = {(long)getpid(), calls++, now_ns()};
    struct making m = {.n = 0};
    int code = REAL(CommInitAll, all, n, devices);
    for (int i = 0; i < n && !code && !in_nccl && engine_config(); i++)
        add_making(&m, &all[i], engine_hash(1, &self, sizeof self), NULL);
    if (m.n)
        complete(&m);
    return code;
}

int ncclCommSplit(comm_t comm, int color, int key, comm_t *new, void *config)
{
    struct {
        uint64_t parent;
        unsigned split;
        int color;
    } self = {0, 0, color};
    pthread_mutex_lock(&lock);
    struct comm *c = find(comm);
    if (c) {
        self.parent = c->name;
        self.split = c->splits++;
    }
    pthread_mutex_unlock(&lock);
    int code = REAL(CommSplit, comm, color, key, new, config);
    return color < 0 || !self.parent /* has no name to share */
               ? code
               : made(code, new, engine_hash(2, &self, sizeof self), config);
}

/* The shadows cannot be destroyed by all ranks together, as a communicator wants it: a rank may have ended. */
static void forget(comm_t handle)
{
    struct comm *gone = NULL;
    if (in_nccl)
        return;
    pthread_mutex_lock(&lock);
    for (struct comm **at = &comms; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            gone = *at;
            *at = gone->next;
            lane_comm_end(gone->lane);
            break;
        }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; gone && i < ENGINE_ARMS; i++)
        if (gone->shadows[i])
            copies[i].f.CommAbort(gone->shadows[i]);
    free(gone);
}

int ncclCommDestroy(comm_t comm)
{
    forget(comm);
    return REAL(CommDestroy, comm);
}

int ncclCommAbort(comm_t comm)
{
    forget(comm);
    return REAL(CommAbort, comm);
}

int ncclCommGetAsyncError(comm_t comm, int *error)
{
    int code = REAL(CommGetAsyncError, comm, error);
    size_t arm = 0;
    comm_t shadow = NULL;
    if (code || *error || in_nccl || !engine_config())
        return code;
    pthread_mutex_lock(&lock);
    const struct comm *c = find(comm);
    if (c && (arm = c->gpu->library))
        shadow = c->shadows[arm];
    pthread_mutex_unlock(&lock);
    return shadow && copies[arm].f.CommGetAsyncError
               ? copies[arm].f.CommGetAsyncError(shadow, error)
               : code;
}

/* An operation belongs to its communicator, and its number must be that of each shadow. */
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, comm_t comm)
{
    int code = REAL(RedOpCreatePreMulSum, op, scalar, type, residence, comm), other;
    pthread_mutex_lock(&lock);
    struct comm *c = code ? NULL : find(comm);
    for (size_t i = 1; c && i < ENGINE_ARMS; i++) {
        if (!c->shadows[i])
            continue;
        if (!copies[i].f.RedOpCreatePreMulSum ||
            copies[i].f.RedOpCreatePreMulSum(&other, scalar, type, residence, c->shadows[i]) ||
            other != *op)
            arm_died(engine_config()->arms[i].id, "its reductions have other numbers");
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int ncclRedOpDestroy(int op, comm_t comm)
{
    pthread_mutex_lock(&lock);
    struct comm *c = find(comm);
    for (size_t i = 1; c && i < ENGINE_ARMS; i++)
        if (c->shadows[i] && copies[i].f.RedOpDestroy)
            copies[i].f.RedOpDestroy(op, c->shadows[i]);
    pthread_mutex_unlock(&lock);
    return REAL(RedOpDestroy, op, comm);
}

/* ---- what to do with a call ---- */

struct route {
    const struct nccl *f; /* of a copy; NULL: the job's */
    comm_t comm;
    enum engine_part part;
    int rank;
};

/* Two NCCLs are not ordered against each other. So the streams of the new one wait for the calls of the old one. This
 * suffices on each rank alone: a call that is complete here needs this GPU no more. */
static void switch_library(struct gpu *g, size_t library)
{
    const struct cuda *cu = cuda_driver();
    g->library = library;
    g->switches++;
    for (struct comm *c = comms; c && cu; c = c->next) {
        c->recorded = c->gpu == g && c->used &&
                      (c->event || !cu->event_create(&c->event, CUDA_EVENT_NO_TIMING)) &&
                      !cu->event_record(c->event, c->stream);
        if (c->gpu == g)
            c->used = false;
    }
}

/* Gives back the memory of copies that are not used any more, once their calls are complete on the GPU: then they need
 * no other rank. */
static void end_other_shadows(struct gpu *g, size_t kept)
{
    const struct cuda *cu = cuda_driver();
    for (const struct comm *c = comms; c && cu; c = c->next)
        if (c->gpu == g && c->recorded && cu->event_query(c->event))
            return;
    g->is_kept = true;
    for (struct comm *c = comms; c; c = c->next)
        for (size_t i = 1; i < ENGINE_ARMS && c->gpu == g; i++)
            if (i != kept && c->shadows[i]) {
                copies[i].f.CommAbort(c->shadows[i]);
                c->shadows[i] = NULL;
            }
}

static void wait_for_old(struct comm *own, stream_t stream)
{
    const struct cuda *cu = cuda_driver();
    if (own->waited == own->gpu->switches)
        return;
    own->waited = own->gpu->switches;
    for (const struct comm *c = comms; c && cu; c = c->next)
        if (c->gpu == own->gpu && c->recorded)
            cu->stream_wait(stream, c->event, 0);
}

static struct turn turn_of(struct comm *c, enum engine_func func, size_t bytes)
{
    struct group *group = this_group();
    bool inside = group->depth && group->calls++;
    if (func == FUNC_SEND_RECV) {
        size_t i = 0;
        while (i < group->n_peers && group->peers[i].comm != c->handle)
            i++;
        if (group->depth && i < group->n_peers)
            return (struct turn){.arm = group->arm, .part = group->peers[i].part};
        bytes = PART_LEAST;
    }
    struct turn t = lane_call(c->lane, func, bytes, inside);
    if (inside) /* a group goes through one NCCL */
        t.arm = group->arm;
    group->arm = t.arm;
    if (func == FUNC_SEND_RECV && group->depth && group->n_peers < 8) {
        group->peers[group->n_peers].comm = c->handle;
        group->peers[group->n_peers++].part = t.part;
    }
    return t;
}

static const unsigned char type_size[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

static size_t size_of(int type)
{
    return type >= 0 && (size_t)type < sizeof type_size ? type_size[type] : 0;
}

/* count: as NCCL's function has it; it is that of one rank for some. */
static struct route route_of(comm_t comm, enum engine_func func, size_t count, int type,
                             stream_t stream)
{
    struct route r = {.comm = comm};
    if (in_nccl || !engine_is_on())
        return r;
    bool captured = cuda_is_captured(stream);
    bool per_rank =
        func == FUNC_ALL_GATHER || func == FUNC_REDUCE_SCATTER || func == FUNC_ALL_TO_ALL;
    struct gpu *switches = NULL;
    pthread_mutex_lock(&lock);
    if (!engine_config()) {
        int n = 1;
        REAL(CommCount, comm, &n);
        REAL(CommUserRank, comm, &r.rank);
        if (n > 1)
            r.part = engine_fixed(func, count * size_of(type) * (per_rank ? (size_t)n : 1));
        pthread_mutex_unlock(&lock);
        return r;
    }
    struct comm *c = find(comm);
    if (!c && (c = enter(comm, 0))) /* NCCL made it in a way that is not known here */
        for (size_t arm = 1; arm < engine_config()->n_arms; arm++)
            if (engine_config()->arms[arm].copy)
                arm_died(engine_config()->arms[arm].id,
                         "the job uses a communicator that has no copy");
    if (c && captured) {
        lane_captured(c->gpu->lane);
    } else if (c) {
        size_t bytes = count * size_of(type) * (per_rank ? (size_t)c->ranks : 1);
        c->gpu->stream = stream;
        cuda_context before = cuda_enter(c->gpu->context);
        struct turn t = turn_of(c, func, bytes);
        switches = t.switches ? c->gpu : NULL;
        size_t library = c->shadows[t.arm] ? t.arm : 0;
        bool small_peer = func == FUNC_SEND_RECV && bytes < PART_LEAST;
        if (library != c->gpu->library)
            switch_library(c->gpu, library);
        wait_for_old(c, stream);
        if (!c->gpu->is_kept && !this_group()->depth && lane_keeps(c->gpu->lane))
            end_other_shadows(c->gpu, library);
        cuda_enter(before);
        c->stream = stream;
        c->used = true;
        r.part = small_peer ? PART_ALL : t.part;
        r.rank = c->rank;
        struct group *group = this_group();
        if (library) {
            r.f = &copies[library].f;
            r.comm = c->shadows[library];
            if (group->depth && !(group->started >> library & 1)) {
                group->started |= UINT32_C(1) << library;
                r.f->GroupStart();
            }
        }
    }
    pthread_mutex_unlock(&lock);
    if (switches)
        wait_for_visit(switches);
    return r;
}

static void copy(void *to, const void *from, size_t bytes, stream_t stream)
{
    const struct cuda *cu = cuda_driver();
    if (cu && to != from && bytes)
        cu->copy((uintptr_t)to, (uintptr_t)from, bytes, stream);
}

/* ---- collectives ---- */

#define OPEN(...) __VA_ARGS__
#define LESS engine_part_count(route.part, count)

/* A function in front of NCCL's of the same name. `without`: what happens in place of a call that is left out. The
 * parameters, and the arguments of NCCL's own function, are in parentheses. */
#define CALL(name, func, parameters, without, arguments)                                           \
    int nccl##name(OPEN parameters)                                                                \
    {                                                                                              \
        struct route route = route_of(comm, func, count, type, stream);                            \
        if (route.part == PART_NONE) {                                                             \
            without;                                                                               \
            return SUCCESS;                                                                        \
        }                                                                                          \
        comm = route.comm;                                                                         \
        return route.f && route.f->name ? route.f->name(OPEN arguments)                            \
                                        : REAL(name, OPEN arguments);                              \
    }

/* A rank's part of a buffer of all. NCCL knows an operation in place by the distance between its
 * buffers, so a smaller one moves. */
static char *own_part(const void *all, int rank, size_t count, int type)
{
    return (char *)(uintptr_t)all + (size_t)rank * count * size_of(type);
}

CALL(AllReduce, FUNC_ALL_REDUCE,
     (const void *send, void *recv, size_t count, int type, int op, comm_t comm, stream_t stream),
     copy(recv, send, count *size_of(type), stream), (send, recv, LESS, type, op, comm, stream))

CALL(Reduce, FUNC_REDUCE,
     (const void *send, void *recv, size_t count, int type, int op, int root, comm_t comm,
      stream_t stream),
     (void)0, (send, recv, LESS, type, op, root, comm, stream))

CALL(Broadcast, FUNC_BROADCAST,
     (const void *send, void *recv, size_t count, int type, int root, comm_t comm, stream_t stream),
     (void)0, (send, recv, LESS, type, root, comm, stream))

int ncclBcast(void *buffer, size_t count, int type, int root, comm_t comm, stream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

CALL(AllGather, FUNC_ALL_GATHER,
     (const void *send, void *recv, size_t count, int type, comm_t comm, stream_t stream),
     copy(own_part(recv, route.rank, count, type), send, count *size_of(type), stream),
     (send == own_part(recv, route.rank, count, type) ? own_part(recv, route.rank, LESS, type)
                                                      : send,
      recv, LESS, type, comm, stream))

CALL(ReduceScatter, FUNC_REDUCE_SCATTER,
     (const void *send, void *recv, size_t count, int type, int op, comm_t comm, stream_t stream),
     copy(recv, own_part(send, route.rank, count, type), count *size_of(type), stream),
     (send,
      recv == own_part(send, route.rank, count, type) ? own_part(send, route.rank, LESS, type)
                                                      : recv,
      LESS, type, op, comm, stream))

CALL(AlltoAll, FUNC_ALL_TO_ALL,
     (const void *send, void *recv, size_t count, int type, comm_t comm, stream_t stream), (void)0,
     (send, recv, LESS, type, comm, stream))

CALL(Gather, FUNC_ALL_GATHER,
     (const void *send, void *recv, size_t count, int type, int root, comm_t comm, stream_t stream),
     (void)0, (send, recv, LESS, type, root, comm, stream))

CALL(Scatter, FUNC_ALL_GATHER,
     (const void *send, void *recv, size_t count, int type, int root, comm_t comm, stream_t stream),
     (void)0, (send, recv, LESS, type, root, comm, stream))

CALL(Send, FUNC_SEND_RECV,
     (const void *send, size_t count, int type, int peer, comm_t comm, stream_t stream), (void)0,
     (send, LESS, type, peer, comm, stream))

CALL(Recv, FUNC_SEND_RECV,
     (void *recv, size_t count, int type, int peer, comm_t comm, stream_t stream), (void)0,
     (recv, LESS, type, peer, comm, stream))

int ncclGroupStart(void)
{
    struct group *group = this_group();
    if (in_nccl)
        return INSIDE_NCCL(JOB(GroupStart)());
    if (!group->depth++) {
        group->calls = 0;
        group->n_peers = 0;
        group->started = 0;
    }
    return INSIDE_NCCL(JOB(GroupStart)());
}

int ncclGroupEnd(void)
{
    struct group *group = this_group();
    int code = SUCCESS, last;
    if (in_nccl)
        return INSIDE_NCCL(JOB(GroupEnd)());
    if (group->depth > 0 && --group->depth == 0) {
        for (size_t i = 1; i < ENGINE_ARMS; i++)
            if (group->started >> i & 1 && (last = copies[i].f.GroupEnd()))
                code = last;
        group->started = 0;
    }
    last = INSIDE_NCCL(JOB(GroupEnd)());
    struct making *m = group->depth ? NULL : group->making;
    if (m) {
        group->making = NULL;
        if (!last || last == IN_PROGRESS)
            complete(m);
        free(m);
    }
    return code ? code : last;
}

/* ---- the end ---- */

static pid_t loaded_by; /* a forked child is not a rank */

__attribute__((constructor)) static void at_load(void)
{
    /* Shows the table to the audit object. The result is kept, so that this is no tail call: dlsym() looks at who
     * called it. */
    void *volatile table = dlsym(RTLD_DEFAULT, "gradsync_hooks");
    loaded_by = table ? getpid() : 0;
}

/* A thread may still be in a call. */
__attribute__((destructor)) static void at_exit(void)
{
    if (!engine_config() || loaded_by != getpid() || pthread_mutex_trylock(&lock))
        return;
    for (const struct gpu *g = gpus; g; g = g->next)
        lane_write_end(g->lane);
    if (!gpus)
        engine_write_unseen();
    pthread_mutex_unlock(&lock);
}
