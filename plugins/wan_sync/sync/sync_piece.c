/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync/sync_piece.h"

#include "wan_sync/strategy/strategies.h"

/* Inside a site memory is near: blocks large enough that each is worth its message, and a few of
 * them at a time. */
#define INSIDE_BLOCK_B ((size_t)256 << 10)
#define INSIDE_SLOTS_B ((size_t)4 << 20)

static bool make_exchange(struct piece *p, const struct sync_parts *parts, int me,
                          const struct engine_task *task, size_t count)
{
    const struct cell *c = parts->cell;
    struct schedule *schedule = &p->schedule[WAY_EXCHANGE];
    struct schedule_shape shape = cell_shape(c, parts->members, count);
    shape.me = me;
    shape.share = parts->share;
    if (!strategies[cell_model(c)].make(schedule, &shape))
        return false;
    struct engine_task *t = &p->task[WAY_EXCHANGE];
    *t = *task;
    t->schedule = schedule;
    t->rank_of = parts->rank_of;
    t->wire = (enum wire)c->wire;
    t->residual = parts->residual ? parts->residual + (t->data - parts->data) : NULL;
    t->need = engine_need(schedule, t->wire, CELL_SLOTS_B);
    return true;
}

static bool make_inside(struct piece *p, const struct sync_parts *parts, enum way way,
                        const struct engine_task *task, size_t count)
{
    const size_t block = INSIDE_BLOCK_B / sizeof(float);
    struct schedule_shape shape = {.me = parts->inside.me,
                                   .members = parts->inside.members,
                                   .count = count,
                                   .align = WIRE_GROUP,
                                   .block = block,
                                   .least = block,
                                   .plain = true};
    struct schedule *schedule = &p->schedule[way];
    if (!(way == WAY_INWARD ? strategy_inward : strategy_outward)(schedule, &shape))
        return false;
    struct engine_task *t = &p->task[way];
    *t = *task;
    t->schedule = schedule;
    t->rank_of = parts->inside.peer;
    t->wire = WIRE_FP32;
    t->need = engine_need(schedule, t->wire, INSIDE_SLOTS_B);
    return true;
}

bool piece_make(struct piece *p, const struct sync_parts *parts, int me, int64_t fragment)
{
    size_t first = cell_fragment(parts->cell, fragment);
    size_t count = cell_fragment(parts->cell, fragment + 1) - first;
    struct engine_task task = {.data = parts->data + first};
    if (parts->inside.engine && (!make_inside(p, parts, WAY_INWARD, &task, count) ||
                                 !make_inside(p, parts, WAY_OUTWARD, &task, count)))
        return false;
    return me < 0 || make_exchange(p, parts, me, &task, count);
}

void piece_free(struct piece *p)
{
    for (int way = 0; way < WAYS; way++)
        schedule_free(&p->schedule[way]);
}
