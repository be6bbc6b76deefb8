/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/strategy.h"

#include "common/clock.h"

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

static size_t round_up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* ---- memory ---- */

/* Room for one more. */
static bool make_room(struct schedule *s, void *array, size_t *cap, size_t n, size_t each)
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
    if (s->no_memory || !make_room(s, &s->step, &s->cap, s->n, sizeof *s->step))
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

static void add_edge(struct schedule *s, uint32_t from, uint32_t to)
{
    if (from != STEP_NONE && !s->no_memory &&
        make_room(s, &s->edge, &s->edge_cap, s->edges, sizeof *s->edge))
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
    size_t end = round_up((size_t)llround((double)f->count * sum), f->align);
    return end < f->count ? end : f->count;
}

static size_t block_of(const struct schedule_shape *f, int parts)
{
    size_t fine = round_up(f->count / (size_t)parts / WAN_PIECES + 1, f->align);
    size_t n = fine > f->least ? fine : f->least;
    n = n < f->block ? n : f->block;
    return n > f->align ? n / f->align * f->align : f->align;
}

static void cut_vector(struct schedule *s, int parts)
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
static bool schedule_open(struct schedule *s, const struct schedule_shape *shape, int parts)
{
    *s = (struct schedule){.shape = *shape};
    size_t most = shape->count / block_of(shape, parts) + (size_t)parts + 1;
    s->part = calloc((size_t)parts + 1, sizeof *s->part);
    s->start = calloc(most + 1, sizeof *s->start);
    s->block = calloc(most + 1, sizeof *s->block);
    s->no_memory = !s->part || !s->start || !s->block;
    if (!s->no_memory)
        cut_vector(s, parts);
    return !s->no_memory;
}

/* ---- the steps ---- */

/* `step` writes the block: not before it was read, and after it was written. */
static void set_writer(struct schedule *s, uint32_t block, uint32_t step)
{
    struct block *b = &s->block[block];
    add_edge(s, b->writer, step);
    for (uint32_t r = b->readers; r != STEP_NONE; r = s->step[r].reader)
        add_edge(s, r, step);
    b->writer = step;
    b->readers = STEP_NONE;
}

static void put_send(struct schedule *s, uint32_t block, int peer)
{
    struct block *b = &s->block[block];
    uint32_t i;
    if (!b->packed && !s->shape.plain && add_step(s, STEP_PACK, block, -1, &i)) {
        set_writer(s, block, i);
        b->encoded = true;
    }
    b->packed = true;
    if (!add_step(s, STEP_SEND, block, peer, &i))
        return;
    add_edge(s, b->writer, i);
    s->step[i].reader = b->readers;
    b->readers = i;
}

static void put_recv(struct schedule *s, uint32_t block, int peer)
{
    uint32_t i;
    if (!add_step(s, STEP_RECV, block, peer, &i))
        return;
    set_writer(s, block, i);
    s->block[block].packed = true;
    s->block[block].encoded = !s->shape.plain;
}

static void put_add(struct schedule *s, uint32_t block, int peer)
{
    uint32_t i;
    if (!add_step(s, STEP_ADD, block, peer, &i))
        return;
    set_writer(s, block, i);
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
        add_edge(s, hold, sum);
    set_writer(s, block, sum);
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
    for (uint32_t i = 0; i < s->n; i++) {
        struct step *t = &s->step[i];
        if (t->peer >= 0)
            t->seq = t->kind == STEP_SEND ? s->with[t->peer].sends++ : s->with[t->peer].takes++;
    }
    for (int p = 0; p < s->shape.members; p++) {
        struct with_peer *w = &s->with[p];
        w->send = calloc((size_t)w->sends + 1, sizeof *w->send);
        w->take = calloc((size_t)w->takes + 1, sizeof *w->take);
        if (!w->send || !w->take)
            return false;
    }
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
            set_writer(s, b, i);
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
static void put_each(struct schedule *s, put *f, int first, int end, int peer)
{
    for (uint32_t b = s->part[first]; b < s->part[end]; b++)
        f(s, b, peer);
}

/* ---- ring: reduce-scatter, then all-gather, each of S-1 rounds ---- */

static bool make_ring(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me, next = (me + 1) % n, previous = (me + n - 1) % n;
    if (!schedule_open(s, f, n))
        return false;
    for (int round = 0; round < n - 1; round++) {
        int out = (me - round + n) % n, in = (me - round - 1 + 2 * n) % n;
        put_each(s, put_send, out, out + 1, next);
        put_each(s, put_add, in, in + 1, previous);
    }
    for (int round = 0; round < n - 1; round++) {
        int out = (me + 1 - round + n) % n, in = (me - round + n) % n;
        put_each(s, put_send, out, out + 1, next);
        put_each(s, put_recv, in, in + 1, previous);
    }
    return schedule_close(s);
}

/* ---- direct: everybody to the owner of a part, who adds and sends the sum to everybody ---- */

/* The other members, those of the largest shares first: a member with a small share is slow, and what has
 * to be added after its block would take room meanwhile. The caller frees it; NULL: no memory. */
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

/* A part is added in one order, whatever the order of arrival: the sum's bits do not depend on it. */
static bool make_direct(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me, *order = by_share(f);
    if (!schedule_open(s, f, n) || !order) {
        free(order);
        return false;
    }
    for (int k = 1; k < n; k++)
        put_each(s, put_send, (me + k) % n, (me + k) % n + 1, (me + k) % n);
    for (uint32_t b = s->part[me]; b < s->part[me + 1]; b++)
        for (int k = 0; k < n - 1; k++)
            put_add(s, b, order[k]);
    free(order);
    for (uint32_t b = s->part[me]; b < s->part[me + 1]; b++)
        for (int k = 1; k < n; k++)
            put_send(s, b, (me + k) % n);
    for (int p = 0; p < n; p++)
        if (p != me)
            put_each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

/* ---- oneshot: everybody's vector to everybody, and all add the same numbers in one order ---- */

static bool make_oneshot(struct schedule *s, const struct schedule_shape *f)
{
    if (!schedule_open(s, f, 1))
        return false;
    for (uint32_t b = 0; b < s->blocks; b++) {
        for (int k = 1; k < f->members; k++)
            put_send(s, b, (f->me + k) % f->members);
        put_sum(s, b);
    }
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

/* ==== the engine ==== */

/* State of a step, beside schedule.waits. */
enum { READY = 1, POSTED = 2, RECEIVED = 4, DONE = 8 };

/* The id of a block: the run, and the number of the block among those of the run from one peer to
 * another. One more id is that of a grant, which tells a peer how many bytes it may send in all. */
#define SEQ_BITS 24
#define RUN_MASK ((1u << (LINK_ID_BITS - 1 - SEQ_BITS)) - 1)
#define GRANT_ID (1u << (LINK_ID_BITS - 1))

#define LOOK_AHEAD 96 /* blocks to a peer that may be sent before their turn */

/* What goes to a peer, and comes from it. Bytes are counted since strategy_open(). */
struct flow {
    uint32_t send_low; /* first send of the run that is not posted */
    uint64_t sent_B, may_B;
    uint64_t used_B, told_B; /* of its blocks; told_B: it knows that these were used */
    uint64_t grant;          /* the payload of a grant that is under way */
    bool granting;
};

/* A block of the next run: its sender was faster. */
struct early {
    struct early *next;
    struct link_event event;
};

struct strategy_engine {
    struct link *link;
    size_t ahead_B;
    const struct strategy_task *task;
    uint32_t run;
    uint64_t events, sent_B;
    uint32_t steps, left, sums_left; /* of the last run; to do; to do without sends */
    uint32_t cap;                    /* steps that there is room for in these: */
    uint32_t *waits;
    unsigned char *state;
    void **got;     /* blocks that have come and are not used yet */
    uint32_t *work; /* steps that this rank can do now, each once: [work_head, work_tail) */
    uint32_t work_head, work_tail;
    int ranks;
    struct flow *flow; /* by rank */
    int *member_of;    /* by rank; -1: none */
    struct early *early;
    void *spare; /* for the encoding of one block */
    size_t spare_B;
};

struct strategy_engine *strategy_open(struct link *link, int ranks, size_t ahead_B)
{
    struct strategy_engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->link = link;
    e->ranks = ranks;
    e->ahead_B = ahead_B;
    e->flow = calloc((size_t)ranks, sizeof *e->flow);
    e->member_of = calloc((size_t)ranks, sizeof *e->member_of);
    if (!e->flow || !e->member_of) {
        strategy_close(e);
        return NULL;
    }
    for (int r = 0; r < ranks; r++)
        e->flow[r].may_B = ahead_B;
    return e;
}

void strategy_close(struct strategy_engine *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; i < e->steps; i++) /* a run that failed leaves some */
        free(e->got[i]);
    for (struct early *next, *x = e->early; x; x = next) {
        next = x->next;
        free(x->event.data);
        free(x);
    }
    void *all[] = {e->waits, e->state, e->got, e->work, e->flow, e->member_of, e->spare};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(e);
}

/* ---- sending, and room for it ---- */

static size_t bytes_of(const struct strategy_engine *e, const struct step *t)
{
    return wire_bytes(e->task->wire, t->n);
}

/* Sends the blocks for a member that are ready and for which there is room. */
static int pump_sends(struct strategy_engine *e, int member)
{
    const struct strategy_task *task = e->task;
    const struct with_peer *with = &task->schedule->with[member];
    int rank = task->rank_of[member];
    struct flow *f = &e->flow[rank];
    for (uint32_t k = f->send_low; k < with->sends && k - f->send_low < LOOK_AHEAD; k++) {
        uint32_t i = with->send[k];
        const struct step *t = &task->schedule->step[i];
        bool in_turn = k == f->send_low;
        if ((e->state[i] & (READY | POSTED)) == READY) {
            size_t bytes = bytes_of(e, t);
            if (f->sent_B + bytes > f->may_B - (in_turn ? 0 : e->ahead_B / 2))
                return 0;
            uint32_t id = (e->run & RUN_MASK) << SEQ_BITS | k;
            if (e->link->ops->send(e->link, rank, id, task->data + t->first, bytes) < 0)
                return -1;
            e->state[i] |= POSTED;
            f->sent_B += bytes;
            e->sent_B += bytes;
        }
        if (in_turn && e->state[i] & POSTED)
            f->send_low++;
    }
    return 0;
}

/* Tells a peer that it may send more, once that is worth a message. */
static int grant_room(struct strategy_engine *e, int rank)
{
    struct flow *f = &e->flow[rank];
    if (f->granting || f->used_B - f->told_B < e->ahead_B / 4)
        return 0;
    f->told_B = f->used_B;
    f->grant = f->used_B + e->ahead_B;
    f->granting = true;
    return e->link->ops->send(e->link, rank, GRANT_ID, &f->grant, sizeof f->grant);
}

static int use_block(struct strategy_engine *e, uint32_t i)
{
    const struct step *t = &e->task->schedule->step[i];
    int rank = e->task->rank_of[t->peer];
    free(e->got[i]);
    e->got[i] = NULL;
    e->flow[rank].used_B += bytes_of(e, t);
    return grant_room(e, rank);
}

/* ---- steps ---- */

/* What a step waits for is done. */
static int make_ready(struct strategy_engine *e, uint32_t i)
{
    const struct step *t = &e->task->schedule->step[i];
    e->state[i] |= READY;
    if (t->kind == STEP_SEND)
        return pump_sends(e, t->peer);
    bool receives = t->kind == STEP_ADD || t->kind == STEP_RECV;
    if (t->kind != STEP_HOLD && (!receives || e->state[i] & RECEIVED))
        e->work[e->work_tail++] = i;
    return 0;
}

/* The steps that wait for this one alone become ready. */
static int finish_step(struct strategy_engine *e, uint32_t i)
{
    const struct schedule *s = e->task->schedule;
    e->state[i] |= DONE;
    e->left--;
    e->sums_left -= s->step[i].kind != STEP_SEND;
    for (uint32_t k = s->first_next[i]; k < s->first_next[i + 1]; k++)
        if (--e->waits[s->next[k]] == 0 && make_ready(e, s->next[k]) < 0)
            return -1;
    return 0;
}

/* Does the arithmetic of a step. An encoding takes the place of its numbers by way of the spare block. */
static int do_step(struct strategy_engine *e, uint32_t i)
{
    const struct strategy_task *task = e->task;
    const struct step *t = &task->schedule->step[i];
    float *x = task->data + t->first;
    size_t n = t->n, bytes = wire_bytes(task->wire, n);
    switch (t->kind) {
    case STEP_PACK:
        wire_of[task->wire].encode(x, n, e->spare);
        memcpy(x, e->spare, bytes);
        break;
    case STEP_UNPACK:
        memcpy(e->spare, x, bytes);
        wire_of[task->wire].decode(e->spare, n, x);
        break;
    case STEP_ADD:
        wire_of[task->wire].add(e->got[i], n, x);
        break;
    case STEP_RECV:
        memcpy(x, e->got[i], bytes);
        break;
    case STEP_SUM: { /* in the order of the members: their HOLDs are the steps before it */
        const struct schedule_shape *f = &task->schedule->shape;
        uint32_t hold = i - (uint32_t)(f->members - 1);
        memcpy(e->spare, x, bytes);
        for (int m = 0; m < f->members; m++) {
            const void *in = m == f->me ? e->spare : e->got[hold++];
            if (m == 0)
                wire_of[task->wire].decode(in, n, x);
            else
                wire_of[task->wire].add(in, n, x);
        }
        for (hold = i - (uint32_t)(f->members - 1); hold < i; hold++)
            if (use_block(e, hold) < 0)
                return -1;
        break;
    }
    case STEP_SEND:
    case STEP_HOLD:
        break;
    }
    return (t->peer >= 0 && use_block(e, i) < 0) || finish_step(e, i) < 0 ? -1 : 0;
}

/* ---- events ---- */

static int refuse_event(const struct strategy_engine *e, struct link_event *ev)
{
    free(ev->done == LINK_RECEIVED ? ev->data : NULL);
    return LINK_WHY(e->link->why, sizeof e->link->why,
                    "%s: rank %d sent a block of %zu bytes that is not awaited", e->link->ops->name,
                    ev->peer, ev->bytes);
}

static int take_grant(struct strategy_engine *e, struct link_event *ev)
{
    struct flow *f = &e->flow[ev->peer];
    int member = e->task ? e->member_of[ev->peer] : -1;
    if (ev->done == LINK_SENT) {
        f->granting = false;
        return grant_room(e, ev->peer);
    }
    if (ev->bytes != sizeof f->may_B)
        return refuse_event(e, ev);
    uint64_t may_B;
    memcpy(&may_B, ev->data, sizeof may_B);
    free(ev->data);
    f->may_B = may_B > f->may_B ? may_B : f->may_B; /* a later one may have overtaken it */
    return member >= 0 ? pump_sends(e, member) : 0;
}

static int take_event(struct strategy_engine *e, struct link_event *ev)
{
    uint32_t run = ev->id >> SEQ_BITS, seq = ev->id & ((1u << SEQ_BITS) - 1), i;
    if (ev->peer < 0 || ev->peer >= e->ranks)
        return refuse_event(e, ev);
    if (ev->id == GRANT_ID)
        return take_grant(e, ev);
    if (ev->done == LINK_RECEIVED && run == ((e->run + 1) & RUN_MASK)) {
        struct early *x = malloc(sizeof *x);
        if (!x)
            return refuse_event(e, ev);
        *x = (struct early){e->early, *ev};
        e->early = x;
        return 0;
    }
    int member = e->task && run == (e->run & RUN_MASK) ? e->member_of[ev->peer] : -1;
    const struct with_peer *with = member >= 0 ? &e->task->schedule->with[member] : NULL;
    e->events++;
    if (ev->done == LINK_SENT)
        return with && seq < with->sends ? finish_step(e, with->send[seq]) : refuse_event(e, ev);
    if (!with || seq >= with->takes || e->state[i = with->take[seq]] & RECEIVED ||
        ev->bytes != bytes_of(e, &e->task->schedule->step[i]))
        return refuse_event(e, ev);
    e->state[i] |= RECEIVED;
    e->got[i] = ev->data;
    if (e->task->schedule->step[i].kind == STEP_HOLD)
        return finish_step(e, i);
    if (e->state[i] & READY)
        e->work[e->work_tail++] = i;
    return 0;
}

/* ---- a run ---- */

static bool reserve_memory(struct strategy_engine *e, const struct strategy_task *t)
{
    uint32_t n = t->schedule->n;
    size_t spare_B = wire_bytes(t->wire, t->schedule->largest);
    if (e->spare_B < spare_B) {
        free(e->spare);
        e->spare = malloc(spare_B);
        e->spare_B = e->spare ? spare_B : 0;
    }
    if (e->cap < n) {
        void *old[] = {e->waits, e->state, e->got, e->work};
        for (size_t i = 0; i < sizeof old / sizeof *old; i++)
            free(old[i]);
        e->steps = 0;
        e->waits = calloc(n, sizeof *e->waits);
        e->state = calloc(n, sizeof *e->state);
        e->got = calloc(n, sizeof *e->got);
        e->work = calloc(n, sizeof *e->work);
        e->cap = e->waits && e->state && e->got && e->work ? n : 0;
    }
    return e->spare_B >= spare_B && e->cap >= n;
}

int strategy_start(struct strategy_engine *e, const struct strategy_task *task)
{
    const struct schedule *s = task->schedule;
    if (!reserve_memory(e, task))
        return LINK_WHY(e->link->why, sizeof e->link->why, "no memory for a schedule of %u steps",
                        s->n);
    e->task = task;
    e->run++;
    e->steps = e->left = e->sums_left = s->n;
    e->work_head = e->work_tail = 0;
    if (s->n > 0) { /* one member has nothing to do, and no tables */
        memcpy(e->waits, s->waits, s->n * sizeof *e->waits);
        memset(e->state, 0, s->n);
        memset(e->got, 0, s->n * sizeof *e->got);
    }
    for (uint32_t i = 0; i < s->n; i++)
        e->sums_left -= s->step[i].kind == STEP_SEND;
    for (int r = 0; r < e->ranks; r++)
        e->member_of[r] = -1;
    for (int m = 0; m < s->shape.members; m++) {
        e->member_of[task->rank_of[m]] = m;
        e->flow[task->rank_of[m]].send_low = 0;
    }
    for (struct early *next, *x = e->early; x; x = next) {
        next = x->next;
        struct link_event event = x->event;
        e->early = next;
        free(x);
        if (take_event(e, &event) < 0)
            return -1;
    }
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
static int engine_turn(struct strategy_engine *e, double timeout_s)
{
    struct link_event ev;
    bool works = e->task && e->work_head < e->work_tail;
    int got = e->link->ops->next(e->link, &ev, works ? 0 : timeout_s);
    if (got > 0)
        return take_event(e, &ev);
    return got < 0 || !works ? got : do_step(e, e->work[e->work_head++]);
}

enum strategy_state strategy_poll(struct strategy_engine *e, double timeout_s)
{
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9), now;
    bool had_task = e->task, summed = had_task && e->sums_left == 0;
    do {
        if (e->task && e->left == 0) {
            e->task = NULL;
            return STRATEGY_IDLE;
        }
        now = now_ns();
        if (engine_turn(e, now < end ? (double)(end - now) * 1e-9 : 0) < 0)
            return STRATEGY_FAILED;
        if (e->task && e->left > 0 && !summed && e->sums_left == 0)
            return STRATEGY_SUMMED;
    } while (now < end || (e->task && e->left == 0));
    return !had_task ? STRATEGY_IDLE : e->sums_left ? STRATEGY_BUSY : STRATEGY_SUMMED;
}

bool strategy_is_idle(const struct strategy_engine *e)
{
    return !e->task;
}

int strategy_awaits(const struct strategy_engine *e)
{
    int members = e->task ? e->task->schedule->shape.members : 0, slow = -1;
    for (int m = 0; m < members; m++) {
        const struct with_peer *with = &e->task->schedule->with[m];
        for (uint32_t k = 0; k < with->takes; k++)
            if (!(e->state[with->take[k]] & RECEIVED))
                return e->task->rank_of[m];
        for (uint32_t k = 0; k < with->sends && slow < 0; k++)
            if (!(e->state[with->send[k]] & DONE))
                slow = e->task->rank_of[m];
    }
    return slow;
}

uint64_t strategy_events(const struct strategy_engine *e)
{
    return e->events;
}

uint64_t strategy_sent_B(const struct strategy_engine *e)
{
    return e->sent_B;
}
