mpi_allgather_needs := mpi
