iter_proxy_needs := mpi blas
iter_proxy_extra := $(addprefix plugins/common/,collective.c host.c mpi_calls.c payload.c)
iter_proxy_backends := cuda
iter_proxy/cuda_needs := cuda nccl
iter_proxy/cuda_extra := $(addprefix plugins/common/,collective.c host.c payload.c) $(wildcard plugins/common/cuda_*.c plugins/common/cuda_*.cu)
iter_proxy/cuda_libs := -lcublas -Wl,-z,nodelete
iter_proxy/cuda_nvccflags := -arch=all-major -Xcompiler -fno-exceptions,-fno-threadsafe-statics
