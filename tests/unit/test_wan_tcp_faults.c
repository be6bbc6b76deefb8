/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport between forked processes: every fault ends in one line in time, on every rank, and
 * strangers change nothing.
 */
#include "../../plugins/wan_sync/transport/tcp_join.c" // NOLINT(bugprone-suspicious-include)
#include "tcp_exchange.h"

#include <signal.h>
#include <sys/wait.h>

/* ---- a peer that goes: each ends in one line, in time ---- */

/* Two ranks. Rank 1 does something wrong; rank 0 waits for a block and must get the reason why none
 * arrives. */
struct fault {
    const char *want; /* of rank 0's line; NULL: the block comes after all */
    void (*act)(struct link *l);
};

static int wait_for_block(struct link *l, const struct fault *f, const struct wl_host *h)
{
    struct link_event e;
    double start = now_s();
    int got = 0;
    while (got == 0 && now_s() - start < 60)
        got = l->ops->next(l, &e, 0.5);
    if (!f->want)
        return got == 1 ? 0 : tell(h, "no block", l->why);
    if (got >= 0 || !strstr(l->why, f->want) || strchr(l->why, '\n'))
        return tell(h, f->want, got < 0 ? l->why : "went on");
    return 0;
}

static int meet(const struct wl_host *h, void *arg)
{
    const struct fault *f = arg;
    struct tcp_options o = plain;
    struct link *l;
    char why[256];
    o.deadline_s = 3;
    if (tcp_open(&l, h, &o, why, sizeof why))
        return tell(h, "open", why);
    int rc = 0;
    if (h->rank == 0)
        rc = wait_for_block(l, f, h);
    else
        f->act(l);
    l->ops->close(l);
    return rc;
}

static void send_block(struct link *l)
{
    static char block[4096];
    l->ops->send(l, 0, 1, block, sizeof block);
    l->ops->settle(l, 1);
}

static void leaves(struct link *l)
{
    (void)l;
}

static void is_slow(struct link *l)
{
    usleep(700000);
    send_block(l);
}

static void loses_a_stream(struct link *l)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC}; /* a reset */
    assert_int_equal(connect(((struct tcp_link *)l)->peers[0].streams[1].fd, &none, sizeof none),
                     0);
    usleep(500000);
}

static void fails(struct link *l)
{
    tcp_fail((struct tcp_link *)l, "its disk is full");
}

static void sends_noise(struct link *l)
{
    char noise[64];
    memset(noise, 'x', sizeof noise);
    send(((struct tcp_link *)l)->peers[0].streams[0].fd, noise, sizeof noise, 0);
    usleep(500000);
}

TEST(faults)
{
    const struct fault all[] = {
        {"rank 1 (", leaves},
        {"has left: its run has ended", leaves},
        {NULL, is_slow},
        {"has left: Connection reset by peer", loses_a_stream},
        {"has left: its disk is full", fails},
        {"it sent data that is not a frame", sends_noise},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int exits[2];
        struct fault f = all[i];
        team_run(2, 1, 120, meet, &f, exits);
        assert_int_equal(exits[0], 0);
        assert_int_equal(exits[1], 0);
    }
}

/* ---- strangers ---- */

/* What strangers say: nothing, a byte, noise, much noise. They come before the ranks, and stay. */
static void strangers_come(int port, int many)
{
    static const size_t says[] = {0, 1, 96, 65536};
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char noise[65536];
    memset(noise, 'x', sizeof noise);
    for (int i = 0; i < many; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        while (connect(fd, (struct sockaddr *)&a, sizeof a)) {
            close(fd);
            usleep(10000);
            fd = socket(AF_INET, SOCK_STREAM, 0);
        }
        send(fd, noise, says[i % 4], MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    char answer; /* a stranger is told nothing */
    for (int fd = 3; fd < 3 + many; fd++)
        if (recv(fd, &answer, 1, MSG_DONTWAIT) > 0)
            raise(SIGABRT);
    pause();
}

/* Rank 1 is late, so that the strangers are before it at rank 0. */
static int besieged(const struct wl_host *h, void *arg)
{
    struct plan *p = arg;
    pid_t child = h->rank == 0 ? fork() : 0;
    if (h->rank == 0 && child == 0)
        strangers_come(p->options.port, 300);
    if (h->rank == 1)
        usleep(700000);
    int rc = exchange(h, p), status = 0;
    if (h->rank == 0) {
        rc = waitpid(child, &status, WNOHANG) ? tell(h, "strangers", "they were answered") : rc;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return rc;
}

TEST(strangers)
{
    char why[256];
    uint16_t port = 0;
    /* Not one that the kernel gives to clients: a stranger that is too early could get it, and connect to itself. */
    int held = open_listener(true, 20000 + getpid() % 10000, &port, why, sizeof why);
    struct plan p = {.options = plain, .blocks = 4};
    assert_true(held >= 0);
    close(held);
    p.options.port = port;
    assert_true(team_run(2, 1, 60, besieged, &p, NULL));
}

/* What a guest says, in one piece and byte by byte. Returns whether it became a stream. */
static bool is_taken(struct join *j, const struct tcp_call *call, size_t bytes, bool slowly)
{
    int fds[2];
    struct tcp_answer answer;
    struct guest *g = &j->guests[0];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    *g = (struct guest){.fd = fds[0], .came = j->now};
    for (size_t i = 0; i < bytes && g->fd >= 0; i += slowly ? 1 : bytes) {
        assert_true(write(fds[1], (const char *)call + i, slowly ? 1 : bytes) > 0);
        hear_guest(j, g);
    }
    bool answered = recv(fds[1], &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer;
    bool taken = j->l->peers[1].streams[0].fd >= 0;
    assert_true(!answered || !memcmp(answer.cookie, j->l->cookie.answer, sizeof answer.cookie));
    assert_int_equal(answered, call->version == TCP_VERSION ? taken : answered);
    if (taken)
        close(fds[0]);
    close(fds[1]);
    j->l->peers[1].streams[0].fd = -1;
    return taken;
}

TEST(cookie)
{
    struct tcp_peer peers[2] = {{.rank = 0}, {.rank = 1, .contact.host = "east"}};
    struct tcp_stream stream = {.peer = &peers[1], .fd = -1};
    struct guest guest;
    struct tcp_link *l = some(calloc(1, sizeof *l));
    l->host = (struct wl_host){.rank = 0, .ranks = 2};
    l->options = plain;
    l->options.streams = 1;
    l->peers = peers;
    peers[1].streams = &stream;
    assert_int_equal(tcp_cookie_draw(&l->cookie), 0);
    struct join j = {.l = l, .now = now_s(), .guests = &guest, .guests_n = 1};
    struct tcp_call good = {.version = TCP_VERSION, .from = 1}, bad;
    memcpy(good.cookie, l->cookie.call, sizeof good.cookie);
    assert_true(is_taken(&j, &good, sizeof good, false));
    assert_true(is_taken(&j, &good, sizeof good, true));
    assert_int_equal(l->strangers, 0);
    for (int i = 0; i < 8 * TCP_COOKIE_HALF_B; i += 17) { /* one bit is wrong */
        bad = good;
        bad.cookie[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(is_taken(&j, &bad, sizeof bad, i % 2));
    }
    assert_int_equal(l->strangers, 16);
    bad = good, bad.from = 7; /* a rank that there is not */
    assert_false(is_taken(&j, &bad, sizeof bad, false));
    bad = good, bad.stream = 9;
    assert_false(is_taken(&j, &bad, sizeof bad, false));
    assert_int_equal(l->strangers, 18);
    bad = good, bad.version = 9;
    assert_false(is_taken(&j, &bad, sizeof bad, false));
    assert_non_null(strstr(l->base.why, "rank 1 (east) speaks version 9"));
    free(l);
}

/* ---- what cannot be opened is told on every rank, with the same line ---- */

struct refusal {
    struct tcp_options options[2]; /* of rank 0 and of the others */
    const char *want;
};

static int refused(const struct wl_host *h, void *arg)
{
    const struct refusal *r = arg;
    struct link *l;
    char why[256] = "";
    if (tcp_open(&l, h, &r->options[h->rank > 0], why, sizeof why) == 0) {
        l->ops->close(l);
        return tell(h, r->want, "opened");
    }
    return strstr(why, r->want) && !strchr(why, '\n') ? 0 : tell(h, r->want, why);
}

TEST(refusals)
{
    char why[256];
    uint16_t port = 0;
    int taken = open_listener(true, 0, &port, why, sizeof why);
    assert_true(taken >= 0);
    struct refusal r = {{plain, plain}, "is taken by another program or connection"};
    r.options[0].port = port;
    assert_true(team_run(2, 1, 120, refused, &r, NULL));
    r.options[0].port = 0;

    r.options[1].congestion = "nonesuch";
    r.want = "congestion = nonesuch";
    assert_true(team_run(2, 1, 120, refused, &r, NULL));
    r.options[1].congestion = "";
    r.options[1].interface = "nonesuch0";
    r.want = "interface = nonesuch0";
    assert_true(team_run(2, 2, 120, refused, &r, NULL));
    close(taken);
}
