/* SPDX-License-Identifier: Apache-2.0
 *
 *   mpi ITERATIONS BYTES…   times MPI_Allreduce between the sites of a lab; its MCA parameters come from the
 *                           environment
 *
 * All sites are on this machine, so the ranks start at one instant of the one clock. Rank 0 prints "BYTES
 * SECONDS" for the slowest rank, an iteration a line. The first of each size is not printed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LEAD_S 0.02 /* from the announcement of the start */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int a = 2; a < argc; a++) {
        int count = atoi(argv[a]) / (int)sizeof(float);
        float *data = malloc((size_t)count * sizeof *data + 1);
        for (int i = 0; data && i <= atoi(argv[1]); i++) {
            for (int k = 0; k < count; k++)
                data[k] = (float)(rank + k % 100);
            double start_s = now_s() + LEAD_S, took_s, slowest_s;
            MPI_Bcast(&start_s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            while (now_s() < start_s)
                nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
            MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            took_s = now_s() - start_s;
            for (int k = 0; k < count; k++)
                if (data[k] != (float)(ranks * (ranks - 1) / 2 + ranks * (k % 100)))
                    MPI_Abort(MPI_COMM_WORLD, 1);
            MPI_Reduce(&took_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (rank == 0 && i > 0)
                printf("%s %.9f\n", argv[a], slowest_s);
        }
        free(data);
    }
    MPI_Finalize();
    return 0;
}
