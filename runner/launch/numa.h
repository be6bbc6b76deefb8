/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds this process to the processors beside a device, with hwloc where it was there at the build
 * (numa_hwloc.c); numa_none.c else.
 */
#ifndef GS_NUMA_H
#define GS_NUMA_H

#include <stdbool.h>
#include <stddef.h>

struct numa {
    char cpus[256]; /* "0-31,64-95": what it was bound to; "" nothing, and why: */
    char why[160];
    int node; /* NUMA node, the first; -1 unknown */
};

bool numa_here(void); /* false: built without hwloc */

/* To those processors of the mask (a file as the kernel writes it: "ffffffff,00000000") that this
 * process may use. Threads and processes that it starts later are bound alike. */
void numa_bind(struct numa *n, const char *mask_file);

#endif
