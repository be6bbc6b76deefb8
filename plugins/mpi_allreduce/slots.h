/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffers of a sample's operations. Hot: every operation uses the same slot. Cold: the slots
 * fill 4 times the last-level cache and are used in a fixed scattered order. So a slot has left the
 * cache before it is used again, and no prefetcher predicts it. A slot is an input and an output,
 * or one buffer in place; each buffer is aligned to SLOT_ALIGN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOT_ALIGN 256

struct slots {
    char *in, *out;     /* the same memory in place */
    size_t stride;      /* bytes from one slot to the next */
    size_t n, step, at; /* number of slots, distance to the next one, next one to use */
};

struct slots_shape {
    size_t stride, n;
    uint64_t total_B;
};

/* The shape for slots_open() with buffers of size_B. */
struct slots_shape slots_shape(uint64_t size_B, bool cold, bool in_place);
/* False: out of memory; then there is nothing to close. Does not touch the memory. */
bool slots_open(struct slots *s, const struct slots_shape *shape, bool in_place);
void slots_close(struct slots *s);

/* Bytes of the last-level cache of the first processor. */
uint64_t last_level_cache_B(void);

/* The slot to use now; the next call gives the next one. */
static inline size_t slots_next(struct slots *s)
{
    size_t now = s->at;
    s->at = now + s->step < s->n ? now + s->step : now + s->step - s->n;
    return now * s->stride;
}
