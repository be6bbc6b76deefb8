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
 * coordinate, and none waits for another. In each BULK phase every site sends to one other and
 * receives from one other.
 */

#define MS 1000000u
#define BULK_MS 400
#define BULK_WARM_MS 100   /* until a queue has formed and the line is never idle */
#define BULK_OVER 1.25     /* sent, of the rate of the link */
#define BULK_PHASES_MOST 7 /* between more sites, not every pair is measured: it would take long */
#define SMALL_B 32
#define SMALL_SHARE 0.3 /* of a rate, at most: small packets must not be lost in a queue */
#define SMALL_EVERY_NS 1e5
#define SMALL_MIN 500.0
#define SMALL_MAX 10000.0
#define LOSSES 40.0 /* to be seen in all */
#define MARGIN_MS 30

/* The rate of one direction between two sites while both use no other link. */
static double limit_Bps(const struct lab_spec *s, size_t flow)
{
    double ends_Bps = fmin(s->sites[flow / s->n].up_Bps, s->sites[flow % s->n].down_Bps);
    double own_Bps = s->ways[flow].rate_Bps;
    return own_Bps > 0 ? fmin(ends_Bps, own_Bps) : ends_Bps;
}

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
    p->end_ns = f->end_ns;
    return f;
}

static void add_count(struct probe_plan *p, const struct lab_spec *s)
{
    double every_ns = SMALL_EVERY_NS, least = 1, number = SMALL_MIN;
    double others = (double)(s->n - 1), pairs = (double)s->n * others;
    for (size_t i = 0; i < s->n * s->n; i++) {
        if (i / s->n == i % s->n)
            continue;
        every_ns = fmax(every_ns, (SMALL_B + PROBE_HEADERS_B) * 1e9 * others /
                                      (SMALL_SHARE * limit_Bps(s, i)));
        if (s->ways[i].loss > 0)
            least = fmin(least, s->ways[i].loss);
    }
    if (least < 1)
        number = fmin(fmax(LOSSES / least / pairs, SMALL_MIN), SMALL_MAX);
    struct probe_phase *f = add_phase(p, s, PROBE_COUNT, number * every_ns);
    for (size_t i = 0; i < s->n * s->n; i++)
        f->interval_ns[i] = i / s->n == i % s->n ? 0 : every_ns;
}

void probe_plan_make(struct probe_plan *p, const struct lab_spec *s, uint64_t start_ns)
{
    *p = (struct probe_plan){.end_ns = start_ns};
    add_count(p, s);
    for (size_t shift = 1; shift < s->n && shift <= BULK_PHASES_MOST; shift++) {
        struct probe_phase *f = add_phase(p, s, PROBE_BULK, BULK_MS * (double)MS);
        for (size_t from = 0; from < s->n; from++) {
            size_t flow = from * s->n + (from + shift) % s->n;
            f->interval_ns[flow] =
                (f->datagram_B + PROBE_HEADERS_B) * 1e9 / (BULK_OVER * limit_Bps(s, flow));
        }
    }
}

void probe_plan_free(struct probe_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->phases[i].interval_ns);
    free(p->phases);
    *p = (struct probe_plan){0};
}

double probe_plan_wait_ns(const struct probe_phase *f, size_t flow, struct rng *r)
{
    return f->interval_ns[flow] * (0.75 + 0.5 * rng_uniform(r));
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
    uint32_t from;
    uint64_t sent_ns; /* CLOCK_REALTIME, as the kernel stamps what arrives */
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
    uint64_t delay_ns = at_ns - m.sent_ns;
    came->delay_ns = came->got ? (came->delay_ns < delay_ns ? came->delay_ns : delay_ns) : delay_ns;
    came->got++;
    if (p->plan->phases[m.phase].kind == PROBE_BULK)
        probe_note_bulk(&p->plan->phases[m.phase], came, bytes, at_ns - p->real_ahead_ns);
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
            struct message m = {(uint32_t)p->phase, (uint32_t)p->me, real_ns()};
            struct sockaddr_in a = address_of(to);
            memcpy(p->buffer, &m, sizeof m);
            seen_of(p, p->phase, p->me, to)->sent +=
                sendto(p->fd, p->buffer, f->datagram_B, 0, (struct sockaddr *)&a, sizeof a) >= 0;
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

/* Runs until the end of the plan, in a separate process in site `me`. All sites share `seen`
 * [phase][from * n + to]. GS_OK or GS_CANNOT, reported. */
static int probe_site_play(const struct probe_plan *plan, const struct lab_spec *s, size_t me,
                           struct probe_seen *seen)
{
    struct player p = {.plan = plan, .spec = s, .me = me, .seen = seen, .fd = open_socket(me)};
    if (p.fd < 0)
        return GS_CANNOT;
    p.buffer = xcalloc(1, (size_t)s->mtu_B);
    rng_stream(&p.rng, 1, me);
    p.real_ahead_ns = real_ns() - clock_now_ns();
    p.next_ns = xcalloc(s->n, sizeof *p.next_ns);
    /* What else runs here is not the lab's fault; refused without privilege. In turns: where too
     * much is sent, sites must not wait for each other. */
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = RELAY_PRIORITY - 1});
    prctl(PR_SET_TIMERSLACK, 1);
    while (clock_now_ns() < plan->phases[0].start_ns)
        wait_until(&p, (double)plan->phases[0].start_ns);
    for (; p.phase < plan->n; p.phase++) {
        const struct probe_phase *f = &plan->phases[p.phase];
        for (size_t to = 0; to < s->n; to++)
            p.next_ns[to] = (double)f->start_ns;
        while (clock_now_ns() < f->end_ns) {
            receive_all(&p);
            wait_until(&p, fmin(send_due(&p, f), (double)f->end_ns));
        }
    }
    close(p.fd);
    free(p.buffer);
    free(p.next_ns);
    return GS_OK;
}

#define PROBE_RATE_BY 0.03 /* a larger relative error of a rate fails the probe */
#define PROBE_RTT_BY 0.05
#define PROBE_RTT_PLUS_S 200e-6

#define RATE_SIGMAS 4     /* of what chance loses */
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

static void take_flow(struct probe_pair *p, const struct lab_spec *s, const struct probe_phase *f,
                      size_t flow, const struct probe_seen *seen)
{
    if (f->kind == PROBE_COUNT) {
        p->delay_s = seen->got ? (double)seen->delay_ns * 1e-9 : INFINITY;
        p->sent = seen->sent;
        p->lost = seen->sent - seen->got;
    }
    if (f->kind == PROBE_BULK && f->interval_ns[flow] > 0) {
        double counted_s = (double)(f->stop_ns - f->count_ns) * 1e-9;
        double datagrams = limit_Bps(s, flow) * counted_s / (f->datagram_B + PROBE_HEADERS_B);
        /* The first datagram arrives before its time is counted: n take the time of n - 1. */
        double bytes = (double)seen->bytes - f->datagram_B - PROBE_HEADERS_B;
        double took_ns = (double)seen->last_ns - (double)seen->first_ns;
        p->Bps = took_ns > 0 ? bytes * 1e9 / took_ns : 0;
        p->chance = RATE_SIGMAS * sqrt(s->ways[flow].loss * datagrams) / datagrams;
    }
}

struct probe_pair *probe_take(const struct lab_spec *s, const struct probe_plan *plan,
                              const struct probe_seen *seen)
{
    struct probe_pair *pairs = xcalloc(s->n * s->n, sizeof *pairs);
    for (size_t i = 0; i < s->n * s->n; i++)
        pairs[i] = (struct probe_pair){.delay_s = INFINITY, .Bps = NAN};
    for (size_t f = 0; f < plan->n; f++)
        for (size_t i = 0; i < s->n * s->n; i++, seen++)
            take_flow(&pairs[i], s, &plan->phases[f], i, seen);
    return pairs;
}

int probe_run(struct probe_pair **pairs, const struct lab_spec *s, const pid_t *holders)
{
    AUTO(probe_plan_free) struct probe_plan plan = {0};
    *pairs = NULL;
    probe_plan_make(&plan, s, clock_now_ns() + LEAD_NS);
    size_t bytes = plan.n * s->n * s->n * sizeof(struct probe_seen);
    struct probe_seen *seen =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return fail(GS_CANNOT, "lab: probe: %s", strerror(errno));
    int code = play(&plan, s, holders, seen);
    if (!code)
        *pairs = probe_take(s, &plan, seen);
    munmap(seen, bytes);
    return code;
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

static int judge_rate(const struct probe_pair *p, const struct lab_spec *s, size_t flow, char *why,
                      size_t size)
{
    char is[32], should[32];
    double by = PROBE_RATE_BY + p->chance, link_Bps = limit_Bps(s, flow) * (1 - s->ways[flow].loss);
    if (isnan(p->Bps) || fabs(p->Bps - link_Bps) <= by * link_Bps)
        return GS_OK;
    snprintf(why, size, "%s sends %s to %s instead of %s (allowed error: %.0f%%)",
             s->sites[flow / s->n].name, bits(is, sizeof is, p->Bps), s->sites[flow % s->n].name,
             bits(should, sizeof should, link_Bps), 100 * by);
    return GS_CANNOT;
}

/* A small packet takes some time on a slow link. */
static int judge_delay(const struct probe_pair *p, const struct lab_spec *s, size_t flow, char *why,
                       size_t size)
{
    double link_s = s->ways[flow].delay_s + (SMALL_B + PROBE_HEADERS_B) / limit_Bps(s, flow);
    if (fabs(p->delay_s - link_s) <= PROBE_RTT_BY * link_s + PROBE_RTT_PLUS_S / 2)
        return GS_OK;
    snprintf(
        why, size,
        "a packet from %s to %s takes %.4g ms instead of %.4g (allowed error: %.0f%% + %.1f ms)",
        s->sites[flow / s->n].name, s->sites[flow % s->n].name, 1e3 * p->delay_s, 1e3 * link_s,
        100 * PROBE_RTT_BY, 1e3 * PROBE_RTT_PLUS_S / 2);
    return GS_CANNOT;
}

/* All together: of one pair too few are lost to tell. */
static int judge_losses(const struct probe_pair *pairs, const struct lab_spec *s, char *why,
                        size_t size)
{
    double sent = 0, lost = 0, should = 0, variance = 0;
    for (size_t i = 0; i < s->n * s->n; i++) {
        double n = (double)pairs[i].sent, share = s->ways[i].loss;
        sent += n;
        lost += (double)pairs[i].lost;
        should += n * share;
        variance += n * share * (1 - share);
    }
    if (sent > 0 && fabs(lost - should) <= LOSS_SIGMAS * sqrt(variance) + SPARE_LOSSES)
        return GS_OK;
    snprintf(why, size, "%.0f of %.0f packets were lost instead of about %.0f", lost, sent, should);
    return GS_CANNOT;
}

int probe_judge(const struct probe_pair *pairs, const struct lab_spec *s, char *why, size_t size)
{
    for (size_t i = 0; i < s->n * s->n; i++)
        if (i / s->n != i % s->n &&
            (judge_delay(&pairs[i], s, i, why, size) || judge_rate(&pairs[i], s, i, why, size)))
            return GS_CANNOT;
    return judge_losses(pairs, s, why, size);
}

json_t *probe_json(const struct probe_pair *pairs, const struct lab_spec *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n * s->n; i++) {
        const struct probe_pair *q = &pairs[i];
        if (i / s->n == i % s->n)
            continue;
        /* JSON has no infinity and no NaN. */
        json_t *delay_s = isinf(q->delay_s) ? json_null() : json_real(q->delay_s);
        json_t *rate = isnan(q->Bps) ? json_null() : json_real(q->Bps);
        json_array_append_new(all, json_pack("{so so so so sf sI sI}", "from",
                                             json_text(s->sites[i / s->n].name), "to",
                                             json_text(s->sites[i % s->n].name), "delay_s", delay_s,
                                             "Bps", rate, "limit_Bps", limit_Bps(s, i), "sent",
                                             (json_int_t)q->sent, "lost", (json_int_t)q->lost));
    }
    return all;
}

char *probe_text(const struct probe_pair *pairs, const struct lab_spec *s)
{
    double least_Bps = INFINITY, most_Bps = 0, least_s = INFINITY, most_s = 0;
    uint64_t sent = 0, lost = 0;
    char low[32], high[32];
    for (size_t i = 0; i < s->n * s->n; i++) {
        const struct probe_pair *q = &pairs[i];
        sent += q->sent;
        lost += q->lost;
        if (i / s->n == i % s->n)
            continue;
        double rtt_s = q->delay_s + pairs[i % s->n * s->n + i / s->n].delay_s;
        least_Bps = fmin(least_Bps, q->Bps);
        most_Bps = fmax(most_Bps, q->Bps);
        least_s = fmin(least_s, rtt_s);
        most_s = fmax(most_s, rtt_s);
    }
    return xstrfmt("%zu sites, each way %s to %s, RTT %.4g to %.4g ms, %llu of %llu packets lost",
                   s->n, bits(low, sizeof low, least_Bps), bits(high, sizeof high, most_Bps),
                   1e3 * least_s, 1e3 * most_s, (unsigned long long)lost, (unsigned long long)sent);
}

/* ---- the links of a config ----
 *
 * Does the config of a run describe the lab that this process runs in? Tables, figures and the
 * model take the links from that config, so another one would mislead.
 */

int probe_same_links(const struct plan *p)
{
    AUTO_JSON json_t *lab = NULL;
    AUTO(lab_spec_free) struct lab_spec s = {0};
    AUTO_TEXT struct text t = {0};
    bool rated = false;
    CHECK(lab_facts_read(&lab));
    if (lab && strcmp(p->workload, "wan_links") != 0)
        CHECK(wan_map_check_words(p->config, &rated));
    if (!rated)
        return GS_OK;
    CHECK(lab_spec_read(&s, p->config));
    size_t sites = json_array_size(json_object_get(lab, "sites"));
    long long mtu_B = json_integer_of(lab, "mtu_B");
    const char *congestion = json_text_of(lab, "congestion");
    if (sites != s.n)
        text_addf(&t, "this lab has %zu sites, and the config has %zu", sites, s.n);
    for (size_t i = 0, link = 0; !t.len && i < s.n * s.n; i++) {
        if (i / s.n == i % s.n)
            continue;
        const json_t *a = json_array_get(json_object_get(lab, "pairs"), link++);
        const char *from = s.sites[i / s.n].name, *to = s.sites[i % s.n].name;
        /* A link may have a rate of its own, or that of its sites: what counts is the line that
         * results. Two values are equal within a share, and so much more. */
        const struct {
            const char *name, *unit;
            double lab, config, share, plus;
        } facts[] = {{"rate", " Mbit/s", 8e-6 * lab_facts_line_Bps(lab, from, to),
                      8e-6 * limit_Bps(&s, i), PROBE_RATE_BY, 0},
                     {"RTT", " ms", 2e3 * json_number_value(json_object_get(a, "delay_s")),
                      2e3 * s.ways[i].delay_s, PROBE_RTT_BY, 1e3 * PROBE_RTT_PLUS_S},
                     {"loss", "%", 100 * json_number_value(json_object_get(a, "loss")),
                      100 * s.ways[i].loss, 0, 1e-6}};
        if (strcmp(from, json_text_of(a, "from")) != 0 || strcmp(to, json_text_of(a, "to")) != 0)
            text_addf(&t, "link %zu is %s>%s in this lab, and %s>%s in the config", link,
                      json_text_of(a, "from"), json_text_of(a, "to"), from, to);
        for (size_t k = 0; !t.len && k < COUNT(facts); k++)
            if (fabs(facts[k].lab - facts[k].config) >
                facts[k].share * fmax(facts[k].lab, facts[k].config) + facts[k].plus)
                text_addf(&t, "%s of %s>%s is %.4g%s in this lab, and %.4g%s in the config",
                          facts[k].name, from, to, facts[k].lab, facts[k].unit, facts[k].config,
                          facts[k].unit);
    }
    if (!t.len && mtu_B != s.mtu_B)
        text_addf(&t, "mtu is %lld bytes in this lab, and %d in the config", mtu_B, s.mtu_B);
    if (!t.len && strcmp(congestion, s.congestion) != 0)
        text_addf(&t, "congestion is %s in this lab, and %s in the config", congestion,
                  s.congestion);
    return t.len ? fail_at(GS_USAGE, p->config->path, 0,
                           "%s: tables and figures would take the config's; give gradsync lab "
                           "and this command the same config and --set",
                           t.s)
                 : GS_OK;
}
