nccl_allreduce_extra := plugins/common/host.c plugins/common/collective.c plugins/common/payload.c
nccl_allreduce_backends := cuda
nccl_allreduce/cuda_needs := cuda nccl
nccl_allreduce/cuda_extra := $(addprefix plugins/common/,collective.c host.c payload.c) $(wildcard plugins/common/cuda_*.c plugins/common/cuda_*.cu)
nccl_allreduce/cuda_libs := -Wl,-z,nodelete
nccl_allreduce/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
