pairs_needs := mpi blas
pairs_extra := plugins/common/host.c plugins/common/gemm.c
pairs_backends := cuda
pairs/cuda_needs := cuda nccl
pairs/cuda_extra := $(addprefix plugins/common/,collective.c host.c payload.c) $(wildcard plugins/common/cuda_*.c plugins/common/cuda_*.cu)
pairs/cuda_libs := -lcublas -Wl,-z,nodelete
pairs/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
