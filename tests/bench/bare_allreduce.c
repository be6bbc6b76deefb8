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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 101

static const struct {
    const char *size;
    unsigned iters;
} points[] = {{"8", 4000}, {"64KiB", 400}, {"16MiB", 16}};

static void barrier(void *ctx)
{
    (void)ctx;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end(void *ctx, const char *why, ...)
{
    (void)ctx;
    fprintf(stderr, "bare_allreduce: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
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

static double time_bare(float *in, float *out, int count, unsigned iters)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (unsigned i = 0; i < iters; i++)
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return slowest((MPI_Wtime() - start) / iters);
}

static double time_plugin(const struct wl_plugin *wl, void *prepared, unsigned iters)
{
    struct wl_sample s = {.size = sizeof s};
    if (wl->sample(prepared, iters, &s) != WL_OK)
        end(NULL, "a sample failed");
    return slowest(s.values[0]);
}

/* A cell of that size, all else by default, and buffers as large. */
static void compare(const struct wl_plugin *wl, void *self, const char *size, unsigned iters,
                    int rank)
{
    double bare[ROUNDS], plugin[ROUNDS], ratio[ROUNDS];
    char why[256];
    void *cell = calloc(1, wl->cell_size), *prepared = NULL;
    const struct wl_param *p = params_find(wl->params, "size");
    if (!params_default(wl->params, cell, why, sizeof why) ||
        !param_parse(p, size, cell, why, sizeof why) || wl->prepare(self, cell, &prepared) != WL_OK)
        end(NULL, "a cell cannot be prepared");
    const size_t bytes = *(const uint64_t *)((const char *)cell + p->offset);
    const int count = (int)(bytes / sizeof(float));
    float *in = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096),
          *out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(in, 0, bytes);
    memset(out, 0, bytes);
    time_bare(in, out, count, iters);
    time_plugin(wl, prepared, iters);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2)
            bare[i] = time_bare(in, out, count, iters);
        plugin[i] = time_plugin(wl, prepared, iters);
        if (i % 2 == 0)
            bare[i] = time_bare(in, out, count, iters);
        ratio[i] = plugin[i] / bare[i];
    }
    if (rank == 0)
        printf("mpi_allreduce %-6s %10.3f us   bare loop %10.3f us   ratio %.3f (0.97..1.03)\n",
               size, stats_median(plugin, ROUNDS) * 1e6, stats_median(bare, ROUNDS) * 1e6,
               stats_median(ratio, ROUNDS));
    wl->release(prepared);
    free(cell);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    struct wl_host host = {
        .size = sizeof host, .nodes = 1, .seed = 1, .barrier = barrier, .fail = end, .note = note};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &host.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &host.ranks);
    host.local_rank = host.rank;
    host.local_ranks = host.ranks;
    void *self = NULL, *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct wl_plugin *wl = library ? dlsym(library, WL_SYMBOL) : NULL;
    if (!wl || wl->open(&self, &host) != WL_OK)
        end(NULL, "usage: mpirun -n 2 bare_allreduce PATH/mpi_allreduce.so");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        compare(wl, self, points[i].size, points[i].iters, host.rank);
    wl->close(self);
    MPI_Finalize();
    return 0;
}
