/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport between forked processes: what arrives is what was sent, whatever the sizes,
 * and the order.
 */
#include "tcp_exchange.h"

#include <pthread.h>
#include <sys/syscall.h>

/* The kernel's, or one whose peer reads as fast as this rank writes: it takes all, and counts the frames. */
static int swallowed = -1;

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
    ssize_t bytes = 0;
    if (swallowed < 0)
        return syscall(SYS_sendmsg, fd, m, flags);
    for (size_t i = 0; i < m->msg_iovlen; i++)
        bytes += (ssize_t)m->msg_iov[i].iov_len;
    swallowed++;
    return bytes;
}

TEST(many_sizes)
{
    struct plan p = {.options = plain, .blocks = 24};
    for (int streams = 1; streams <= 16; streams *= 4) {
        p.options.streams = streams;
        assert_true(team_run(3, 1, 30, exchange, &p, NULL));
    }
}

/* ---- two links, one port ---- */

/* The links take turns. */
static int alternate(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    struct link *l[2];
    char why[256];
    int rc = 0;
    for (int k = 0; k < 2; k++) {
        struct tcp_options o = p->options;
        o.streams += k;
        if (tcp_open(&l[k], h, &o, why, sizeof why))
            return tell(h, "open", why);
    }
    for (int turn = 0; turn < 8 && !rc; turn++) {
        static struct buffers b;
        struct rng rng;
        rng_stream(&rng, (uint64_t)turn, (uint64_t)h->rank);
        make(&b, h, p);
        rc = send_all(l[turn % 2], h, p, &b, &rng) || take_all(l[turn % 2], h, p, &b) ||
             compare(h, p, &b);
        h->barrier(h->ctx);
    }
    for (int k = 0; k < 2; k++)
        l[k]->ops->close(l[k]);
    return rc;
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
    struct plan p = {.options = plain, .blocks = 8};
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

/* ---- probes ---- */

/* Rank 0 probes a peer that is never full. Each turn sends one frame a stream, and takes the block that has come. */
static int probe_in_turns(const struct wl_host *h, void *arg)
{
    const struct plan *p = arg;
    struct link *l;
    struct link_event e;
    char why[256];
    const char block[100] = "";
    if (tcp_open(&l, h, &p->options, why, sizeof why))
        return tell(h, "open", why);
    if (h->rank == 1 && (l->ops->send(l, 0, 7, block, sizeof block) || l->ops->settle(l, 20)))
        return tell(h, "send", l->why);
    h->barrier(h->ctx);
    int streams = p->options.streams, turns = 0;
    struct tcp_link *t = (struct tcp_link *)l;
    if (h->rank == 0) {
        swallowed = 0;
        for (int i = 0; i < streams; i++)
            t->streams[i].probing = true;
        tcp_pump(&t->peers[1]);
        if (swallowed != streams)
            return tell(h, "probes", "the first ones were not one a stream");
        while (t->events.n == 0 && turns++ < 1000)
            if (tcp_turn(t, 1) || swallowed > streams * (turns + 1))
                return tell(h, "probes", "a turn sent more than one a stream");
        swallowed = -1;
        if (l->ops->next(l, &e, 0) != 1 || e.done != LINK_RECEIVED || e.id != 7)
            return tell(h, "probes", "the block of the peer was not taken");
        free(e.data);
    }
    h->barrier(h->ctx);
    l->ops->close(l);
    return 0;
}

TEST(probes_take_turns)
{
    struct plan p = {.options = plain};
    assert_true(team_run(2, 1, 30, probe_in_turns, &p, NULL));
}
