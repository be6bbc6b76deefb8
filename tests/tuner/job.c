/* SPDX-License-Identifier: Apache-2.0
 *
 *   job [KEY=VALUE...]   a training job as its tuner plugin sees it: ranks that are processes or
 *                        threads, steps that end together, calls as DDP or FSDP makes them. The
 *                        plugins are NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN. It prints how many
 *                        calls were made and with which choices, and fails if a rank chose
 *                        differently from rank 0: NCCL would hang.
 *   ranks=2 as=processes|threads|turns steps=200 finalize=1 exit=0
 *   abi=7 profiler=5        the newest versions that this NCCL knows; abi=2: older than 2.22;
 *                           profiler=0: older than 2.24
 *   channels=24             of its communicators; a call that asks for more gets these
 *   stubborn=0              1: this NCCL runs its own choice of algorithm and protocol
 *   kind=ddp|fsdp|accumulate parts=5   buckets, layers, micro-batches of one layer
 *   setup=3                 calls before the first step
 *   eval=0 eval_calls=7     after every so many steps, so many calls
 *   second=0                1: another communicator with one small call a step
 *   graph=0                 after so many steps one is captured in a CUDA graph; the rest replay it
 *   step_us=0 jitter_us=0   a step takes so long, and a rank is late by up to so long
 *   ctas=8 factor=1.0       steps whose largest call has at most so many channels take longer
 *   miss=-1                 this rank runs without the plugin
 *   other=-1                the calls of this rank have other sizes
 *   between=COMMAND         with as=turns, where each rank makes the calls of all steps after the
 *                           first 20 before the next rank does: run after rank 0. Only the other
 *                           ranks can see what it changes
 */
#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS (1 << 22) /* remembered a rank */
enum { TOGETHER = 20 }; /* steps: until all ranks know what a step is */

static struct options {
    const char *as, *kind, *between;
    double factor;
    long ranks, abi, steps, finalize, exit, parts, setup, eval, eval_calls, second, graph, step_us,
        jitter_us, ctas, miss, profiler, channels, stubborn, other;
} o = {.as = "processes",
       .kind = "ddp",
       .factor = 1,
       .ranks = 2,
       .abi = 7,
       .steps = 200,
       .finalize = 1,
       .parts = 5,
       .setup = 3,
       .eval_calls = 7,
       .ctas = 8,
       .miss = -1,
       .profiler = 5,
       .channels = 24,
       .other = -1};

static struct shared {
    pthread_barrier_t barrier;
    struct ran *ran; /* [rank][call] */
    uint64_t calls[64];
    int failed;
} * shared;

struct rank {
    int rank;
    struct host host;
    struct host_comm comm, second;
    uint64_t calls;
    unsigned seed;
    int channels; /* of the step's largest call */
};

/* ---- calls ---- */

static void call(struct rank *r, struct host_comm *c, int func, size_t bytes)
{
    struct ran ran = {0, 0, 0};
    bytes += r->rank == o.other ? 4096 : 0;
    if (!host_call(c, func, bytes, &ran)) {
        fprintf(stderr, "job: the plugin failed a call\n");
        shared->failed = 1;
    }
    if (r->calls < CALLS)
        shared->ran[(size_t)r->rank * CALLS + r->calls] = ran;
    r->calls++;
    if (bytes >= 1 << 20)
        r->channels = ran.channels;
}

static void step_calls(struct rank *r)
{
    struct host_comm *c = &r->comm;
    if (!strcmp(o.kind, "ddp"))
        for (long i = 0; i < o.parts; i++)
            call(r, c, NCCL_ALL_REDUCE, i + 1 < o.parts ? 25u << 20 : (1u << 20) + 4096);
    if (!strcmp(o.kind, "accumulate")) {
        for (long i = 0; i < o.parts; i++)
            for (int k = 0; k < 12; k++)
                call(r, c, k % 3 ? NCCL_ALL_GATHER : NCCL_REDUCE_SCATTER, (size_t)(k + 1) << 20);
        call(r, c, NCCL_ALL_REDUCE, 4);
    }
    if (strcmp(o.kind, "fsdp"))
        return;
    call(r, c, NCCL_ALL_GATHER, 100u << 20);
    for (long i = 0; i < o.parts; i++)
        call(r, c, NCCL_ALL_GATHER, 30u << 20);
    for (long i = 0; i < o.parts; i++) {
        call(r, c, NCCL_ALL_GATHER, 30u << 20);
        call(r, c, NCCL_REDUCE_SCATTER, 30u << 20);
    }
    call(r, c, NCCL_REDUCE_SCATTER, 100u << 20);
}

/* ---- time ---- */

static void wait_us(double us)
{
    struct timespec t = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000L};
    if (us > 0)
        nanosleep(&t, NULL);
}

static void step(struct rank *r, long number)
{
    bool replayed = o.graph && number > o.graph;
    r->comm.captured = r->second.captured = o.graph && number == o.graph;
    if (!replayed)
        step_calls(r);
    r->comm.captured = false;
    if (o.second && !replayed)
        call(r, &r->second, NCCL_ALL_REDUCE, 8);
    if (o.jitter_us)
        wait_us((double)((long)rand_r(&r->seed) % o.jitter_us));
    if (strcmp(o.as, "turns"))
        pthread_barrier_wait(&shared->barrier);
    bool slow = r->channels && r->channels <= o.ctas;
    wait_us((double)o.step_us * (slow ? o.factor : 1));
    if (o.eval && number % o.eval == o.eval - 1)
        for (long i = 0; i < o.eval_calls; i++)
            call(r, &r->comm, NCCL_ALL_REDUCE, 64);
}

/* ---- ranks ---- */

static void begin(struct rank *r)
{
    const char *plugin = getenv("NCCL_TUNER_PLUGIN"), *profiler = getenv("NCCL_PROFILER_PLUGIN");
    if (!plugin || r->rank == o.miss)
        return;
    if (!host_load(&r->host, plugin, (int)o.abi))
        shared->failed = 1;
    if (profiler && o.profiler)
        host_load_profiler(&r->host, profiler, (int)o.profiler);
    r->host.channels = (int)o.channels;
    r->host.stubborn = o.stubborn;
    if ((!host_init(&r->comm, &r->host, 0xabcdef12345678, (int)o.ranks, 1) ||
         (o.second && !host_init(&r->second, &r->host, 0x42, (int)o.ranks, 1))))
        shared->failed = 1;
}

static void work(struct rank *r, long from, long to)
{
    for (long i = 0; i < o.setup && !from; i++)
        call(r, &r->comm, NCCL_BROADCAST, (size_t)(i + 1) * 1000);
    for (long i = from; i < to; i++)
        step(r, i);
    shared->calls[r->rank] = r->calls;
}

static void end(struct rank *r)
{
    if (o.finalize && r->comm.host &&
        (!host_finalize(&r->comm) || (o.second && !host_finalize(&r->second))))
        shared->failed = 1;
    if (o.finalize)
        host_unload(&r->host);
}

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    begin(r);
    pthread_barrier_wait(&shared->barrier);
    work(r, 0, o.steps);
    end(r);
    return NULL;
}

static void in_turns(struct rank *ranks)
{
    for (long i = 0; i < o.ranks; i++)
        begin(&ranks[i]);
    for (long k = 0; k < TOGETHER; k++)
        for (long i = 0; i < o.ranks; i++)
            work(&ranks[i], k, k + 1);
    for (long i = 0; i < o.ranks; i++) {
        work(&ranks[i], TOGETHER, o.steps);
        if (i == 0 && o.between && system(o.between))
            shared->failed = 1;
    }
    for (long i = 0; i < o.ranks; i++)
        end(&ranks[i]);
}

static void as_threads(struct rank *ranks)
{
    pthread_t threads[64];
    for (long i = 0; i < o.ranks; i++)
        pthread_create(&threads[i], NULL, run_rank, &ranks[i]);
    for (long i = 0; i < o.ranks; i++)
        pthread_join(threads[i], NULL);
}

static void as_processes(struct rank *ranks)
{
    for (long i = 0; i < o.ranks; i++)
        if (fork() == 0) {
            char number[24];
            snprintf(number, sizeof number, "%ld", i);
            setenv("RANK", number, 1);
            setenv("LOCAL_RANK", number, 1);
            snprintf(number, sizeof number, "%ld", o.ranks);
            setenv("WORLD_SIZE", number, 1);
            run_rank(&ranks[i]);
            exit(0);
        }
    for (int status; wait(&status) > 0;)
        shared->failed |= status != 0;
}

/* ---- the result ---- */

static const char *const algos[] = {"tree", "ring"}, *const protos[] = {"LL", "LL128", "Simple"};

static int report(void)
{
    uint64_t counts[2][3][65] = {0}, calls = shared->calls[0];
    uint64_t known = calls < CALLS ? calls : CALLS;
    for (uint64_t i = 0; i < known; i++) {
        const struct ran *a = &shared->ran[i];
        counts[a->algo & 1][a->proto % 3][a->channels]++;
        for (long k = 1; k < o.ranks; k++)
            if (memcmp(a, &shared->ran[(size_t)k * CALLS + i], sizeof *a)) {
                printf("rank %ld differs from rank 0 at call %llu\n", k, (unsigned long long)i);
                return 1;
            }
    }
    printf("calls %llu\n", (unsigned long long)calls);
    for (int a = 0; a < 2; a++)
        for (int p = 0; p < 3; p++)
            for (int c = 0; c < 65; c++)
                if (counts[a][p][c])
                    printf("%s/%s channels=%d %llu\n", algos[a], protos[p], c,
                           (unsigned long long)counts[a][p][c]);
    return shared->failed;
}

static int set(const char *word)
{
    const struct {
        const char *name;
        long *value;
    } keys[] = {
        {"ranks", &o.ranks},         {"abi", &o.abi},           {"steps", &o.steps},
        {"finalize", &o.finalize},   {"exit", &o.exit},         {"parts", &o.parts},
        {"setup", &o.setup},         {"eval", &o.eval},         {"eval_calls", &o.eval_calls},
        {"second", &o.second},       {"graph", &o.graph},       {"step_us", &o.step_us},
        {"jitter_us", &o.jitter_us}, {"ctas", &o.ctas},         {"miss", &o.miss},
        {"profiler", &o.profiler},   {"channels", &o.channels}, {"stubborn", &o.stubborn},
        {"other", &o.other}};
    const char *value = strchr(word, '=');
    size_t n = value ? (size_t)(value - word) : 0;
    if (n == 2 && !strncmp(word, "as", n))
        o.as = value + 1;
    else if (n == 4 && !strncmp(word, "kind", n))
        o.kind = value + 1;
    else if (n == 7 && !strncmp(word, "between", n))
        o.between = value + 1;
    else if (n == 6 && !strncmp(word, "factor", n))
        o.factor = atof(value + 1);
    else {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (n && strlen(keys[i].name) == n && !strncmp(word, keys[i].name, n)) {
                *keys[i].value = atol(value + 1);
                return 0;
            }
        fprintf(stderr, "job: what is '%s'?\n", word);
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct rank ranks[64];
    pthread_barrierattr_t attr;
    for (int i = 1; i < argc; i++)
        if (set(argv[i]))
            return 2;
    if (o.ranks < 1 || o.ranks > 64)
        return 2;
    size_t bytes = (size_t)o.ranks * CALLS * sizeof(struct ran);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->ran = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &attr, (unsigned)o.ranks);
    for (int i = 0; i < o.ranks; i++)
        ranks[i] = (struct rank){.rank = i, .seed = (unsigned)i + 1};
    if (!strcmp(o.as, "threads"))
        as_threads(ranks);
    else if (!strcmp(o.as, "turns"))
        in_turns(ranks);
    else
        as_processes(ranks);
    int code = report();
    return code ? code : (int)o.exit;
}
