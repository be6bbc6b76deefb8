/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/strategy/schedule.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that a part is cut into, where they stay large enough: several times those that are under
 * way at once, one on every stream to every peer, for none is passed on before it is whole. */
#define PIPELINE 128

/* What is known of a block while a schedule is written. */
struct block {
    uint32_t writer;  /* the last step that wrote it; STEP_NONE: it is the input */
    uint32_t readers; /* the last step that reads it since; a list through schedule.reader */
    bool packed;      /* there is an encoding of it: of `writer` */
    bool encoded;     /* and it lies in the block's own place */
};

static size_t up(size_t x, size_t to)
{
    return (x + to - 1) / to * to;
}

/* ---- memory ---- */

static bool grow(struct schedule *s, void **p, size_t *cap, size_t n, size_t each)
{
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

static uint32_t add_step(struct schedule *s, enum step_kind kind, uint32_t block, int peer)
{
    size_t cap = s->cap, reader_cap = s->cap;
    if (!grow(s, (void **)&s->step, &cap, s->n, sizeof *s->step) ||
        !grow(s, (void **)&s->reader, &reader_cap, s->n, sizeof *s->reader))
        return 0;
    s->cap = (uint32_t)cap;
    size_t first = s->start[block];
    s->step[s->n] = (struct step){kind, peer, 0, first, s->start[block + 1] - first};
    s->reader[s->n] = STEP_NONE;
    return s->n++;
}

static void edge(struct schedule *s, uint32_t from, uint32_t to)
{
    size_t cap = s->edge_cap;
    if (from == STEP_NONE || s->no_memory ||
        !grow(s, (void **)&s->from, &cap, s->edges, sizeof *s->from) ||
        !grow(s, (void **)&s->to, &s->edge_cap, s->edges, sizeof *s->to))
        return;
    s->from[s->edges] = from;
    s->to[s->edges++] = to;
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
    size_t fine = up(f->count / (size_t)parts / PIPELINE + 1, f->align);
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

bool schedule_open(struct schedule *s, const struct schedule_shape *shape, int parts, int peers)
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

static void reads(struct schedule *s, uint32_t block, uint32_t step)
{
    s->reader[step] = s->block[block].readers;
    s->block[block].readers = step;
}

/* `step` writes the block: not before it was read, and after it was written. */
static void writes(struct schedule *s, uint32_t block, uint32_t step)
{
    struct block *b = &s->block[block];
    edge(s, b->writer, step);
    for (uint32_t r = b->readers; r != STEP_NONE; r = s->reader[r])
        edge(s, r, step);
    b->writer = step;
    b->readers = STEP_NONE;
}

static void pack(struct schedule *s, uint32_t block)
{
    struct block *b = &s->block[block];
    if (b->packed || s->no_memory)
        return;
    b->packed = true;
    if (s->shape.plain)
        return;
    uint32_t p = add_step(s, STEP_PACK, block, -1);
    if (s->no_memory)
        return;
    writes(s, block, p);
    b->encoded = true;
}

void put_send(struct schedule *s, uint32_t block, int peer)
{
    pack(s, block);
    uint32_t i = s->no_memory ? 0 : add_step(s, STEP_SEND, block, peer);
    if (s->no_memory)
        return;
    edge(s, s->block[block].writer, i);
    reads(s, block, i);
}

void put_recv(struct schedule *s, uint32_t block, int peer)
{
    uint32_t i = s->no_memory ? 0 : add_step(s, STEP_RECV, block, peer);
    if (s->no_memory)
        return;
    writes(s, block, i);
    s->block[block].packed = true;
    s->block[block].encoded = !s->shape.plain;
}

void put_add(struct schedule *s, uint32_t block, int peer)
{
    uint32_t i = s->no_memory ? 0 : add_step(s, STEP_ADD, block, peer);
    if (s->no_memory)
        return;
    writes(s, block, i);
    s->block[block].packed = false;
}

void put_sum(struct schedule *s, uint32_t block)
{
    uint32_t hold = s->n;
    for (int p = 0; p < s->shape.members; p++)
        if (p != s->shape.me && !s->no_memory)
            add_step(s, STEP_HOLD, block, p);
    uint32_t sum = s->no_memory ? 0 : add_step(s, STEP_SUM, block, -1);
    if (s->no_memory)
        return;
    for (; hold < sum; hold++)
        edge(s, hold, sum);
    writes(s, block, sum);
    s->block[block].packed = s->block[block].encoded = false;
}

/* ---- the tables ---- */

static void unpack_all(struct schedule *s)
{
    for (uint32_t b = 0; b < s->blocks && !s->no_memory; b++) {
        if (!s->block[b].encoded)
            continue;
        uint32_t i = add_step(s, STEP_UNPACK, b, -1);
        if (!s->no_memory)
            writes(s, b, i);
    }
}

static void index_edges(struct schedule *s)
{
    for (size_t e = 0; e < s->edges; e++) {
        s->first_next[s->from[e] + 1]++;
        s->waits[s->to[e]]++;
    }
    for (uint32_t i = 0; i < s->n; i++)
        s->first_next[i + 1] += s->first_next[i];
    uint32_t *at = s->reader;
    memcpy(at, s->first_next, s->n * sizeof *at);
    for (size_t e = 0; e < s->edges; e++)
        s->next[at[s->from[e]]++] = s->to[e];
}

static bool index_lanes(struct schedule *s)
{
    uint32_t members = (uint32_t)s->shape.members;
    int from = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct step *t = &s->step[i];
        if (t->peer >= 0)
            t->seq = t->kind == STEP_SEND ? s->lane[t->peer].sends++ : s->lane[t->peer].takes++;
    }
    for (uint32_t p = 0; p < members; p++) {
        s->lane[p].send = calloc((size_t)s->lane[p].sends + 1, sizeof(uint32_t));
        s->lane[p].take = calloc((size_t)s->lane[p].takes + 1, sizeof(uint32_t));
        s->lane[p].take_place = s->lane[p].takes ? from++ : -1;
        if (!s->lane[p].send || !s->lane[p].take)
            return false;
    }
    assert(from <= s->peers); /* slots are for no more */
    for (uint32_t i = 0; i < s->n; i++) {
        const struct step *t = &s->step[i];
        if (t->peer >= 0)
            (t->kind == STEP_SEND ? s->lane[t->peer].send : s->lane[t->peer].take)[t->seq] = i;
    }
    return true;
}

bool schedule_close(struct schedule *s)
{
    unpack_all(s);
    if (s->no_memory)
        return false;
    s->first_next = calloc((size_t)s->n + 1, sizeof *s->first_next);
    s->waits = calloc((size_t)s->n + 1, sizeof *s->waits);
    s->next = calloc(s->edges + 1, sizeof *s->next);
    s->lane = calloc((size_t)s->shape.members, sizeof *s->lane);
    if (!s->first_next || !s->waits || !s->next || !s->lane)
        return false;
    if (s->n)
        index_edges(s);
    bool good = index_lanes(s);
    free(s->from);
    free(s->to);
    free(s->reader);
    free(s->block);
    s->from = s->to = s->reader = NULL;
    s->block = NULL;
    return good;
}

void schedule_free(struct schedule *s)
{
    for (int p = 0; s->lane && p < s->shape.members; p++) {
        free(s->lane[p].send);
        free(s->lane[p].take);
    }
    void *all[] = {s->step, s->from, s->to,    s->first_next, s->next,  s->waits,
                   s->lane, s->part, s->start, s->block,      s->reader};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *s = (struct schedule){0};
}
