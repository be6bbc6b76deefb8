wan_links_needs := mpi
wan_links_extra := $(wildcard plugins/wan_sync/transport/*.c) plugins/wan_sync/strategy.c plugins/wan_sync/wire.c plugins/wan_sync/cell.c plugins/common/wan_model.c plugins/common/payload.c plugins/common/host.c
