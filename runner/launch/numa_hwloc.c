/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/numa.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <stdio.h>
#include <string.h>

bool numa_here(void)
{
    return true;
}

static void bind_within(struct numa *n, hwloc_topology_t t, hwloc_bitmap_t set)
{
    hwloc_bitmap_and(set, set, hwloc_get_root_obj(t)->cpuset);
    if (hwloc_bitmap_iszero(set)) {
        snprintf(n->why, sizeof n->why, "this job may use none of the processors beside it");
    } else if (hwloc_set_cpubind(t, set, HWLOC_CPUBIND_PROCESS)) {
        snprintf(n->why, sizeof n->why, "cannot bind: %s", strerror(errno));
    } else {
        hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
        hwloc_cpuset_to_nodeset(t, set, nodes);
        n->node = hwloc_bitmap_first(nodes);
        hwloc_bitmap_free(nodes);
        hwloc_bitmap_list_snprintf(n->cpus, sizeof n->cpus, set);
    }
}

/* The kernel names the processors near a device. hwloc would load device libraries such as CUDA to
 * find them. */
void numa_bind(struct numa *n, const char *mask_file)
{
    hwloc_topology_t t;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    *n = (struct numa){.node = -1};
    if (hwloc_linux_read_path_as_cpumask(mask_file, set)) {
        snprintf(n->why, sizeof n->why, "the kernel does not say which processors are beside it");
    } else if (hwloc_topology_init(&t)) {
        snprintf(n->why, sizeof n->why, "hwloc does not start");
    } else {
        if (hwloc_topology_load(t))
            snprintf(n->why, sizeof n->why, "hwloc cannot read this machine");
        else
            bind_within(n, t, set);
        hwloc_topology_destroy(t);
    }
    hwloc_bitmap_free(set);
}
