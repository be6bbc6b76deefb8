/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "wan_sync/strategy/engine_parts.h"

#include <stdio.h>
#include <string.h>

#define SEQ_BITS 24

/* ---- posting ---- */

static uint64_t id_of(const struct engine *e, const struct step *t)
{
    return e->run << SEQ_BITS | t->seq;
}

static int post_send(struct engine *e, uint32_t i)
{
    const struct engine_task *task = e->task;
    const struct step *t = &task->schedule->step[i];
    size_t bytes = wire_bytes(task->wire, t->n);
    const void *from = task->data + t->first;
    e->state[i] |= POSTED;
    e->at[t->peer].under_way++;
    e->sent_B += bytes;
    return e->link->ops->send(e->link, task->rank_of[t->peer], id_of(e, t), from, bytes);
}

static int pump_sends(struct engine *e, int peer)
{
    const struct lane *l = &e->task->schedule->lane[peer];
    struct progress *p = &e->at[peer];
    uint32_t window = e->task->need.window;
    for (uint32_t k = p->send_low; k < l->sends && k - p->send_low < window; k++) {
        uint32_t i = l->send[k];
        if (p->under_way >= window)
            return 0;
        if ((e->state[i] & (READY | POSTED)) == READY && post_send(e, i) < 0)
            return -1;
        if (k == p->send_low && e->state[i] & POSTED)
            p->send_low++;
    }
    return 0;
}

static void queue(struct engine *e, uint32_t i)
{
    e->state[i] |= QUEUED;
    e->work[e->work_tail++] = i;
}

static int post_take(struct engine *e, uint32_t i)
{
    const struct engine_task *task = e->task;
    const struct step *t = &task->schedule->step[i];
    void *to = t->kind == STEP_RECV ? (char *)(task->data + t->first) : engine_take_slot(e, t);
    e->state[i] |= POSTED;
    return e->link->ops->recv(e->link, task->rank_of[t->peer], id_of(e, t), to,
                              wire_bytes(task->wire, t->n));
}

static int pump_takes(struct engine *e, int peer)
{
    const struct schedule *s = e->task->schedule;
    const struct lane *l = &s->lane[peer];
    struct progress *p = &e->at[peer];
    while (p->take_low < l->takes && e->state[l->take[p->take_low]] & DONE)
        p->take_low++;
    for (uint32_t k = p->take_low; k < l->takes && k - p->take_low < e->task->need.window; k++) {
        uint32_t i = l->take[k];
        bool may = s->step[i].kind != STEP_RECV || e->state[i] & READY;
        if (may && !(e->state[i] & POSTED) && post_take(e, i) < 0)
            return -1;
    }
    return 0;
}

/* ---- what becomes ready, what is done ---- */

static int make_ready(struct engine *e, uint32_t i)
{
    const struct step *t = &e->task->schedule->step[i];
    e->state[i] |= READY;
    switch (t->kind) {
    case STEP_PACK:
    case STEP_UNPACK:
    case STEP_SUM:
        queue(e, i);
        return 0;
    case STEP_ADD:
        if (e->state[i] & RECEIVED)
            queue(e, i);
        return 0;
    case STEP_SEND:
        return pump_sends(e, t->peer);
    case STEP_RECV:
        return pump_takes(e, t->peer);
    case STEP_HOLD:
        break;
    }
    return 0;
}

static int release(struct engine *e, uint32_t i)
{
    const struct schedule *s = e->task->schedule;
    for (uint32_t k = s->first_next[i]; k < s->first_next[i + 1]; k++)
        if (--e->waits[s->next[k]] == 0 && make_ready(e, s->next[k]) < 0)
            return -1;
    return 0;
}

static int close_step(struct engine *e, uint32_t i)
{
    const struct step *t = &e->task->schedule->step[i];
    e->state[i] |= DONE;
    e->left--;
    e->sums_left -= t->kind != STEP_SEND;
    return t->peer >= 0 && t->kind != STEP_SEND ? pump_takes(e, t->peer) : 0;
}

/* A SUM closes its HOLDs: their slots are free only now. */
static int finish_step(struct engine *e, uint32_t i)
{
    const struct schedule *s = e->task->schedule;
    uint32_t holds = s->step[i].kind != STEP_SUM ? 0 : (uint32_t)s->shape.members - 1;
    for (uint32_t k = i - holds; k < i; k++)
        if (close_step(e, k) < 0)
            return -1;
    return release(e, i) < 0 ? -1 : close_step(e, i);
}

/* ---- work ---- */

static int do_step(struct engine *e, uint32_t i)
{
    engine_work(e, &e->task->schedule->step[i]);
    return finish_step(e, i);
}

/* ---- events ---- */

static int unexpected(struct engine *e, const struct wan_event *ev)
{
    snprintf(e->link->why, sizeof e->link->why, "%s: a block of rank %d that nobody waits for",
             e->link->ops->name, ev->peer);
    return -1;
}

static int take_event(struct engine *e, const struct wan_event *ev)
{
    const struct schedule *s = e->task->schedule;
    int m = ev->peer >= 0 && ev->peer < e->ranks ? e->member_of[ev->peer] : -1;
    uint32_t seq = (uint32_t)(ev->id & ((1u << SEQ_BITS) - 1));
    bool sent = ev->done == WAN_SENT;
    if (m < 0 || ev->id >> SEQ_BITS != e->run ||
        seq >= (sent ? s->lane[m].sends : s->lane[m].takes))
        return unexpected(e, ev);
    uint32_t i = sent ? s->lane[m].send[seq] : s->lane[m].take[seq];
    const struct step *t = &s->step[i];
    e->events++;
    if (sent) {
        e->at[m].under_way--;
        if (finish_step(e, i) < 0)
            return -1;
        return pump_sends(e, m);
    }
    if (t->kind == STEP_RECV)
        return finish_step(e, i);
    if (t->kind == STEP_HOLD)
        return release(e, i);
    e->state[i] |= RECEIVED;
    if (e->state[i] & READY)
        queue(e, i);
    return 0;
}

/* ---- a run ---- */

int engine_start(struct engine *e, const struct engine_task *task)
{
    const struct schedule *s = task->schedule;
    if (!engine_reserve(e, task)) {
        snprintf(e->link->why, sizeof e->link->why, "no memory for %zu bytes of blocks",
                 task->need.slots_B);
        return -1;
    }
    e->task = task;
    e->run++;
    e->left = e->sums_left = s->n;
    e->work_head = e->work_tail = 0;
    if (s->n > 0) { /* one member has nothing to do, and no tables */
        memcpy(e->waits, s->waits, s->n * sizeof *e->waits);
        memset(e->state, 0, s->n);
    }
    memset(e->at, 0, (size_t)s->shape.members * sizeof *e->at);
    for (uint32_t i = 0; i < s->n; i++)
        e->sums_left -= s->step[i].kind == STEP_SEND;
    for (int m = 0; m < s->shape.members; m++)
        if (pump_takes(e, m) < 0)
            return -1;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->waits[i] == 0 && make_ready(e, i) < 0)
            return -1;
    return 0;
}

void engine_pass(struct engine *e)
{
    e->run++;
}

/* One event, or one piece of work: the network first, it is what others wait for. */
static int move(struct engine *e, double timeout_s)
{
    struct wan_event ev;
    bool work = e->work_head < e->work_tail;
    int got = e->link->ops->next(e->link, &ev, work ? 0 : timeout_s);
    if (got > 0)
        return take_event(e, &ev);
    return got < 0 ? -1 : work ? do_step(e, e->work[e->work_head++]) : 0;
}

enum engine_state engine_poll(struct engine *e, double timeout_s)
{
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        bool summed = !e->task || e->sums_left == 0;
        if (!e->task || e->left == 0) {
            e->task = NULL;
            return ENGINE_IDLE;
        }
        uint64_t now = now_ns();
        if (move(e, now < end ? (double)(end - now) * 1e-9 : 0) < 0)
            return ENGINE_FAILED;
        if (e->left == 0)
            continue;
        if (!summed && e->sums_left == 0)
            return ENGINE_SUMMED;
        if (now >= end)
            return e->sums_left ? ENGINE_BUSY : ENGINE_SUMMED;
    }
}

int engine_awaits(const struct engine *e)
{
    for (int m = 0; e->task && m < e->task->schedule->shape.members; m++) {
        const struct lane *l = &e->task->schedule->lane[m];
        if (e->at[m].take_low < l->takes)
            return e->task->rank_of[m];
    }
    for (int m = 0; e->task && m < e->task->schedule->shape.members; m++)
        if (e->at[m].under_way)
            return e->task->rank_of[m];
    return -1;
}

uint64_t engine_events(const struct engine *e)
{
    return e->events;
}

uint64_t engine_sent_B(const struct engine *e)
{
    return e->sent_B;
}
