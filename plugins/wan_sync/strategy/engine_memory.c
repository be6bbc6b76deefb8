/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/strategy/engine_parts.h"

#include <stdlib.h>

#define WINDOW_MOST 96 /* blocks: 24 MiB at the default block, what a budget holds for one peer */

struct engine *engine_open(struct wan_link *link)
{
    struct engine *e = calloc(1, sizeof *e);
    if (e)
        e->link = link;
    return e;
}

void engine_close(struct engine *e)
{
    if (!e)
        return;
    void *all[] = {e->waits, e->state, e->work, e->at, e->member_of, e->slots};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(e);
}

void engine_leave_slots(struct engine *e)
{
    e->slots = NULL;
    e->slots_cap = 0;
}

struct engine_need engine_need(const struct schedule *s, enum wire wire, size_t budget_B)
{
    struct engine_need need = {.slot_B = (wire_bytes(wire, s->largest) + 63) / 64 * 64};
    size_t lanes = (size_t)s->peers;
    size_t window = need.slot_B && lanes ? budget_B / lanes / need.slot_B : WINDOW_MOST;
    window = window < WINDOW_MOST ? window : WINDOW_MOST;
    need.window = (uint32_t)(window > ENGINE_WINDOW_LEAST ? window : ENGINE_WINDOW_LEAST);
    need.slots_B = (lanes * need.window + 1) * need.slot_B;
    return need;
}

static bool regrow(void *pointer, size_t n, size_t each)
{
    void **p = pointer;
    void *q = realloc(*p, (n + 1) * each);
    if (q)
        *p = q;
    return q;
}

static bool reserve(struct engine *e, const struct engine_task *t)
{
    const struct schedule *s = t->schedule;
    int members = s->shape.members;
    if (e->steps_cap < s->n) {
        if (!regrow(&e->waits, s->n, sizeof *e->waits) ||
            !regrow(&e->state, s->n, sizeof *e->state) || !regrow(&e->work, s->n, sizeof *e->work))
            return false;
        e->steps_cap = s->n;
    }
    if (e->members_cap < members && !regrow(&e->at, (size_t)members, sizeof *e->at))
        return false;
    e->members_cap = e->members_cap > members ? e->members_cap : members;
    if (e->slots_cap < t->need.slots_B) {
        free(e->slots);
        e->slots_cap = 0;
        e->slots = aligned_alloc(64, t->need.slots_B);
        e->slots_cap = e->slots ? t->need.slots_B : 0;
    }
    return e->slots_cap >= t->need.slots_B;
}

static bool name_members(struct engine *e, const struct engine_task *t)
{
    int members = t->schedule->shape.members, ranks = 0;
    for (int m = 0; m < members; m++)
        ranks = t->rank_of[m] >= ranks ? t->rank_of[m] + 1 : ranks;
    if (ranks > e->ranks) {
        if (!regrow(&e->member_of, (size_t)ranks, sizeof *e->member_of))
            return false;
        e->ranks = ranks;
    }
    for (int r = 0; r < e->ranks; r++)
        e->member_of[r] = -1;
    for (int m = 0; m < members; m++)
        e->member_of[t->rank_of[m]] = m;
    return true;
}

bool engine_reserve(struct engine *e, const struct engine_task *t)
{
    return reserve(e, t) && name_members(e, t);
}

/* ---- where things lie ---- */

char *engine_take_slot(const struct engine *e, const struct step *t)
{
    const struct engine_need *n = &e->task->need;
    size_t lane = (size_t)e->task->schedule->lane[t->peer].take_place;
    return e->slots + (lane * n->window + t->seq % n->window) * n->slot_B;
}

char *engine_spare_slot(const struct engine *e)
{
    return e->slots + e->task->need.slots_B - e->task->need.slot_B;
}
