/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/beat.h"

#include "base/clock.h"

#include <stdio.h>
#include <sys/mman.h>

struct beat *beat_map(void)
{
    void *page =
        mmap(NULL, sizeof(struct beat), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED ? NULL : page;
}

void beat_step(struct beat *b, const char *phase, double seconds)
{
    uint64_t now = clock_now_ns();
    snprintf(b->phase, sizeof b->phase, "%s", phase);
    atomic_store(&b->step_ns, now);
    atomic_store(&b->deadline_ns, now + (uint64_t)(seconds * 1e9));
}

void beat_cell(struct beat *b, const struct cell *cell, int copy)
{
    atomic_store(&b->copy, (uint32_t)copy);
    snprintf(b->cell, sizeof b->cell, "%s", cell ? cell->id : "");
    snprintf(b->config, sizeof b->config, "%s", cell ? cell->config : "");
    b->said[0] = '\0'; /* of the cell before */
}

void beat_lost(struct beat *b, const char *host)
{
    size_t at = b->lost_B, room = sizeof b->lost - at;
    int n = snprintf(b->lost + at, room, "%s ", host);
    if (n > 0 && (size_t)n < room)
        atomic_store(&b->lost_B, (uint32_t)(at + (size_t)n));
}
