/* SPDX-License-Identifier: Apache-2.0
 *
 * What mpi_allreduce adds to MPI_Allreduce: its samples and a bare loop of the same call, in turn
 * and in the same processes, one line a size with both medians and their ratio.
 *
 *     mpirun -n 2 bare_allreduce BUILD/plugins/mpi_allreduce.so
 */
#include "base/stats.h"
#include "config/params.h"
#include "workload.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 101

static const struct {
    const char *size;
    unsigned iters;
} points[] = {{"8", 4000}, {"64KiB", 400}, {"16MiB", 16}};

struct bare {
    char *in, *out;
    int count;
};

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

static void say_why(void *ctx, const char *fmt, ...)
{
    va_list args;
    (void)ctx;
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

static void note(void *ctx, const char *key, const char *value)
{
    (void)ctx, (void)key, (void)value;
}

static double slowest(double mine)
{
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

static double time_bare(const struct bare *b, unsigned iters)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (unsigned i = 0; i < iters; i++)
        MPI_Allreduce(b->in, b->out, b->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return slowest((MPI_Wtime() - start) / iters);
}

static double time_plugin(const struct wl_plugin *wl, void *prepared, unsigned iters)
{
    struct wl_sample s = {.size = sizeof s};
    if (wl->sample(prepared, iters, &s) != WL_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return slowest(s.values[0]);
}

static bool bare_open(struct bare *b, size_t bytes)
{
    size_t pages = (bytes + 4095) / 4096 * 4096;
    *b = (struct bare){aligned_alloc(4096, pages), aligned_alloc(4096, pages),
                       (int)(bytes / sizeof(float))};
    if (!b->in || !b->out)
        return false;
    memset(b->in, 0, pages);
    memset(b->out, 0, pages);
    return true;
}

/* A cell of that size; all else by default. */
static void *prepare(const struct wl_plugin *wl, void *self, const char *size, uint64_t *bytes)
{
    char why[256];
    void *cell = calloc(1, wl->cell_size), *prepared = NULL;
    const struct wl_param *p = params_find(wl->params, "size");
    if (!cell || !p || !params_default(wl->params, cell, why, sizeof why) ||
        !param_parse(p, size, cell, why, sizeof why) ||
        wl->prepare(self, cell, &prepared) != WL_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    *bytes = *(const uint64_t *)((const char *)cell + p->offset);
    free(cell);
    return prepared;
}

static void compare(const struct wl_plugin *wl, void *self, size_t point, int rank)
{
    double bare[ROUNDS], plugin[ROUNDS], ratio[ROUNDS];
    unsigned iters = points[point].iters;
    uint64_t bytes;
    struct bare b;
    void *prepared = prepare(wl, self, points[point].size, &bytes);
    if (!bare_open(&b, (size_t)bytes))
        MPI_Abort(MPI_COMM_WORLD, 1);
    time_bare(&b, iters);
    time_plugin(wl, prepared, iters);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2)
            bare[i] = time_bare(&b, iters);
        plugin[i] = time_plugin(wl, prepared, iters);
        if (i % 2 == 0)
            bare[i] = time_bare(&b, iters);
        ratio[i] = plugin[i] / bare[i];
    }
    if (rank == 0)
        printf("mpi_allreduce %-6s %10.3f us   bare loop %10.3f us   ratio %.3f (0.97..1.03)\n",
               points[point].size, stats_median(plugin, ROUNDS) * 1e6,
               stats_median(bare, ROUNDS) * 1e6, stats_median(ratio, ROUNDS));
    wl->release(prepared);
    free(b.in);
    free(b.out);
}

int main(int argc, char **argv)
{
    struct wl_host host = {.size = sizeof host,
                           .nodes = 1,
                           .seed = 1,
                           .barrier = barrier,
                           .bcast = bcast,
                           .fail = say_why,
                           .note = note};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &host.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &host.ranks);
    host.local_rank = host.rank;
    host.local_ranks = host.ranks;
    void *self = NULL, *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct wl_plugin *wl = library ? dlsym(library, WL_SYMBOL) : NULL;
    if (!wl || wl->open(&self, &host) != WL_OK) {
        fprintf(stderr, "usage: mpirun -n 2 %s PATH/mpi_allreduce.so\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        compare(wl, self, i, host.rank);
    wl->close(self);
    dlclose(library);
    MPI_Finalize();
    return 0;
}
