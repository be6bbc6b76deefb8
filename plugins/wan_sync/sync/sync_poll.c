/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "wan_sync/sync/sync_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NS 10000000
#define INSIDE_SLICE_S 5e-4 /* of attention to a site, then to the others */
#define BETWEEN_SLICE_S 1e-4

/* ---- what it is made of ---- */

static int member_of(const struct sync_parts *p)
{
    for (int m = 0; m < p->members; m++)
        if (p->rank_of[m] == p->rank)
            return m;
    return -1;
}

struct sync *sync_open(const struct sync_parts *parts)
{
    struct sync *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    const struct cell *c = parts->cell;
    s->parts = *parts;
    s->n = c->fragments;
    s->me = parts->link && parts->members > 1 ? member_of(parts) : -1;
    s->piece = calloc((size_t)s->n, sizeof *s->piece);
    s->queue = calloc((size_t)s->n + 1, sizeof *s->queue);
    bool good = s->piece && s->queue;
    for (int64_t f = 0; good && f < s->n && parts->link; f++)
        good = piece_make(&s->piece[f], parts, s->me, f);
    if (good)
        return s;
    sync_close(s);
    return NULL;
}

void sync_close(struct sync *s)
{
    for (int64_t f = 0; s->piece && f < s->n; f++)
        piece_free(&s->piece[f]);
    free(s->piece);
    free(s->queue);
    free(s);
}

/* ---- the way of a fragment ---- */

static int64_t at_head(const struct sync *s)
{
    return s->queue[s->head];
}

static float *part_of(const struct sync *s, int64_t f, int *count)
{
    size_t first = cell_fragment(s->parts.cell, f);
    *count = (int)(cell_fragment(s->parts.cell, f + 1) - first);
    return s->parts.data + first;
}

static bool summed(struct sync *s)
{
    s->piece[at_head(s)].pending = false;
    s->head = (s->head + 1) % (s->n + 1);
    s->totals.runs++;
    s->totals.busy_ns += now_ns() - s->began_ns;
    s->phase = s->me >= 0 ? TAIL : IDLE;
    return true;
}

static bool begin_on_gpus(struct sync *s, enum way way)
{
    struct inside_gpu *g = s->parts.inside.gpu;
    size_t first = cell_fragment(s->parts.cell, at_head(s));
    size_t n = cell_fragment(s->parts.cell, at_head(s) + 1) - first;
    return (way == WAY_INWARD ? inside_gpu_inward : inside_gpu_outward)(g, first, n) ||
           sync_failed(s, g->why);
}

static bool begin_inside(struct sync *s, enum phase phase, enum way way)
{
    struct engine *e = s->parts.inside.engine;
    s->phase = phase;
    s->moved_ns = now_ns();
    if (s->parts.inside.gpu)
        return begin_on_gpus(s, way);
    s->events = s->outward_events = engine_events(e);
    return engine_start(e, &s->piece[at_head(s)].task[way]) == 0 ||
           sync_failed(s, s->parts.inside.link->why);
}

static bool has_inside(const struct sync *s)
{
    return s->parts.inside.engine || s->parts.inside.gpu;
}

static bool begin_outward(struct sync *s)
{
    return has_inside(s) ? begin_inside(s, OUTWARD, WAY_OUTWARD) : summed(s);
}

static bool begin_exchange(struct sync *s)
{
    if (s->me < 0) {
        engine_pass(s->parts.engine);
        return begin_outward(s);
    }
    s->phase = EXCHANGE;
    s->moved_ns = now_ns();
    return engine_start(s->parts.engine, &s->piece[at_head(s)].task[WAY_EXCHANGE]) == 0 ||
           sync_failed(s, s->parts.link->why);
}

/* The baseline is the library's own, and that blocks. */
static bool run_mpi(struct sync *s)
{
    int count;
    float *data = part_of(s, at_head(s), &count);
    int rc = MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, s->parts.comm);
    return rc == MPI_SUCCESS ? summed(s) : sync_mpi_failed(s, "MPI_Allreduce", rc);
}

static bool begin(struct sync *s)
{
    s->began_ns = now_ns();
    if (!s->parts.link)
        return run_mpi(s);
    return has_inside(s) ? begin_inside(s, INWARD, WAY_INWARD) : begin_exchange(s);
}

/* ---- one move ---- */

static double slice(uint64_t end, double most_s)
{
    uint64_t now = now_ns();
    return now < end ? fmin((double)(end - now) * 1e-9, most_s) : 0;
}

static bool idle(struct sync *s, uint64_t end)
{
    struct wan_event ev;
    double left_s = slice(end, INFINITY);
    if (!s->parts.link) {
        nanosleep(&(struct timespec){(time_t)left_s, (long)(fmod(left_s, 1) * 1e9)}, NULL);
        return true;
    }
    return s->parts.link->ops->next(s->parts.link, &ev, left_s) >= 0 ||
           sync_failed(s, s->parts.link->why);
}

/* What others still wait for between sites goes on meanwhile. */
static bool keep_sending(struct sync *s, uint64_t end)
{
    struct wan_event ev;
    if (s->me < 0)
        return true;
    if (s->phase == OUTWARD)
        return engine_poll(s->parts.engine, slice(end, BETWEEN_SLICE_S)) != ENGINE_FAILED;
    return s->parts.link->ops->next(s->parts.link, &ev, 0) >= 0;
}

static bool inside_is_done(struct sync *s)
{
    return s->phase == INWARD ? begin_exchange(s) : summed(s);
}

static bool poll_gpus(struct sync *s, uint64_t end)
{
    struct inside_gpu *g = s->parts.inside.gpu;
    enum inside_state state = inside_gpu_poll(g, slice(end, INSIDE_SLICE_S));
    if (state == INSIDE_FAILED)
        return sync_failed(s, g->why);
    return state == INSIDE_DONE ? inside_is_done(s) : !sync_stalls(s);
}

static bool poll_inside(struct sync *s, uint64_t end)
{
    if (!keep_sending(s, end))
        return sync_failed(s, s->parts.link->why);
    if (s->parts.inside.gpu)
        return poll_gpus(s, end);
    enum engine_state state = engine_poll(s->parts.inside.engine, slice(end, INSIDE_SLICE_S));
    if (state == ENGINE_FAILED)
        return sync_failed(s, s->parts.inside.link->why);
    return state == ENGINE_IDLE ? inside_is_done(s) : !sync_stalls(s);
}

static bool poll_engine(struct sync *s, uint64_t end)
{
    /* In parts, so that a stall is seen. */
    enum engine_state state = engine_poll(s->parts.engine, slice(end, s->parts.cell->timeout / 8));
    if (state == ENGINE_FAILED)
        return sync_failed(s, s->parts.link->why);
    if (state >= ENGINE_SUMMED && s->phase == EXCHANGE && !begin_outward(s))
        return false;
    if (state == ENGINE_IDLE && s->phase == TAIL)
        s->phase = IDLE;
    return state == ENGINE_IDLE || !sync_stalls(s);
}

static bool move(struct sync *s, uint64_t end)
{
    switch (s->phase) {
    case IDLE:
        return s->head != s->tail ? begin(s) : idle(s, end);
    case INWARD:
    case OUTWARD:
        return poll_inside(s, end);
    case EXCHANGE:
    case TAIL:
        return poll_engine(s, end);
    }
    return false;
}

/* ---- for the caller ---- */

void sync_post(struct sync *s, int64_t fragment)
{
    s->queue[s->tail] = fragment;
    s->tail = (s->tail + 1) % (s->n + 1);
    s->piece[fragment].pending = true;
}

bool sync_poll(struct sync *s, double timeout_s)
{
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    do
        if (!move(s, end))
            return false;
    while (now_ns() < end);
    return true;
}

bool sync_wait(struct sync *s, int64_t fragment)
{
    while (s->piece[fragment].pending)
        if (!move(s, now_ns() + POLL_NS))
            return false;
    return true;
}

/* The link has told of what it keeps a copy of: the others have it only now. */
static bool settle(struct sync *s)
{
    struct wan_link *l = s->parts.link;
    return !l || !l->ops->settle || l->ops->settle(l, s->parts.cell->timeout) == 0 ||
           sync_failed(s, l->why);
}

bool sync_drain(struct sync *s)
{
    while (s->phase != IDLE || s->head != s->tail)
        if (!move(s, now_ns() + POLL_NS))
            return false;
    return settle(s);
}

const char *sync_why(const struct sync *s)
{
    return s->why;
}

struct sync_totals sync_totals(struct sync *s)
{
    struct sync_totals t = s->totals;
    uint64_t sent_B = s->me >= 0 ? engine_sent_B(s->parts.engine) : 0;
    t.sent_B = sent_B - s->sent_before_B;
    s->sent_before_B = sent_B;
    s->totals = (struct sync_totals){0};
    return t;
}
