/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi_allreduce/slots.h"

#include <stdio.h>
#include <stdlib.h>

#define CACHES "/sys/devices/system/cpu/cpu0/cache/index%d/size"
#define UNKNOWN_CACHE_B                                                                            \
    (UINT64_C(64)                                                                                  \
     << 20) /* where the kernel does not say, as in some guests                       \
                          */
#define COLD_CACHES 4
#define PAGE_B 4096

uint64_t last_level_cache_B(void)
{
    uint64_t largest = 0;
    for (int i = 0; i < 8; i++) {
        char path[sizeof CACHES + 8];
        unsigned long kib;
        snprintf(path, sizeof path, CACHES, i);
        FILE *f = fopen(path, "re");
        if (!f)
            break;
        if (fscanf(f, "%luK", &kib) == 1 && (uint64_t)kib << 10 > largest)
            largest = (uint64_t)kib << 10;
        fclose(f);
    }
    return largest ? largest : UNKNOWN_CACHE_B;
}

static size_t gcd(size_t a, size_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* Near the golden section, which keeps visits that are close in time far apart in memory, and
 * without a factor common with n, so that every slot has its turn. */
static size_t scattered_step(size_t n)
{
    size_t step = (size_t)((double)n * 0.6180339887);
    while (step > 1 && gcd(step, n) != 1)
        step--;
    return n == 1 ? 0 : step > 0 ? step : 1;
}

struct slots_shape slots_shape(uint64_t size_B, bool cold, bool in_place)
{
    uint64_t stride = (size_B + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    uint64_t of_a_slot = stride * (in_place ? 1 : 2), n = 1;
    if (cold) {
        n = (COLD_CACHES * last_level_cache_B() + of_a_slot - 1) / of_a_slot;
        n = n < 2 ? 2 : n;
    }
    return (struct slots_shape){(size_t)stride, (size_t)n, n * of_a_slot};
}

bool slots_open(struct slots *s, const struct slots_shape *shape, bool in_place)
{
    size_t bytes = (shape->stride * shape->n + PAGE_B - 1) / PAGE_B * PAGE_B;
    *s = (struct slots){.stride = shape->stride, .n = shape->n, .step = scattered_step(shape->n)};
    s->in = aligned_alloc(PAGE_B, bytes);
    s->out = in_place ? s->in : aligned_alloc(PAGE_B, bytes);
    if (s->in && s->out)
        return true;
    slots_close(s);
    return false;
}

void slots_close(struct slots *s)
{
    if (s->out != s->in)
        free(s->out);
    free(s->in);
    s->in = s->out = NULL;
}
