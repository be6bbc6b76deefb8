/* SPDX-License-Identifier: Apache-2.0
 *
 * A training step in small, for tune.sh: work on the memory of a GPU, then an all-reduce of 64 MiB.
 * Rank 0 prints the time of each step. A process a GPU, until it is killed.
 */
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(x)                                                                                      \
    do {                                                                                           \
        int e_ = (int)(x);                                                                         \
        if (e_) {                                                                                  \
            fprintf(stderr, "%s: %d\n", #x, e_);                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

int main(int argc, char **argv)
{
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    OK(cudaSetDevice(rank));
    ncclUniqueId id;
    if (!rank)
        OK(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    ncclComm_t comm;
    OK(ncclCommInitRank(&comm, n, id, rank));
    size_t bytes = 64 << 20, work = (size_t)1 << 30;
    void *x, *w;
    OK(cudaMalloc(&x, bytes));
    OK(cudaMalloc(&w, work));
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    for (int i = 0; i < 1000000; i++) {
        double t = MPI_Wtime();
        for (int k = 0; k < 4; k++)
            OK(cudaMemsetAsync(w, i, work, s));
        OK(ncclAllReduce(x, x, bytes / 4, ncclFloat, ncclSum, comm, s));
        OK(cudaStreamSynchronize(s));
        if (!rank) {
            printf("step %d time %.4f ms\n", i, 1e3 * (MPI_Wtime() - t));
            fflush(stdout);
        }
    }
    return 0;
}
