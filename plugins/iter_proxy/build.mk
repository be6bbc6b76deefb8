iter_proxy_needs := mpi blas
iter_proxy_extra := plugins/common/gemm.c plugins/common/beside.c $(addprefix plugins/common/,allreduce_p2p.c collective.c collective_mpi.c payload.c step_file.c step_write.c)
iter_proxy_backends := cuda
iter_proxy/cuda_needs := cuda nccl
iter_proxy/cuda_extra := plugins/common/collective.c $(filter-out %/cuda_burn.c,$(wildcard plugins/common/cuda_*.c)) plugins/common/cuda_kernels.cu
iter_proxy/cuda_libs := -lcublas -Wl,-z,nodelete
iter_proxy/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
