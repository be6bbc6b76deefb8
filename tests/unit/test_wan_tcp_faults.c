/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport between forked processes: every fault ends in one line in time, on every rank.
 */
#include "tcp_exchange.h"

#include <signal.h>
#include <sys/wait.h>

#define SIEGE_S 5.0

/* ---- faults: each ends in one line, in time ---- */

/* Two ranks. Rank 1 does something wrong; rank 0 waits for a block and must get the reason why none
 * arrives. */
struct fault {
    struct tcp_options options;
    const char *want; /* of rank 0's line; NULL: the block comes after all */
    void (*act)(struct link *l, const struct wl_host *h);
    unsigned strangers;
    bool crowd; /* the number of strangers varies: do not check it */
};

static int wait_for_block(struct link *l, const struct fault *f, const struct wl_host *h)
{
    static char block[4096];
    struct link_event e;
    double start = now_s();
    int got = 0;
    if (l->ops->recv(l, 1, 1, block, sizeof block))
        return tell(h, "recv", l->why);
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
    struct link *l;
    char why[256];
    if (tcp_open(&l, h, &f->options, why, sizeof why))
        return tell(h, "open", why);
    int rc = 0;
    if (h->rank == 0)
        rc = wait_for_block(l, f, h);
    else
        f->act(l, h);
    struct link_stats seen;
    l->ops->stats(l, &seen);
    if (h->rank == 0 && !rc && (f->crowd ? !seen.strangers : seen.strangers != f->strangers))
        rc = tell(h, "strangers", "another number was counted");
    l->ops->close(l);
    return rc;
}

static void send_block(struct link *l)
{
    static char block[4096];
    struct link_event e;
    l->ops->send(l, 0, 1, block, sizeof block);
    l->ops->next(l, &e, 1);
    l->ops->settle(l, 1);
}

static void leaves(struct link *l, const struct wl_host *h)
{
    (void)l, (void)h;
}

static void is_slow(struct link *l, const struct wl_host *h)
{
    (void)h;
    usleep(700000);
    send_block(l);
}

/* A new connection to rank 0. */
static int knock(const struct tcp_link *l)
{
    struct sockaddr_storage a;
    socklen_t n = tcp_contact_address(&l->peers[0].contact, 0, &a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&a, n))
        raise(SIGABRT);
    return fd;
}

static void speaks_version_9(struct link *base, const struct wl_host *h)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct tcp_call call;
    struct tcp_answer answer;
    int fd = knock(l);
    tcp_call_make(&l->cookie, 9, h->rank, 0, 0, &call);
    if (write(fd, &call, sizeof call) < 0 ||
        recv(fd, &answer, sizeof answer, MSG_WAITALL) != sizeof answer ||
        memcmp(answer.cookie, l->cookie.answer, sizeof answer.cookie) != 0 ||
        answer.version != TCP_VERSION)
        raise(SIGABRT); /* the answer names the other's version */
    sleep(1);
    close(fd);
}

/* Nothing, noise, much noise, a call whose cookie differs in its last bit, and the right cookie with
 * a rank and a stream that do not exist. */
static void has_strangers(struct link *base, const struct wl_host *h)
{
    struct tcp_link *l = (struct tcp_link *)base;
    struct tcp_call call, rank, stream;
    char noise[65536];
    memset(noise, 'x', sizeof noise);
    tcp_call_make(&l->cookie, TCP_VERSION, h->rank, 0, 0, &call);
    call.cookie[sizeof call.cookie - 1] ^= 1;
    tcp_call_make(&l->cookie, TCP_VERSION, 65535, 0, 0, &rank);
    tcp_call_make(&l->cookie, TCP_VERSION, h->rank, 0, 65535, &stream);
    const struct {
        const void *bytes;
        size_t n;
    } said[] = {{"", 0},
                {noise, 96},
                {noise, sizeof noise},
                {&call, sizeof call},
                {&rank, sizeof rank},
                {&stream, sizeof stream}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        int fd = knock(l);
        if (send(fd, said[i].bytes, said[i].n, 0) < 0)
            raise(SIGABRT);
        shutdown(fd, SHUT_WR);
        char answer;
        if (recv(fd, &answer, 1, 0) > 0) /* a stranger is told nothing */
            raise(SIGABRT);
        close(fd);
    }
    send_block(base);
}

/* More idle connections than a rank accepts before their handshake, then a stream that must
 * reopen. */
static void is_crowded(struct link *base, const struct wl_host *h)
{
    (void)h;
    enum { IDLE = 300 };
    struct tcp_link *l = (struct tcp_link *)base;
    int fds[IDLE];
    for (int i = 0; i < IDLE; i++)
        fds[i] = knock(l);
    for (int i = 0; i < l->options.streams; i++)
        shutdown(l->peers[0].streams[i].fd, SHUT_RDWR);
    for (int i = 0; i < 4; i++)
        send_block(base);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
}

/* Strangers that come and go until `end`: of 120 idle connections some send a byte, and 60 new ones
 * replace others, every 60 ms. */
static void besiege(const struct tcp_link *l, double end)
{
    enum { IDLE = 120, NEW = 60 };
    int fds[IDLE], next = 0;
    for (int i = 0; i < IDLE; i++)
        fds[i] = knock(l);
    for (; now_s() < end; usleep(60000)) {
        for (int i = 0; i < IDLE; i += 3)
            send(fds[(next + i) % IDLE], "x", 1, MSG_NOSIGNAL);
        for (int i = 0; i < NEW; i++, next = (next + 1) % IDLE) {
            close(fds[next]);
            fds[next] = knock(l);
        }
    }
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
}

static void is_besieged(struct link *base, const struct wl_host *h)
{
    (void)h;
    struct tcp_link *l = (struct tcp_link *)base;
    struct link_event e;
    double end = now_s() + SIEGE_S;
    pid_t child = fork();
    if (child == 0) {
        besiege(l, end);
        _exit(0);
    }
    for (int k = 0; now_s() < end; k++) { /* its streams come back meanwhile */
        shutdown(l->peers[0].streams[k % l->options.streams].fd, SHUT_RDWR);
        if (base->ops->next(base, &e, 0.3) < 0)
            break;
    }
    send_block(base);
    waitpid(child, NULL, 0);
}

/* More connections than a rank accepts, each with one byte, before a stream must reopen. */
static void is_teased(struct link *base, const struct wl_host *h)
{
    (void)h;
    enum { TEASERS = 300 };
    struct tcp_link *l = (struct tcp_link *)base;
    int fds[TEASERS];
    for (int i = 0; i < TEASERS; i++) {
        fds[i] = knock(l);
        if (send(fds[i], "x", 1, MSG_NOSIGNAL) != 1)
            raise(SIGABRT);
    }
    for (int i = 0; i < l->options.streams; i++)
        shutdown(l->peers[0].streams[i].fd, SHUT_RDWR);
    for (int i = 0; i < 2; i++)
        send_block(base);
    for (int i = 0; i < TEASERS; i++)
        close(fds[i]);
}

TEST(faults)
{
    const struct fault all[] = {
        {.want = "has left", .act = leaves},
        {.want = NULL, .act = is_slow},
        {.want = "speaks version 9", .act = speaks_version_9},
        {.want = NULL, .act = has_strangers, .strangers = 6},
        {.want = NULL, .act = is_crowded, .crowd = true},
        {.want = NULL, .act = is_besieged, .crowd = true},
        {.want = NULL, .act = is_teased, .crowd = true},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct fault f = all[i];
        int exits[2];
        f.options = plain;
        f.options.deadline_s = f.act == is_teased ? 3 : 10;
        team_run(2, 1, 120, meet, &f, exits);
        assert_int_equal(exits[0], 0);
        assert_int_equal(exits[1], 0);
    }
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
    int taken = tcp_listen(true, 0, &port, why, sizeof why);
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
/* ---- addresses from a file ---- */

/* A file with a comment and this line of this host; the caller frees and unlinks its path. */
static char *write_addresses(const char *where)
{
    char host[64] = "", text[256], *path = some(strdup("/tmp/wan_addresses_XXXXXX"));
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "# who where\nelsewhere 192.0.2.1:5300\n%s %s # ours\n", host,
             where);
    close(mkstemp(path));
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

TEST(given_addresses)
{
    char *six = write_addresses("[::1]"), *none = write_addresses("none"),
         *own = write_addresses("own"), *bad = write_addresses("[::1]:0"),
         *large = write_addresses("[::1]:9223372036854775807");
    struct plan p = {.options = plain, .blocks = 20, .bytes = 65536, .breaks = 4};
    p.options.addresses = six;
    assert_true(team_run(2, 2, 120, exchange, &p, NULL));
    p.addresses_0 = none; /* rank 0 connects, as nobody can connect to it */
    assert_true(team_run(2, 2, 120, exchange, &p, NULL));
    p.breaks = 0;
    assert_true(team_run(4, 2, 120, exchange, &p, NULL)); /* two of the ranks share its host */
    p.options.addresses = own;
    assert_true(team_run(2, 2, 120, exchange, &p, NULL));

    struct refusal r = {{plain, plain}, "nobody can connect to it, nor to rank 1"};
    r.options[0].addresses = r.options[1].addresses = none;
    assert_true(team_run(2, 2, 120, refused, &r, NULL));
    r.want = "port '0'";
    r.options[1].addresses = bad;
    assert_true(team_run(2, 2, 120, refused, &r, NULL));
    r.want = "port '9223372036854775807'";
    r.options[1].addresses = large; /* rank 1 is the second of its node */
    assert_true(team_run(4, 2, 120, refused, &r, NULL));
    r.want = "no line for host";
    r.options[1].addresses = "/dev/null";
    assert_true(team_run(2, 2, 120, refused, &r, NULL));
    char *const all[] = {six, none, own, bad, large};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unlink(all[i]), free(all[i]);
}
