/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/numa.h"

#include <stdio.h>

bool numa_here(void)
{
    return false;
}

void numa_bind(struct numa *n, const char *mask_file)
{
    (void)mask_file;
    *n = (struct numa){.node = -1};
    snprintf(n->why, sizeof n->why, "built without hwloc");
}
