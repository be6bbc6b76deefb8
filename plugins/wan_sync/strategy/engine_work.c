/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/strategy/engine_parts.h"
#include "wan_sync/wire/vectorise.h"

#include <string.h>

/* A number that became infinite or none has lost nothing that can be given back. */
VECTORISE static void keep_lost(const float *restrict x, size_t n, float *restrict residual)
{
    for (size_t i = 0; i < n; i++) {
        float lost = x[i] - residual[i];
        residual[i] = lost - lost == 0 ? lost : 0;
    }
}

VECTORISE static void add_lost(float *restrict x, size_t n, const float *restrict residual)
{
    for (size_t i = 0; i < n; i++)
        x[i] += residual[i];
}

/* An encoding takes the place of what it encodes by way of the spare slot. */
static void pack_in_place(const struct engine *e, const struct step *t)
{
    float *x = e->task->data + t->first;
    float *residual = e->task->residual ? e->task->residual + t->first : NULL;
    if (residual)
        add_lost(x, t->n, residual);
    wire_encode(e->task->wire, x, t->n, engine_spare_slot(e));
    if (residual) {
        wire_decode(e->task->wire, engine_spare_slot(e), t->n, residual);
        keep_lost(x, t->n, residual);
    }
    memcpy(x, engine_spare_slot(e), wire_bytes(e->task->wire, t->n));
}

static void unpack_in_place(const struct engine *e, const struct step *t)
{
    float *x = e->task->data + t->first;
    memcpy(engine_spare_slot(e), x, wire_bytes(e->task->wire, t->n));
    wire_decode(e->task->wire, engine_spare_slot(e), t->n, x);
}

static void sum_held(const struct engine *e, const struct step *t)
{
    const struct schedule_shape *f = &e->task->schedule->shape;
    const struct step *hold = t - (f->members - 1);
    float *x = e->task->data + t->first;
    enum wire wire = e->task->wire;
    memcpy(engine_spare_slot(e), x, wire_bytes(wire, t->n));
    for (int m = 0; m < f->members; m++) {
        const void *in = m == f->me ? engine_spare_slot(e) : engine_take_slot(e, hold++);
        if (m == 0)
            wire_decode(wire, in, t->n, x);
        else
            wire_add(wire, in, t->n, x);
    }
}

void engine_work(const struct engine *e, const struct step *t)
{
    const struct engine_task *task = e->task;
    if (t->kind == STEP_PACK)
        pack_in_place(e, t);
    else if (t->kind == STEP_UNPACK)
        unpack_in_place(e, t);
    else if (t->kind == STEP_SUM)
        sum_held(e, t);
    else
        wire_add(task->wire, engine_take_slot(e, t), t->n, task->data + t->first);
}
