/* SPDX-License-Identifier: Apache-2.0
 *
 * A training over the pretended NCCL. It binds NCCL by dlsym of a handle, as JAX does, or (-DLINKED) as a library of PyTorch
 * does. Each step: a computation, some all-reduces in a stream of their own, and one small one, whose sum is checked.
 *   job RANKS STEPS [KEY=VALUE ...]
 *     ms=2 calls=4 kib=256   computation, all-reduces of a step, and their size
 *     comms=1   2: every second call goes through another communicator, in a stream of its own
 *     group=0   1: all calls of a step in one group
 *     log=0     N: an all-reduce of another size after every N-th step, seen by ranks 0 and 1 in a communicator of their own
 *     one=0     1: one process with a thread for each GPU; 2: one thread, ncclCommInitAll
 *     split=0   1: the communicator is split off another one
 *     capture=0 N: step N is captured
 *     fork=0    1: rank 0 forks a child that ends at once
 *     ahead=0   N: the host waits for its GPU after every N-th step only, and checks no sum
 *     lag=0     ms by which the computation of rank 1 is longer
 * Prints "step time: N ms" of each tenth step on rank 0, and at the end "right" if every small sum was right (the large ones
 * are not, in a price), and "exact" if all sums were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *p;
struct id {
    char b[128];
};
static int (*unique)(struct id *), (*init_rank)(p *, int, struct id, int);
static int (*init_all)(p *, int, const int *), (*group_start)(void), (*group_end)(void);
static int (*all_reduce)(const void *, void *, size_t, int, int, p, p), (*destroy)(p);
static int (*stream_create)(p *, unsigned), (*stream_sync)(p), (*set_context)(p);

static struct {
    long ms, calls, kib, comms, group, log, one, split, capture, fork, ahead, lag;
} o = {.ms = 2, .calls = 4, .kib = 256, .comms = 1};
static int ranks;
static long steps;
static struct id *ids; /* shared by all processes */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bind(void)
{
#ifdef LINKED
#define BIND(f, of, name)                                                                          \
    extern int name();                                                                             \
    *(void **)&f = (void *)name
#else
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *nccl = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!nccl || !cuda) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
#define BIND(f, of, name) *(void **)&f = dlsym(of, #name)
#endif
    BIND(unique, nccl, ncclGetUniqueId);
    BIND(init_rank, nccl, ncclCommInitRank);
    BIND(init_all, nccl, ncclCommInitAll);
    BIND(group_start, nccl, ncclGroupStart);
    BIND(group_end, nccl, ncclGroupEnd);
    BIND(all_reduce, nccl, ncclAllReduce);
    BIND(destroy, nccl, ncclCommDestroy);
    BIND(stream_create, cuda, cuStreamCreate);
    BIND(stream_sync, cuda, cuStreamSynchronize);
    BIND(set_context, cuda, cuCtxSetCurrent);
}

struct member {
    int rank;
    p comms[3], streams[2];
    pthread_t thread;
    int wrong, inexact;
};

static void train(struct member *m)
{
    size_t n = (size_t)o.kib * 256;
    float *buffer = malloc(n * sizeof *buffer), small;
    bool waits, knows = !o.ahead;
    float sum = (float)ranks * (float)(ranks + 1) / 2;
    double began = now();
    for (long s = 0; s < steps; s++) {
        waits = knows || s % o.ahead == o.ahead - 1;
        usleep((useconds_t)((o.ms + (m->rank == 1) * o.lag) * 1000));
        for (size_t i = 0; i < n && knows; i++)
            buffer[i] = (float)(m->rank + 1);
        if (o.group)
            group_start();
        for (long k = 0; k < o.calls; k++) {
            long which = o.comms > 1 ? k % 2 : 0;
            p stream = m->streams[which];
            if (o.capture && s == o.capture)
                stream = (p)((uintptr_t)stream | 1);
            size_t part = n / (size_t)o.calls;
            all_reduce(buffer + (size_t)k * part, buffer + (size_t)k * part, part, 7, 0,
                       m->comms[which], stream);
        }
        if (o.group)
            group_end();
        if (waits) {
            stream_sync(m->streams[0]);
            stream_sync(m->streams[1]);
        }
        for (size_t i = 0; i < n / (size_t)o.calls * (size_t)o.calls && knows; i += 97)
            m->inexact += buffer[i] != sum;
        if (knows)
            small = (float)(m->rank + 1);
        all_reduce(&small, &small, 1, 7, 0, m->comms[0], m->streams[0]);
        if (waits)
            stream_sync(m->streams[0]);
        m->wrong += knows && small != sum;
        if (o.log && s % o.log == o.log - 1 && m->rank < 2) {
            float logged[7] = {1};
            all_reduce(logged, logged, 7, 7, 0, m->comms[2], m->streams[0]);
            stream_sync(m->streams[0]);
            m->wrong += logged[0] != 2;
        }
        if (!m->rank && s % 10 == 9) {
            printf("step time: %.3f ms\n", (now() - began) * 100);
            fflush(stdout);
            began = now();
        }
    }
    free(buffer);
    for (int i = 0; i < 3; i++)
        if (m->comms[i])
            destroy(m->comms[i]);
}

static void make(struct member *m)
{
    stream_create(&m->streams[0], 0);
    stream_create(&m->streams[1], 0);
    if (o.one != 2)
        for (int i = 0; i < (o.comms > 1 ? 2 : 1); i++)
            init_rank(&m->comms[i], ranks, ids[i], m->rank);
    if (o.log && m->rank < 2)
        init_rank(&m->comms[2], 2, ids[2], m->rank);
}

static void *run_thread(void *of)
{
    struct member *m = of;
    set_context((p)(uintptr_t)(m->rank + 1));
    make(m);
    train(m);
    return NULL;
}

static int verdict(const struct member *m)
{
    if (!m->rank || m->wrong)
        printf("%s, %s\n", m->wrong ? "wrong" : "right", m->inexact ? "not exact" : "exact");
    return m->wrong ? 1 : 0;
}

static int one_process(void)
{
    struct member v[8] = {0};
    p all[8];
    int bad = 0;
    bind();
    for (int i = 0; i < 3; i++)
        unique(&ids[i]);
    if (o.one == 2)
        init_all(all, ranks, NULL);
    for (int r = 0; r < ranks; r++) {
        v[r].rank = r;
        if (o.one == 2)
            v[r].comms[0] = all[r];
        pthread_create(&v[r].thread, NULL, run_thread, &v[r]);
    }
    for (int r = 0; r < ranks; r++) {
        pthread_join(v[r].thread, NULL);
        bad |= verdict(&v[r]);
    }
    return bad;
}

static int rank_process(int rank, volatile int *ready)
{
    struct member m = {.rank = rank};
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    setenv("RANK", text, 1);
    setenv("LOCAL_RANK", text, 1);
    snprintf(text, sizeof text, "%d", ranks);
    setenv("WORLD_SIZE", text, 1);
    bind();
    if (!rank) {
        for (int i = 0; i < 3; i++)
            unique(&ids[i]);
        *ready = 1;
    }
    while (!*ready)
        usleep(1000);
    if (o.fork && !rank && !fork())
        exit(0);
    make(&m);
    train(&m);
    return verdict(&m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        long *at;
    } keys[] = {{"ms", &o.ms},       {"calls", &o.calls}, {"kib", &o.kib},
                {"comms", &o.comms}, {"group", &o.group}, {"log", &o.log},
                {"one", &o.one},     {"split", &o.split}, {"capture", &o.capture},
                {"fork", &o.fork},   {"ahead", &o.ahead}, {"lag", &o.lag}};
    ranks = argc > 1 ? atoi(argv[1]) : 2;
    steps = argc > 2 ? atol(argv[2]) : 100;
    for (int i = 3; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        for (size_t k = 0; value && k < sizeof keys / sizeof *keys; k++)
            if (!strncmp(argv[i], keys[k].name, (size_t)(value - argv[i])) &&
                !keys[k].name[value - argv[i]])
                *keys[k].at = atol(value + 1);
    }
    ids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o.one)
        return one_process();
    volatile int *ready = (volatile int *)(ids + 4);
    int bad = 0, status;
    for (int r = 0; r < ranks; r++)
        if (!fork())
            return rank_process(r, ready);
    while (wait(&status) > 0)
        bad |= status;
    return bad ? 1 : 0;
}
