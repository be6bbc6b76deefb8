/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/relay.h"

#include "base/clock.h"
#include "base/err.h"
#include "lab/headers.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32 /* packets read from one device before the next device */
#define NAP_NS 50000
#define CLIENTS 8
#define STRANGE_B 64 /* enough to read a packet that is not kept */

enum net { WAN, CTL, NETS };
/* Identifies an epoll event: a device, the listening socket, or a client. */
enum tag { TAG_CONTROL = LAB_SITES_MAX * NETS, TAG_CLIENT, TAGS = TAG_CLIENT + CLIENTS };

/* Readable descriptors: a device stays ready until a read finds nothing. */
struct ready {
    bool device[LAB_SITES_MAX][NETS];
    bool any; /* device */
    bool control, client[CLIENTS];
};

/* Clients that have not sent their command yet. A new client replaces the oldest. */
struct clients {
    int fd[CLIENTS], next;
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

/* ---- waiting ---- */

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

/* Waits until a device is readable, a command comes or a packet is due. */
static void wait_for(const struct relay *r, int epoll, struct ready *ready)
{
    struct epoll_event events[TAGS];
    double wait_ns = lab_mesh_next(&r->mesh, r->held) - (double)clock_now_ns();
    struct timespec t = {0}, *until = &t;
    if (isinf(wait_ns))
        until = NULL;
    else
        wait_ns = fmax(wait_ns, NAP_NS);
    if (ready->any)
        until = &t;
    else if (until)
        t = (struct timespec){(time_t)(wait_ns / 1e9), (long)fmod(wait_ns, 1e9)};
    int n = epoll_pwait2(epoll, events, sizeof events / sizeof *events, until, NULL);
    if (n < 0 && errno != EINTR)
        _exit(fail(GS_CANNOT, "lab: relay: epoll_pwait2: %s; it needs Linux 5.11 or newer",
                   strerror(errno)));
    for (int i = 0; i < n; i++) {
        uint64_t tag = events[i].data.u64;
        if (tag < TAG_CONTROL)
            ready->any = ready->device[tag / NETS][tag % NETS] = true;
        else if (tag == TAG_CONTROL)
            ready->control = true;
        else
            ready->client[tag - TAG_CLIENT] = true;
    }
}

static void take_orders(struct relay *r, int epoll, int control, struct ready *ready,
                        struct clients *c)
{
    for (int i = 0; i < CLIENTS; i++) {
        if (!ready->client[i])
            continue;
        r->answer(r, c->fd[i]);
        close(c->fd[i]);
        c->fd[i] = -1;
        ready->client[i] = false;
    }
    int fd = ready->control ? accept4(control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    ready->control = false;
    if (fd < 0)
        return;
    int slot = c->next++ % CLIENTS;
    if (c->fd[slot] >= 0)
        close(c->fd[slot]);
    c->fd[slot] = fd;
    watch(epoll, fd, TAG_CLIENT + (uint64_t)slot);
}

int relay_run(const struct lab_spec *spec, const struct site_devices *devices, int control,
              void (*answer)(struct relay *r, int client))
{
    struct relay *r = calloc(1, sizeof *r);
    struct ready ready = {0};
    struct clients clients = {0};
    int code = r ? lab_mesh_make(&r->mesh, spec) : GS_CANNOT;
    if (code)
        return code;
    r->devices = devices;
    r->answer = answer;
    int epoll = watch_all(r, control);
    if (epoll < 0)
        return fail(GS_CANNOT, "lab: relay: epoll: %s", strerror(errno));
    /* Without privilege this fails. Then ranks may delay the relay, which counts late packets. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = RELAY_PRIORITY});
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < CLIENTS; i++)
        clients.fd[i] = -1;
    for (;;) {
        deliver(r);
        read_all(r, &ready);
        deliver(r);
        wait_for(r, epoll, &ready);
        take_orders(r, epoll, control, &ready, &clients);
    }
}
