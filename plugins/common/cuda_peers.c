/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks whether the GPUs of one host reach each other's memory. If not, NCCL uses host memory or
 * sockets at a fraction of the speed, and tells only its log. Each rank queries the driver about
 * the GPUs it sees. If the launcher shows each rank only its own GPU, nothing can be checked.
 */
#include "common/cuda_gpu.h"

#include <stdio.h>
#include <string.h>

/* Paths from one rank's GPU to the GPUs of the other ranks on its node, by the driver. */
struct ways {
    int asked, open;
    char from[20], to[20]; /* PCI addresses of the first way that is closed */
};

static void ask(const struct gpu *g, struct ways *w)
{
    int count = 0;
    cudaGetDeviceCount(&count);
    for (int d = 0; d < count && d < g->host->local_ranks; d++) {
        int can = 0;
        if (d == g->device || cudaDeviceCanAccessPeer(&can, g->device, d) != cudaSuccess)
            continue;
        w->asked++;
        w->open += can;
        if (can || *w->from)
            continue;
        cudaDeviceGetPCIBusId(w->from, sizeof w->from, g->device);
        cudaDeviceGetPCIBusId(w->to, sizeof w->to, d);
    }
}

void gpu_note_peers(const struct gpu *g)
{
    const struct wl_host *host = g->host;
    struct ways mine = {0}, all = {0};
    char text[400];
    ask(g, &mine);
    for (int r = 0; r < host->ranks; r++) {
        struct ways theirs = mine;
        host->bcast(host->ctx, &theirs, sizeof theirs, r);
        all.asked += theirs.asked;
        all.open += theirs.open;
        if (*theirs.from && !*all.from) {
            memcpy(all.from, theirs.from, sizeof all.from);
            memcpy(all.to, theirs.to, sizeof all.to);
        }
    }
    snprintf(text, sizeof text, "%d of %d ways between GPUs of one node", all.open, all.asked);
    host->note(host->ctx, "peer_access", text);
    if (!*all.from)
        return;
    snprintf(text, sizeof text,
             "no peer access from GPU %s to %s (%d of %d ways are open): NCCL goes through host "
             "memory or sockets instead, several times slower; nvidia-smi topo -p2p r shows the "
             "ways. Turn PCIe ACS or the IOMMU off, or give one container or machine all of the "
             "GPUs; some GPUs have none",
             all.from, all.to, all.open, all.asked);
    host->note(host->ctx, WL_WARNING, text);
}
