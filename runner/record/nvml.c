/* SPDX-License-Identifier: Apache-2.0 */
#include "record/nvml.h"

#include "base/files.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the library ---- */

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
_Static_assert(sizeof(struct nvml_calls) == COUNT(names) * sizeof(void (*)(void)),
               "a name for each call");

/* An older driver lacks some calls; they stay NULL. */
static bool load(struct nvml *n)
{
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        return false;
    for (size_t i = 0; i < COUNT(names); i++) {
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

/* ---- a GPU ---- */

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { LINKS_MAX = 18, PEERS_MAX = 16 };
enum { LINK_COUNTERS = 4 }; /* replays, recoveries, CRC errors of flits and of data */

static const struct {
    unsigned long long bit;
    const char *name;
} reasons[] = {
    {0x001, "idle"},        {0x002, "application_clocks"}, {0x004, "power_cap"},
    {0x008, "hw_slowdown"}, {0x010, "sync_boost"},         {0x020, "sw_thermal"},
    {0x040, "hw_thermal"},  {0x080, "power_brake"},        {0x100, "display_clocks"},
};

static const struct {
    int level;
    const char *name; /* as nvidia-smi topo -m */
} ancestors[] = {{0, "self"}, {10, "PIX"}, {20, "PXB"}, {30, "PHB"}, {40, "NODE"}, {50, "SYS"}};

/* nvmlDeviceGetNvLinkVersion's codes */
static const char *const link_versions[] = {NULL, "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0"};

static void add_text(json_t *to, const char *key, int error, const char *text)
{
    if (!error)
        json_object_set_new(to, key, json_string(text));
}

static void add_number(json_t *to, const char *key, int error, double value)
{
    if (!error)
        json_object_set_new(to, key, json_integer((json_int_t)value));
}

/* The number of active NVLinks, their lowest version, and their errors since the driver was loaded. */
static void add_links(const struct nvml *n, json_t *gpu)
{
    unsigned up = 0, version = 0;
    unsigned long long errors = 0, count;
    bool counted = false;
    if (!n->call.link_state)
        return;
    for (unsigned link = 0; link < LINKS_MAX; link++) {
        unsigned active = 0, v = 0;
        if (n->call.link_state(n->device, link, &active) != 0 || !active)
            continue;
        up++;
        for (int k = 0; k < LINK_COUNTERS; k++)
            if (NVML_ASK(n->call.link_errors, n->device, link, k, &count) == 0) {
                counted = true;
                errors += count;
            }
        if (n->call.link_version && n->call.link_version(n->device, link, &v) == 0)
            version = version && version < v ? version : v;
    }
    add_number(gpu, "nvlinks", 0, up);
    add_number(gpu, "nvlink_errors", !counted, (double)errors);
    if (version && version < COUNT(link_versions))
        add_text(gpu, "nvlink_version", 0, link_versions[version]);
}

/* PCIe's way to the other GPUs, by NVML's index. */
static void add_topology(const struct nvml *n, json_t *gpu)
{
    unsigned count = 0;
    if (!n->call.ancestor || !n->call.count || n->call.count(&count) != 0)
        return;
    json_t *ways = json_array();
    for (unsigned i = 0; i < count && i < PEERS_MAX; i++) {
        nvml_device peer;
        int level = 0;
        bool known = n->call.by_index(i, &peer) == 0 &&
                     (peer == n->device || n->call.ancestor(n->device, peer, &level) == 0);
        const char *way = "unknown";
        for (size_t k = 0; known && k < COUNT(ancestors); k++)
            way = ancestors[k].level == level ? ancestors[k].name : way;
        json_array_append_new(ways, json_string(way));
    }
    json_object_set_new(gpu, "pcie_ways", ways);
}

json_t *nvml_gpu_facts(const struct nvml *n)
{
    json_t *gpu = json_object();
    char text[96] = "";
    int cuda = 0;
    unsigned v = 0;
    struct nvml_memory memory = {0};
    add_number(gpu, "index", 0, n->index);
    add_text(gpu, "name", NVML_ASK(n->call.name, n->device, text, sizeof text), text);
    add_text(gpu, "uuid", NVML_ASK(n->call.uuid, n->device, text, sizeof text), text);
    add_text(gpu, "driver", NVML_ASK(n->call.driver, text, sizeof text), text);
    int error = NVML_ASK(n->call.cuda_driver, &cuda);
    snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    add_text(gpu, "cuda_driver", error, text);
    error = NVML_ASK(n->call.memory, n->device, &memory);
    add_number(gpu, "memory_B", error, (double)memory.total);
    error = NVML_ASK(n->call.max_clock, n->device, CLOCK_SM, &v);
    add_number(gpu, "sm_max_Hz", error, v * 1e6);
    error = NVML_ASK(n->call.power_limit, n->device, &v);
    add_number(gpu, "power_limit_W", error, v * 1e-3);
    error = NVML_ASK(n->call.pcie_generation, n->device, &v);
    add_number(gpu, "pcie_generation", error, v);
    error = NVML_ASK(n->call.pcie_width, n->device, &v);
    add_number(gpu, "pcie_width", error, v);
    add_links(n, gpu);
    add_topology(n, gpu);
    return gpu;
}

json_t *nvml_gpu_now(const struct nvml *n)
{
    json_t *gpu = json_object();
    unsigned v = 0;
    unsigned long long mask = 0;
    int error = NVML_ASK(n->call.clock, n->device, CLOCK_SM, &v);
    add_number(gpu, "sm_Hz", error, v * 1e6);
    error = NVML_ASK(n->call.clock, n->device, CLOCK_MEMORY, &v);
    add_number(gpu, "memory_Hz", error, v * 1e6);
    error = NVML_ASK(n->call.temperature, n->device, 0, &v);
    add_number(gpu, "temperature_C", error, v);
    error = NVML_ASK(n->call.power, n->device, &v);
    add_number(gpu, "power_W", error, v * 1e-3);
    if (NVML_ASK(n->call.throttle, n->device, &mask))
        return gpu;
    json_t *why = json_array();
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (mask & reasons[i].bit)
            json_array_append_new(why, json_string(reasons[i].name));
    json_object_set_new(gpu, "throttle", why);
    return gpu;
}

size_t nvml_gpu_programs(const struct nvml *n, struct nvml_process found[NVML_PROGRAMS_MAX])
{
    unsigned count = NVML_PROGRAMS_MAX;
    size_t kept = 0;
    if (NVML_ASK(n->call.processes, n->device, &count, found) != 0)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        char path[32], name[16] = ""; /* of 15 letters at most */
        snprintf(path, sizeof path, "/proc/%u/comm", found[i].pid);
        AUTO_FCLOSE FILE *f = fopen(path, "re");
        if (!f || fscanf(f, "%15s", name) != 1 || strcmp(name, "nvidia-cuda-mps"))
            found[kept++] = found[i];
    }
    return kept;
}
