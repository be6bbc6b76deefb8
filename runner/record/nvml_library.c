/* SPDX-License-Identifier: Apache-2.0 */
#include "record/nvml_library.h"

#include "base/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the members of struct nvml_calls. */
static const char *const names[] = {
    "nvmlInit_v2",
    "nvmlShutdown",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetHandleByUUID",
    "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlSystemGetDriverVersion",
    "nvmlSystemGetCudaDriverVersion",
    "nvmlDeviceGetClockInfo",
    "nvmlDeviceGetMaxClockInfo",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetCurrentClocksThrottleReasons",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetCurrPcieLinkGeneration",
    "nvmlDeviceGetCurrPcieLinkWidth",
    "nvmlDeviceGetNvLinkState",
    "nvmlDeviceGetNvLinkVersion",
    "nvmlDeviceGetTopologyCommonAncestor",
    "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetNvLinkErrorCounter",
    "nvmlDeviceGetComputeRunningProcesses_v3",
};
_Static_assert(sizeof(struct nvml_calls) == sizeof names / sizeof *names * sizeof(void (*)(void)),
               "a name for each call");

/* An older driver lacks some calls; they stay NULL. */
static bool load(struct nvml *n)
{
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = dlsym(n->library, names[i]);
        memcpy((char *)&n->call + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return n->call.init && n->call.shutdown && n->call.by_index && n->call.init() == 0;
}

/* The device that CUDA gives this rank: CUDA_VISIBLE_DEVICES lists indices or UUIDs. */
static bool find_device(struct nvml *n, int local_rank)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (!visible) {
        n->index = local_rank;
        return n->call.by_index((unsigned)local_rank, &n->device) == 0;
    }
    AUTO_WORDS struct words w = {0};
    words_split(&w, visible, ',');
    n->index = w.n == 1 ? 0 : local_rank;
    const char *mine = (size_t)n->index < w.n ? w.v[n->index] : "";
    bool uuid = !strncmp(mine, "GPU-", 4) || !strncmp(mine, "MIG-", 4);
    return *mine && (uuid ? n->call.by_uuid && n->call.by_uuid(mine, &n->device) == 0
                          : n->call.by_index((unsigned)atoi(mine), &n->device) == 0);
}

void nvml_unload(struct nvml *n)
{
    n->call.shutdown();
    dlclose(n->library);
    free(n);
}

struct nvml *nvml_load(int local_rank)
{
    struct nvml *n = xcalloc(1, sizeof *n);
    if (!load(n)) {
        if (n->library)
            dlclose(n->library);
        free(n);
        return NULL;
    }
    if (local_rank != NVML_NO_RANK && !find_device(n, local_rank)) {
        nvml_unload(n);
        return NULL;
    }
    return n;
}
