# The libraries that the plugin calls, any of mpi, blas, cuda and nccl; without its line, mpi.h is not
# found. Remove the # in front of the line. plugin.mk lists more variables.
# template_needs := mpi
