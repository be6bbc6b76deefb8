/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the operations of a sample find their buffers. Hot: one slot, used every time. Cold: as
 * many as hold 4 times the last-level cache, visited in a fixed scattered order, so that a slot has
 * left the cache, and no prefetcher foresees it, when its turn comes again. A slot is an input and
 * an output, or one buffer in place, each aligned to SLOT_ALIGN whatever the size.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOT_ALIGN 256

struct slots {
    char *in, *out;     /* the same memory in place */
    size_t stride;      /* bytes from one slot to the next */
    size_t n, step, at; /* slots, the next one is `step` further, the next one to use */
};

struct slots_shape {
    size_t stride, n;
    uint64_t total_B;
};

/* What slots_open() takes for buffers of size_B. */
struct slots_shape slots_shape(uint64_t size_B, bool cold, bool in_place);
/* False when there is no such memory; nothing to close then. The memory is not touched. */
bool slots_open(struct slots *s, const struct slots_shape *shape, bool in_place);
void slots_close(struct slots *s);

/* The last-level cache in bytes, of the first processor. */
uint64_t last_level_cache_B(void);

/* The slot to use now; the next call gives the next one. */
static inline size_t slots_next(struct slots *s)
{
    size_t now = s->at;
    s->at = now + s->step < s->n ? now + s->step : now + s->step - s->n;
    return now * s->stride;
}

#endif
