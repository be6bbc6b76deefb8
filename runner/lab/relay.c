/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/relay.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/mesh.h"
#include "lab/spec.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A packet that is delivered more than this after its time is late. */
#define RELAY_LATE_NS 1000000

#define BATCH 32 /* packets read from one device before the next device */
#define NAP_NS 50000
struct relay_counts {
    uint64_t delivered, late; /* packets; more than RELAY_LATE_NS after their time */
    double late_max_ns;
};

struct relay {
    struct lab_mesh mesh;
    const struct site_devices *devices; /* by site */
    struct relay_counts counts;
    struct packet *next; /* for the packet that is read next */
};

enum net { WAN, CTL, NETS };
/* Identifies an epoll event: a device, or the control socket. */
enum tag { TAG_CONTROL = LAB_SITES_MAX * NETS, TAGS };

/* ---- reading ---- */

/* The site that an IPv4 packet is addressed to, by the last byte of the address; n: none. */
static size_t destination(const struct packet *one, size_t n)
{
    enum { V4_HEADER_B = 20, V4_LAST_AT = 19 };
    const unsigned char *ip = one->data + PACKET_HEAD_B;
    int host = one->bytes >= V4_HEADER_B && ip[0] >> 4 == 4 ? ip[V4_LAST_AT] : -1;
    bool ours = host >= SITE_FIRST_HOST && host < SITE_FIRST_HOST + (int)n;
    return ours ? (size_t)host - SITE_FIRST_HOST : n;
}

/* A packet that the site's kernel does not take is lost, as one that its host has no memory for. */
static void write_out(int fd, const struct packet *one)
{
    if (write(fd, one->data, PACKET_HEAD_B + one->bytes) < 0)
        return;
}

/* Takes r->next. */
static void forward(struct relay *r, size_t from, enum net net)
{
    struct packet *one = r->next;
    const struct lab_end *ends = r->mesh.ends;
    size_t n = r->mesh.spec->n, to = destination(one, n);
    if (to == n || to == from)
        return;
    if (net == CTL && !ends[from].cut && !ends[to].cut)
        write_out(r->devices[to].ctl, one);
    if (net == CTL)
        return;
    r->next = NULL;
    if (one->bytes < (uint32_t)r->mesh.spec->mtu_B / 2) { /* a queue may hold many small ones */
        struct packet *fits = realloc(one, sizeof *one + PACKET_HEAD_B + one->bytes);
        one = fits ? fits : one;
    }
    lab_mesh_put(&r->mesh, one, from, to, (double)clock_now_ns());
}

static void read_some(struct relay *r, size_t from, enum net net)
{
    int fd = net == WAN ? r->devices[from].wan : r->devices[from].ctl;
    size_t most_B = (size_t)r->mesh.spec->mtu_B;
    for (int i = 0; i < BATCH; i++) {
        if (!r->next)
            r->next = packet_new(most_B);
        ssize_t got = read(fd, r->next->data, PACKET_HEAD_B + most_B);
        if (got <= PACKET_HEAD_B)
            return;
        r->next->bytes = (uint32_t)got - PACKET_HEAD_B;
        forward(r, from, net);
    }
}

/* ---- delivering ---- */

static void deliver(struct relay *r)
{
    double now_ns = (double)clock_now_ns();
    lab_mesh_move(&r->mesh, now_ns);
    for (size_t i = 0; i < r->mesh.spec->n; i++) {
        struct fifo *out = &r->mesh.ends[i].out;
        while (out->first && out->first->when.last_ns <= now_ns) {
            struct packet *one = fifo_take(out);
            double late_ns = (double)clock_now_ns() - one->when.last_ns;
            r->counts.delivered++;
            r->counts.late += late_ns > RELAY_LATE_NS;
            r->counts.late_max_ns = fmax(r->counts.late_max_ns, late_ns);
            write_out(r->devices[i].wan, one);
            free(one);
        }
    }
}

/* ---- orders ----
 *
 * The commands that change the emulated network while it runs. WHERE is a site, the two directions
 * A-B of a link, or one direction A>B:
 *
 *   rate WHERE 100Mbit/s   sets the rate: of a site's uplink and downlink, or of the link
 *   down WHERE, up WHERE   drops every packet of the site or link, until up
 *   reset                  restores the values of the config
 *   stats                  {"packets": ...}: counts since the start
 */

enum order { RATE, DOWN, UP, ORDERS };

static void obey_way(struct relay *r, enum order o, double rate_Bps, size_t from, size_t to)
{
    const struct lab_spec *s = r->mesh.spec;
    struct lab_path *p = &r->mesh.paths[from * s->n + to];
    if (o == RATE)
        shaper_set(&p->own, rate_Bps, s->ways[from * s->n + to].queue_B);
    else
        p->cut = o == DOWN;
}

static void obey_site(struct relay *r, enum order o, double rate_Bps, size_t i)
{
    const struct lab_site *s = &r->mesh.spec->sites[i];
    struct lab_end *end = &r->mesh.ends[i];
    if (o == RATE) {
        shaper_set(&end->up, rate_Bps, s->up_queue_B);
        shaper_set(&end->down, rate_Bps, s->down_queue_B);
    } else
        end->cut = o == DOWN;
}

static char *stats(const struct relay *r)
{
    const struct lab_counts *c = &r->mesh.counts;
    const struct relay_counts *d = &r->counts;
    AUTO_JSON json_t *o = json_pack(
        "{s:I,s:I,s:I,s:I,s:f,s:I,s:I,s:I}", "packets", (json_int_t)c->packets, "bytes",
        (json_int_t)c->bytes, "delivered", (json_int_t)d->delivered, "late", (json_int_t)d->late,
        "late_max_s", d->late_max_ns * 1e-9, "queue_drops", (json_int_t)c->queue_drops, "losses",
        (json_int_t)c->losses, "cut_drops", (json_int_t)c->cut_drops);
    return json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

/* The error, which the caller frees; NULL: *site is the site of that name. */
static char *find_site(const struct relay *r, const char *name, size_t *site)
{
    const char *names[LAB_SITES_MAX];
    size_t n = r->mesh.spec->n;
    for (*site = 0; *site < n; ++*site) {
        names[*site] = r->mesh.spec->sites[*site].name;
        if (!strcmp(names[*site], name))
            return NULL;
    }
    const char *near = text_nearest(name, names, n);
    return xstrfmt("error: no site '%.64s'%s", name, DID_YOU_MEAN(near));
}

/* Returns "ok", a JSON object, or "error: TEXT"; the caller frees it. */
static char *obey_line(struct relay *r, const char *line)
{
    static const char *const names[] = {[RATE] = "rate", [DOWN] = "down", [UP] = "up"};
    AUTO_WORDS struct words w = {0};
    enum order o = RATE;
    double rate_Bps = 0;
    size_t from, to;
    if (!strcmp(line, "stats"))
        return stats(r);
    if (!strcmp(line, "reset")) {
        lab_mesh_reset(&r->mesh);
        return xstrdup("ok");
    }
    words_split(&w, line, ' ');
    while (o < ORDERS && (!w.n || strcmp(names[o], w.v[0]) != 0))
        o++;
    if (o == ORDERS || w.n != (o == RATE ? 3 : 2))
        return xstrdup("error: unknown command; use: rate WHERE RATE, down WHERE, up WHERE, reset, "
                       "stats; WHERE is SITE, A-B or A>B");
    if (o == RATE && !(units_parse_rate(w.v[2], &rate_Bps) && rate_Bps > 0))
        return xstrdup("error: not a rate; write e.g. 100Mbit/s");
    char *where = w.v[1], *sign = strpbrk(where, "->");
    bool both = sign && *sign == '-';
    if (sign)
        *sign = '\0';
    char *wrong = find_site(r, where, &from);
    if (!wrong && sign)
        wrong = find_site(r, sign + 1, &to);
    if (wrong)
        return wrong;
    if (sign && from == to)
        return xstrdup("error: a link joins two sites; write e.g. down north-east");
    if (sign)
        obey_way(r, o, rate_Bps, from, to);
    else
        obey_site(r, o, rate_Bps, from);
    if (both)
        obey_way(r, o, rate_Bps, to, from);
    return xstrdup("ok");
}

/* ---- the control socket ----
 *
 * The control socket of a running lab, a Unix socket of datagrams: each is one command, and gets one answer:
 * "ok", a JSON object, or "error: TEXT".
 */

#define CONTROL_LINE_MAX 256
#define ANSWER_MS 5000

/* The relay waits neither for a command nor for a client that does not take its answer. */
static void answer_client(struct relay *r, int control)
{
    char line[CONTROL_LINE_MAX];
    struct sockaddr_un from;
    socklen_t size = sizeof from;
    ssize_t n =
        recvfrom(control, line, sizeof line - 1, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    if (n < 0)
        return;
    line[n] = '\0';
    AUTO_FREE char *answer = obey_line(r, line);
    if (sendto(control, answer, strlen(answer), MSG_DONTWAIT, (struct sockaddr *)&from, size) < 0)
        return;
}

int relay_order(const char *socket_path, const char *order, char **answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX}, own = to;
    char line[4096];
    if (answer)
        *answer = NULL;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", socket_path);
    snprintf(own.sun_path, sizeof own.sun_path, "%s.%d", socket_path, (int)getpid());
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    unlink(own.sun_path);
    bool sent = fd >= 0 && !bind(fd, (struct sockaddr *)&own, sizeof own) &&
                sendto(fd, order, strlen(order), 0, (struct sockaddr *)&to, sizeof to) >= 0;
    int why = errno;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = sent && poll(&p, 1, ANSWER_MS) > 0 ? recv(fd, line, sizeof line - 1, 0) : -1;
    unlink(own.sun_path);
    if (!sent)
        return fail(GS_CANNOT, "lab: %s: no lab answers on this socket: %s", socket_path,
                    strerror(why));
    if (n < 0)
        return fail(GS_FAILED, "lab: %s: no answer within %d s", socket_path, ANSWER_MS / 1000);
    line[n] = '\0';
    if (!strncmp(line, "error: ", strlen("error: ")))
        return fail(GS_USAGE, "lab: %s", line + strlen("error: "));
    if (answer)
        *answer = xstrdup(line);
    return GS_OK;
}

/* ---- the loop ---- */

static int watch(int epoll, int fd, uint64_t tag)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

/* Waits until a packet is due, or a device or client has something, which it takes. */
static void wait_and_read(struct relay *r, int epoll, int control)
{
    struct epoll_event events[TAGS];
    double wait_ns = fmax(lab_mesh_next(&r->mesh) - (double)clock_now_ns(), NAP_NS);
    bool forever = isinf(wait_ns);
    struct timespec t = {0};
    if (!forever)
        t = (struct timespec){(time_t)(wait_ns / 1e9), (long)fmod(wait_ns, 1e9)};
    int n = epoll_pwait2(epoll, events, COUNT(events), forever ? NULL : &t, NULL);
    if (n < 0 && errno != EINTR)
        _exit(fail(GS_CANNOT, "lab: relay: epoll_pwait2: %s; it needs Linux 5.11 or newer",
                   strerror(errno)));
    for (int i = 0; i < n; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag < TAG_CONTROL)
            read_some(r, tag / NETS, (enum net)(tag % NETS));
        else
            answer_client(r, control);
    }
}

int relay_run(const struct lab_spec *spec, const struct site_devices *devices, int control)
{
    struct relay *r = xcalloc(1, sizeof *r);
    lab_mesh_make(&r->mesh, spec);
    r->devices = devices;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool ok = epoll >= 0 && !watch(epoll, control, TAG_CONTROL);
    for (size_t i = 0; ok && i < spec->n; i++)
        ok = !watch(epoll, devices[i].wan, i * NETS + WAN) &&
             !watch(epoll, devices[i].ctl, i * NETS + CTL);
    if (!ok)
        return fail(GS_CANNOT, "lab: relay: epoll: %s", strerror(errno));
    /* Without privilege this fails. Then ranks may delay the relay, which counts late packets. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = RELAY_PRIORITY});
    prctl(PR_SET_TIMERSLACK, 1);
    /* Returning freed memory to the kernel after each queue takes longer than sending packets. */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    for (;;) {
        deliver(r);
        wait_and_read(r, epoll, control);
    }
}

/* ---- lateness ---- */

#define LATE_SHARE 0.01
#define FEW 100 /* packets, of which a share says nothing */

int lateness_begin(struct lateness *k)
{
    AUTO_JSON json_t *facts = NULL;
    *k = (struct lateness){0};
    CHECK(lab_facts_read(&facts));
    if (facts)
        k->control = xstrdup(json_text_of(facts, "control"));
    return lateness_mark(k);
}

int lateness_mark(struct lateness *k)
{
    AUTO_FREE char *answer = NULL;
    if (!k->control)
        return GS_OK;
    CHECK(relay_order(k->control, "stats", &answer));
    AUTO_JSON json_t *o = json_loads(answer, 0, NULL);
    k->delivered = json_number_value(json_object_get(o, "delivered"));
    k->late = json_number_value(json_object_get(o, "late"));
    k->drops = json_number_value(json_object_get(o, "queue_drops"));
    k->losses = json_number_value(json_object_get(o, "losses"));
    return GS_OK;
}

char *lateness_text(const struct lateness *k, const struct lateness *from, bool *many)
{
    double packets = k->delivered - from->delivered, late = k->late - from->late;
    *many = packets >= FEW && late > LATE_SHARE * packets;
    if (!k->control)
        return NULL;
    return xstrfmt("%.0f of %.0f packets more than %g ms late; %.0f dropped by queues, %.0f lost",
                   late, packets, RELAY_LATE_NS * 1e-6, k->drops - from->drops,
                   k->losses - from->losses);
}
