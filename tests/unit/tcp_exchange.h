/* SPDX-License-Identifier: Apache-2.0
 *
 * Forked processes that exchange blocks over the tcp transport, and what a test of it needs beside.
 */
#pragma once

#include "common/rng.h"
#include "team.h"
#include "unit.h"
#include "wan_sync/transport/tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tcp_options plain = {
    .streams = 4, .interface = "", .congestion = "", .deadline_s = 10};

static const size_t sizes[] = {0, 1, 47, 4096, 65537, 262144, 1048579, 3000001};
enum { SIZES = sizeof sizes / sizeof *sizes };

struct plan {
    struct tcp_options options;
    const char *addresses_0; /* of rank 0, in place of those of the options */
    int blocks;              /* each way between two ranks */
    int breaks;              /* streams to break meanwhile, a rank */
    int late;                /* buffers are posted in reverse, this many turns after the sends */
    size_t bytes;            /* of each block; 0: sizes[] in turn */
};

static inline size_t size_of(const struct plan *p, int id)
{
    return p->bytes ? p->bytes : sizes[id % SIZES];
}

static inline void fill(uint8_t *b, size_t n, int from, int to, int id)
{
    struct rng r;
    rng_stream(&r, (uint64_t)from * 64 + (uint64_t)to, (uint64_t)id);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t x = rng_next(&r);
        memcpy(b + i, &x, n - i < 8 ? n - i : 8);
    }
}

/* A reset, not a close: what the kernel holds of it is lost at once. */
static inline void break_stream(struct tcp_stream *s)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    if (s->fd >= 0)
        (void)connect(s->fd, &none, sizeof none);
}

static inline int tell(const struct wl_host *h, const char *what, const char *why)
{
    fprintf(stderr, "rank %d: %s: %s\n", h->rank, what, why);
    return 1;
}

static inline void *some(void *p)
{
    if (!p)
        abort();
    return p;
}

struct buffers {
    uint8_t **out, **in;
    size_t n;
};

static inline void make(struct buffers *b, const struct wl_host *h, const struct plan *p)
{
    b->n = (size_t)h->ranks * (size_t)p->blocks;
    b->out = some(calloc(b->n, sizeof *b->out)), b->in = some(calloc(b->n, sizeof *b->in));
    for (int r = 0; r < h->ranks; r++)
        for (int i = 0; i < p->blocks; i++) {
            size_t at = (size_t)r * (size_t)p->blocks + (size_t)i, n = size_of(p, i);
            b->out[at] = some(malloc(n + 8)), b->in[at] = some(calloc(1, n + 8));
            fill(b->out[at], n, h->rank, r, i);
        }
}

static inline int send_all(struct link *l, const struct wl_host *h, const struct plan *p,
                           const struct buffers *b, struct rng *rng)
{
    size_t order[4096], n = 0;
    for (size_t i = 0; i < b->n; i++)
        if ((int)i / p->blocks != h->rank)
            order[n++] = i;
    rng_shuffle(rng, order, n);
    for (size_t k = 0; k < n; k++) {
        int peer = (int)order[k] / p->blocks, id = (int)order[k] % p->blocks;
        if (l->ops->send(l, peer, (uint64_t)id, b->out[order[k]], size_of(p, id)))
            return -1;
    }
    return 0;
}

static inline int recv_all(struct link *l, const struct wl_host *h, const struct plan *p,
                           const struct buffers *b)
{
    for (size_t i = b->n; i-- > 0;) {
        int peer = (int)i / p->blocks, id = (int)i % p->blocks;
        if (peer != h->rank && l->ops->recv(l, peer, (uint64_t)id, b->in[i], size_of(p, id)))
            return -1;
    }
    return 0;
}

static inline int compare(const struct wl_host *h, const struct plan *p, const struct buffers *b)
{
    for (size_t i = 0; i < b->n; i++) {
        int peer = (int)i / p->blocks, id = (int)i % p->blocks;
        size_t n = size_of(p, id);
        uint8_t *want = some(malloc(n + 8));
        fill(want, n, peer, h->rank, id);
        if (peer != h->rank && memcmp(want, some(b->in[i]), n))
            return tell(h, "wrong bytes", "");
        free(want);
    }
    return 0;
}

/* Every rank with every rank, and the buffers are scribbled over as soon as they may be. */
static inline int exchange(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    struct link *l;
    static struct buffers b;
    struct rng rng;
    char why[256];
    struct link_event e;
    struct tcp_options options = p->options;
    if (h->rank == 0 && p->addresses_0)
        options.addresses = p->addresses_0;
    rng_stream(&rng, 7, (uint64_t)h->rank);
    if (tcp_open(&l, h, &options, why, sizeof why))
        return tell(h, "open", why);
    make(&b, h, p);
    if ((!p->late && recv_all(l, h, p, &b)) || send_all(l, h, p, &b, &rng))
        return tell(h, "post", l->why);
    int left = 2 * p->blocks * (h->ranks - 1), breaks = p->breaks, late = p->late;
    for (int turn = 0; left > 0; turn++) {
        if (late && turn >= late && (late = 0, recv_all(l, h, p, &b)))
            return tell(h, "late post", l->why);
        int got = l->ops->next(l, &e, late ? 0.005 : 60);
        if (got < 0 || (got == 0 && !late))
            return tell(h, "next", got ? l->why : "nothing for 60 s");
        left -= got;
        size_t at = got ? (size_t)e.peer * (size_t)p->blocks + e.id : 0;
        if (got && e.done == LINK_SENT)
            memset(b.out[at], 0xEE, size_of(p, (int)e.id));
        if (breaks > 0 && turn % 3 == 0 && e.peer != h->rank && breaks--)
            break_stream(&((struct tcp_link *)l)
                              ->peers[e.peer]
                              .streams[rng_below(&rng, (uint64_t)p->options.streams)]);
    }
    if (l->ops->settle(l, 60))
        return tell(h, "settle", l->why);
    struct link_stats seen;
    l->ops->stats(l, &seen);
    h->barrier(h->ctx);
    l->ops->close(l);
    if (p->breaks > 0 && seen.reopened == 0)
        return tell(h, "nothing was reopened", "");
    return compare(h, p, &b);
}
