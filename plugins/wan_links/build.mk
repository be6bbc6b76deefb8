wan_links_needs := mpi
wan_links_extra := $(filter-out %/pool.c,$(wildcard plugins/wan_sync/transport/*.c))
