/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport between forked processes: what arrives is what was sent, whatever the sizes,
 * the order and the streams that break, and every fault ends in one line in time.
 */
#include "common/rng.h"
#include "team.h"
#include "wan_sync/transport/tcp_parts.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct link_tcp_options plain = {.streams = 4,
                                              .interface = "",
                                              .congestion = "",
                                              .secret_file = "",
                                              .protection = TCP_PROOF,
                                              .deadline_s = 10};

static const size_t sizes[] = {0, 1, 47, 4096, 65537, 262144, 1048579, 3000001};
enum { SIZES = sizeof sizes / sizeof *sizes };

struct plan {
    struct link_tcp_options options;
    const char *addresses_0; /* of rank 0, in place of those of the options */
    int blocks;              /* each way between two ranks */
    int breaks;              /* streams to break meanwhile, a rank */
    int late;                /* buffers are posted in reverse, this many turns after the sends */
    size_t bytes;            /* of each block; 0: sizes[] in turn */
};

static size_t size_of(const struct plan *p, int id)
{
    return p->bytes ? p->bytes : sizes[id % SIZES];
}

static void fill(uint8_t *b, size_t n, int from, int to, int id)
{
    struct rng r;
    rng_stream(&r, (uint64_t)from * 64 + (uint64_t)to, (uint64_t)id);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t x = rng_next(&r);
        memcpy(b + i, &x, n - i < 8 ? n - i : 8);
    }
}

/* A reset, not a close: what the kernel holds of it is lost at once. */
static void break_stream(struct tcp_stream *s)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    if (s->fd >= 0)
        (void)connect(s->fd, &none, sizeof none);
}

static int say(const struct wl_host *h, const char *what, const char *why)
{
    fprintf(stderr, "rank %d: %s: %s\n", h->rank, what, why);
    return 1;
}

static void *some(void *p)
{
    if (!p)
        abort();
    return p;
}

struct buffers {
    uint8_t **out, **in;
    size_t n;
};

static void make(struct buffers *b, const struct wl_host *h, const struct plan *p)
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

static int send_all(struct wan_link *l, const struct wl_host *h, const struct plan *p,
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

static int recv_all(struct wan_link *l, const struct wl_host *h, const struct plan *p,
                    const struct buffers *b)
{
    for (size_t i = b->n; i-- > 0;) {
        int peer = (int)i / p->blocks, id = (int)i % p->blocks;
        if (peer != h->rank && l->ops->recv(l, peer, (uint64_t)id, b->in[i], size_of(p, id)))
            return -1;
    }
    return 0;
}

static int compare(const struct wl_host *h, const struct plan *p, const struct buffers *b)
{
    for (size_t i = 0; i < b->n; i++) {
        int peer = (int)i / p->blocks, id = (int)i % p->blocks;
        size_t n = size_of(p, id);
        uint8_t *want = some(malloc(n + 8));
        fill(want, n, peer, h->rank, id);
        if (peer != h->rank && memcmp(want, some(b->in[i]), n))
            return say(h, "wrong bytes", "");
        free(want);
    }
    return 0;
}

/* Every rank with every rank, and the buffers are scribbled over as soon as they may be. */
static int exchange(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    struct wan_link *l;
    static struct buffers b;
    struct rng rng;
    char why[256];
    struct wan_event e;
    struct link_tcp_options options = p->options;
    if (h->rank == 0 && p->addresses_0)
        options.addresses = p->addresses_0;
    rng_stream(&rng, 7, (uint64_t)h->rank);
    if (link_tcp_open(&l, h, &options, why, sizeof why))
        return say(h, "open", why);
    make(&b, h, p);
    if ((!p->late && recv_all(l, h, p, &b)) || send_all(l, h, p, &b, &rng))
        return say(h, "post", l->why);
    int left = 2 * p->blocks * (h->ranks - 1), breaks = p->breaks, late = p->late;
    for (int turn = 0; left > 0; turn++) {
        if (late && turn >= late && (late = 0, recv_all(l, h, p, &b)))
            return say(h, "late post", l->why);
        int got = l->ops->next(l, &e, late ? 0.005 : 5);
        if (got < 0 || (got == 0 && !late))
            return say(h, "next", got ? l->why : "nothing for 5 s");
        left -= got;
        size_t at = got ? (size_t)e.peer * (size_t)p->blocks + e.id : 0;
        if (got && e.done == WAN_SENT)
            memset(b.out[at], 0xEE, size_of(p, (int)e.id));
        if (breaks > 0 && turn % 3 == 0 && e.peer != h->rank && breaks--)
            break_stream(&((struct tcp_link *)l)
                              ->peers[e.peer]
                              .streams[rng_below(&rng, (uint64_t)p->options.streams)]);
    }
    if (l->ops->settle(l, 5))
        return say(h, "settle", l->why);
    struct link_tcp_events seen;
    link_tcp_events(l, &seen);
    h->barrier(h->ctx);
    l->ops->close(l);
    if (p->breaks > 0 && seen.reopened == 0)
        return say(h, "nothing was reopened", "");
    return compare(h, p, &b);
}

static void many_sizes(void **state)
{
    (void)state;
    struct plan p = {.options = plain, .blocks = 24};
    for (int streams = 1; streams <= 16; streams *= 4) {
        p.options.streams = streams;
        for (int how = TCP_PROOF; how <= TCP_BARE; how++) {
            p.options.protection = (enum tcp_protection)how;
            assert_true(team_run(3, 1, 30, exchange, &p, NULL));
        }
    }
}

/* Blocks that nobody has posted wait where they came to, and then where they come from. */
static void posted_late(void **state)
{
    (void)state;
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
    struct wan_link *l;
    char why[256];
    if (link_tcp_open(&l, h, &p->options, why, sizeof why))
        return say(h, "open", why);
    static uint8_t *block, *many; /* this process ends with them */
    block = some(calloc(1, own)), many = some(calloc((size_t)p->blocks, p->bytes));
    struct wan_event e;
    int left = p->blocks + 1, other = 1 - h->rank;
    for (int i = 0; h->rank == 0 && i < p->blocks; i++)
        if (l->ops->send(l, other, (uint64_t)i, many + (size_t)i * p->bytes, p->bytes))
            return say(h, "send", l->why);
    for (int i = 0; h->rank == 1 && i < 100; i++) /* what can come comes */
        if (l->ops->next(l, &e, 0.01))
            return say(h, "next", "nothing was posted yet");
    if (h->rank == 0 ? l->ops->recv(l, other, 1, block, own)
                     : l->ops->send(l, other, 1, block, own))
        return say(h, "post", l->why);
    for (; left > 0; left--) {
        int got = l->ops->next(l, &e, 5);
        if (got <= 0)
            return say(h, "next", got ? l->why : "nothing for 5 s");
        for (int i = 0; h->rank == 1 && e.done == WAN_SENT && i < p->blocks; i++)
            if (l->ops->recv(l, other, (uint64_t)i, many + (size_t)i * p->bytes, p->bytes))
                return say(h, "recv", l->why);
    }
    int rc = l->ops->settle(l, 5) ? say(h, "settle", l->why) : 0;
    h->barrier(h->ctx);
    l->ops->close(l);
    free(block), free(many);
    return rc;
}

static void flooded(void **state)
{
    (void)state;
    struct plan p = {.options = plain, .blocks = 160, .bytes = 1 << 20};
    assert_true(team_run(2, 1, 30, flood, &p, NULL));
}

static void broken_streams(void **state)
{
    (void)state;
    struct plan p = {.options = plain, .blocks = 150, .bytes = 262144, .breaks = 12};
    assert_true(team_run(3, 1, 40, exchange, &p, NULL));
    p.options.streams = 1;
    assert_true(team_run(2, 1, 40, exchange, &p, NULL));
    p.options.protection = TCP_ENCRYPTION;
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
    struct wan_link *l;
    static struct buffers b; /* this process ends with them */
    struct rng rng;
    struct wan_event e;
    char why[256];
    rng_stream(&rng, 7, (uint64_t)h->rank);
    if (link_tcp_open(&l, h, &p.options, why, sizeof why))
        return say(h, "open", why);
    struct tcp_link *t = (struct tcp_link *)l;
    make(&b, h, &p);
    t->rests = true, t->most = d->most;
    if (recv_all(l, h, &p, &b) || send_all(l, h, &p, &b, &rng))
        return say(h, "post", l->why);
    for (int left = 2 * BLOCKS * (h->ranks - 1); left > 0; left--)
        if (l->ops->next(l, &e, 5) <= 0)
            return say(h, "next", l->why);
    if (l->ops->settle(l, 5))
        return say(h, "settle", l->why);
    for (int r = 0; r < h->ranks; r++)
        for (int i = 0; r != h->rank && i < plain.streams; i++)
            if (t->peers[r].streams[i].acked != d->want[i])
                return say(h, "not dealt", "a stream had more blocks than its share");
    h->barrier(h->ctx);
    l->ops->close(l);
    return 0;
}

static void dealt(void **state)
{
    (void)state;
    struct deal all = {0, {2, 2, 2, 2}}, half = {4, {4, 4, 0, 0}}, least = {1, {8, 0, 0, 0}};
    assert_true(team_run(3, 1, 30, deal, &all, NULL));
    assert_true(team_run(3, 1, 30, deal, &half, NULL));
    assert_true(team_run(3, 1, 30, deal, &least, NULL));
}

/* ---- faults: each ends in one line, in time ---- */

/* Two ranks of which rank 1 misbehaves; rank 0 waits for a block and must hear why none comes. */
struct fault {
    struct link_tcp_options options;
    const char *want; /* of rank 0's line; NULL: the block comes after all */
    void (*act)(struct wan_link *l, const struct wl_host *h);
    struct link_tcp_events seen;
    bool crowd; /* how many strangers are counted is chance */
};

static int wait_for_block(struct wan_link *l, const struct fault *f, const struct wl_host *h)
{
    static char block[4096];
    struct wan_event e;
    double start = now_s();
    int got = 0;
    if (l->ops->recv(l, 1, 1, block, sizeof block))
        return say(h, "recv", l->why);
    while (got == 0 && now_s() - start < 8)
        got = l->ops->next(l, &e, 0.5);
    if (!f->want)
        return got == 1 ? 0 : say(h, "no block", l->why);
    if (got >= 0 || !strstr(l->why, f->want) || strchr(l->why, '\n'))
        return say(h, f->want, got < 0 ? l->why : "went on");
    return 0;
}

static int meet(const struct wl_host *h, void *arg)
{
    const struct fault *f = arg;
    struct wan_link *l;
    char why[256];
    if (link_tcp_open(&l, h, &f->options, why, sizeof why))
        return say(h, "open", why);
    int rc = 0;
    if (h->rank == 0)
        rc = wait_for_block(l, f, h);
    else
        f->act(l, h);
    if (h->rank == 0 && !rc) {
        struct link_tcp_events seen;
        link_tcp_events(l, &seen);
        if (f->crowd ? !seen.strangers : seen.strangers != f->seen.strangers)
            rc = say(h, "strangers", "another number was counted");
    }
    l->ops->close(l);
    return rc;
}

static void send_block(struct wan_link *l)
{
    static char block[4096];
    struct wan_event e;
    l->ops->send(l, 0, 1, block, sizeof block);
    l->ops->next(l, &e, 1);
    l->ops->settle(l, 1);
}

static void dies(struct wan_link *l, const struct wl_host *h)
{
    (void)l, (void)h;
    raise(SIGKILL);
}

static void leaves(struct wan_link *l, const struct wl_host *h)
{
    (void)l, (void)h;
}

static void is_silent(struct wan_link *l, const struct wl_host *h)
{
    (void)l, (void)h;
    sleep(3);
}

static void is_slow(struct wan_link *l, const struct wl_host *h)
{
    (void)h;
    usleep(700000);
    send_block(l);
}

static void speaks_version_9(struct wan_link *base, const struct wl_host *h)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct sockaddr_storage a;
    struct tcp_call call;
    struct tcp_answer answer;
    socklen_t n = tcp_contact_address(&l->peers[0].contact, 0, &a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    tcp_call_make(&l->pairs[0].hello, 9, h->rank, 0, 0, &call);
    if (connect(fd, (struct sockaddr *)&a, n) || write(fd, &call, sizeof call) < 0 ||
        recv(fd, &answer, sizeof answer, MSG_WAITALL) != sizeof answer ||
        !tcp_answer_proved(&l->pairs[0].hello, &call, &answer) || answer.version != TCP_VERSION)
        raise(SIGABRT); /* the answer names the other's version */
    sleep(1);
    close(fd);
}

/* Nothing, noise, much noise, a call whose proof is wrong, and one said again. */
static void has_strangers(struct wan_link *base, const struct wl_host *h)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct sockaddr_storage a;
    struct tcp_call call;
    char noise[65536];
    socklen_t n = tcp_contact_address(&l->peers[0].contact, 0, &a);
    memset(noise, 'x', sizeof noise);
    tcp_call_make(&l->pairs[0].hello, TCP_VERSION, h->rank, 0, 0, &call);
    call.nonce[0] ^= 1;
    const struct {
        const void *bytes;
        size_t n;
    } said[] = {{"", 0}, {noise, 96}, {noise, sizeof noise}, {&call, sizeof call}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&a, n) || send(fd, said[i].bytes, said[i].n, 0) < 0)
            raise(SIGABRT);
        shutdown(fd, SHUT_WR);
        char answer;
        if (recv(fd, &answer, 1, 0) > 0) /* a stranger is told nothing */
            raise(SIGABRT);
        close(fd);
    }
    send_block(base);
}

/* More idle connections than may be half-way in, and then a stream that has to come back. */
static void is_crowded(struct wan_link *base, const struct wl_host *h)
{
    (void)h;
    enum { IDLE = 300 };
    struct tcp_link *l = (struct tcp_link *)base;
    struct sockaddr_storage a;
    socklen_t n = tcp_contact_address(&l->peers[0].contact, 0, &a);
    int fds[IDLE];
    for (int i = 0; i < IDLE; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fds[i], (struct sockaddr *)&a, n))
            raise(SIGABRT);
    }
    for (int i = 0; i < l->options.streams; i++)
        shutdown(l->peers[0].streams[i].fd, SHUT_RDWR);
    for (int i = 0; i < 4; i++)
        send_block(base);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
}

static void faults(void **state)
{
    (void)state;
    const struct {
        struct fault fault;
        bool rank_1_dies;
    } all[] = {
        {{.want = "is gone", .act = dies}, true},
        {{.want = "has left", .act = leaves}, false},
        {{.want = "has not answered for 1 s", .act = is_silent}, false},
        {{.want = NULL, .act = is_slow}, false},
        {{.want = "speaks version 9", .act = speaks_version_9}, false},
        {{.want = NULL, .act = has_strangers, .seen.strangers = 4}, false},
        {{.want = NULL, .act = is_crowded, .crowd = true}, false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct fault f = all[i].fault;
        int exits[2];
        f.options = plain;
        f.options.deadline_s = f.want ? 1 : 5; /* what goes on is not hurried */
        team_run(2, 1, 20, meet, &f, exits);
        assert_int_equal(exits[0], 0);
        assert_int_equal(exits[1], all[i].rank_1_dies ? -SIGKILL : 0);
    }
}

/* ---- what cannot be opened is told on every rank, with the same line ---- */

struct refusal {
    struct link_tcp_options options[2]; /* of rank 0 and of the others */
    const char *want;
};

static int refused(const struct wl_host *h, void *arg)
{
    const struct refusal *r = arg;
    struct wan_link *l;
    char why[256] = "";
    if (link_tcp_open(&l, h, &r->options[h->rank > 0], why, sizeof why) == 0) {
        l->ops->close(l);
        return say(h, r->want, "opened");
    }
    return strstr(why, r->want) && !strchr(why, '\n') ? 0 : say(h, r->want, why);
}

static void write_secret(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static void refusals(void **state)
{
    (void)state;
    char a[] = "/tmp/wan_secret_a_XXXXXX", b[] = "/tmp/wan_secret_b_XXXXXX", why[256];
    uint16_t port = 0;
    close(mkstemp(a)), close(mkstemp(b));
    int taken = tcp_listen(true, 0, &port, why, sizeof why);
    assert_true(taken >= 0);
    struct refusal r = {{plain, plain}, "is taken by another program or connection"};
    r.options[0].deadline_s = r.options[1].deadline_s = 1;
    r.options[0].port = port;
    assert_true(team_run(2, 1, 20, refused, &r, NULL));
    r.options[0].port = 0;

    write_secret(a, "sixteen bytes at least", 0600);
    r.options[0].secret_file = r.options[1].secret_file = a;
    struct plan p = {.options = r.options[0], .blocks = 2};
    assert_true(team_run(2, 1, 20, exchange, &p, NULL));
    write_secret(b, "sixteen other bytes", 0600);
    r.options[1].secret_file = b;
    r.want = "without the secret: is it the same there?";
    assert_true(team_run(2, 1, 20, refused, &r, NULL));
    write_secret(b, "sixteen bytes at least", 0644);
    r.want = "chmod 600";
    assert_true(team_run(2, 1, 20, refused, &r, NULL));
    r.options[1].secret_file = "/nonexistent";
    r.want = "No such file";
    assert_true(team_run(2, 1, 20, refused, &r, NULL));
    r.options[1].secret_file = a;

    r.options[1].congestion = "nonesuch";
    r.want = "congestion = nonesuch";
    assert_true(team_run(2, 1, 20, refused, &r, NULL));
    r.options[1].congestion = "";
    r.options[1].interface = "nonesuch0";
    r.want = "interface = nonesuch0";
    assert_true(team_run(2, 2, 20, refused, &r, NULL));
    unlink(a), unlink(b), close(taken);
}

/* ---- two links, one port ---- */

/* A block each way between two ranks; returns 0 once all came. */
static int pass(struct wan_link *l, const struct wl_host *h, uint64_t id)
{
    static uint8_t in[TEAM_MAX][4096], out[4096];
    struct wan_event e;
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
    struct wan_link *l[2];
    char why[256];
    struct link_tcp_events seen[2];
    struct wan_event e;
    for (int k = 0; k < 2; k++) {
        struct link_tcp_options o = p->options;
        o.streams += k;
        if (link_tcp_open(&l[k], h, &o, why, sizeof why))
            return say(h, "open", why);
    }
    for (uint64_t turn = 0; turn < 8; turn++) {
        struct wan_link *now = l[turn % 2], *rests = l[1 - turn % 2];
        if (h->rank > 0)
            break_stream(&((struct tcp_link *)rests)->peers[0].streams[0]);
        if (pass(now, h, turn))
            return say(h, "pass", now->why);
        struct wan_link *later = h->rank > 0 ? rests : now;
        if (later->ops->next(later, &e, 0.2) < 0)
            return say(h, "later", later->why);
        h->barrier(h->ctx);
    }
    for (int k = 0; k < 2; k++)
        link_tcp_events(l[k], &seen[k]);
    h->barrier(h->ctx);
    for (int k = 0; k < 2; k++)
        l[k]->ops->close(l[k]);
    if (seen[0].strangers || seen[1].strangers || !seen[0].reopened)
        return say(h, "strangers, or nothing was reopened", "");
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

static void one_port(void **state)
{
    (void)state;
    struct plan p = {.options = plain};
    int fds[2] = {-1, -1};
    p.options.port = hold_ports(fds);
    assert_true(team_run(2, 1, 30, alternate, &p, NULL));
    close(fds[0]), close(fds[1]);
}

/* ---- addresses from a file ---- */

/* A file with a comment and this line of this host; the caller frees and unlinks its path. */
static char *write_addresses(const char *where)
{
    char host[64] = "", text[256], *path = some(strdup("/tmp/wan_addresses_XXXXXX"));
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "# who where\nelsewhere 192.0.2.1:5300\n%s %s # ours\n", host,
             where);
    close(mkstemp(path));
    write_secret(path, text, 0644);
    return path;
}

static void given_addresses(void **state)
{
    (void)state;
    char *six = write_addresses("[::1]"), *none = write_addresses("none"),
         *own = write_addresses("own"), *bad = write_addresses("[::1]:0");
    struct plan p = {.options = plain, .blocks = 20, .bytes = 65536, .breaks = 4};
    p.options.addresses = six;
    assert_true(team_run(2, 2, 20, exchange, &p, NULL));
    p.addresses_0 = none; /* rank 0 connects, as nobody can connect to it */
    assert_true(team_run(2, 2, 20, exchange, &p, NULL));
    p.breaks = 0;
    assert_true(team_run(4, 2, 20, exchange, &p, NULL)); /* two of the ranks share its host */
    p.options.addresses = own;
    assert_true(team_run(2, 2, 20, exchange, &p, NULL));

    struct refusal r = {{plain, plain}, "nobody can connect to it, nor to rank 1"};
    r.options[0].deadline_s = r.options[1].deadline_s = 1;
    r.options[0].addresses = r.options[1].addresses = none;
    assert_true(team_run(2, 2, 20, refused, &r, NULL));
    r.want = "port '0'";
    r.options[1].addresses = bad;
    assert_true(team_run(2, 2, 20, refused, &r, NULL));
    r.want = "no line for host";
    r.options[1].addresses = "/dev/null";
    assert_true(team_run(2, 2, 20, refused, &r, NULL));
    char *const all[] = {six, none, own, bad};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unlink(all[i]), free(all[i]);
}

/* ---- from another thread ---- */

static void *stop_soon(void *arg)
{
    struct wan_link *l = arg;
    usleep(200000);
    l->ops->abort(l);
    return NULL;
}

static int stopped(const struct wl_host *h, void *arg)
{
    (void)arg;
    struct wan_link *l;
    struct wan_event e;
    char why[256];
    pthread_t thread;
    if (link_tcp_open(&l, h, &plain, why, sizeof why))
        return say(h, "open", why);
    pthread_create(&thread, NULL, stop_soon, l);
    double start = now_s();
    int got = l->ops->next(l, &e, 20);
    pthread_join(thread, NULL);
    double took = now_s() - start;
    int rc = got == -1 && took < 10 ? 0 : say(h, "abort", "next went on");
    l->ops->close(l);
    return rc;
}

static void abort_from_outside(void **state)
{
    (void)state;
    assert_true(team_run(2, 1, 30, stopped, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_sizes),      cmocka_unit_test(posted_late),
        cmocka_unit_test(flooded),         cmocka_unit_test(broken_streams),
        cmocka_unit_test(dealt),           cmocka_unit_test(faults),
        cmocka_unit_test(refusals),        cmocka_unit_test(one_port),
        cmocka_unit_test(given_addresses), cmocka_unit_test(abort_from_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
