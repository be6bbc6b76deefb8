mpi_allreduce_needs := mpi
mpi_allreduce_extra := $(addprefix plugins/common/,collective.c mpi_calls.c payload.c)
