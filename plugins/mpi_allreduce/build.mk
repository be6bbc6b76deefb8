mpi_allreduce_needs := mpi
mpi_allreduce_extra := plugins/common/allreduce_p2p.c plugins/common/collective.c plugins/common/collective_mpi.c plugins/common/payload.c
