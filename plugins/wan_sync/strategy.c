/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/strategy.h"

#include "common/clock.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== schedules ==== */

/* What is known of a block while a schedule is written. */
struct block {
    uint32_t writer;  /* the last step that wrote it; STEP_NONE: it is the input */
    uint32_t readers; /* the last step that reads it since; a list through step.reader */
    bool packed;      /* there is an encoding of it: of `writer` */
    bool encoded;     /* and it lies in the block's own place */
};

static size_t up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* ---- memory ---- */

/* Room for one more. */
static bool grow(struct schedule *s, void *array, size_t *cap, size_t n, size_t each)
{
    void **p = array;
    if (n < *cap)
        return true;
    size_t more = *cap ? 2 * *cap : 256;
    void *q = realloc(*p, more * each);
    if (!q) {
        s->no_memory = true;
        return false;
    }
    *p = q;
    *cap = more;
    return true;
}

/* False: no memory, now or before. *i: its number. */
static bool add_step(struct schedule *s, enum step_kind kind, uint32_t block, int peer, uint32_t *i)
{
    if (s->no_memory || !grow(s, &s->step, &s->cap, s->n, sizeof *s->step))
        return false;
    size_t first = s->start[block];
    *i = s->n++;
    s->step[*i] = (struct step){.kind = kind,
                                .peer = peer,
                                .reader = STEP_NONE,
                                .first = first,
                                .n = s->start[block + 1] - first};
    return true;
}

static void edge(struct schedule *s, uint32_t from, uint32_t to)
{
    if (from != STEP_NONE && !s->no_memory &&
        grow(s, &s->edge, &s->edge_cap, s->edges, sizeof *s->edge))
        s->edge[s->edges++] = (struct edge){from, to};
}

/* ---- the cut ---- */

static size_t share_end(const struct schedule_shape *f, int part, int parts)
{
    double sum = 0;
    if (part + 1 == parts)
        return f->count;
    for (int k = 0; k <= part; k++)
        sum += f->share ? f->share[k] : 1.0 / parts;
    size_t end = up((size_t)llround((double)f->count * sum), f->align);
    return end < f->count ? end : f->count;
}

static size_t block_of(const struct schedule_shape *f, int parts)
{
    size_t fine = up(f->count / (size_t)parts / WAN_PIECES + 1, f->align);
    size_t n = fine > f->least ? fine : f->least;
    n = n < f->block ? n : f->block;
    return n > f->align ? n / f->align * f->align : f->align;
}

static void cut(struct schedule *s, int parts)
{
    const struct schedule_shape *f = &s->shape;
    size_t each = block_of(f, parts), at = 0;
    uint32_t b = 0;
    for (int k = 0; k < parts; k++) {
        size_t end = share_end(f, k, parts);
        s->part[k] = b;
        while (at < end) {
            size_t n = end - at < each ? end - at : each;
            s->start[b] = at;
            s->block[b++] = (struct block){.writer = STEP_NONE, .readers = STEP_NONE};
            s->largest = n > s->largest ? n : s->largest;
            at += n;
        }
    }
    s->part[parts] = s->blocks = b;
    s->start[b] = f->count;
}

/* Cuts the vector into `parts` parts, at most one per member; shape->share has one share per
 * part. */
static bool schedule_open(struct schedule *s, const struct schedule_shape *shape, int parts,
                          int peers)
{
    *s = (struct schedule){.shape = *shape, .peers = peers};
    size_t most = shape->count / block_of(shape, parts) + (size_t)parts + 1;
    s->part = calloc((size_t)parts + 1, sizeof *s->part);
    s->start = calloc(most + 1, sizeof *s->start);
    s->block = calloc(most + 1, sizeof *s->block);
    s->no_memory = !s->part || !s->start || !s->block;
    if (!s->no_memory)
        cut(s, parts);
    return !s->no_memory;
}

/* ---- the steps ---- */

/* `step` writes the block: not before it was read, and after it was written. */
static void writes(struct schedule *s, uint32_t block, uint32_t step)
{
    struct block *b = &s->block[block];
    edge(s, b->writer, step);
    for (uint32_t r = b->readers; r != STEP_NONE; r = s->step[r].reader)
        edge(s, r, step);
    b->writer = step;
    b->readers = STEP_NONE;
}

static void put_send(struct schedule *s, uint32_t block, int peer)
{
    struct block *b = &s->block[block];
    uint32_t i;
    if (!b->packed && !s->shape.plain && add_step(s, STEP_PACK, block, -1, &i)) {
        writes(s, block, i);
        b->encoded = true;
    }
    b->packed = true;
    if (!add_step(s, STEP_SEND, block, peer, &i))
        return;
    edge(s, b->writer, i);
    s->step[i].reader = b->readers;
    b->readers = i;
}

static void put_recv(struct schedule *s, uint32_t block, int peer)
{
    uint32_t i;
    if (!add_step(s, STEP_RECV, block, peer, &i))
        return;
    writes(s, block, i);
    s->block[block].packed = true;
    s->block[block].encoded = !s->shape.plain;
}

static void put_add(struct schedule *s, uint32_t block, int peer)
{
    uint32_t i;
    if (!add_step(s, STEP_ADD, block, peer, &i))
        return;
    writes(s, block, i);
    s->block[block].packed = false;
}

/* Receives the block from every other member and sums. */
static void put_sum(struct schedule *s, uint32_t block)
{
    uint32_t hold = s->n, sum;
    for (int p = 0; p < s->shape.members; p++)
        if (p != s->shape.me)
            add_step(s, STEP_HOLD, block, p, &sum);
    if (!add_step(s, STEP_SUM, block, -1, &sum))
        return;
    for (; hold < sum; hold++)
        edge(s, hold, sum);
    writes(s, block, sum);
    s->block[block].packed = s->block[block].encoded = false;
}

/* ---- the tables ---- */

static void index_edges(struct schedule *s)
{
    for (size_t e = 0; e < s->edges; e++) {
        s->first_next[s->edge[e].from + 1]++;
        s->waits[s->edge[e].to]++;
    }
    for (uint32_t i = 0; i < s->n; i++)
        s->first_next[i + 1] += s->first_next[i];
    for (size_t e = 0; e < s->edges; e++)
        s->next[s->first_next[s->edge[e].from]++] = s->edge[e].to;
    /* Each is now where the one after it begins. */
    memmove(s->first_next + 1, s->first_next, s->n * sizeof *s->first_next);
    s->first_next[0] = 0;
}

static bool index_peers(struct schedule *s)
{
    int from = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct step *t = &s->step[i];
        if (t->peer >= 0)
            t->seq = t->kind == STEP_SEND ? s->with[t->peer].sends++ : s->with[t->peer].takes++;
    }
    for (int p = 0; p < s->shape.members; p++) {
        struct with_peer *w = &s->with[p];
        w->send = calloc((size_t)w->sends + 1, sizeof *w->send);
        w->take = calloc((size_t)w->takes + 1, sizeof *w->take);
        w->take_place = w->takes ? from++ : -1;
        if (!w->send || !w->take)
            return false;
    }
    assert(from <= s->peers); /* slots are for no more */
    for (uint32_t i = 0; i < s->n; i++) {
        const struct step *t = &s->step[i];
        if (t->peer >= 0)
            (t->kind == STEP_SEND ? s->with[t->peer].send : s->with[t->peer].take)[t->seq] = i;
    }
    return true;
}

/* Adds the UNPACK steps and the tables of the engine. False: no memory. Call strategy_free() in
 * both cases. */
static bool schedule_close(struct schedule *s)
{
    uint32_t i;
    for (uint32_t b = 0; b < s->blocks; b++)
        if (s->block[b].encoded && add_step(s, STEP_UNPACK, b, -1, &i))
            writes(s, b, i);
    if (s->no_memory)
        return false;
    s->first_next = calloc((size_t)s->n + 1, sizeof *s->first_next);
    s->waits = calloc((size_t)s->n + 1, sizeof *s->waits);
    s->next = calloc(s->edges + 1, sizeof *s->next);
    s->with = calloc((size_t)s->shape.members, sizeof *s->with);
    if (!s->first_next || !s->waits || !s->next || !s->with)
        return false;
    index_edges(s);
    free(s->edge);
    free(s->block);
    s->edge = NULL;
    s->block = NULL;
    return index_peers(s);
}

void strategy_free(struct schedule *s)
{
    for (int p = 0; s->with && p < s->shape.members; p++) {
        free(s->with[p].send);
        free(s->with[p].take);
    }
    void *all[] = {s->step, s->edge, s->first_next, s->next, s->waits,
                   s->with, s->part, s->start,      s->block};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *s = (struct schedule){0};
}

/* ==== strategies ==== */

typedef void put(struct schedule *s, uint32_t block, int peer);

/* The blocks of parts [first, end). */
static void each(struct schedule *s, put *f, int first, int end, int peer)
{
    for (uint32_t b = s->part[first]; b < s->part[end]; b++)
        f(s, b, peer);
}

/* ---- ring: reduce-scatter, then all-gather, each of S-1 rounds ---- */

static bool make_ring(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me, next = (me + 1) % n, previous = (me + n - 1) % n;
    if (!schedule_open(s, f, n, 1))
        return false;
    for (int round = 0; round < n - 1; round++) {
        int out = (me - round + n) % n, in = (me - round - 1 + 2 * n) % n;
        each(s, put_send, out, out + 1, next);
        each(s, put_add, in, in + 1, previous);
    }
    for (int round = 0; round < n - 1; round++) {
        int out = (me + 1 - round + n) % n, in = (me - round + n) % n;
        each(s, put_send, out, out + 1, next);
        each(s, put_recv, in, in + 1, previous);
    }
    return schedule_close(s);
}

/* ---- direct: everybody to the owner of a part, who adds and sends the sum to everybody ---- */

/* The other members, those of the largest shares first: who has a small one is slow, and what waits
 * for it keeps its slot, and with it whatever else comes from there. The caller's; NULL: no memory.
 */
static int *by_share(const struct schedule_shape *f)
{
    int *order = calloc((size_t)f->members, sizeof *order), n = 0;
    for (int p = 0; order && p < f->members; p++) {
        int at = n;
        if (p == f->me)
            continue;
        for (; f->share && at > 0 && f->share[order[at - 1]] < f->share[p]; at--)
            order[at] = order[at - 1];
        order[at] = p;
        n++;
    }
    return order;
}

/* What the others have of this member's part. In one order, whatever the order of arrival: the
 * sum's bits do not depend on it. */
static void add_all(struct schedule *s, const struct schedule_shape *f)
{
    int *order = by_share(f);
    s->no_memory |= !order;
    for (uint32_t b = s->part[f->me]; order && b < s->part[f->me + 1]; b++)
        for (int k = 0; k < f->members - 1; k++)
            put_add(s, b, order[k]);
    free(order);
}

/* Everybody's part to its owner, who adds what came of its own. */
static void scatter(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    for (int k = 1; k < n; k++)
        each(s, put_send, (me + k) % n, (me + k) % n + 1, (me + k) % n);
    add_all(s, f);
}

static bool make_direct(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    if (!schedule_open(s, f, n, n - 1))
        return false;
    scatter(s, f);
    for (uint32_t b = s->part[me]; b < s->part[me + 1]; b++)
        for (int k = 1; k < n; k++)
            put_send(s, b, (me + k) % n);
    for (int p = 0; p < n; p++)
        if (p != me)
            each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

/* ---- oneshot: everybody's vector to everybody, and all add the same numbers in one order ---- */

static bool make_oneshot(struct schedule *s, const struct schedule_shape *f)
{
    if (!schedule_open(s, f, 1, f->members - 1))
        return false;
    for (uint32_t b = 0; b < s->blocks; b++) {
        for (int k = 1; k < f->members; k++)
            put_send(s, b, (f->me + k) % f->members);
        put_sum(s, b);
    }
    return schedule_close(s);
}

/* ---- inside a site: everybody's sum to the leader, member 0, and its to everybody ---- */

bool strategy_inward(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    if (!schedule_open(s, f, n, n - 1))
        return false;
    scatter(s, f);
    if (me != 0)
        each(s, put_send, me, me + 1, 0);
    for (int p = 1; me == 0 && p < n; p++)
        each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

bool strategy_outward(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    if (!schedule_open(s, f, n, n - 1))
        return false;
    for (int p = 1; me == 0 && p < n; p++)
        each(s, put_send, p, p + 1, p);
    for (int p = 1; me == 0 && p < n; p++)
        each(s, put_send, 0, 1, p);
    if (me == 0)
        return schedule_close(s);
    each(s, put_recv, me, me + 1, 0);
    each(s, put_recv, 0, 1, 0);
    for (int p = 1; p < n; p++)
        if (p != me)
            each(s, put_send, me, me + 1, p);
    for (int p = 1; p < n; p++)
        if (p != me)
            each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

/* A ring rounds partial sums of 1, 2, .. S-1 inputs and the whole: S (S+1) / 2. */
const struct strategy strategy_of[] = {
    [WAN_RING] = {make_ring, 0.5, 0.5},
    [WAN_DIRECT] = {make_direct, 2, 0},
    [WAN_ONESHOT] = {make_oneshot, 1, 0},
    [WAN_HIERARCHICAL] = {make_ring, 0.5, 0.5},
};
_Static_assert(sizeof strategy_of / sizeof *strategy_of == WAN_STRATEGIES, "one row each");

/* ==== the engine: memory ==== */

/* State of a step, beside schedule.waits. */
enum { READY = 1, QUEUED = 2, POSTED = 4, RECEIVED = 8, DONE = 16 };

struct progress {       /* with one peer */
    uint32_t send_low;  /* first send that is not posted */
    uint32_t take_low;  /* first receipt that is not done */
    uint32_t under_way; /* sends posted and not complete */
};

struct strategy_engine {
    struct link *link;
    const struct strategy_task *task;
    uint64_t run, events, sent_B;
    uint32_t left, sums_left; /* steps to do; without sends */
    uint32_t *waits;
    unsigned char *state;
    uint32_t *work; /* ring of steps that this rank can do now; each step once */
    uint32_t work_head, work_tail;
    struct progress *at; /* by member */
    int *member_of;      /* by rank, for the first `ranks` */
    int ranks, members_cap;
    uint32_t steps_cap;
    char *slots; /* [peers][window] to receive into; one spare */
    size_t slots_cap;
};

#define WINDOW_MOST 96 /* blocks: 24 MiB at the default block, what a budget holds for one peer */

struct strategy_engine *strategy_open(struct link *link)
{
    struct strategy_engine *e = calloc(1, sizeof *e);
    if (e)
        e->link = link;
    return e;
}

void strategy_close(struct strategy_engine *e, bool leave_slots)
{
    if (!e)
        return;
    void *all[] = {e->waits, e->state, e->work, e->at, e->member_of, leave_slots ? NULL : e->slots};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(e);
}

struct strategy_need strategy_need(const struct schedule *s, enum wire wire, size_t budget_B)
{
    struct strategy_need need = {.slot_B = (wire_bytes(wire, s->largest) + 63) / 64 * 64};
    size_t peers = (size_t)s->peers;
    size_t window = need.slot_B && peers ? budget_B / peers / need.slot_B : WINDOW_MOST;
    window = window < WINDOW_MOST ? window : WINDOW_MOST;
    need.window = (uint32_t)(window > STRATEGY_WINDOW_LEAST ? window : STRATEGY_WINDOW_LEAST);
    need.slots_B = (peers * need.window + 1) * need.slot_B;
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

static bool reserve_memory(struct strategy_engine *e, const struct strategy_task *t)
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

static bool name_members(struct strategy_engine *e, const struct strategy_task *t)
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

/* ---- where things lie ---- */

static char *take_slot(const struct strategy_engine *e, const struct step *t)
{
    const struct strategy_need *n = &e->task->need;
    size_t place = (size_t)e->task->schedule->with[t->peer].take_place;
    return e->slots + (place * n->window + t->seq % n->window) * n->slot_B;
}

static char *spare_slot(const struct strategy_engine *e)
{
    return e->slots + e->task->need.slots_B - e->task->need.slot_B;
}

/* ==== the engine: arithmetic ==== */

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
static void pack_in_place(const struct strategy_engine *e, const struct step *t)
{
    float *x = e->task->data + t->first;
    float *residual = e->task->residual ? e->task->residual + t->first : NULL;
    if (residual)
        add_lost(x, t->n, residual);
    wire_encode(e->task->wire, x, t->n, spare_slot(e));
    if (residual) {
        wire_decode(e->task->wire, spare_slot(e), t->n, residual);
        keep_lost(x, t->n, residual);
    }
    memcpy(x, spare_slot(e), wire_bytes(e->task->wire, t->n));
}

static void unpack_in_place(const struct strategy_engine *e, const struct step *t)
{
    float *x = e->task->data + t->first;
    memcpy(spare_slot(e), x, wire_bytes(e->task->wire, t->n));
    wire_decode(e->task->wire, spare_slot(e), t->n, x);
}

static void sum_held(const struct strategy_engine *e, const struct step *t)
{
    const struct schedule_shape *f = &e->task->schedule->shape;
    const struct step *hold = t - (f->members - 1);
    float *x = e->task->data + t->first;
    enum wire wire = e->task->wire;
    memcpy(spare_slot(e), x, wire_bytes(wire, t->n));
    for (int m = 0; m < f->members; m++) {
        const void *in = m == f->me ? spare_slot(e) : take_slot(e, hold++);
        if (m == 0)
            wire_decode(wire, in, t->n, x);
        else
            wire_add(wire, in, t->n, x);
    }
}

/* Does the arithmetic of a PACK, UNPACK, ADD or SUM. */
static void work(const struct strategy_engine *e, const struct step *t)
{
    const struct strategy_task *task = e->task;
    if (t->kind == STEP_PACK)
        pack_in_place(e, t);
    else if (t->kind == STEP_UNPACK)
        unpack_in_place(e, t);
    else if (t->kind == STEP_SUM)
        sum_held(e, t);
    else
        wire_add(task->wire, take_slot(e, t), t->n, task->data + t->first);
}

/* ==== the engine: blocks ==== */

#define SEQ_BITS 24

/* ---- posting ---- */

static uint64_t id_of(const struct strategy_engine *e, const struct step *t)
{
    return e->run << SEQ_BITS | t->seq;
}

static int post_send(struct strategy_engine *e, uint32_t i)
{
    const struct strategy_task *task = e->task;
    const struct step *t = &task->schedule->step[i];
    size_t bytes = wire_bytes(task->wire, t->n);
    const void *from = task->data + t->first;
    e->state[i] |= POSTED;
    e->at[t->peer].under_way++;
    e->sent_B += bytes;
    return e->link->ops->send(e->link, task->rank_of[t->peer], id_of(e, t), from, bytes);
}

static int pump_sends(struct strategy_engine *e, int peer)
{
    const struct with_peer *l = &e->task->schedule->with[peer];
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

static void queue(struct strategy_engine *e, uint32_t i)
{
    e->state[i] |= QUEUED;
    e->work[e->work_tail++] = i;
}

static int post_take(struct strategy_engine *e, uint32_t i)
{
    const struct strategy_task *task = e->task;
    const struct step *t = &task->schedule->step[i];
    void *to = t->kind == STEP_RECV ? (char *)(task->data + t->first) : take_slot(e, t);
    e->state[i] |= POSTED;
    return e->link->ops->recv(e->link, task->rank_of[t->peer], id_of(e, t), to,
                              wire_bytes(task->wire, t->n));
}

static int pump_takes(struct strategy_engine *e, int peer)
{
    const struct schedule *s = e->task->schedule;
    const struct with_peer *l = &s->with[peer];
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

static int make_ready(struct strategy_engine *e, uint32_t i)
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

static int release(struct strategy_engine *e, uint32_t i)
{
    const struct schedule *s = e->task->schedule;
    for (uint32_t k = s->first_next[i]; k < s->first_next[i + 1]; k++)
        if (--e->waits[s->next[k]] == 0 && make_ready(e, s->next[k]) < 0)
            return -1;
    return 0;
}

static int close_step(struct strategy_engine *e, uint32_t i)
{
    const struct step *t = &e->task->schedule->step[i];
    e->state[i] |= DONE;
    e->left--;
    e->sums_left -= t->kind != STEP_SEND;
    return t->peer >= 0 && t->kind != STEP_SEND ? pump_takes(e, t->peer) : 0;
}

/* A SUM closes its HOLDs: their slots are free only now. */
static int finish_step(struct strategy_engine *e, uint32_t i)
{
    const struct schedule *s = e->task->schedule;
    uint32_t holds = s->step[i].kind != STEP_SUM ? 0 : (uint32_t)s->shape.members - 1;
    for (uint32_t k = i - holds; k < i; k++)
        if (close_step(e, k) < 0)
            return -1;
    return release(e, i) < 0 ? -1 : close_step(e, i);
}

/* ---- events ---- */

static int take_event(struct strategy_engine *e, const struct link_event *ev)
{
    const struct schedule *s = e->task->schedule;
    int m = ev->peer >= 0 && ev->peer < e->ranks ? e->member_of[ev->peer] : -1;
    uint32_t seq = (uint32_t)(ev->id & ((1u << SEQ_BITS) - 1));
    bool sent = ev->done == LINK_SENT;
    if (m < 0 || ev->id >> SEQ_BITS != e->run ||
        seq >= (sent ? s->with[m].sends : s->with[m].takes))
        return LINK_WHY(e->link->why, sizeof e->link->why,
                        "%s: a block of rank %d that nobody waits for", e->link->ops->name,
                        ev->peer);
    uint32_t i = sent ? s->with[m].send[seq] : s->with[m].take[seq];
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

int strategy_start(struct strategy_engine *e, const struct strategy_task *task)
{
    const struct schedule *s = task->schedule;
    if (!reserve_memory(e, task) || !name_members(e, task))
        return LINK_WHY(e->link->why, sizeof e->link->why, "no memory for %zu bytes of blocks",
                        task->need.slots_B);
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

void strategy_pass(struct strategy_engine *e)
{
    e->run++;
}

/* One event, or one piece of work: the network first, it is what others wait for. */
static int move(struct strategy_engine *e, double timeout_s)
{
    struct link_event ev;
    bool works = e->work_head < e->work_tail;
    int got = e->link->ops->next(e->link, &ev, works ? 0 : timeout_s);
    if (got > 0)
        return take_event(e, &ev);
    if (got < 0 || !works)
        return got;
    uint32_t i = e->work[e->work_head++];
    work(e, &e->task->schedule->step[i]);
    return finish_step(e, i);
}

enum strategy_state strategy_poll(struct strategy_engine *e, double timeout_s)
{
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    for (;;) {
        bool summed = !e->task || e->sums_left == 0;
        if (!e->task || e->left == 0) {
            e->task = NULL;
            return STRATEGY_IDLE;
        }
        uint64_t now = now_ns();
        if (move(e, now < end ? (double)(end - now) * 1e-9 : 0) < 0)
            return STRATEGY_FAILED;
        if (e->left == 0)
            continue;
        if (!summed && e->sums_left == 0)
            return STRATEGY_SUMMED;
        if (now >= end)
            return e->sums_left ? STRATEGY_BUSY : STRATEGY_SUMMED;
    }
}

int strategy_awaits(const struct strategy_engine *e)
{
    for (int m = 0; e->task && m < e->task->schedule->shape.members; m++) {
        const struct with_peer *l = &e->task->schedule->with[m];
        if (e->at[m].take_low < l->takes)
            return e->task->rank_of[m];
    }
    for (int m = 0; e->task && m < e->task->schedule->shape.members; m++)
        if (e->at[m].under_way)
            return e->task->rank_of[m];
    return -1;
}

uint64_t strategy_events(const struct strategy_engine *e)
{
    return e->events;
}

uint64_t strategy_sent_B(const struct strategy_engine *e)
{
    return e->sent_B;
}
