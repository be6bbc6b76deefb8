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
    int blocks;   /* each way between two ranks */
    size_t bytes; /* of each block; 0: sizes[] in turn */
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
    uint8_t **out, **in; /* in: as they came; NULL: not yet */
    size_t n;
};

static inline void make(struct buffers *b, const struct wl_host *h, const struct plan *p)
{
    b->n = (size_t)h->ranks * (size_t)p->blocks;
    b->out = some(calloc(b->n, sizeof *b->out)), b->in = some(calloc(b->n, sizeof *b->in));
    for (int r = 0; r < h->ranks; r++)
        for (int i = 0; i < p->blocks; i++) {
            size_t at = (size_t)r * (size_t)p->blocks + (size_t)i, n = size_of(p, i);
            b->out[at] = some(malloc(n + 8));
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
        if (l->ops->send(l, peer, (uint32_t)id, b->out[order[k]], size_of(p, id)))
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
        if (peer != h->rank && (!b->in[i] || memcmp(want, b->in[i], n)))
            return tell(h, "wrong bytes", "");
        free(want);
    }
    return 0;
}

/* Takes the blocks that come until all have come and all have left. A buffer is scribbled over as soon as
 * it may be. */
static inline int take_all(struct link *l, const struct wl_host *h, const struct plan *p,
                           const struct buffers *b)
{
    struct link_event e;
    for (int left = 2 * p->blocks * (h->ranks - 1); left > 0; left--) {
        int got = l->ops->next(l, &e, 60);
        if (got <= 0)
            return tell(h, "next", got ? l->why : "nothing for 60 s");
        size_t at = (size_t)e.peer * (size_t)p->blocks + e.id;
        if (e.done == LINK_SENT)
            memset(b->out[at], 0xEE, size_of(p, (int)e.id));
        else if (b->in[at] || e.bytes != size_of(p, (int)e.id))
            return tell(h, "a block came twice, or in another size", "");
        else
            b->in[at] = e.data;
    }
    return l->ops->settle(l, 60) ? tell(h, "settle", l->why) : 0;
}

/* Every rank with every rank. */
static inline int exchange(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    struct link *l;
    static struct buffers b;
    struct rng rng;
    char why[256];
    rng_stream(&rng, 7, (uint64_t)h->rank);
    if (tcp_open(&l, h, &p->options, why, sizeof why))
        return tell(h, "open", why);
    make(&b, h, p);
    if (send_all(l, h, p, &b, &rng))
        return tell(h, "send", l->why);
    int rc = take_all(l, h, p, &b);
    h->barrier(h->ctx);
    l->ops->close(l);
    return rc ? rc : compare(h, p, &b);
}
