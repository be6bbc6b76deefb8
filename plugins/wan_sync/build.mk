wan_sync_needs := mpi blas
wan_sync_extra := plugins/iter_proxy/gemm.c runner/wan/model.c
wan_sync_libs := -lsodium
