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

/* ---- headers ----
 *
 * What the relay reads in the headers of a packet, of IPv4 or IPv6.
 */

#define TCP 6
#define TCP_HEADER_B 20
#define FLAGS_AT 13
#define SYN 2
#define ACK 16

enum { V4_HEADER_B = 20, V4_PROTOCOL_AT = 9, V4_LAST_AT = 19 };
enum { V6_HEADER_B = 40, V6_PROTOCOL_AT = 6, V6_TO_AT = 24, V6_LAST_AT = 39, V6_MULTICAST = 0xff };

static bool is_v4(const unsigned char *ip, size_t bytes)
{
    return bytes >= V4_HEADER_B && ip[0] >> 4 == 4;
}

static bool is_v6(const unsigned char *ip, size_t bytes)
{
    return bytes >= V6_HEADER_B && ip[0] >> 4 == 6;
}

/* The last byte of the destination's address; -1: no unicast packet. */
static int header_host(const unsigned char *ip, size_t bytes)
{
    if (is_v4(ip, bytes))
        return ip[V4_LAST_AT];
    return is_v6(ip, bytes) && ip[V6_TO_AT] != V6_MULTICAST ? ip[V6_LAST_AT] : -1;
}

/* The port that a packet asks for a new TCP connection to; -1: it does not. */
static int header_opens(const unsigned char *ip, size_t bytes)
{
    size_t at = is_v4(ip, bytes) ? (size_t)(ip[0] & 15) * 4 : V6_HEADER_B;
    bool tcp = is_v4(ip, bytes)   ? ip[V4_PROTOCOL_AT] == TCP
               : is_v6(ip, bytes) ? ip[V6_PROTOCOL_AT] == TCP
                                  : false;
    if (!tcp || bytes < at + TCP_HEADER_B || (ip[at + FLAGS_AT] & (SYN | ACK)) != SYN)
        return -1;
    return ip[at + 2] << 8 | ip[at + 3];
}

/* A packet that is delivered more than this after its time is late. */
#define RELAY_LATE_NS 1000000

#define BATCH 32 /* packets read from one device before the next device */
#define NAP_NS 50000
#define CLIENTS 8
#define STRANGE_B 64 /* enough to read a packet that is not kept */

struct relay_counts {
    uint64_t delivered, late; /* packets; more than RELAY_LATE_NS after their time */
    double late_sum_ns, late_max_ns;
    uint64_t ctl_packets;
    uint64_t strange; /* packets for no site */
    uint64_t refused; /* packets that the kernel of a site did not take */
};

struct relay {
    struct lab_mesh mesh;
    const struct site_devices *devices; /* by site */
    struct relay_counts counts;
    bool guarded[LAB_SITES_MAX]; /* new TCP connections to the site only to the admitted port */
    int admitted[LAB_SITES_MAX]; /* 0: to none */
    bool held[LAB_SITES_MAX];    /* stalled: packets from and to the site wait */
    double released_ns[LAB_SITES_MAX];
    int client
        [CLIENTS];  /* that has not sent its command yet, or -1; a new one replaces the oldest */
    size_t clients; /* so far */
};

enum net { WAN, CTL, NETS };
/* Identifies an epoll event: a device, the listening socket, or a client. */
enum tag { TAG_CONTROL = LAB_SITES_MAX * NETS, TAG_CLIENT, TAGS = TAG_CLIENT + CLIENTS };

/* Readable descriptors: a device stays ready until a read finds nothing. */
struct ready {
    bool device[LAB_SITES_MAX][NETS];
    bool any;
};

/* ---- reading ---- */

/* The site that a packet is addressed to; n: none. */
static size_t destination(const struct packet *one, size_t n)
{
    int host = header_host(one->data + PACKET_HEAD_B, one->bytes);
    bool ours = host >= SITE_FIRST_HOST && host < SITE_FIRST_HOST + (int)n;
    return ours ? (size_t)host - SITE_FIRST_HOST : n;
}

/* False: the site's firewall drops it. */
static bool admits(const struct relay *r, const struct packet *one, size_t to)
{
    int port = r->guarded[to] ? header_opens(one->data + PACKET_HEAD_B, one->bytes) : -1;
    return port < 0 || port == r->admitted[to];
}

static void write_out(struct relay *r, int fd, const struct packet *one)
{
    if (write(fd, one->data, PACKET_HEAD_B + one->bytes) < 0)
        r->counts.refused++;
}

static void forward(struct relay *r, struct packet *one, size_t from, enum net net)
{
    size_t n = r->mesh.spec->n, to = destination(one, n);
    if (to == n || to == from) {
        r->counts.strange++;
        packet_put(&r->mesh.packets, one);
    } else if (net == WAN && !admits(r, one, to)) {
        r->mesh.counts.cut_drops++;
        packet_put(&r->mesh.packets, one);
    } else if (net == WAN) {
        lab_mesh_put(&r->mesh, packet_fit(&r->mesh.packets, one), from, to, (double)clock_now_ns());
    } else {
        r->counts.ctl_packets++;
        if (!r->mesh.ends[from].cut && !r->mesh.ends[to].cut)
            write_out(r, r->devices[to].ctl, one);
        packet_put(&r->mesh.packets, one);
    }
}

/* False: nothing is left to read. */
static bool read_some(struct relay *r, size_t from, enum net net)
{
    int fd = net == WAN ? r->devices[from].wan : r->devices[from].ctl;
    for (int i = 0; i < BATCH; i++) {
        struct packet *one = packet_get(&r->mesh.packets, false);
        if (!one) {
            char lost[PACKET_HEAD_B + STRANGE_B];
            r->mesh.counts.memory_drops++;
            return read(fd, lost, sizeof lost) > 0;
        }
        ssize_t got = read(fd, one->data, PACKET_HEAD_B + (size_t)r->mesh.spec->mtu_B);
        if (got <= PACKET_HEAD_B) {
            packet_put(&r->mesh.packets, one);
            return false;
        }
        one->bytes = (uint32_t)got - PACKET_HEAD_B;
        forward(r, one, from, net);
    }
    return true;
}

static void read_all(struct relay *r, struct ready *ready)
{
    ready->any = false;
    for (size_t i = 0; i < r->mesh.spec->n; i++)
        for (int net = WAN; net < NETS; net++) {
            bool *now = &ready->device[i][net];
            if (*now && !r->held[i])
                *now = read_some(r, i, (enum net)net);
            ready->any = ready->any || (*now && !r->held[i]);
        }
}

/* ---- delivering ---- */

static void note_lateness(struct relay *r, size_t to, const struct packet *one, double now_ns)
{
    struct relay_counts *c = &r->counts;
    /* A packet that was due while its site was stalled does not count as late. */
    double late_ns = one->when.last_ns > r->released_ns[to] ? now_ns - one->when.last_ns : 0;
    c->delivered++;
    c->late += late_ns > RELAY_LATE_NS;
    c->late_sum_ns += late_ns;
    c->late_max_ns = fmax(c->late_max_ns, late_ns);
}

static void deliver(struct relay *r)
{
    double now_ns = (double)clock_now_ns();
    lab_mesh_move(&r->mesh, now_ns);
    for (size_t i = 0; i < r->mesh.spec->n; i++) {
        struct fifo *out = &r->mesh.ends[i].out;
        while (!r->held[i] && out->first && out->first->when.last_ns <= now_ns) {
            struct packet *one = fifo_take(out);
            if (r->mesh.ends[i].cut)
                r->mesh.counts.cut_drops += !one->others;
            else if (!one->others) {
                note_lateness(r, i, one, (double)clock_now_ns());
                write_out(r, r->devices[i].wan, one);
            }
            packet_put(&r->mesh.packets, one);
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
 *   stall WHERE, go WHERE  holds every packet of the site or link, until go
 *   disturb on, off        jitter, reordering and traffic of others; on while the command runs
 *   reset                  restores the values of the config, except for disturb
 *   stats                  {"packets": ...}: counts since the start
 */

enum what { RATE, LOSS, ADMIT, CUT, HELD };
static const struct order {
    const char *name;
    enum what what;
    bool on; /* the value of CUT and HELD; the others have one on the line */
} orders[] = {
    {"rate", RATE, false}, {"loss", LOSS, false}, {"admit", ADMIT, false}, {"down", CUT, true},
    {"up", CUT, false},    {"stall", HELD, true}, {"go", HELD, false},
};

static void set_site_rate(struct relay *r, size_t i, double up_Bps, double down_Bps)
{
    const struct lab_site *s = &r->mesh.spec->sites[i];
    shaper_set(&r->mesh.ends[i].up, up_Bps, s->up_queue_B);
    shaper_set(&r->mesh.ends[i].down, down_Bps, s->down_queue_B);
}

static void hold(struct relay *r, size_t to, bool *held, bool on)
{
    if (*held && !on)
        r->released_ns[to] = (double)clock_now_ns();
    *held = on;
}

/* A rate, a percentage as a share of 1, or a port: 0: none, less: all. */
struct amount {
    double x;
    bool share;
};

static const char *read_port(const char *text, struct amount *a)
{
    char *end = NULL;
    bool all = !strcmp(text, "all"), none = !strcmp(text, "none");
    a->x = all ? -1 : none ? 0 : (double)strtol(text, &end, 10);
    return all || none || (!*end && a->x >= 1 && a->x <= 65535)
               ? NULL
               : "not a port; write e.g. 5300, none or all";
}

static const char *read_amount(const struct order *o, const char *text, struct amount *a)
{
    *a = (struct amount){0};
    if (o->what > ADMIT)
        return NULL;
    if (o->what == ADMIT)
        return read_port(text, a);
    a->share = o->what == LOSS || strchr(text, '%');
    bool good = a->share ? units_parse_real(text, &a->x) : units_parse_rate(text, &a->x);
    if (o->what == LOSS)
        return good && a->x >= 0 && a->x <= 1 ? NULL : "not a loss; write e.g. 0.1% or 0.001";
    return good && a->x > 0 ? NULL : "not a rate; write e.g. 100Mbit/s or 10%";
}

static void obey_way(struct relay *r, const struct order *o, size_t from, size_t to,
                     struct amount a)
{
    const struct lab_spec *s = r->mesh.spec;
    const struct lab_way *w = lab_way_of(s, from, to);
    struct lab_path *p = &r->mesh.paths[from * s->n + to];
    double ends = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps);
    double whole = w->rate_Bps > 0 ? w->rate_Bps : ends;
    if (o->what == RATE)
        shaper_set(&p->own, a.x * (a.share ? whole : 1), w->queue_B);
    else if (o->what == LOSS)
        p->disturb.loss = a.x;
    else if (o->what == CUT)
        p->cut = o->on;
    else
        hold(r, to, &p->held, o->on);
}

static void obey_site(struct relay *r, const struct order *o, size_t i, struct amount a)
{
    const struct lab_site *s = &r->mesh.spec->sites[i];
    if (o->what == RATE)
        set_site_rate(r, i, a.x * (a.share ? s->up_Bps : 1), a.x * (a.share ? s->down_Bps : 1));
    else if (o->what == CUT)
        r->mesh.ends[i].cut = o->on;
    else if (o->what == HELD)
        hold(r, i, &r->held[i], o->on);
    else if (o->what == ADMIT) {
        r->guarded[i] = a.x >= 0;
        r->admitted[i] = (int)a.x;
    } else
        for (size_t to = 0; to < r->mesh.spec->n; to++)
            obey_way(r, o, i, to, a);
}

static void reset(struct relay *r)
{
    const struct lab_spec *s = r->mesh.spec;
    for (size_t i = 0; i < s->n; i++) {
        set_site_rate(r, i, s->sites[i].up_Bps, s->sites[i].down_Bps);
        r->mesh.ends[i].cut = false;
        r->guarded[i] = false;
        hold(r, i, &r->held[i], false);
    }
    for (size_t i = 0; i < s->n * s->n; i++) {
        struct lab_path *p = &r->mesh.paths[i];
        shaper_set(&p->own, p->spec->rate_Bps, p->spec->queue_B);
        p->disturb.loss = p->spec->loss;
        p->cut = false;
        hold(r, i % s->n, &p->held, false);
    }
}

static char *stats(const struct relay *r)
{
    const struct lab_counts *c = &r->mesh.counts;
    const struct relay_counts *d = &r->counts;
    AUTO_JSON json_t *o =
        json_pack("{s:I,s:I,s:I,s:I,s:f,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "packets",
                  (json_int_t)c->packets, "bytes", (json_int_t)c->bytes, "delivered",
                  (json_int_t)d->delivered, "late", (json_int_t)d->late, "late_mean_s",
                  d->delivered ? d->late_sum_ns * 1e-9 / (double)d->delivered : 0, "late_max_s",
                  d->late_max_ns * 1e-9, "queue_drops", (json_int_t)c->queue_drops, "losses",
                  (json_int_t)c->losses, "cut_drops", (json_int_t)c->cut_drops, "memory_drops",
                  (json_int_t)c->memory_drops, "ctl_packets", (json_int_t)d->ctl_packets, "strange",
                  (json_int_t)d->strange, "refused", (json_int_t)d->refused, "detours",
                  (json_int_t)c->detours, "others", (json_int_t)c->others);
    return json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

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

/* `where` is SITE, A-B or A>B. */
static char *obey_at(struct relay *r, const struct order *o, char *where, const char *value)
{
    size_t at = strcspn(where, "->"), from, to;
    char sign = where[at];
    struct amount a;
    where[at] = '\0';
    char *wrong = find_site(r, where, &from);
    if (!wrong && sign)
        wrong = find_site(r, where + at + 1, &to);
    if (wrong)
        return wrong;
    if (sign && o->what == ADMIT)
        return xstrdup("error: admit takes a site; write e.g. admit north 5300");
    if (sign && from == to)
        return xstrdup("error: a link joins two sites; write e.g. down north-east");
    const char *why = read_amount(o, value, &a);
    if (why)
        return xstrfmt("error: %s", why);
    if (sign)
        obey_way(r, o, from, to, a);
    if (sign == '-')
        obey_way(r, o, to, from, a);
    if (!sign)
        obey_site(r, o, from, a);
    return xstrdup("ok");
}

static char *obey_words(struct relay *r, const struct words *w)
{
    for (size_t i = 0; i < COUNT(orders) && w->n; i++)
        if (!strcmp(orders[i].name, w->v[0]) && w->n == (orders[i].what <= ADMIT ? 3 : 2))
            return obey_at(r, &orders[i], w->v[1], w->v[2]);
    return xstrdup("error: unknown command; use: rate WHERE RATE, loss WHERE SHARE, admit SITE "
                   "PORT, down WHERE, "
                   "up WHERE, stall WHERE, go WHERE, disturb on|off, reset, stats; "
                   "WHERE is SITE, A-B or A>B");
}

/* Returns "ok", a JSON object, or "error: TEXT"; the caller frees it. */
static char *obey_line(struct relay *r, const char *line)
{
    AUTO_WORDS struct words w = {0};
    char *answer = NULL;
    if (!strcmp(line, "stats"))
        return stats(r);
    if (!strcmp(line, "reset"))
        reset(r);
    else if (!strcmp(line, "disturb on") || !strcmp(line, "disturb off"))
        r->mesh.disturbed = !strcmp(line, "disturb on");
    else {
        words_split(&w, line, ' ');
        answer = obey_words(r, &w);
    }
    return answer ? answer : xstrdup("ok");
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
    /* Devices are edge-triggered: packets of a stalled site must not keep the relay awake. */
    struct epoll_event e = {.events = EPOLLIN | (tag < TAG_CONTROL ? EPOLLET : 0), .data.u64 = tag};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

static int watch_all(const struct relay *r, int control)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    bool ok = epoll >= 0 && !watch(epoll, control, TAG_CONTROL);
    for (size_t i = 0; ok && i < r->mesh.spec->n; i++)
        ok = !watch(epoll, r->devices[i].wan, i * NETS + WAN) &&
             !watch(epoll, r->devices[i].ctl, i * NETS + CTL);
    return ok ? epoll : -1;
}

static void accept_client(struct relay *r, int epoll, int control)
{
    int fd = accept4(control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    size_t slot = r->clients++ % CLIENTS;
    if (r->client[slot] >= 0)
        close(r->client[slot]);
    r->client[slot] = fd;
    watch(epoll, fd, TAG_CLIENT + slot);
}

/* Waits until a device is readable, a command comes, which it runs, or a packet is due. */
static void wait_for(struct relay *r, int epoll, int control, struct ready *ready)
{
    struct epoll_event events[TAGS];
    double wait_ns = lab_mesh_next(&r->mesh, r->held) - (double)clock_now_ns();
    wait_ns = ready->any ? 0 : fmax(wait_ns, NAP_NS);
    bool forever = isinf(wait_ns);
    struct timespec t = {0};
    if (!forever)
        t = (struct timespec){(time_t)(wait_ns / 1e9), (long)fmod(wait_ns, 1e9)};
    int n = epoll_pwait2(epoll, events, COUNT(events), forever ? NULL : &t, NULL);
    if (n < 0 && errno != EINTR)
        _exit(fail(GS_CANNOT, "lab: relay: epoll_pwait2: %s; it needs Linux 5.11 or newer",
                   strerror(errno)));
    bool called = false;
    for (int i = 0; i < n; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag < TAG_CONTROL)
            ready->any = ready->device[tag / NETS][tag % NETS] = true;
        else if (tag == TAG_CONTROL)
            called = true;
        else
            answer_client(r, tag - TAG_CLIENT);
    }
    if (called) /* after the events of the client that it may replace */
        accept_client(r, epoll, control);
}

int relay_run(const struct lab_spec *spec, const struct site_devices *devices, int control)
{
    struct relay *r = xcalloc(1, sizeof *r);
    struct ready ready = {0};
    CHECK(lab_mesh_make(&r->mesh, spec));
    r->devices = devices;
    int epoll = watch_all(r, control);
    if (epoll < 0)
        return fail(GS_CANNOT, "lab: relay: epoll: %s", strerror(errno));
    /* Without privilege this fails. Then ranks may delay the relay, which counts late packets. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = RELAY_PRIORITY});
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < CLIENTS; i++)
        r->client[i] = -1;
    for (;;) {
        deliver(r);
        read_all(r, &ready);
        deliver(r);
        wait_for(r, epoll, control, &ready);
    }
}

/* ---- lateness ----
 *
 * Detects whether the emulated network delivered packets late during a measurement. The relay
 * counts late packets. On a busy machine it relays late, and the measurement would show
 * the machine, not the network.
 */

#define FEW 100 /* packets, of which a share says nothing */

int lateness_begin(struct lateness *k)
{
    AUTO_JSON json_t *facts = NULL;
    *k = (struct lateness){0};
    CHECK(lab_facts_read(&facts));
    if (!facts)
        return GS_OK;
    k->control = xstrdup(json_text_of(facts, "control"));
    k->late_share = json_number_value(json_object_get(facts, "late_share"));
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
    k->late_max_s = json_number_value(json_object_get(o, "late_max_s"));
    k->drops = json_number_value(json_object_get(o, "queue_drops")) +
               json_number_value(json_object_get(o, "memory_drops"));
    k->losses = json_number_value(json_object_get(o, "losses"));
    return GS_OK;
}

int lateness_judge(struct lateness *k, bool *late)
{
    struct lateness before = *k;
    int code = lateness_mark(k);
    double packets = k->delivered - before.delivered;
    *late = packets >= FEW && k->late - before.late > k->late_share * packets;
    return code;
}

char *lateness_text(const struct lateness *k, const struct lateness *from)
{
    if (!k->control)
        return NULL;
    return xstrfmt("%.0f of %.0f packets more than %g ms late, %.3g ms at most since its start; "
                   "%.0f dropped by queues, %.0f lost",
                   k->late - from->late, k->delivered - from->delivered, RELAY_LATE_NS * 1e-6,
                   1e3 * k->late_max_s, k->drops - from->drops, k->losses - from->losses);
}
