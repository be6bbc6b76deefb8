/* SPDX-License-Identifier: Apache-2.0
 *
 * MPI_Allreduce; its MCA parameters come from the environment.
 */
#include "peer.h"

#include <mpi.h>

static bool reduce(void *self, float *data, size_t count)
{
    (void)self;
    return !MPI_Allreduce(MPI_IN_PLACE, data, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct peer p;
    MPI_Init(&argc, &argv);
    peer_open(&p, argc, argv);
    peer_run(&p, argc, argv, reduce, NULL);
    MPI_Finalize();
    return 0;
}
