/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds this process to the processors near a device: numa_hwloc.c with hwloc, numa_none.c without.
 */
#pragma once

#include <stdbool.h>

struct numa {
    char cpus[256]; /* "0-31,64-95": the processors; "": not bound, see why */
    char why[160];
    int node; /* first NUMA node; -1: unknown */
};

bool numa_here(void); /* false: built without hwloc */

/* Binds to those processors of the mask that this process may use. The mask is a file of the kernel,
 * "ffffffff,00000000". Later threads and child processes inherit the binding. */
void numa_bind(struct numa *n, const char *mask_file);
