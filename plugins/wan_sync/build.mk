wan_sync_needs := mpi
wan_sync_extra := $(wildcard plugins/wan_sync/transport/*.c) plugins/common/host.c plugins/common/payload.c $(wildcard plugins/common/wan_*.c)
wan_sync_backends := cuda
wan_sync/cuda_needs := cuda nccl
wan_sync/cuda_extra := $(filter-out %/cuda_collective.c,$(wildcard plugins/common/cuda_*.c)) plugins/common/host.c plugins/common/cuda_kernels.cu
wan_sync/cuda_libs := -lcublas -Wl,-z,nodelete
wan_sync/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
