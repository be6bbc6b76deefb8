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
#define CLIENTS 8

struct relay_counts {
    uint64_t delivered, late; /* packets; more than RELAY_LATE_NS after their time */
    double late_max_ns;
};

struct relay {
    struct lab_mesh mesh;
    const struct site_devices *devices; /* by site */
    struct relay_counts counts;
    struct packet *next; /* for the packet that is read next */
    int client
        [CLIENTS];  /* that has not sent its command yet, or -1; a new one replaces the oldest */
    size_t clients; /* so far */
};

enum net { WAN, CTL, NETS };
/* Identifies an epoll event: a device, the listening socket, or a client. */
enum tag { TAG_CONTROL = LAB_SITES_MAX * NETS, TAG_CLIENT, TAGS = TAG_CLIENT + CLIENTS };

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
    if (one->bytes < (uint32_t)r->mesh.spec->mtu_B / 2)
        one = packet_shrink(one);
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
 *   rate WHERE 100Mbit/s   sets the rate: of a site's uplink and downlink, or of the link; 10% is
 *                          relative to the config
 *   loss WHERE 1%          sets the loss: of what a site sends, or of the link
 *   down WHERE, up WHERE   drops every packet of the site or link, until up
 *   reset                  restores the values of the config
 *   stats                  {"packets": ...}: counts since the start
 */

struct order {
    enum { RATE, LOSS, DOWN, UP } what;
    double amount; /* a loss, or a rate in bytes/s */
    bool share;    /* amount: share of the rate in the config */
};

/* "rate", "loss", "down" or "up", and its value. NULL, or what is wrong. */
static const char *read_order(const struct words *w, struct order *o)
{
    static const char *const names[] = {
        [RATE] = "rate", [LOSS] = "loss", [DOWN] = "down", [UP] = "up"};
    *o = (struct order){.what = RATE};
    while (o->what <= UP && (!w->n || strcmp(names[o->what], w->v[0]) != 0))
        o->what++;
    if (o->what > UP || w->n != (o->what <= LOSS ? 3 : 2))
        return "unknown command; use: rate WHERE RATE, loss WHERE SHARE, down WHERE, up WHERE, "
               "reset, stats; WHERE is SITE, A-B or A>B";
    if (o->what >= DOWN)
        return NULL;
    o->share = o->what == LOSS || strchr(w->v[2], '%');
    bool good =
        o->share ? units_parse_real(w->v[2], &o->amount) : units_parse_rate(w->v[2], &o->amount);
    if (o->what == LOSS)
        return good && o->amount >= 0 && o->amount <= 1 ? NULL
                                                        : "not a loss; write e.g. 0.1% or 0.001";
    return good && o->amount > 0 ? NULL : "not a rate; write e.g. 100Mbit/s or 10%";
}

static void obey_way(struct relay *r, const struct order *o, size_t from, size_t to)
{
    const struct lab_spec *s = r->mesh.spec;
    const struct lab_way *w = lab_way_of(s, from, to);
    struct lab_path *p = &r->mesh.paths[from * s->n + to];
    double ends_Bps = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps);
    double whole_Bps = w->rate_Bps > 0 ? w->rate_Bps : ends_Bps;
    if (o->what == RATE)
        shaper_set(&p->own, o->amount * (o->share ? whole_Bps : 1), w->queue_B);
    else if (o->what == LOSS)
        p->loss = o->amount;
    else
        p->cut = o->what == DOWN;
}

static void obey_site(struct relay *r, const struct order *o, size_t i)
{
    const struct lab_site *s = &r->mesh.spec->sites[i];
    struct lab_end *end = &r->mesh.ends[i];
    if (o->what == RATE) {
        shaper_set(&end->up, o->amount * (o->share ? s->up_Bps : 1), s->up_queue_B);
        shaper_set(&end->down, o->amount * (o->share ? s->down_Bps : 1), s->down_queue_B);
    } else if (o->what == LOSS) {
        for (size_t to = 0; to < r->mesh.spec->n; to++)
            obey_way(r, o, i, to);
    } else
        end->cut = o->what == DOWN;
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
    *site = lab_site_find(r->mesh.spec, name);
    if (*site < n)
        return NULL;
    for (size_t k = 0; k < n; k++)
        names[k] = r->mesh.spec->sites[k].name;
    const char *near = text_nearest(name, names, n);
    return xstrfmt("error: no site '%.64s'%s", name, DID_YOU_MEAN(near));
}

/* Returns "ok", a JSON object, or "error: TEXT"; the caller frees it. */
static char *obey_line(struct relay *r, const char *line)
{
    AUTO_WORDS struct words w = {0};
    struct order o;
    size_t from, to;
    if (!strcmp(line, "stats"))
        return stats(r);
    if (!strcmp(line, "reset")) {
        lab_mesh_reset(&r->mesh);
        return xstrdup("ok");
    }
    words_split(&w, line, ' ');
    const char *why = read_order(&w, &o);
    if (why)
        return xstrfmt("error: %s", why);
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
        obey_way(r, &o, from, to);
    else
        obey_site(r, &o, from);
    if (both)
        obey_way(r, &o, to, from);
    return xstrdup("ok");
}

/* ---- the control socket ----
 *
 * The control socket of a running lab, a Unix socket. A client sends one line, gets one line, and
 * the connection ends.
 * The answer is "ok", a JSON object, or "error: TEXT".
 */

#define CONTROL_LINE_MAX 256

#define ANSWER_MS 5000

/* Reads a line of at most size - 1 bytes, without its newline. False: none came in time. */
static bool read_line(int fd, char *line, size_t size, int wait_ms)
{
    size_t n = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (n + 1 < size && poll(&p, 1, wait_ms) > 0) {
        ssize_t got = recv(fd, line + n, size - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        line[n] = '\0';
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
            return true;
        }
    }
    return false;
}

static void send_line(int fd, const char *text)
{
    AUTO_FREE char *line = xstrfmt("%s\n", text);
    /* The relay must not wait for a client that does not read. */
    if (send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        shutdown(fd, SHUT_RDWR);
}

/* Runs the command of a client that has sent something, and answers. Never waits: an incomplete
 * line gets no answer. */
static void answer_client(struct relay *r, size_t slot)
{
    char line[CONTROL_LINE_MAX];
    if (read_line(r->client[slot], line, sizeof line, 0)) {
        AUTO_FREE char *answer = obey_line(r, line);
        send_line(r->client[slot], answer);
    }
    close(r->client[slot]);
    r->client[slot] = -1;
}

int relay_order(const char *socket_path, const char *order, char **answer)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char line[4096];
    if (answer)
        *answer = NULL;
    snprintf(to.sun_path, sizeof to.sun_path, "%s", socket_path);
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
        return fail(GS_CANNOT, "lab: %s: no lab answers on this socket: %s", socket_path,
                    strerror(errno));
    send_line(fd, order);
    if (!read_line(fd, line, sizeof line, ANSWER_MS))
        return fail(GS_FAILED, "lab: %s: no answer within %d s", socket_path, ANSWER_MS / 1000);
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
    bool called = false; /* a client waits; accepted last, as it may replace one with an event */
    for (int i = 0; i < n; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag < TAG_CONTROL)
            read_some(r, tag / NETS, (enum net)(tag % NETS));
        else if (tag == TAG_CONTROL)
            called = true;
        else
            answer_client(r, tag - TAG_CLIENT);
    }
    int fd = called ? accept4(control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    if (fd < 0)
        return;
    size_t slot = r->clients++ % CLIENTS;
    if (r->client[slot] >= 0)
        close(r->client[slot]);
    r->client[slot] = fd;
    watch(epoll, fd, TAG_CLIENT + slot);
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
    for (int i = 0; i < CLIENTS; i++)
        r->client[i] = -1;
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

void lateness_end(struct lateness *k)
{
    free(k->control);
    k->control = NULL;
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

bool lateness_many(const struct lateness *k, const struct lateness *from)
{
    double packets = k->delivered - from->delivered;
    return packets >= FEW && k->late - from->late > LATE_SHARE * packets;
}

char *lateness_text(const struct lateness *k, const struct lateness *from)
{
    if (!k->control)
        return NULL;
    return xstrfmt("%.0f of %.0f packets more than %g ms late; %.0f dropped by queues, %.0f lost",
                   k->late - from->late, k->delivered - from->delivered, RELAY_LATE_NS * 1e-6,
                   k->drops - from->drops, k->losses - from->losses);
}
