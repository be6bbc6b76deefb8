/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport between forked processes: what arrives is what was sent, whatever the sizes,
 * the order and the streams that break.
 */
#include "tcp_exchange.h"

#include <pthread.h>

TEST(many_sizes)
{
    struct plan p = {.options = plain, .blocks = 24};
    for (int streams = 1; streams <= 16; streams *= 4) {
        p.options.streams = streams;
        assert_true(team_run(3, 1, 30, exchange, &p, NULL));
    }
}

/* Blocks that nobody has posted wait where they came to, and then where they come from. */
TEST(posted_late)
{
    struct plan p = {.options = plain, .blocks = 320, .bytes = 262144, .late = 40};
    assert_true(team_run(2, 1, 30, exchange, &p, NULL));
}

/* Rank 0 sends far more than rank 1 has room for. Rank 1 has a buffer for it only once it knows
 * that a block of its own arrived, one too large to be copied: rank 0's word must not be stuck
 * behind what rank 0 sends. */
static int flood(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    const size_t own = 4 * TCP_KEPT_BLOCK_B;
    struct link *l;
    char why[256];
    if (tcp_open(&l, h, &p->options, why, sizeof why))
        return tell(h, "open", why);
    static uint8_t *block, *many; /* this process ends with them */
    block = some(calloc(1, own)), many = some(calloc((size_t)p->blocks, p->bytes));
    struct link_event e;
    int left = p->blocks + 1, other = 1 - h->rank;
    for (int i = 0; h->rank == 0 && i < p->blocks; i++)
        if (l->ops->send(l, other, (uint64_t)i, many + (size_t)i * p->bytes, p->bytes))
            return tell(h, "send", l->why);
    for (int i = 0; h->rank == 1 && i < 100; i++) /* what can come comes */
        if (l->ops->next(l, &e, 0.01))
            return tell(h, "next", "nothing was posted yet");
    if (h->rank == 0 ? l->ops->recv(l, other, 1, block, own)
                     : l->ops->send(l, other, 1, block, own))
        return tell(h, "post", l->why);
    for (; left > 0; left--) {
        int got = l->ops->next(l, &e, 5);
        if (got <= 0)
            return tell(h, "next", got ? l->why : "nothing for 5 s");
        for (int i = 0; h->rank == 1 && e.done == LINK_SENT && i < p->blocks; i++)
            if (l->ops->recv(l, other, (uint64_t)i, many + (size_t)i * p->bytes, p->bytes))
                return tell(h, "recv", l->why);
    }
    int rc = l->ops->settle(l, 5) ? tell(h, "settle", l->why) : 0;
    h->barrier(h->ctx);
    l->ops->close(l);
    free(block), free(many);
    return rc;
}

TEST(flooded)
{
    struct plan p = {.options = plain, .blocks = 160, .bytes = 1 << 20};
    assert_true(team_run(2, 1, 30, flood, &p, NULL));
}

TEST(broken_streams)
{
    struct plan p = {.options = plain, .blocks = 150, .bytes = 262144, .breaks = 12};
    assert_true(team_run(3, 1, 40, exchange, &p, NULL));
    p.options.streams = 1;
    assert_true(team_run(2, 1, 40, exchange, &p, NULL));
}

/* Blocks that were posted during a rest, for each of two peers, with room for `most` streams. */
struct deal {
    unsigned most;
    uint64_t want[4]; /* blocks, by stream */
};

static int deal(const struct wl_host *h, void *arg)
{
    enum { BLOCKS = 8 };
    const struct deal *d = arg;
    struct plan p = {.options = plain, .blocks = BLOCKS, .bytes = 4096};
    struct link *l;
    static struct buffers b; /* this process ends with them */
    struct rng rng;
    struct link_event e;
    char why[256];
    rng_stream(&rng, 7, (uint64_t)h->rank);
    if (tcp_open(&l, h, &p.options, why, sizeof why))
        return tell(h, "open", why);
    struct tcp_link *t = (struct tcp_link *)l;
    make(&b, h, &p);
    t->rests = true, t->most = d->most;
    if (recv_all(l, h, &p, &b) || send_all(l, h, &p, &b, &rng))
        return tell(h, "post", l->why);
    for (int left = 2 * BLOCKS * (h->ranks - 1); left > 0; left--)
        if (l->ops->next(l, &e, 5) <= 0)
            return tell(h, "next", l->why);
    if (l->ops->settle(l, 5))
        return tell(h, "settle", l->why);
    for (int r = 0; r < h->ranks; r++)
        for (int i = 0; r != h->rank && i < plain.streams; i++)
            if (t->peers[r].streams[i].acked != d->want[i])
                return tell(h, "not dealt", "a stream had more blocks than its share");
    h->barrier(h->ctx);
    l->ops->close(l);
    return 0;
}

TEST(dealt)
{
    struct deal all = {0, {2, 2, 2, 2}}, half = {4, {4, 4, 0, 0}}, least = {1, {8, 0, 0, 0}};
    assert_true(team_run(3, 1, 30, deal, &all, NULL));
    assert_true(team_run(3, 1, 30, deal, &half, NULL));
    assert_true(team_run(3, 1, 30, deal, &least, NULL));
}
/* ---- two links, one port ---- */

/* A block each way between two ranks; returns 0 once all came. */
static int pass(struct link *l, const struct wl_host *h, uint64_t id)
{
    static uint8_t in[TEAM_MAX][4096], out[4096];
    struct link_event e;
    for (int r = 0; r < h->ranks; r++)
        if (r != h->rank && (l->ops->recv(l, r, id, in[r], sizeof in[r]) ||
                             l->ops->send(l, r, id, out, sizeof out)))
            return -1;
    for (int left = 2 * (h->ranks - 1); left > 0; left--)
        if (l->ops->next(l, &e, 5) != 1)
            return -1;
    return l->ops->settle(l, 5);
}

/* The links take turns, and a stream of the one that rests is broken meanwhile. Rank 0 still drives
 * one when the others connect to the other again. */
static int alternate(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    struct link *l[2];
    char why[256];
    struct link_stats seen[2];
    struct link_event e;
    for (int k = 0; k < 2; k++) {
        struct tcp_options o = p->options;
        o.streams += k;
        if (tcp_open(&l[k], h, &o, why, sizeof why))
            return tell(h, "open", why);
    }
    for (uint64_t turn = 0; turn < 8; turn++) {
        struct link *now = l[turn % 2], *rests = l[1 - turn % 2];
        if (h->rank > 0)
            break_stream(&((struct tcp_link *)rests)->peers[0].streams[0]);
        if (pass(now, h, turn))
            return tell(h, "pass", now->why);
        struct link *later = h->rank > 0 ? rests : now;
        if (later->ops->next(later, &e, 0.2) < 0)
            return tell(h, "later", later->why);
        h->barrier(h->ctx);
    }
    for (int k = 0; k < 2; k++)
        l[k]->ops->stats(l[k], &seen[k]);
    h->barrier(h->ctx);
    for (int k = 0; k < 2; k++)
        l[k]->ops->close(l[k]);
    if (seen[0].strangers || seen[1].strangers || !seen[0].reopened)
        return tell(h, "strangers, or nothing was reopened", "");
    return 0;
}

/* The two ports of a team, held by these sockets: no program, no outgoing connection and no other
 * test gets them, and a listener that reuses addresses does. Below those that the kernel gives to
 * outgoing connections. */
static uint16_t hold_ports(int fds[2])
{
    int low = 0, yes = 1;
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &low), 1);
    fclose(f);
    for (int port = low - 2; port > 1024; port -= 2) {
        bool held = true;
        for (int i = 0; i < 2; i++) {
            struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(port + i))};
            fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            held = held && bind(fds[i], (struct sockaddr *)&a, sizeof a) == 0;
        }
        for (int i = 0; i < 2; i++)
            held = held && !setsockopt(fds[i], SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (held)
            return (uint16_t)port;
        close(fds[0]), close(fds[1]);
    }
    fail_msg("no two ports below %d are free", low);
    return 0;
}

TEST(one_port)
{
    struct plan p = {.options = plain};
    int fds[2] = {-1, -1};
    p.options.port = hold_ports(fds);
    assert_true(team_run(2, 1, 30, alternate, &p, NULL));
    close(fds[0]), close(fds[1]);
}
/* ---- from another thread ---- */

static void *stop_soon(void *arg)
{
    struct link *l = arg;
    usleep(200000);
    l->ops->abort(l);
    return NULL;
}

static int stopped(const struct wl_host *h, void *arg)
{
    (void)arg;
    struct link *l;
    struct link_event e;
    char why[256];
    pthread_t thread;
    if (tcp_open(&l, h, &plain, why, sizeof why))
        return tell(h, "open", why);
    pthread_create(&thread, NULL, stop_soon, l);
    double start = now_s();
    int got = l->ops->next(l, &e, 20);
    pthread_join(thread, NULL);
    double took = now_s() - start;
    int rc = got == -1 && took < 10 ? 0 : tell(h, "abort", "next went on");
    l->ops->close(l);
    return rc;
}

TEST(abort_from_outside)
{
    assert_true(team_run(2, 1, 30, stopped, NULL, NULL));
}
