/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into ranks, makes a faulty machine of a real one.
 *   FAULT=silent   what rank 1 sends to rank 2 in a communicator of two never leaves
 *   FAULT=slow     rank 1 does every GEMM 20 times
 */
#include <cblas.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *fault)
{
    const char *name = getenv("FAULT"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    return name && rank && !strcmp(name, fault) && !strcmp(rank, "1");
}

static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group group, world;
    int of_world = -1;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &rank, world, &of_world);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return of_world;
}

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    if (ranks == 2 && is("silent") && world_rank(comm, to) == 2)
        to = MPI_PROC_NULL;
    return PMPI_Isend(buffer, n, type, to, tag, comm, request);
}

typedef void gemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint, blasint, blasint, float,
                  const float *, blasint, const float *, blasint, float, float *, blasint);

void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n,
                 blasint k, float alpha, const float *a, blasint la, const float *b, blasint lb,
                 float beta, float *c, blasint lc)
{
    union {
        void *object;
        gemm *function;
    } real = {.object = dlsym(dlopen("libopenblas.so.0", RTLD_LAZY), "cblas_sgemm")};
    for (int i = 0; i < (is("slow") ? 20 : 1); i++)
        real.function(order, ta, tb, m, n, k, alpha, a, la, b, lb, beta, c, lc);
}
