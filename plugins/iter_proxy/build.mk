iter_proxy_needs := mpi blas
iter_proxy_extra := plugins/common/allreduce_p2p.c plugins/common/payload.c plugins/common/start.c
