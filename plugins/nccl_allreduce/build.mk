nccl_allreduce_extra := plugins/common/host.c plugins/common/collective.c plugins/common/cuda_payload.c
nccl_allreduce_backends := cuda
nccl_allreduce/cuda_needs := cuda nccl
nccl_allreduce/cuda_extra := plugins/common/collective.c plugins/common/host.c $(wildcard plugins/common/cuda_*.c plugins/common/cuda_*.cu)
nccl_allreduce/cuda_libs := -lcublas -Wl,-z,nodelete
nccl_allreduce/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
