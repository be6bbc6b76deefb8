/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/probe_site.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "lab/relay.h"
#include "lab/site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 7 /* echo */
#define BUFFER_B (64 << 20)
#define BURST 100 /* datagrams at once after a pause: more may not fit the device's queue */

struct message {
    uint32_t phase;
    uint16_t from;
    uint16_t answer;  /* to a ping */
    uint64_t sent_ns; /* CLOCK_REALTIME, as the kernel stamps what arrives */
    uint64_t held_ns; /* from the ping's arrival to its answer */
};

struct player {
    const struct probe_plan *plan;
    const struct lab_spec *spec;
    size_t me, phase;
    struct probe_seen *seen;
    int fd;
    unsigned char *buffer;
    double *next_ns; /* one a site */
    struct rng rng;
    uint64_t real_ahead_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

static struct sockaddr_in address_of(size_t i)
{
    char text[32];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    snprintf(text, sizeof text, SITE_WAN_NET "%zu", i + SITE_FIRST_HOST);
    inet_pton(AF_INET, text, &a.sin_addr);
    return a;
}

static struct probe_seen *seen_of(const struct player *p, size_t phase, size_t from, size_t to)
{
    size_t n = p->spec->n;
    return &p->seen[phase * n * n + from * n + to];
}

static int open_socket(size_t me)
{
    struct sockaddr_in a = address_of(me);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), size = BUFFER_B, on = 1;
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a)) {
        fail(GS_CANNOT, "lab: probe: %s", strerror(errno));
        return -1;
    }
    /* The larger is for privilege alone; what is not granted is seen as a rate that is not kept. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return fd;
}

static bool send_message(const struct player *p, size_t to, struct message m, unsigned bytes)
{
    struct sockaddr_in a = address_of(to);
    memcpy(p->buffer, &m, sizeof m);
    return sendto(p->fd, p->buffer, bytes, 0, (struct sockaddr *)&a, sizeof a) >= 0;
}

static uint64_t real_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* When the kernel had it: the process may have come late. */
static uint64_t arrival_ns(struct msghdr *h)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        }
    return real_ns();
}

/* By when it came, not by when it is read; all flows of a phase in the same time. */
void probe_note_bulk(const struct probe_phase *f, struct probe_seen *s, size_t bytes,
                     uint64_t at_ns)
{
    if (at_ns < f->count_ns || at_ns > f->stop_ns)
        return;
    if (!s->first_ns)
        s->first_ns = at_ns;
    s->bytes += bytes + PROBE_HEADERS_B;
    s->last_ns = at_ns;
}

static void take(const struct player *p, struct message m, size_t bytes, uint64_t at_ns)
{
    if (m.from >= p->spec->n || m.phase > p->phase) /* what is read late counts where it was sent */
        return;
    struct probe_seen *came = seen_of(p, m.phase, m.from, p->me);
    enum probe_kind kind = p->plan->phases[m.phase].kind;
    size_t to = m.from;
    if (m.answer) {
        struct probe_seen *asked = seen_of(p, m.phase, p->me, m.from);
        uint64_t rtt_ns = at_ns - m.sent_ns - m.held_ns;
        if (!asked->rtt_ns || rtt_ns < asked->rtt_ns)
            asked->rtt_ns = rtt_ns;
    } else if (kind == PROBE_PING) {
        m = (struct message){m.phase, (uint16_t)p->me, 1, m.sent_ns, real_ns() - at_ns};
        send_message(p, to, m, p->plan->phases[m.phase].datagram_B);
    } else {
        came->got++;
        if (kind == PROBE_BULK)
            probe_note_bulk(&p->plan->phases[m.phase], came, bytes, at_ns - p->real_ahead_ns);
    }
}

static void receive_all(const struct player *p)
{
    char control[64];
    struct message m;
    struct iovec v = {p->buffer, (size_t)p->spec->mtu_B};
    for (;;) {
        struct msghdr h = {.msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof control};
        ssize_t got = recvmsg(p->fd, &h, 0);
        if (got < 0)
            return;
        if ((size_t)got < sizeof m)
            continue;
        memcpy(&m, p->buffer, sizeof m);
        take(p, m, (size_t)got, arrival_ns(&h));
    }
}

/* Sends what is due; when the next is, or INFINITY. */
static double send_due(struct player *p, const struct probe_phase *f)
{
    double next_ns = INFINITY;
    for (size_t to = 0; to < p->spec->n; to++) {
        double every_ns = f->interval_ns[p->me * p->spec->n + to];
        if (every_ns <= 0)
            continue;
        double now_ns = (double)clock_now_ns();
        p->next_ns[to] = fmax(p->next_ns[to], now_ns - BURST * every_ns);
        for (; p->next_ns[to] <= now_ns && p->next_ns[to] < (double)f->stop_ns;
             p->next_ns[to] += probe_plan_wait_ns(f, p->me * p->spec->n + to, &p->rng)) {
            struct message m = {(uint32_t)p->phase, (uint16_t)p->me, 0, real_ns(), 0};
            seen_of(p, p->phase, p->me, to)->sent += send_message(p, to, m, f->datagram_B);
        }
        if (p->next_ns[to] < (double)f->stop_ns)
            next_ns = fmin(next_ns, p->next_ns[to]);
    }
    return next_ns;
}

static void wait_until(const struct player *p, double until_ns)
{
    double wait_ns = until_ns - (double)clock_now_ns();
    struct pollfd f = {.fd = p->fd, .events = POLLIN};
    if (wait_ns > 0)
        ppoll(&f, 1, &(struct timespec){(time_t)(wait_ns / 1e9), (long)fmod(wait_ns, 1e9)}, NULL);
}

static void play_phase(struct player *p)
{
    const struct probe_phase *f = &p->plan->phases[p->phase];
    for (size_t to = 0; to < p->spec->n; to++)
        p->next_ns[to] = (double)f->start_ns;
    while (clock_now_ns() < f->end_ns) {
        receive_all(p);
        wait_until(p, fmin(send_due(p, f), (double)f->end_ns));
    }
}

int probe_site_play(const struct probe_plan *plan, const struct lab_spec *s, size_t me,
                    struct probe_seen *seen)
{
    struct player p = {.plan = plan, .spec = s, .me = me, .seen = seen, .fd = open_socket(me)};
    if (p.fd < 0)
        return GS_CANNOT;
    p.buffer = xcalloc(1, (size_t)s->mtu_B);
    rng_stream(&p.rng, s->seed, me);
    p.real_ahead_ns = real_ns() - clock_now_ns();
    p.next_ns = xcalloc(s->n, sizeof *p.next_ns);
    /* What else runs here is not the lab's fault; refused without privilege. In turns: where too
     * much is sent, sites must not wait for each other. */
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = RELAY_PRIORITY - 1});
    prctl(PR_SET_TIMERSLACK, 1);
    while (clock_now_ns() < plan->phases[0].start_ns)
        wait_until(&p, (double)plan->phases[0].start_ns);
    for (; p.phase < plan->n; p.phase++)
        play_phase(&p);
    close(p.fd);
    free(p.buffer);
    free(p.next_ns);
    return GS_OK;
}
