/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/binding.h"

#include "base/text.h"
#include "launch/launcher.h"
#include "rank/nvml.h"

#include <stdio.h>

void binding_take(struct gpu_binding *b, const struct plan *p, int local_rank)
{
    *b = (struct gpu_binding){.enabled = launcher_binds_to_gpus(p)};
    if (!b->enabled)
        return;
    if (!nvml_pci_address(local_rank, b->gpu, sizeof b->gpu)) {
        snprintf(b->numa.why, sizeof b->numa.why, "no GPU was found for this rank");
        return;
    }
    AUTO_FREE char *mask = xstrfmt("/sys/bus/pci/devices/%s/local_cpus", b->gpu);
    numa_bind(&b->numa, mask);
}

void binding_describe(const struct gpu_binding *b, json_t *host)
{
    if (!b->enabled)
        return;
    json_t *bound = json_pack("{s:s}", "gpu", b->gpu);
    if (*b->numa.why) {
        json_object_set_new(bound, "why", json_string(b->numa.why));
    } else {
        json_object_set_new(bound, "numa", json_integer(b->numa.node));
        json_object_set_new(bound, "cpus", json_string(b->numa.cpus));
    }
    json_object_set_new(host, "bound", bound);
}
