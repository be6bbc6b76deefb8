/* SPDX-License-Identifier: Apache-2.0
 *
 *   wan_link KEY=VALUE…   the tcp transport alone: the traffic of a ring all-reduce, pipelined by
 *                         bytes, without the arithmetic; to be run in the lab by mpirun
 *
 *   rate= Mbit/s and rtt= ms and mtu= of the lab, for the bound; size= bytes a rank; block= bytes;
 *   iterations=; idle= seconds before each; streams= congestion= interface= port= probe=
 *   deadline= as in tcp_options
 *
 * A line an iteration: the slowest rank's time, the bound 2(S-1)·max(c/B, L) + min(c/B, L) with
 * c = size / S and B the goodput of the link, and their ratio, and what each rank's probe found.
 */
#include "wan_sync/transport/tcp.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct job {
    double rate, rtt, mtu, size, block, iterations, idle, streams, probe, deadline, port;
    const char *congestion, *interface;
};

static int read_job(struct job *j, int argc, char **argv)
{
    struct {
        const char *key;
        double *value;
    } numbers[] = {{"rate", &j->rate},         {"rtt", &j->rtt},     {"mtu", &j->mtu},
                   {"size", &j->size},         {"block", &j->block}, {"iterations", &j->iterations},
                   {"idle", &j->idle},         {"probe", &j->probe}, {"streams", &j->streams},
                   {"deadline", &j->deadline}, {"port", &j->port}};
    struct {
        const char *key;
        const char **value;
    } texts[] = {{"congestion", &j->congestion}, {"interface", &j->interface}};
    for (int i = 1; i < argc; i++) {
        char *eq = strchr(argv[i], '=');
        size_t k = 0, n = sizeof numbers / sizeof *numbers, t = 0, m = sizeof texts / sizeof *texts;
        if (!eq)
            return -1;
        *eq = 0;
        while (k < n && strcmp(numbers[k].key, argv[i]) != 0)
            k++;
        while (t < m && strcmp(texts[t].key, argv[i]) != 0)
            t++;
        if (k < n)
            *numbers[k].value = strtod(eq + 1, NULL);
        else if (t < m)
            *texts[t].value = eq + 1;
        else
            return -1;
    }
    return 0;
}

static void barrier(void *ctx)
{
    (void)ctx;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void *ctx, void *buf, size_t bytes, int root)
{
    (void)ctx;
    MPI_Bcast(buf, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

struct ring {
    struct link *link;
    int rank, ranks, steps, blocks;
    size_t block;
    double deadline_s;
    char *data;
    uint32_t turn;
};

static uint32_t id_of(const struct ring *r, int step, int block)
{
    return (r->turn & 7) << 27 | (uint32_t)step << 20 | (uint32_t)block;
}

static int fail_link(const struct ring *r)
{
    fprintf(stderr, "rank %d: %s\n", r->rank, r->link->why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

/* Block b of step s leaves when block b of step s - 1 has come. */
static void go_round(struct ring *r)
{
    int right = (r->rank + 1) % r->ranks;
    struct link *l = r->link;
    for (int b = 0; b < r->blocks; b++)
        if (l->ops->send(l, right, id_of(r, 0, b), r->data + (size_t)b * r->block, r->block))
            fail_link(r);
    for (int left = 2 * r->steps * r->blocks; left > 0; left--) {
        struct link_event e;
        int got = l->ops->next(l, &e, r->deadline_s);
        if (got == 0)
            snprintf(l->why, sizeof l->why, "no block moved for %g s", r->deadline_s);
        if (got <= 0)
            fail_link(r);
        int step = (int)(e.id >> 20 & 0x7f), b = (int)(e.id & 0xfffff);
        free(e.done == LINK_RECEIVED ? e.data : NULL);
        if (e.done == LINK_RECEIVED && step + 1 < r->steps &&
            l->ops->send(l, right, id_of(r, step + 1, b), r->data + (size_t)b * r->block, r->block))
            fail_link(r);
    }
    r->turn++;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All ranks start at one instant: they share a clock, since the lab is one machine. */
static double timed(struct ring *r, double idle)
{
    double start = now() + 0.05 + idle, took, slowest;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double left = start - now();
    struct timespec t = {.tv_sec = (time_t)left, .tv_nsec = (long)(fmod(left, 1) * 1e9)};
    if (left > 0)
        nanosleep(&t, NULL);
    else
        fprintf(stderr, "rank %d: told of the start %.3f s after it\n", r->rank, -left);
    go_round(r);
    took = now() - start;
    if (r->link->ops->settle(r->link, 10))
        fail_link(r);
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return slowest;
}

/* Of all ranks since the last call: what they take from a machine that has the relay to carry too.
 */
static double cpu_s(void)
{
    static double before;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    double all, own = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                      1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    MPI_Reduce(&(double){own - before}, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    before = own;
    return all;
}

static void report(const struct job *j, const struct ring *r, double took)
{
    double found = tcp_rate(r->link, (r->rank + 1) % r->ranks);
    double goodput = j->rate * 1e6 / 8 * (j->mtu - 52) / j->mtu; /* 40 of headers, 12 of options */
    double c = (double)r->block * r->blocks, one = c / goodput, delay = j->rtt / 2e3;
    double bound = 2 * (r->ranks - 1) * fmax(one, delay) + fmin(one, delay);
    double rates[64];
    MPI_Gather(&found, 1, MPI_DOUBLE, rates, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double cpu = cpu_s();
    if (r->rank)
        return;
    printf("%8.1f ms, bound %8.1f ms: %5.1f%%; probed", took * 1e3, bound * 1e3,
           100 * bound / took);
    for (int i = 0; i < r->ranks && i < 64; i++)
        printf(" %.1f", rates[i] * 8e-6);
    printf(" of %.1f Mbit/s; CPU %.2f s\n", goodput * 8e-6, cpu);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct job j = {.rate = 1000,
                    .rtt = 30,
                    .mtu = 9000,
                    .size = 64 << 20,
                    .block = 256 << 10,
                    .iterations = 5,
                    .deadline = 10,
                    .streams = 8,
                    .probe = 1,
                    .congestion = "",
                    .interface = "wan0"};
    struct wl_host host = {
        .size = sizeof host, .barrier = barrier, .bcast = bcast, .nodes = 2, .local_ranks = 1};
    char why[256];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &host.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &host.ranks);
    if (read_job(&j, argc, argv)) {
        fprintf(stderr, "wan_link: KEY=VALUE…\n");
        return 2;
    }
    struct tcp_options o = {.streams = (int)j.streams,
                            .interface = j.interface,
                            .congestion = j.congestion,
                            .port = (int)j.port,
                            .deadline_s = j.deadline};
    struct ring r = {.rank = host.rank,
                     .ranks = host.ranks,
                     .steps = 2 * (host.ranks - 1),
                     .deadline_s = j.deadline};
    double start = now();
    if (tcp_open(&r.link, &host, &o, why, sizeof why)) {
        fprintf(stderr, "rank %d: %s\n", host.rank, why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (tcp_probe(r.link, (r.rank + 1) % r.ranks, (r.rank + r.ranks - 1) % r.ranks, j.probe))
        fail_link(&r);
    if (r.rank == 0)
        printf("opened in %.2f s\n", now() - start);
    r.block = (size_t)fmin(j.block, j.size / r.ranks);
    r.blocks = (int)(j.size / r.ranks / (double)r.block);
    r.data = calloc((size_t)r.blocks, r.block);
    for (int i = 0; r.data && i < (int)j.iterations; i++)
        report(&j, &r, timed(&r, j.idle));
    r.link->ops->close(r.link);
    free(r.data);
    MPI_Finalize();
    return 0;
}
