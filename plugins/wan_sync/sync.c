/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync.h"

#include "common/clock.h"
#include "common/mpi_calls.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ==== which rank is at which site ==== */

static bool gather_hosts(struct sync_sites *s, int rank, MPI_Comm comm)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(name, &length);
    snprintf(s->host[rank], sizeof s->host[rank], "%.*s", SYNC_HOST_MAX - 1, name);
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->host, SYNC_HOST_MAX, MPI_CHAR,
                         comm) == MPI_SUCCESS;
}

bool sync_sites_open(struct sync_sites *s, const struct wl_host *host, MPI_Comm comm,
                     int site_ranks)
{
    size_t n = (size_t)host->ranks;
    int mine = site_ranks ? host->rank / site_ranks : host->node;
    *s = (struct sync_sites){.ranks = host->ranks, .inside = MPI_COMM_NULL};
    s->site_of = calloc(n, sizeof *s->site_of);
    s->leader = calloc(n, sizeof *s->leader);
    s->in_order = calloc(n, sizeof *s->in_order);
    s->host = calloc(n, sizeof *s->host);
    bool good = s->site_of && s->leader && s->in_order && s->host;
    if (!mpi_all(comm, good) || !good ||
        MPI_Allgather(&mine, 1, MPI_INT, s->site_of, 1, MPI_INT, comm) != MPI_SUCCESS)
        return false;
    for (int r = 0; r < s->ranks; r++)
        s->n = s->site_of[r] >= s->n ? s->site_of[r] + 1 : s->n;
    for (int site = 0, at = 0; site < s->n; site++) {
        int first = at;
        for (int r = 0; r < s->ranks; r++)
            if (s->site_of[r] == site)
                s->in_order[at++] = r;
        s->leader[site] = s->in_order[first];
        s->largest = at - first > s->largest ? at - first : s->largest;
    }
    return gather_hosts(s, host->rank, comm) &&
           MPI_Comm_split(comm, mine, host->rank, &s->inside) == MPI_SUCCESS;
}

void sync_sites_close(struct sync_sites *s)
{
    if (s->inside != MPI_COMM_NULL)
        MPI_Comm_free(&s->inside);
    free(s->site_of);
    free(s->leader);
    free(s->in_order);
    free(s->host);
    *s = (struct sync_sites){.inside = MPI_COMM_NULL};
}

/* ==== the GPUs of this rank's site ==== */

/* ---- the site as a host of its own ---- */

static void site_barrier(void *ctx)
{
    MPI_Barrier(((struct sync_gpu *)ctx)->comm);
}

static void site_bcast(void *ctx, void *buf, size_t bytes, int root)
{
    MPI_Bcast(buf, (int)bytes, MPI_BYTE, root, ((struct sync_gpu *)ctx)->comm);
}

static void site_fail(void *ctx, const char *fmt, ...)
{
    struct sync_gpu *g = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(g->why, sizeof g->why, fmt, args);
    va_end(args);
}

static void site_note(void *ctx, const char *key, const char *value)
{
    const struct wl_host *host = ((struct sync_gpu *)ctx)->host;
    host->note(host->ctx, key, value);
}

static struct wl_host site_of(struct sync_gpu *g)
{
    struct wl_host site = *g->host;
    MPI_Comm_rank(g->comm, &site.rank);
    MPI_Comm_size(g->comm, &site.ranks);
    site.ctx = g;
    site.barrier = site_barrier;
    site.bcast = site_bcast;
    site.fail = site_fail;
    site.note = site_note;
    site.start = NULL;
    site.lost = NULL;
    return site;
}

/* ---- the backend ---- */

static enum wl_status same_site(struct sync_gpu *g, MPI_Comm inside)
{
    int how = MPI_UNEQUAL;
    MPI_Comm_compare(inside, g->comm, &how);
    if (how == MPI_CONGRUENT || how == MPI_IDENT)
        return WL_OK;
    snprintf(g->why, sizeof g->why,
             "inside=nccl needs one value of site_ranks per run: use a section for each value");
    return WL_SKIP;
}

enum wl_status sync_gpu_open(struct sync_gpu *g, const struct wl_host *host, MPI_Comm inside)
{
    void *state = NULL;
    if (atomic_load(&g->state))
        return same_site(g, inside);
    if (MPI_Comm_dup(inside, &g->comm) != MPI_SUCCESS)
        return HOST_WHY(WL_FAIL, g->why, sizeof g->why, "MPI_Comm_dup failed");
    g->host = host;
    g->site = site_of(g);
    enum wl_status status = WL_OK;
    if (!g->so.library)
        status = host_backend(&g->so, "cuda", INSIDE_BACKEND_SYMBOL, sizeof *g->ops, g->why,
                              sizeof g->why);
    g->ops = g->so.ops;
    status = host_agree(&g->site, status, g->why);
    TRY(status, g->ops->open(&state, &g->site));
    atomic_store(&g->state, state);
    if (status != WL_OK) { /* the next cell may divide the ranks otherwise */
        MPI_Comm_free(&g->comm);
        g->host = NULL;
    }
    return status;
}

/* The library stays loaded: CUDA and NCCL keep threads in it. */
void sync_gpu_close(struct sync_gpu *g)
{
    void *state = atomic_exchange(&g->state, NULL);
    if (state)
        g->ops->close(state);
    if (g->host)
        MPI_Comm_free(&g->comm);
    g->host = NULL;
}

void sync_gpu_abort(struct sync_gpu *g)
{
    void *state = atomic_load(&g->state);
    if (state)
        g->ops->abort(state);
}

bool sync_gpu_lost(const struct sync_gpu *g)
{
    void *state = atomic_load(&g->state);
    return state && g->ops->lost(state);
}

/* ==== the synchronisations of a cell ==== */

#define POLL_NS 10000000
#define EAGER_NS 200000   /* what comes soon inside a site is worth all attention */
#define PAUSE_PART 64     /* later a pause is a small part of the wait so far, */
#define PAUSE_MOST_S 5e-4 /* so that others can run */
#define PART_B (1u << 20) /* of a message inside a site */
/* After the time-out, so that a host that does not answer is named first (tcp.h). */
#define LATER_S 1.8

/* A fragment is summed inside the site, exchanged between the sites, and broadcast inside the site. TAIL: the
 * sum is complete, and others still wait for blocks of it from this rank. */
enum phase { INWARD, EXCHANGE, OUTWARD, TAIL, IDLE };
struct piece {
    struct schedule schedule; /* of the exchange */
    struct strategy_task task;
    bool pending;
};

/* The sum inside a site over MPI: the leader adds what the members send, one after the other, and then sends
 * each of them the sum. One message is under way at a time. */
struct near {
    MPI_Comm comm;
    int rank, ranks; /* the leader is rank 0 */
    int peer;
    float *data, *came; /* the fragment; what came from a member */
    size_t n, at;       /* elements of the fragment; the first of the message */
    MPI_Request request;
};

struct sync {
    struct sync_parts parts;
    int me;    /* member; -1: no part in the exchange */
    int64_t n; /* fragments */
    struct piece *piece;
    int64_t *queue; /* ring of n + 1: the fragment at the head is under way */
    int64_t head, tail;
    enum phase phase;
    uint64_t began_ns, moved_ns, events, sent_before_B;
    struct near near;
    struct sync_totals totals;
    char why[256];
};

/* Writes the schedule of a fragment's exchange. False: no memory. */
static bool make_piece(struct piece *p, const struct sync_parts *parts, int me, int64_t fragment)
{
    const struct cell *c = parts->cell;
    size_t first = cell_fragment(c, fragment), count = cell_fragment(c, fragment + 1) - first;
    struct schedule_shape shape = cell_shape(c, parts->members, count);
    shape.me = me;
    shape.share = parts->share;
    p->task = (struct strategy_task){.schedule = &p->schedule,
                                     .data = parts->data + first,
                                     .rank_of = parts->rank_of,
                                     .wire = (enum wire)c->wire};
    return strategy_of[cell_model(c)].make(&p->schedule, &shape);
}

struct sync *sync_open(const struct sync_parts *parts)
{
    struct sync *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->parts = *parts;
    s->n = parts->cell->fragments;
    s->phase = IDLE;
    s->me = -1;
    for (int m = 0; parts->link && parts->members > 1 && m < parts->members; m++)
        if (parts->rank_of[m] == parts->rank)
            s->me = m;
    s->near = (struct near){.comm = parts->sites->inside, .request = MPI_REQUEST_NULL};
    MPI_Comm_rank(s->near.comm, &s->near.rank);
    MPI_Comm_size(s->near.comm, &s->near.ranks);
    s->piece = calloc((size_t)s->n, sizeof *s->piece);
    s->queue = calloc((size_t)s->n + 1, sizeof *s->queue);
    s->near.came = malloc(PART_B);
    bool good = s->piece && s->queue && s->near.came;
    for (int64_t f = 0; good && f < s->n && s->me >= 0; f++)
        good = make_piece(&s->piece[f], parts, s->me, f);
    if (good)
        return s;
    sync_close(s);
    return NULL;
}

void sync_close(struct sync *s)
{
    for (int64_t f = 0; s->piece && f < s->n; f++)
        strategy_free(&s->piece[f].schedule);
    free(s->piece);
    free(s->queue);
    free(s->near.came);
    free(s);
}

/* ---- a synchronisation that stands still ---- */

/* Writes why[] and returns false. */
static bool failed_sync(struct sync *s, const char *why)
{
    return HOST_WHY(false, s->why, sizeof s->why, "%s", why);
}

/* True when nothing has moved for longer than the time-out; why[] then names who is awaited. Moving is any
 * block that comes or goes. GPUs tell nothing on the way, and a leader nothing until its exchange ends. */
static bool is_stalled(struct sync *s)
{
    const struct cell *c = s->parts.cell;
    const struct sync_sites *sites = s->parts.sites;
    bool inside = s->phase == INWARD || s->phase == OUTWARD;
    uint64_t events = inside ? s->events : strategy_events(s->parts.engine), now = now_ns();
    if (s->phase == OUTWARD && s->near.rank != 0 && s->near.at == 0)
        return false;
    if (events != s->events) {
        s->events = events;
        s->moved_ns = now;
    }
    double still_s = (double)(now - s->moved_ns) * 1e-9, most_s = c->timeout + LATER_S;
    if (still_s < most_s)
        return false;
    if (inside) {
        snprintf(
            s->why, sizeof s->why,
            "the %s of site %d have not finished a sum for %g s: a rank of the site is lost or "
            "stopped; if it is only slow, raise timeout=%g",
            s->parts.gpu ? "GPUs" : "ranks", sites->site_of[s->parts.rank], most_s, c->timeout);
        return true;
    }
    int rank = strategy_awaits(s->parts.engine);
    snprintf(s->why, sizeof s->why,
             "no block moved for %g s; it waits for rank %d on %s (site %d), which may wait for "
             "another; if a rank is only slow, raise timeout=%g",
             most_s, rank, rank < 0 ? "?" : sites->host[rank], rank < 0 ? -1 : sites->site_of[rank],
             c->timeout);
    return true;
}

/* ---- inside the site ---- */

/* Begins the next message of the way, or finds that there is none: *done. */
static bool post_message(struct sync *s, bool *done)
{
    struct near *a = &s->near;
    const bool leads = a->rank == 0, sends = leads == (s->phase == OUTWARD);
    if (a->at == a->n) {
        a->at = 0;
        a->peer = leads ? a->peer + 1 : a->ranks;
    }
    *done = a->peer >= a->ranks;
    if (*done)
        return true;
    size_t left = a->n - a->at, most = PART_B / sizeof(float);
    int n = (int)(left < most ? left : most);
    float *data = a->data + a->at;
    int rc =
        sends ? MPI_Isend(data, n, MPI_FLOAT, a->peer, 0, a->comm, &a->request)
              : MPI_Irecv(leads ? a->came : data, n, MPI_FLOAT, a->peer, 0, a->comm, &a->request);
    return mpi_good(rc, "a message inside the site", s->why, sizeof s->why);
}

/* Begins to sum the fragment at the head at the leader (INWARD), or to broadcast it (OUTWARD). */
static bool begin_inside(struct sync *s, enum phase way)
{
    struct sync_gpu *g = s->parts.gpu;
    size_t first = cell_fragment(s->parts.cell, s->queue[s->head]);
    size_t n = cell_fragment(s->parts.cell, s->queue[s->head] + 1) - first;
    s->phase = way;
    s->moved_ns = now_ns();
    s->near.data = s->parts.data + first;
    s->near.n = n;
    s->near.at = 0;
    s->near.peer = s->near.rank == 0; /* the leader begins with rank 1 */
    if (g)
        return (way == INWARD ? g->ops->inward : g->ops->outward)(g->state, first, n) == WL_OK ||
               failed_sync(s, g->why);
    bool done;
    return post_message(s, &done);
}

/* Looks once whether the way inside the site goes on; *done: it has ended. */
static bool poll_inside(struct sync *s, bool *done)
{
    struct sync_gpu *g = s->parts.gpu;
    struct near *a = &s->near;
    int came = 0;
    if (g) {
        enum inside_state state = g->ops->poll(g->state);
        *done = state == INSIDE_DONE;
        return state != INSIDE_FAILED || failed_sync(s, g->why);
    }
    *done = a->peer >= a->ranks;
    if (*done)
        return true;
    if (!mpi_good(MPI_Test(&a->request, &came, MPI_STATUS_IGNORE), "a message inside the site",
                  s->why, sizeof s->why))
        return false;
    if (!came)
        return true;
    size_t left = a->n - a->at, most = PART_B / sizeof(float), n = left < most ? left : most;
    if (a->rank == 0 && s->phase == INWARD)
        wire_of[WIRE_FP32].add(a->came, n, a->data + a->at);
    a->at += n;
    s->moved_ns = now_ns();
    return post_message(s, done);
}

/* ---- from phase to phase ---- */

/* What follows the phase that has ended, for the fragment at the head. */
static bool begin_next(struct sync *s)
{
    size_t first = cell_fragment(s->parts.cell, s->queue[s->head]);
    size_t n = cell_fragment(s->parts.cell, s->queue[s->head] + 1) - first;
    switch (s->phase) {
    case IDLE:
        s->began_ns = now_ns();
        /* The baseline is the library's own, and that blocks. */
        if (!s->parts.link && !mpi_good(MPI_Allreduce(MPI_IN_PLACE, s->parts.data + first, (int)n,
                                                      MPI_FLOAT, MPI_SUM, s->parts.comm),
                                        "MPI_Allreduce", s->why, sizeof s->why))
            return false;
        if (s->parts.inside)
            return begin_inside(s, INWARD);
        /* fallthrough */
    case INWARD:
        if (s->me >= 0) {
            s->phase = EXCHANGE;
            s->moved_ns = now_ns();
            s->events = strategy_events(s->parts.engine);
            return strategy_start(s->parts.engine, &s->piece[s->queue[s->head]].task) == 0 ||
                   failed_sync(s, s->parts.link->why);
        }
        if (s->parts.engine)
            strategy_pass(s->parts.engine);
        /* fallthrough */
    case EXCHANGE:
        if (s->parts.inside)
            return begin_inside(s, OUTWARD);
        /* fallthrough */
    case OUTWARD:
    case TAIL:
        break;
    }
    s->piece[s->queue[s->head]].pending = false;
    s->head = (s->head + 1) % (s->n + 1);
    s->totals.runs++;
    s->totals.busy_ns += now_ns() - s->began_ns;
    s->phase = s->me < 0 || strategy_is_idle(s->parts.engine) ? IDLE : TAIL;
    return true;
}

/* Makes progress until `end`, or until something has happened. Whatever this rank does, it goes on with what
 * others wait for between the sites; by the link abort() reaches it, too. */
static bool advance_sync(struct sync *s, uint64_t end)
{
    struct strategy_engine *between = s->parts.engine;
    bool inside = s->phase == INWARD || s->phase == OUTWARD, done = false;
    uint64_t now = now_ns();
    double left_s = now < end ? (double)(end - now) * 1e-9 : 0;
    if (s->phase == IDLE && s->head != s->tail)
        return begin_next(s);
    if (s->phase == IDLE && !between) {
        nanosleep(&(struct timespec){(time_t)left_s, (long)(fmod(left_s, 1) * 1e9)}, NULL);
        return true;
    }
    if (inside && !poll_inside(s, &done))
        return false;
    if (done)
        return begin_next(s);
    uint64_t waited_ns = now_ns() - s->moved_ns;
    if (inside)
        left_s = waited_ns < EAGER_NS
                     ? 0
                     : fmin(left_s, fmin(1e-9 * (double)waited_ns / PAUSE_PART, PAUSE_MOST_S));
    else if (s->phase != IDLE) /* in parts, so that a stall is seen */
        left_s = fmin(left_s, s->parts.cell->timeout / 8);
    enum strategy_state state = strategy_poll(between, left_s);
    if (state == STRATEGY_FAILED)
        return failed_sync(s, s->parts.link->why);
    if (inside)
        return !is_stalled(s);
    if (state >= STRATEGY_SUMMED && s->phase == EXCHANGE && !begin_next(s))
        return false;
    if (state == STRATEGY_IDLE && s->phase == TAIL)
        s->phase = IDLE;
    return state == STRATEGY_IDLE || !is_stalled(s);
}

/* ==== for the caller ==== */

/* Makes progress for timeout_s. False: failed; sync_why() gives the reason. */
static bool sync_poll(struct sync *s, double timeout_s)
{
    uint64_t end = now_ns() + (uint64_t)(timeout_s * 1e9);
    do
        if (!advance_sync(s, end))
            return false;
    while (now_ns() < end);
    return true;
}

/* Waits until the link has released the buffer and nothing is left to be sent. */
static bool sync_drain(struct sync *s)
{
    struct link *l = s->parts.link;
    while (s->phase != IDLE || s->head != s->tail)
        if (!advance_sync(s, now_ns() + POLL_NS))
            return false;
    return !l || !l->ops->settle || l->ops->settle(l, s->parts.cell->timeout) == 0 ||
           failed_sync(s, l->why);
}

const char *sync_why(const struct sync *s)
{
    return s->why;
}

bool sync_is_lost(const struct sync *s)
{
    return s->near.request != MPI_REQUEST_NULL;
}

struct sync_totals sync_totals(struct sync *s)
{
    struct sync_totals t = s->totals;
    uint64_t sent_B = s->me >= 0 ? strategy_sent_B(s->parts.engine) : 0;
    t.sent_B = sent_B - s->sent_before_B;
    s->sent_before_B = sent_B;
    s->totals = (struct sync_totals){0};
    return t;
}

/* ==== the steps of a training ==== */

struct course {
    struct sync *s;
    const struct payload_floats *pattern;
    size_t shift; /* element of the pattern that is the gradient's first */
    const struct cell *cell;
    int64_t beside;
    bool timed;
    double owed_s; /* of the next step's computation */
    struct sync_times times;
};

/* The fragment that is posted after step `after`, counted from the first timed one, or -1. */
static int64_t fragment_of(const struct course *c, int64_t after)
{
    int64_t every = c->cell->every, each = every / c->cell->fragments;
    int64_t at = (after % every + every) % every;
    if (at % each)
        return -1;
    return (at ? at : every) / each - 1;
}

/* At most all fragments of the cell may be posted and not yet waited for. */
static void post_fragment(struct course *c, int64_t f)
{
    struct sync *s = c->s;
    size_t first = cell_fragment(c->cell, f), end = cell_fragment(c->cell, f + 1);
    if (c->beside) {
        uint64_t begin = now_ns();
        payload_floats_fill(c->pattern, s->parts.data + first, c->shift + first, end - first);
        c->owed_s += (double)(now_ns() - begin) * 1e-9;
    }
    s->queue[s->tail] = f;
    s->tail = (s->tail + 1) % (s->n + 1);
    s->piece[f].pending = true;
}

/* Waits for the fragment that is due after a step, and posts the one that begins there. Without overlap both
 * are the same fragment, which is posted first. */
static bool end_step(struct course *c, int64_t after)
{
    int64_t begins = fragment_of(c, after), due = fragment_of(c, after - c->beside);
    if (begins >= 0 && !c->beside)
        post_fragment(c, begins);
    while (due >= 0 && after > 0 && c->s->piece[due].pending)
        if (!advance_sync(c->s, now_ns() + POLL_NS))
            return false;
    if (begins >= 0 && c->beside)
        post_fragment(c, begins);
    return true;
}

static bool run_step(struct course *c, int64_t after)
{
    double compute_s = c->cell->compute * (double)c->cell->accumulate, owed_s = c->owed_s;
    c->owed_s = 0;
    if (compute_s > owed_s && !sync_poll(c->s, compute_s - owed_s))
        return false;
    if (c->timed)
        c->times.compute_s += fmax(compute_s, owed_s);
    return end_step(c, after);
}

bool sync_train(struct sync *s, const struct payload_floats *pattern, size_t shift,
                struct sync_times *out)
{
    const struct cell *cell = s->parts.cell;
    struct course c = {.s = s,
                       .pattern = pattern,
                       .shift = shift,
                       .cell = cell,
                       .beside = cell_steps_beside(cell)};
    bool good = true;
    for (int64_t k = 1 - c.beside; k <= 0 && good; k++)
        good = run_step(&c, k);
    c.timed = true;
    c.times.start_ns = now_ns();
    for (int64_t k = 1; k <= cell->every && good; k++)
        good = run_step(&c, k);
    c.times.end_ns = now_ns();
    c.times.all_s = (double)(c.times.end_ns - c.times.start_ns) * 1e-9;
    *out = c.times;
    return good && sync_drain(s);
}
