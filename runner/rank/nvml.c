/* SPDX-License-Identifier: Apache-2.0
 *
 * NVML's facts about this rank's GPU, and conditions that may disturb it.
 */
#include "rank/nvml.h"

#include "base/family.h"
#include "rank/health.h"
#include "record/nvml_gpu.h"

#include <stdio.h>
#include <unistd.h>

static bool nvml_open(void **self, const struct team *team)
{
    *self = nvml_load(team->local_rank);
    return *self;
}

static void nvml_close(void *self)
{
    nvml_unload(self);
}

bool nvml_pci_address(int local_rank, char *place, size_t n)
{
    struct nvml *v = nvml_load(local_rank);
    struct nvml_pci pci = {0};
    if (!v)
        return false;
    bool found = v->call.pci && v->call.pci(v->device, &pci) == 0;
    if (found)
        snprintf(place, n, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    nvml_unload(v);
    return found;
}

static void nvml_describe(void *self, json_t *host)
{
    json_object_set_new(host, "gpu", nvml_gpu_facts(self));
}

/* Ranks of this launch have the same parent. A GPU has one rank: where process ids are those of
 * another namespace, one of them is it. */
static size_t others(const struct nvml *n)
{
    struct nvml_process found[NVML_PROGRAMS_MAX];
    size_t all = nvml_gpu_programs(n, found), ours = 0;
    for (size_t i = 0; i < all; i++)
        ours += family_parent((pid_t)found[i].pid) == getppid();
    return all - (ours || !all ? ours : 1);
}

static void nvml_read(void *self, json_t *now)
{
    json_t *gpu = nvml_gpu_now(self);
    json_object_set_new(gpu, "others", json_integer((json_int_t)others(self)));
    json_object_set_new(now, "gpu", gpu);
}

const struct health_source health_nvml = {
    .name = "nvml",
    .open = nvml_open,
    .close = nvml_close,
    .describe = nvml_describe,
    .read = nvml_read,
};
