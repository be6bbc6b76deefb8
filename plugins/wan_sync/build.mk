wan_sync_needs := mpi blas
wan_sync_extra := plugins/common/beside.c plugins/common/gemm.c runner/wan/model.c
wan_sync_libs := -lsodium
wan_sync_backends := cuda
wan_sync/cuda_needs := cuda nccl
wan_sync/cuda_extra := $(filter-out %/cuda_burn.c,$(wildcard plugins/common/cuda_*.c)) plugins/common/cuda_kernels.cu
wan_sync/cuda_libs := -lcublas -Wl,-z,nodelete
wan_sync/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
