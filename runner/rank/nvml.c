/* SPDX-License-Identifier: Apache-2.0
 *
 * What NVML says of this rank's GPU. The library comes with the driver and is looked for when ranks
 * start, so nothing is linked or needed where there is no GPU. The few declarations are those of
 * nvml.h, whose ABI NVIDIA keeps.
 */
#include "rank/nvml.h"

#include "rank/health.h"
#include "text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvmlDevice *nvml_device;

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
};

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { LINKS_MAX = 18, PEERS_MAX = 16 };

/* Members in the order of names[]. */
struct nvml_calls {
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_index)(unsigned, nvml_device *);
    int (*by_uuid)(const char *, nvml_device *);
    int (*count)(unsigned *);
    int (*name)(nvml_device, char *, unsigned);
    int (*driver)(char *, unsigned);
    int (*cuda_driver)(int *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*max_clock)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*power)(nvml_device, unsigned *);
    int (*power_limit)(nvml_device, unsigned *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*memory)(nvml_device, struct nvml_memory *);
    int (*pcie_generation)(nvml_device, unsigned *);
    int (*pcie_width)(nvml_device, unsigned *);
    int (*link_state)(nvml_device, unsigned, unsigned *);
    int (*link_version)(nvml_device, unsigned, unsigned *);
    int (*ancestor)(nvml_device, nvml_device, int *);
    int (*pci)(nvml_device, struct nvml_pci *);
};

static const char *const names[] = {
    "nvmlInit_v2",
    "nvmlShutdown",
    "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetHandleByUUID",
    "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetName",
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
};
_Static_assert(sizeof(struct nvml_calls) == sizeof names / sizeof *names * sizeof(void (*)(void)),
               "a name for each call");

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

struct nvml {
    void *library;
    struct nvml_calls call;
    nvml_device device;
    int index; /* of CUDA's devices as this rank sees them */
};

/* An older driver lacks some calls; these are asked for nothing. */
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
    struct words w = {0};
    words_split(&w, visible, ',');
    n->index = w.n == 1 ? 0 : local_rank;
    const char *mine = (size_t)n->index < w.n ? w.v[n->index] : "";
    bool uuid = !strncmp(mine, "GPU-", 4) || !strncmp(mine, "MIG-", 4);
    bool found = *mine && (uuid ? n->call.by_uuid && n->call.by_uuid(mine, &n->device) == 0
                                : n->call.by_index((unsigned)atoi(mine), &n->device) == 0);
    words_free(&w);
    return found;
}

static void nvml_close(void *self)
{
    struct nvml *n = self;
    n->call.shutdown();
    dlclose(n->library);
    free(n);
}

static struct nvml *open_local(int local_rank)
{
    struct nvml *n = xcalloc(1, sizeof *n);
    if (!load(n)) {
        if (n->library)
            dlclose(n->library);
        free(n);
        return NULL;
    }
    if (!find_device(n, local_rank)) {
        nvml_close(n);
        return NULL;
    }
    return n;
}

static bool nvml_open(void **self, const struct team *team)
{
    *self = open_local(team->local_rank);
    return *self;
}

bool nvml_place(int local_rank, char *place, size_t n)
{
    struct nvml *v = open_local(local_rank);
    struct nvml_pci pci = {0};
    if (!v)
        return false;
    bool found = v->call.pci && v->call.pci(v->device, &pci) == 0;
    if (found)
        snprintf(place, n, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    nvml_close(v);
    return found;
}

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

/* NVLinks that are up, and the least version among them. */
static void add_links(const struct nvml *n, json_t *gpu)
{
    unsigned up = 0, version = 0;
    if (!n->call.link_state)
        return;
    for (unsigned link = 0; link < LINKS_MAX; link++) {
        unsigned active = 0, v = 0;
        if (n->call.link_state(n->device, link, &active) != 0 || !active)
            continue;
        up++;
        if (n->call.link_version && n->call.link_version(n->device, link, &v) == 0)
            version = version && version < v ? version : v;
    }
    add_number(gpu, "nvlinks", 0, up);
    if (version && version < sizeof link_versions / sizeof *link_versions)
        add_text(gpu, "nvlink_version", 0, link_versions[version]);
}

static const char *ancestor_name(int level)
{
    for (size_t i = 0; i < sizeof ancestors / sizeof *ancestors; i++)
        if (ancestors[i].level == level)
            return ancestors[i].name;
    return "unknown";
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
        json_array_append_new(ways, json_string(known ? ancestor_name(level) : "unknown"));
    }
    json_object_set_new(gpu, "pcie_ways", ways);
}

#define ASK(call, ...) ((call) ? (call)(__VA_ARGS__) : 1)

static void nvml_describe(void *self, json_t *host)
{
    const struct nvml *n = self;
    json_t *gpu = json_object();
    char text[96] = "";
    int cuda = 0;
    unsigned v = 0;
    struct nvml_memory memory = {0};
    add_number(gpu, "index", 0, n->index);
    add_text(gpu, "name", ASK(n->call.name, n->device, text, sizeof text), text);
    add_text(gpu, "driver", ASK(n->call.driver, text, sizeof text), text);
    int error = ASK(n->call.cuda_driver, &cuda);
    snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    add_text(gpu, "cuda_driver", error, text);
    error = ASK(n->call.memory, n->device, &memory);
    add_number(gpu, "memory_B", error, (double)memory.total);
    error = ASK(n->call.max_clock, n->device, CLOCK_SM, &v);
    add_number(gpu, "sm_max_Hz", error, v * 1e6);
    error = ASK(n->call.power_limit, n->device, &v);
    add_number(gpu, "power_limit_W", error, v * 1e-3);
    error = ASK(n->call.pcie_generation, n->device, &v);
    add_number(gpu, "pcie_generation", error, v);
    error = ASK(n->call.pcie_width, n->device, &v);
    add_number(gpu, "pcie_width", error, v);
    add_links(n, gpu);
    add_topology(n, gpu);
    json_object_set_new(host, "gpu", gpu);
}

static void add_throttle(json_t *gpu, unsigned long long mask)
{
    json_t *why = json_array();
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (mask & reasons[i].bit)
            json_array_append_new(why, json_string(reasons[i].name));
    json_object_set_new(gpu, "throttle", why);
}

static void nvml_read(void *self, json_t *now)
{
    const struct nvml *n = self;
    json_t *gpu = json_object();
    unsigned v = 0;
    unsigned long long mask = 0;
    int error = ASK(n->call.clock, n->device, CLOCK_SM, &v);
    add_number(gpu, "sm_Hz", error, v * 1e6);
    error = ASK(n->call.clock, n->device, CLOCK_MEMORY, &v);
    add_number(gpu, "memory_Hz", error, v * 1e6);
    error = ASK(n->call.temperature, n->device, 0, &v);
    add_number(gpu, "temperature_C", error, v);
    error = ASK(n->call.power, n->device, &v);
    add_number(gpu, "power_W", error, v * 1e-3);
    if (!ASK(n->call.throttle, n->device, &mask))
        add_throttle(gpu, mask);
    json_object_set_new(now, "gpu", gpu);
}

const struct health_source health_nvml = {
    .name = "nvml",
    .open = nvml_open,
    .close = nvml_close,
    .describe = nvml_describe,
    .read = nvml_read,
};
