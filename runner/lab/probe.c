/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/probe.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "lab/relay.h"
#include "lab/site.h"
#include "wan/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the schedule ----
 *
 * The schedule of a probe: phases at fixed times of one clock. The sites need no messages to
 * coordinate, and none waits for another.
 */

#define MS 1000000u
#define PINGS_MS 40
#define PING_EVERY_NS 5e6
#define BULK_MS 400
#define BULK_WARM_MS 100 /* until a queue has formed and the line is never idle */
#define BULK_OVER 1.25   /* sent, of what is let through */
#define SMALL_B 32
#define SMALL_SHARE 0.3 /* of a line, at most: what is lost must not be lost in a queue */
#define SMALL_EVERY_NS 1e5
#define SMALL_MIN 500.0
#define SMALL_MAX 10000.0
#define LOSSES 40.0 /* to be seen in all */
#define MARGIN_MS 30

static struct probe_phase *add_phase(struct probe_plan *p, const struct lab_spec *s,
                                     enum probe_kind kind, double send_ns)
{
    double way_ns = lab_max_rtt_s(s) * 1e9, queue_ns = 0;
    /* What is sent too much has to leave the queues before the next phase. */
    if (kind == PROBE_BULK) {
        send_ns += way_ns / 2;
        queue_ns = (BULK_OVER - 1) * send_ns + 1e9 * (double)s->n * s->mtu_B / lab_slowest_Bps(s);
    }
    struct probe_phase *f = &APPEND(p->phases, p->n);
    *f = (struct probe_phase){.kind = kind, .start_ns = p->end_ns};
    f->count_ns = f->start_ns + (kind == PROBE_BULK ? BULK_WARM_MS * MS + (uint64_t)way_ns / 2 : 0);
    f->stop_ns = f->start_ns + (uint64_t)send_ns;
    f->end_ns = f->stop_ns + (uint64_t)(way_ns + queue_ns) + MARGIN_MS * MS;
    f->datagram_B = kind == PROBE_BULK ? (unsigned)s->mtu_B - PROBE_HEADERS_B : SMALL_B;
    f->interval_ns = xcalloc(s->n * s->n, sizeof *f->interval_ns);
    f->limit_Bps = xcalloc(s->n * s->n, sizeof *f->limit_Bps);
    p->end_ns = f->end_ns;
    return f;
}

static void add_pings(struct probe_plan *p, const struct lab_spec *s)
{
    struct probe_phase *f = add_phase(p, s, PROBE_PING, PINGS_MS * (double)MS);
    for (size_t i = 0; i < s->n * s->n; i++)
        f->interval_ns[i] = i / s->n == i % s->n ? 0 : PING_EVERY_NS;
}

static bool crosses(const struct lab_way *w, size_t line)
{
    for (size_t i = 0; i < w->n_lines; i++)
        if (w->lines[i] == line)
            return true;
    return false;
}

/* What the lines between two ends let through; a shared line in equal parts for the flows of f, or
 * for all pairs. */
static double between_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t flow)
{
    const struct lab_way *w = &s->ways[flow];
    double rate = w->rate_Bps > 0 ? w->rate_Bps : INFINITY;
    for (size_t i = 0; i < w->n_lines; i++) {
        double flows = 0;
        for (size_t k = 0; k < s->n * s->n; k++)
            flows += (!f || f->limit_Bps[k] > 0) && crosses(&s->ways[k], w->lines[i]);
        rate = fmin(rate, s->lines[w->lines[i]].rate_Bps / flows);
    }
    return rate;
}

/* Every site asks all others at once, and answers them: upper bound of the delay that this adds on the
 * slowest link of one direction. */
static double probe_plan_pings_s(const struct lab_spec *s, size_t from, size_t to)
{
    const struct lab_way *w = &s->ways[from * s->n + to];
    double rate = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps);
    double pings = 2 * (double)(s->n - 1);
    if (w->rate_Bps > 0)
        rate = fmin(rate, w->rate_Bps);
    for (size_t i = 0; i < w->n_lines; i++)
        rate = fmin(rate, s->lines[w->lines[i]].rate_Bps);
    return pings * (SMALL_B + PROBE_HEADERS_B) / rate;
}

static void add_count(struct probe_plan *p, const struct lab_spec *s)
{
    double every_ns = SMALL_EVERY_NS, least = 1, number = SMALL_MIN,
           pairs = (double)(s->n * (s->n - 1));
    for (size_t i = 0; i < s->n * s->n; i++) {
        size_t from = i / s->n, to = i % s->n;
        double others = (double)(s->n - 1);
        double ends = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps) / others;
        if (from == to)
            continue;
        every_ns = fmax(every_ns, (SMALL_B + PROBE_HEADERS_B) * 1e9 /
                                      (SMALL_SHARE * fmin(ends, between_Bps(NULL, s, i))));
        if (s->ways[i].loss > 0)
            least = fmin(least, s->ways[i].loss);
    }
    if (least < 1)
        number = fmin(fmax(LOSSES / least / pairs, SMALL_MIN), SMALL_MAX);
    struct probe_phase *f = add_phase(p, s, PROBE_COUNT, number * every_ns);
    for (size_t i = 0; i < s->n * s->n; i++)
        f->interval_ns[i] = i / s->n == i % s->n ? 0 : every_ns;
}

/* ---- rates ---- */

/* Sends along the flows of f, which are those with a limit. */
static void add_rates(struct probe_phase *f, const struct lab_spec *s)
{
    size_t all = s->n * s->n;
    AUTO_FREE double *limit = xcalloc(all, sizeof *limit);
    for (size_t i = 0; i < all; i++)
        if (f->limit_Bps[i] > 0)
            limit[i] = fmin(between_Bps(f, s, i),
                            fmin(s->sites[i / s->n].up_Bps, s->sites[i % s->n].down_Bps));
    /* An end that several flows share carries a part of each. */
    for (size_t i = 0; i < all; i++) {
        const struct lab_site *from = &s->sites[i / s->n], *to = &s->sites[i % s->n];
        double out = 0, in = 0;
        for (size_t k = 0; k < s->n; k++) {
            out += limit[i / s->n * s->n + k];
            in += limit[k * s->n + i % s->n];
        }
        if (limit[i] <= 0)
            continue;
        f->limit_Bps[i] = limit[i] * fmin(1, fmin(from->up_Bps / out, to->down_Bps / in));
        f->interval_ns[i] = (f->datagram_B + PROBE_HEADERS_B) * 1e9 / (BULK_OVER * f->limit_Bps[i]);
    }
}

double probe_plan_wait_ns(const struct probe_phase *f, size_t flow, struct rng *r)
{
    return f->interval_ns[flow] * (f->kind == PROBE_BULK ? 0.5 + rng_uniform(r) : 1);
}

/* The k-th flow of an end. */
static size_t flow_of(const struct lab_spec *s, size_t site, size_t k, bool sends)
{
    return sends ? site * s->n + k : k * s->n + site;
}

double probe_plan_end_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i,
                          bool sends)
{
    double flows = 0, loss = 0;
    for (size_t k = 0; k < s->n; k++) {
        size_t flow = flow_of(s, i, k, sends);
        flows += f->limit_Bps[flow] * (1 - s->ways[flow].loss);
        if (sends && f->limit_Bps[flow] > 0)
            loss = fmax(loss, s->ways[flow].loss);
    }
    return fmin(flows, sends ? s->sites[i].up_Bps * (1 - loss) : s->sites[i].down_Bps);
}

/* All at once in a ring. Then, for an end that the ring could not fill, one with all others. */
static void add_bulk(struct probe_plan *p, const struct lab_spec *s)
{
    size_t ring = p->n;
    struct probe_phase *f = add_phase(p, s, PROBE_BULK, BULK_MS * (double)MS);
    for (size_t i = 0; i < s->n; i++)
        f->limit_Bps[i * s->n + (i + 1) % s->n] = 1;
    add_rates(f, s);
    for (size_t i = 0; i < 2 * s->n; i++) {
        size_t site = i / 2;
        bool sends = i % 2 == 0;
        size_t flow = flow_of(s, site, (site + (sends ? 1 : s->n - 1)) % s->n, sends);
        double end = sends ? s->sites[site].up_Bps : s->sites[site].down_Bps;
        if (s->n < 3 || p->phases[ring].limit_Bps[flow] >= end)
            continue;
        f = add_phase(p, s, PROBE_BULK, BULK_MS * (double)MS);
        for (size_t k = 0; k < s->n; k++)
            if (k != site)
                f->limit_Bps[flow_of(s, site, k, sends)] = 1;
        add_rates(f, s);
    }
}

void probe_plan_make(struct probe_plan *p, const struct lab_spec *s, uint64_t start_ns)
{
    *p = (struct probe_plan){.end_ns = start_ns};
    add_pings(p, s);
    add_count(p, s);
    add_bulk(p, s);
}

void probe_plan_free(struct probe_plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->phases[i].interval_ns);
        free(p->phases[i].limit_Bps);
    }
    free(p->phases);
    *p = (struct probe_plan){0};
}

/* ---- one site ----
 *
 * One site's part in a probe: sends and answers by the plan, and counts what it receives.
 */

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

static uint64_t ns_of(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t real_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ns_of(t);
}

/* When the kernel had it: the process may have come late. */
static uint64_t arrival_ns(struct msghdr *h)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            return ns_of(t);
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

/* Runs until the end of the plan, in a separate process in site `me`. All sites share `seen`
 * [phase][from * n + to]. GS_OK or GS_CANNOT, reported. */
static int probe_site_play(const struct probe_plan *plan, const struct lab_spec *s, size_t me,
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

#define PROBE_RATE_BY 0.03 /* a larger relative error of a rate fails the probe */
#define PROBE_RTT_BY 0.05
#define PROBE_RTT_PLUS_S 200e-6

#define RATE_SIGMAS 4     /* of what chance loses */
#define AS_MUCH 1e-6      /* but for rounding */
#define LEAD_NS 50000000u /* to start a process in each site */

/* ---- measuring ---- */

static pid_t start_site(const struct probe_plan *plan, const struct lab_spec *s, size_t i,
                        pid_t holder, struct probe_seen *seen)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    int code = site_enter(s->sites[i].name, holder);
    TRY(code, probe_site_play(plan, s, i, seen));
    _exit(code);
}

static int play(const struct probe_plan *plan, const struct lab_spec *s, const pid_t *holders,
                struct probe_seen *seen)
{
    pid_t players[LAB_SITES_MAX];
    int code = GS_OK, status;
    for (size_t i = 0; i < s->n; i++)
        players[i] = start_site(plan, s, i, holders[i], seen);
    for (size_t i = 0; i < s->n; i++) {
        if (players[i] < 0)
            code = fail(GS_CANNOT, "lab: probe: %s", strerror(errno));
        else if (waitpid(players[i], &status, 0) < 0 || status)
            code = GS_CANNOT;
    }
    return code;
}

/* What several flows carry together. Of flows at even paces a full queue may take one and drop
 * another for a while, so that they share the time in which any of them arrived. */
static void join(struct probe_seen *all, const struct probe_seen *one)
{
    if (!one->bytes)
        return;
    all->first_ns = all->bytes && all->first_ns < one->first_ns ? all->first_ns : one->first_ns;
    all->last_ns = all->last_ns > one->last_ns ? all->last_ns : one->last_ns;
    all->bytes += one->bytes;
}

/* Between two packets passes the second: of all that came, the very first has no time. */
static double rate_of(const struct probe_seen *s, const struct probe_phase *f)
{
    double bytes = (double)s->bytes - f->datagram_B - PROBE_HEADERS_B;
    return s->last_ns > s->first_ns ? bytes * 1e9 / (double)(s->last_ns - s->first_ns) : 0;
}

/* The flows of one end in one phase. */
struct end {
    struct probe_seen all;
    double flows, loss, burst; /* of the worst flow */
};

static void add_flow(struct end *e, const struct probe_phase *f, const struct lab_spec *s,
                     size_t flow, const struct probe_seen *seen)
{
    if (f->limit_Bps[flow] <= 0)
        return;
    join(&e->all, &seen[flow]);
    e->flows++;
    e->loss = fmax(e->loss, s->ways[flow].loss);
    e->burst = fmax(e->burst, s->ways[flow].burst);
}

/* The measurement that could show most of an end; of several the one that did, for in another the
 * flows' other ends may have been full as well. */
static void keep(struct probe_rate *r, double limit_Bps, const struct end *e,
                 const struct probe_phase *f)
{
    double Bps = rate_of(&e->all, f), dgram_B = f->datagram_B + PROBE_HEADERS_B;
    double packets = limit_Bps * 1e-9 * (double)(f->stop_ns - f->count_ns) / dgram_B;
    bool as_much = limit_Bps > r->limit_Bps * (1 - AS_MUCH),
         more = limit_Bps > r->limit_Bps * (1 + AS_MUCH);
    if (more || (as_much && Bps > r->Bps))
        *r = (struct probe_rate){
            limit_Bps, Bps,
            (RATE_SIGMAS * sqrt(e->loss * (2 * e->burst - 1) * packets) + e->flows - 1) / packets};
}

static void take_bulk(struct probe *p, const struct lab_spec *s, const struct probe_phase *f,
                      const struct probe_seen *seen)
{
    for (size_t i = 0; i < 2 * s->n; i++) {
        bool sends = i % 2 == 0;
        struct end end = {0};
        for (size_t k = 0; k < s->n; k++)
            add_flow(&end, f, s, flow_of(s, i / 2, k, sends), seen);
        keep(sends ? &p->up[i / 2] : &p->down[i / 2], probe_plan_end_Bps(f, s, i / 2, sends), &end,
             f);
    }
}

void probe_take(struct probe *p, const struct lab_spec *s, const struct probe_plan *plan,
                const struct probe_seen *seen)
{
    for (size_t f = 0; f < plan->n; f++, seen += s->n * s->n) {
        if (plan->phases[f].kind == PROBE_BULK)
            take_bulk(p, s, &plan->phases[f], seen);
        for (size_t i = 0; i < s->n * s->n; i++) {
            if (plan->phases[f].kind == PROBE_PING && seen[i].rtt_ns)
                p->pairs[i].rtt_s = (double)seen[i].rtt_ns * 1e-9;
            if (plan->phases[f].kind == PROBE_COUNT) {
                p->pairs[i].sent = seen[i].sent;
                p->pairs[i].lost = seen[i].sent - seen[i].got;
            }
        }
    }
}

void probe_make(struct probe *p, size_t sites)
{
    *p = (struct probe){.n = sites};
    p->up = xcalloc(sites, sizeof *p->up);
    p->down = xcalloc(sites, sizeof *p->down);
    p->pairs = xcalloc(sites * sites, sizeof *p->pairs);
    for (size_t i = 0; i < sites * sites; i++)
        p->pairs[i].rtt_s = INFINITY;
}

int probe_run(struct probe *p, const struct lab_spec *s, const pid_t *holders)
{
    AUTO(probe_plan_free) struct probe_plan plan = {0};
    probe_make(p, s->n);
    probe_plan_make(&plan, s, clock_now_ns() + LEAD_NS);
    size_t bytes = plan.n * s->n * s->n * sizeof(struct probe_seen);
    struct probe_seen *seen =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return fail(GS_CANNOT, "lab: probe: %s", strerror(errno));
    int code = play(&plan, s, holders, seen);
    if (!code)
        probe_take(p, s, &plan, seen);
    munmap(seen, bytes);
    return code;
}

void probe_free(struct probe *p)
{
    free(p->up);
    free(p->down);
    free(p->pairs);
    *p = (struct probe){0};
}

/* ---- judging ---- */

#define LOSS_SIGMAS 5  /* of the binomial, by which losses may differ from what they should be */
#define SPARE_LOSSES 3 /* and so many */

/* Bits, as lines are named. */
static const char *bits(char *buf, size_t n, double Bps)
{
    double bps = 8 * Bps;
    bool giga = bps >= 1e10;
    snprintf(buf, n, "%.4g %s", bps / (giga ? 1e9 : 1e6), giga ? "Gbit/s" : "Mbit/s");
    return buf;
}

static int judge_rate(const struct probe_rate *r, double most_Bps, const char *site,
                      const char *what, char *why, size_t size)
{
    char is[32], should[32];
    double by = PROBE_RATE_BY + r->chance;
    bool less = r->Bps < r->limit_Bps * (1 - by);
    bool more = r->Bps > most_Bps * (1 + by);
    if (!less && !more)
        return GS_OK;
    snprintf(why, size, "site %s %s %s instead of %s (allowed error: %.0f%%)", site, what,
             bits(is, sizeof is, r->Bps),
             bits(should, sizeof should, less ? r->limit_Bps : most_Bps), 100 * by);
    return GS_CANNOT;
}

static int judge_pair(const struct probe *p, const struct lab_spec *s, size_t from, size_t to,
                      char *why, size_t size)
{
    double is = p->pairs[from * s->n + to].rtt_s, should = lab_rtt_s(s, from, to);
    double pings_s = probe_plan_pings_s(s, from, to) + probe_plan_pings_s(s, to, from);
    if (fabs(is - should - pings_s / 2) <= PROBE_RTT_BY * should + PROBE_RTT_PLUS_S + pings_s / 2)
        return GS_OK;
    snprintf(
        why, size,
        "the RTT between %s and %s is %.4g ms instead of %.4g (allowed error: %.0f%% + %.1f ms)",
        s->sites[from].name, s->sites[to].name, 1e3 * is, 1e3 * should, 100 * PROBE_RTT_BY,
        1e3 * (PROBE_RTT_PLUS_S + pings_s));
    return GS_CANNOT;
}

/* All together: of one pair too few are lost to tell. */
static int judge_losses(const struct probe *p, const struct lab_spec *s, char *why, size_t size)
{
    double sent = 0, lost = 0, should = 0, variance = 0;
    for (size_t i = 0; i < s->n * s->n; i++) {
        double n = (double)p->pairs[i].sent, share = s->ways[i].loss;
        sent += n;
        lost += (double)p->pairs[i].lost;
        should += n * share;
        variance += n * share * (1 - share) * (2 * s->ways[i].burst - 1);
    }
    if (sent > 0 && fabs(lost - should) <= LOSS_SIGMAS * sqrt(variance) + SPARE_LOSSES)
        return GS_OK;
    snprintf(why, size, "%.0f of %.0f packets were lost instead of about %.0f", lost, sent, should);
    return GS_CANNOT;
}

int probe_judge(const struct probe *p, const struct lab_spec *s, char *why, size_t size)
{
    for (size_t i = 0; i < s->n * s->n; i++)
        if (i / s->n != i % s->n && judge_pair(p, s, i / s->n, i % s->n, why, size))
            return GS_CANNOT;
    for (size_t i = 0; i < s->n; i++) {
        const struct lab_site *site = &s->sites[i];
        if (judge_rate(&p->up[i], site->up_Bps, site->name, "sends", why, size) ||
            judge_rate(&p->down[i], site->down_Bps, site->name, "receives", why, size))
            return GS_CANNOT;
    }
    return judge_losses(p, s, why, size);
}

json_t *probe_json(const struct probe *p, const struct lab_spec *s)
{
    json_t *sites = json_array(), *pairs = json_array();
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(
            sites, json_pack("{so sf sf sf sf}", "name", json_text(s->sites[i].name), "up_Bps",
                             p->up[i].Bps, "up_limit_Bps", p->up[i].limit_Bps, "down_Bps",
                             p->down[i].Bps, "down_limit_Bps", p->down[i].limit_Bps));
    for (size_t i = 0; i < s->n * s->n; i++) {
        const struct probe_pair *q = &p->pairs[i];
        /* JSON has no infinity. */
        json_t *rtt_s = isinf(q->rtt_s) ? json_null() : json_real(q->rtt_s);
        if (i / s->n != i % s->n)
            json_array_append_new(
                pairs, json_pack("{so so so sI sI}", "from", json_text(s->sites[i / s->n].name),
                                 "to", json_text(s->sites[i % s->n].name), "rtt_s", rtt_s, "sent",
                                 (json_int_t)q->sent, "lost", (json_int_t)q->lost));
        else
            json_decref(rtt_s);
    }
    return json_pack("{so so}", "sites", sites, "pairs", pairs);
}

struct range {
    double low, high;
};

static void widen(struct range *r, double x)
{
    r->low = fmin(r->low, x);
    r->high = fmax(r->high, x);
}

char *probe_text(const struct probe *p, const struct lab_spec *s)
{
    struct range rate = {INFINITY, 0}, rtt = {INFINITY, 0};
    uint64_t sent = 0, lost = 0;
    char low[32], high[32];
    for (size_t i = 0; i < s->n; i++) {
        widen(&rate, p->up[i].Bps);
        widen(&rate, p->down[i].Bps);
    }
    for (size_t i = 0; i < s->n * s->n; i++) {
        sent += p->pairs[i].sent;
        lost += p->pairs[i].lost;
        if (i / s->n != i % s->n)
            widen(&rtt, p->pairs[i].rtt_s);
    }
    return xstrfmt("%zu sites, each way %s to %s, RTT %.4g to %.4g ms, %llu of %llu packets lost",
                   s->n, bits(low, sizeof low, rate.low), bits(high, sizeof high, rate.high),
                   1e3 * rtt.low, 1e3 * rtt.high, (unsigned long long)lost,
                   (unsigned long long)sent);
}

/* ---- the links of a config ----
 *
 * Does the config of a run describe the lab that this process runs in? Tables, figures and the
 * model take the links from that config, so another one would mislead.
 */

/* What tables and the model use of a site or a pair. The length of a queue is not among it. */
static const struct quantity {
    const char *fact, *name, *unit;
    double scale, share, plus; /* share, plus: equal within this share, and so much more */
} quantities[] = {
    {"up_Bps", "uplink", " Mbit/s", 8e-6, PROBE_RATE_BY, 0},
    {"down_Bps", "downlink", " Mbit/s", 8e-6, PROBE_RATE_BY, 0},
    {"rate_Bps", "rate", " Mbit/s", 8e-6, PROBE_RATE_BY, 0},
    {"delay_s", "RTT", " ms", 2e3, PROBE_RTT_BY, PROBE_RTT_PLUS_S / 2},
    {"loss", "loss", "%", 100, 0, 0},
    {"burst", "burst", " packets", 1, 0, 0},
    {"jitter_s", "jitter", " ms", 1e3, 0, 0},
    {"reorder", "reorder", "%", 100, 0, 0},
    {"cross_Bps", "cross traffic", " Mbit/s", 8e-6, 0, 0},
    {"mtu_B", "mtu", " bytes", 1, 0, 0},
};

static void compare_values(struct text *t, const json_t *lab, const json_t *config,
                           const char *where)
{
    for (size_t i = 0; i < COUNT(quantities) && !t->len; i++) {
        const struct quantity *q = &quantities[i];
        double is = json_number_value(json_object_get(lab, q->fact));
        double said = json_number_value(json_object_get(config, q->fact));
        if (fabs(is - said) > q->share * fmax(is, said) + q->plus + 1e-6 * fabs(is))
            text_addf(t, "%s%s is %.4g%s in this lab, and %.4g%s in the config", q->name, where,
                      q->scale * is, q->unit, q->scale * said, q->unit);
    }
}

/* The sites, or the pairs of them: rows in the same order. */
static void compare_rows(struct text *t, const json_t *lab, const json_t *config)
{
    const json_t *one;
    size_t i;
    json_array_foreach(config, i, one)
    {
        const json_t *other = json_array_get(lab, i);
        const char *name = json_text_of(one, "name"), *is = json_text_of(other, "name");
        AUTO_FREE char *where =
            *name ? xstrfmt(" of %s", name)
                  : xstrfmt(" of %s>%s", json_text_of(one, "from"), json_text_of(one, "to"));
        if (!t->len && strcmp(name, is) != 0)
            text_addf(t, "site %zu is %s in this lab, and %s in the config", i + 1, is, name);
        if (!t->len)
            compare_values(t, other, one, where);
    }
}

/* In place of the pairs' own rates: what they can have. */
static void limit_rates(json_t *facts)
{
    json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(facts, "pairs"), i, pair)
    {
        double rate =
            lab_facts_line_Bps(facts, json_text_of(pair, "from"), json_text_of(pair, "to"));
        json_object_set_new(pair, "rate_Bps", json_real(rate));
    }
}

static void compare(struct text *t, const json_t *lab, const json_t *config)
{
    const char *is = json_text_of(lab, "congestion"), *said = json_text_of(config, "congestion");
    const json_t *sites = json_object_get(lab, "sites"),
                 *said_sites = json_object_get(config, "sites");
    if (json_array_size(sites) != json_array_size(said_sites))
        text_addf(t, "this lab has %zu sites, and the config has %zu", json_array_size(sites),
                  json_array_size(said_sites));
    compare_rows(t, sites, said_sites);
    compare_rows(t, json_object_get(lab, "pairs"), json_object_get(config, "pairs"));
    if (!t->len)
        compare_values(t, lab, config, "");
    if (!t->len && strcmp(is, said) != 0)
        text_addf(t, "congestion is %s in this lab, and %s in the config", is, said);
    if (!t->len && !json_equal(json_object_get(lab, "lines"), json_object_get(config, "lines")))
        text_add(t, "the shared lines of this lab are not those of the config");
}

int probe_same_links(const struct plan *p)
{
    AUTO_JSON json_t *lab = NULL, *config = NULL;
    AUTO(lab_spec_free) struct lab_spec spec = {0};
    AUTO_TEXT struct text why = {0};
    const pid_t nobody[LAB_SITES_MAX] = {0};
    bool rated = false;
    CHECK(lab_facts_read(&lab));
    if (lab && strcmp(p->workload, "wan_links") != 0)
        CHECK(wan_map_check_words(p->config, &rated));
    if (!rated)
        return GS_OK;
    CHECK(lab_spec_read(&spec, p->config));
    config = lab_facts_make(&spec, 0, nobody, "");
    limit_rates(lab);
    limit_rates(config);
    compare(&why, lab, config);
    return why.len ? fail_at(GS_USAGE, p->config->path, 0,
                             "%s: tables and figures would take the config's; give gradsync lab "
                             "and this command the same config and --set",
                             why.s)
                   : GS_OK;
}
