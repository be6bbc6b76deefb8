/* SPDX-License-Identifier: Apache-2.0
 *
 * The tcp transport: it opens a link to all ranks, drives it, and measures what the ways to the peers
 * carry.
 */
#include "wan_sync/transport/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ==== the loop, and the operations of the link ==== */

#define TICK_S 0.005 /* while blocks are on their way */
#define IDLE_S 0.1   /* while none is */
#define BATCH 64

/* A peer whose rank failed gives its reason at once. Of any other silence the caller has a time-out. */
static void tick(struct tcp_link *l)
{
    l->ticked = l->now;
    tcp_join_tick(l);
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *p = &l->peers[r];
        if (p->closed && p->up == 0 && (p->posted > 0 || p->queue.head))
            tcp_fail(l, "rank %d (%s) has left%s%s", r, p->contact.host, p->bye[0] ? ": " : "",
                     p->bye);
    }
}

static void handle(struct tcp_link *l, const struct epoll_event *e)
{
    void *what = e->data.ptr;
    switch (*(enum tcp_watched *)what) {
    case TCP_GUEST:
        tcp_join_guest(l, what);
        break;
    case TCP_DIAL:
        tcp_join_dial(l, what);
        break;
    case TCP_STREAM:
        if (e->events & EPOLLOUT)
            tcp_out_push(what);
        if (e->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            tcp_in_pull(what);
        break;
    case TCP_LISTENER: /* after all others, who may still need their places */
    case TCP_WAKE:     /* stays readable: every turn ends at once from now on */
        break;
    }
}

/* One turn of the loop, at most timeout_s long; 0, or -1 when the link is broken. */
static int tcp_turn(struct tcp_link *l, double timeout_s)
{
    struct epoll_event events[BATCH];
    l->now = now_s();
    if (l->begins)
        tcp_peers_begin(l);
    if (l->asked)
        tcp_grants_tell(l);
    bool flows = tcp_meter_tick(l);
    double wait = fmax(0, fmin(timeout_s, flows || tcp_join_busy(l) ? TICK_S : IDLE_S));
    struct timespec t = {.tv_sec = (time_t)wait,
                         .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9)};
    int n = epoll_pwait2(l->epoll, events, BATCH, &t, NULL);
    l->now = now_s();
    if (n < 0 && errno != EINTR)
        return tcp_fail(l, "epoll_pwait2: %s (Linux 5.11 or newer has it)", strerror(errno));
    for (int i = 0; i < n && !l->failed; i++)
        handle(l, &events[i]);
    if (l->now - l->ticked > TICK_S)
        tick(l);
    for (int i = 0; i < n && !l->failed; i++)
        if (events[i].data.ptr == &l->listener_watched)
            tcp_join_accept(l);
    if (atomic_load(&l->aborted))
        return tcp_fail(l, "stopped from outside");
    return l->failed ? -1 : 0;
}

static struct tcp_link *link_of(const struct link *base)
{
    return (struct tcp_link *)(uintptr_t)base;
}

static struct tcp_peer *peer_of(struct tcp_link *l, int rank)
{
    if (rank >= 0 && rank < l->host.ranks && rank != l->host.rank)
        return &l->peers[rank];
    tcp_fail(l, "no peer %d: they are 0 to %d, without %d", rank, l->host.ranks - 1, l->host.rank);
    return NULL;
}

static int link_send(struct link *base, int peer, uint64_t id, const void *data, size_t bytes)
{
    struct tcp_link *l = link_of(base);
    struct tcp_peer *p = l->failed ? NULL : peer_of(l, peer);
    return p ? tcp_peer_send(p, id, data, bytes) : -1;
}

static int link_recv(struct link *base, int peer, uint64_t id, void *data, size_t bytes)
{
    struct tcp_link *l = link_of(base);
    struct tcp_peer *p = l->failed ? NULL : peer_of(l, peer);
    return p ? tcp_peer_post(p, id, data, bytes) : -1;
}

static int link_next(struct link *base, struct link_event *out, double timeout_s)
{
    struct tcp_link *l = link_of(base);
    struct tcp_events *e = &l->events;
    double end = now_s() + timeout_s;
    do {
        if (e->n > 0) {
            *out = e->v[e->head];
            e->head = (e->head + 1) % e->cap;
            e->n--;
            return 1;
        }
        if (l->failed)
            return -1;
        tcp_turn(l, end - now_s());
    } while (e->n > 0 || l->failed || l->now < end);
    return 0;
}

static bool settled(const struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *p = &l->peers[r];
        if (!p->streams || p->closed)
            continue;
        if (p->unacked > 0)
            return false;
        for (const struct tcp_stream *s = p->streams; s < p->streams_end; s++)
            if (s->sending || s->ack_due)
                return false;
    }
    return true;
}

static int link_settle(struct link *base, double timeout_s)
{
    struct tcp_link *l = link_of(base);
    double end = now_s() + timeout_s;
    while (!settled(l)) {
        if (l->now > end)
            return tcp_fail(l, "peers have not received all blocks after %g s", timeout_s);
        if (tcp_turn(l, end - now_s()))
            return -1;
    }
    return 0;
}

static void link_stats(const struct link *base, struct link_stats *out)
{
    *out = link_of(base)->stats;
}

static void link_abort(struct link *base)
{
    struct tcp_link *l = link_of(base);
    uint64_t one = 1;
    atomic_store(&l->aborted, true);
    if (write(l->wake, &one, sizeof one) < 0)
        return; /* the turn ends by itself within IDLE_S */
}

static void link_close(struct link *base)
{
    struct tcp_link *l = link_of(base);
    l->closing = true;
    tcp_join_close(l);
    for (int r = 0; l->peers && r < l->host.ranks; r++) {
        if (!l->peers[r].streams)
            continue;
        tcp_out_bye(&l->peers[r], l->failed ? l->base.why : "");
        tcp_peer_free(&l->peers[r]);
    }
    free(l->peers);
    free(l->streams);
    free(l->events.v);
    if (l->wake >= 0)
        close(l->wake);
    if (l->epoll >= 0)
        close(l->epoll);
    free(l);
}

const struct link_ops tcp_link_ops = {
    .name = "tcp",
    .send = link_send,
    .recv = link_recv,
    .next = link_next,
    .settle = link_settle,
    .stats = link_stats,
    .abort = link_abort,
    .close = link_close,
};

/* ==== the first estimates ==== */

/* Estimates the rates to the other ranks when a link is opened. */

#define PROBE_END_S 10.0 /* for the last bytes of a probe to arrive */
#define PROBES_MOST 7    /* neighbours: of up to eight ranks every pair */
#define NARROW 0.7       /* of the uplink's rate */

/* The rank `by` places on, if the way to it is one to probe: between processes of one host there is
 * no link to fill. Else NULL. */
static struct tcp_peer *neighbour(struct tcp_link *l, int by)
{
    struct tcp_peer *p = &l->peers[(l->host.rank + l->host.ranks + by) % l->host.ranks];
    return p->streams && !p->local ? p : NULL;
}

static bool is_here(const struct tcp_link *l, int rank)
{
    return rank == l->host.rank || l->peers[rank].local;
}

/* Ranks of this host that probe at the same time, over the same uplink. */
static int sharers(const struct tcp_link *l, int by)
{
    int n = 0;
    for (int r = 0; r < l->host.ranks; r++)
        n += is_here(l, r) && !is_here(l, (r + by) % l->host.ranks);
    return n;
}

static bool tcp_probe_sends(const struct tcp_peer *p)
{
    for (const struct tcp_stream *s = p->streams; s < p->streams_end; s++)
        if (s->sending)
            return true;
    return p->probing;
}

/* Sends probes on all streams that have room. */
static void tcp_probe_push(struct tcp_peer *p)
{
    for (struct tcp_stream *s = p->streams; s < p->streams_end; s++)
        if (!s->sending)
            tcp_out_push(s);
}

/* Until there is an estimate, and what was sent for it has come to its end. */
static int fill(struct tcp_link *l, struct tcp_peer *to)
{
    double end = now_s() + l->options.probe_s;
    l->paced = &to->pace;
    l->probe_ends = false;
    to->probing = true;
    tcp_probe_push(to);
    while (!tcp_pace_known(&to->pace) && l->now < end)
        if (tcp_turn(l, end - now_s()))
            return -1;
    l->probe_ends = true;
    tcp_probe_push(to);
    return 0;
}

/* All ranks at once, each to the rank `by` places on, as in a ring. 0, or -1: broken. */
static int tcp_probe(struct tcp_link *l, int by)
{
    struct tcp_peer *to = neighbour(l, by), *from = neighbour(l, -by);
    if (to && fill(l, to))
        return -1;
    double end = now_s() + PROBE_END_S + l->options.deadline_s;
    while ((from && !from->probed) || (to && tcp_probe_sends(to))) {
        const struct tcp_peer *p = from && !from->probed ? from : to;
        if (l->now > end)
            return tcp_fail(l, "the probe of rank %d (%s) did not end", p->rank, p->contact.host);
        if (tcp_turn(l, 0.02))
            return -1;
    }
    if (from)
        from->probed = false;
    if (to) {
        tcp_pace_rest(&to->pace);
        tcp_pace_alone(&to->pace, sharers(l, by));
    }
    return 0;
}

/* The best rate becomes that of the uplink; a peer with a much lower one is narrow. */
static void tcp_probes_compare(struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++)
        if (l->peers[r].pace.rate > l->pace.rate)
            l->pace = l->peers[r].pace;
    for (int r = 0; r < l->host.ranks; r++) {
        double rate = l->peers[r].pace.rate;
        l->peers[r].narrow = rate > 0 && rate < NARROW * l->pace.rate;
    }
    l->paced = &l->pace;
    l->stats.sent_B = l->stats.received_B = 0;
    l->stats.rate_Bps = l->pace.rate;
}

/* ==== one way filled on purpose ==== */

/* Fills one way with probes on some streams, and reads what came of it from the kernel. It counts
 * delivered segments: behind a lost one the acknowledged bytes stand still, and then jump. */

#define FLOW_END_S 10.0 /* for the last of it to arrive */

struct flow_count {
    double at, delivered, sent, again, sent_B, received_B, rtt_s, least_rtt_s, mtu_B, segment_B;
    int streams;
};

static bool takes_part(const struct tcp_link *l, const struct tcp_flow *f, int rank)
{
    return l->peers[rank].streams && (f->peer == TCP_ALL || f->peer == rank);
}

static void count_stream(struct flow_count *c, const struct tcp_stream *s)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof info;
    if (getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, &info, &n))
        return;
    c->streams++;
    c->delivered += info.tcpi_delivered;
    c->sent += info.tcpi_data_segs_out;
    c->again += info.tcpi_total_retrans;
    c->sent_B += (double)info.tcpi_bytes_sent;
    c->rtt_s += info.tcpi_rtt * 1e-6;
    c->least_rtt_s = fmax(c->least_rtt_s, info.tcpi_min_rtt * 1e-6);
    c->mtu_B = fmax(c->mtu_B, info.tcpi_pmtu);
    c->segment_B = fmax(c->segment_B, info.tcpi_snd_mss);
}

static struct flow_count flow_count(const struct tcp_link *l, const struct tcp_flow *f)
{
    struct flow_count c = {.at = now_s(), .received_B = (double)l->stats.received_B};
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; takes_part(l, f, r) && i < f->streams; i++)
            count_stream(&c, &l->peers[r].streams[f->first + i]);
    c.rtt_s /= fmax(c.streams, 1);
    return c;
}

static void take(struct tcp_flowed *out, const struct flow_count *a, const struct flow_count *b)
{
    double sent = b->sent - a->sent, segment_B = sent > 0 ? (b->sent_B - a->sent_B) / sent : 0;
    *out = (struct tcp_flowed){
        .rate_Bps = (b->delivered - a->delivered) * segment_B / (b->at - a->at),
        .received_Bps = (b->received_B - a->received_B) / (b->at - a->at),
        .loss = sent > 0 ? (b->again - a->again) / sent : 0,
        .rtt_s = b->rtt_s,
        .segment_B = b->segment_B,
        .mtu_B = b->mtu_B,
    };
}

static bool drive(struct tcp_link *l, double seconds)
{
    for (double end = now_s() + seconds; l->now < end;)
        if (tcp_turn(l, end - now_s()))
            return false;
    return true;
}

static bool set_flow_congestion(struct tcp_link *l, const struct tcp_flow *f)
{
    for (int r = 0; r < l->host.ranks; r++)
        for (int i = 0; takes_part(l, f, r) && i < f->streams; i++) {
            const struct tcp_stream *s = &l->peers[r].streams[f->first + i];
            if (s->fd < 0 || setsockopt(s->fd, IPPROTO_TCP, TCP_CONGESTION, f->congestion,
                                        (socklen_t)strlen(f->congestion))) {
                tcp_fail(l, "congestion = %s, stream %d with rank %d: %s", f->congestion, s->index,
                         r, s->fd < 0 ? "it is down" : strerror(errno));
                return false;
            }
        }
    return true;
}

static void probe_all(struct tcp_link *l, const struct tcp_flow *f, bool begins)
{
    l->probe_ends = !begins;
    for (int r = 0; r < l->host.ranks; r++)
        if (takes_part(l, f, r)) {
            if (begins)
                l->peers[r].probing = true;
            tcp_probe_push(&l->peers[r]);
        }
}

static bool send_flow(struct tcp_link *l, const struct tcp_flow *f, struct tcp_flowed *out)
{
    if (!set_flow_congestion(l, f))
        return false;
    probe_all(l, f, true);
    struct flow_count a = flow_count(l, f);
    if (!drive(l, f->warm_s + f->warm_rtts * a.least_rtt_s))
        return false;
    a = flow_count(l, f);
    struct flow_count b = a;
    /* While a lost packet is waited for, nothing comes through: that is no rate of 0. */
    while (b.sent <= a.sent || b.delivered <= a.delivered) {
        if (b.at - a.at > l->options.deadline_s) {
            tcp_fail(l, "nothing it sent came through in %.3g s%s%s", b.at - a.at,
                     f->peer < 0 ? "" : " to ", f->peer < 0 ? "" : l->peers[f->peer].contact.host);
            return false;
        }
        if (!drive(l, f->measure_s))
            return false;
        b = flow_count(l, f);
    }
    take(out, &a, &b);
    probe_all(l, f, false);
    return true;
}

/* Nothing of it is left in a queue of the kernel: the next flow begins on an idle way. */
static bool drained(const struct tcp_stream *s, int streams)
{
    int unsent = 0;
    for (int i = 0; i < streams; i++)
        if (ioctl(s[i].fd, SIOCOUTQ, &unsent) == 0 && unsent > 0)
            return false;
    return true;
}

/* A rank whose flow, to it or from it, has not ended; -1: none. */
static int unfinished(const struct tcp_link *l, const struct tcp_flow *f)
{
    for (int r = 0; r < l->host.ranks; r++) {
        const struct tcp_peer *p = &l->peers[r];
        if (takes_part(l, f, r) &&
            ((f->receive && !p->probed) ||
             (f->send && (tcp_probe_sends(p) || !drained(&p->streams[f->first], f->streams)))))
            return r;
    }
    return -1;
}

bool tcp_flow(struct link *base, const struct tcp_flow *f, struct tcp_flowed *out)
{
    struct tcp_link *l = link_of(base);
    l->first = f->first, l->use = f->streams;
    l->now = now_s();
    bool good = !f->send || send_flow(l, f, out);
    double end = l->now + f->warm_s + f->measure_s + FLOW_END_S + l->options.deadline_s;
    for (int r; good && (r = unfinished(l, f)) >= 0;) {
        if (l->now > end)
            tcp_fail(l, "the flow with rank %d (%s) did not end", r, l->peers[r].contact.host);
        good = l->now <= end && !tcp_turn(l, 0.01);
    }
    for (int r = 0; r < l->host.ranks; r++)
        if (takes_part(l, f, r))
            l->peers[r].probed = false;
    l->first = l->use = 0;
    return good;
}

/* ==== opening ==== */

/* What a rank tells the others after each step: where it is, or why it cannot go on. */
struct word {
    char why[200]; /* empty: all is well */
    struct tcp_contact contact;
    struct tcp_cookie cookie; /* of rank 0 */
};

static int check_options(const struct tcp_options *o, const struct wl_host *host, char *why,
                         size_t size)
{
    if (o->streams < 1 || o->streams > TCP_STREAMS_MAX)
        snprintf(why, size, "streams = %d: must be 1 to %d", o->streams, TCP_STREAMS_MAX);
    else if (o->port < 0 || (o->port > 0 && o->port + host->local_ranks - 1 > 65535))
        snprintf(why, size, "port = %d: with %d ranks per node it must be 0 to %d", o->port,
                 host->local_ranks, 65536 - host->local_ranks);
    else if (!(o->deadline_s >= 0.1))
        snprintf(why, size, "deadline = %g s: must be 0.1 s or more", o->deadline_s);
    else if (host->ranks > UINT16_MAX)
        snprintf(why, size, "%d ranks: at most %d are supported", host->ranks, UINT16_MAX);
    else
        return 0;
    return -1;
}

static bool has_addresses(const struct tcp_link *l)
{
    return l->host.nodes > 1 && l->options.addresses && l->options.addresses[0];
}

/* All that a rank does alone. */
static int prepare_own(struct tcp_link *l, struct word *own, char *why, size_t size)
{
    const struct tcp_options *o = &l->options;
    bool loopback = l->host.nodes == 1;
    int port = o->port ? o->port + l->host.local_rank : 0;
    if (check_options(o, &l->host, why, size) ||
        tcp_contact_own(&own->contact, o->interface, loopback, why, size) ||
        (has_addresses(l) &&
         tcp_contact_given(&own->contact, o->addresses, l->host.local_rank, why, size)) ||
        tcp_join_open(l, loopback, port, &own->contact.listens, why, size))
        return -1;
    own->contact.node = l->host.node;
    if (!own->contact.port)
        own->contact.port = own->contact.listens;
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->listener_watched = TCP_LISTENER, l->wake_watched = TCP_WAKE;
    l->peers = calloc((size_t)l->host.ranks, sizeof *l->peers);
    if (l->epoll < 0 || l->wake < 0 || !l->peers)
        return LINK_WHY(why, size, "opening the tcp transport: %s", strerror(errno));
    if (l->host.rank == 0 && tcp_cookie_draw(&own->cookie))
        return LINK_WHY(why, size, "the kernel gives no random bytes: %s", strerror(errno));
    l->streams = calloc((size_t)l->host.ranks * (size_t)o->streams, sizeof *l->streams);
    if (!l->streams)
        return LINK_WHY(why, size, "no memory for %d streams to each rank", o->streams);
    l->streams_end = l->streams;
    for (int r = 0; r < l->host.ranks; r++)
        if (r != l->host.rank)
            tcp_peer_init(&l->peers[r], l, r);
    if (tcp_watch(l, EPOLL_CTL_ADD, l->listener, EPOLLIN, &l->listener_watched) ||
        tcp_watch(l, EPOLL_CTL_ADD, l->wake, EPOLLIN, &l->wake_watched))
        return LINK_WHY(why, size, "%.199s", l->base.why);
    return 0;
}

/* Every rank hears every rank; 0, or -1 and the first rank's reason, the same line everywhere.
 * `contacts` is a table of ranks, or NULL. */
static int agree(struct tcp_link *l, const struct word *own, struct tcp_peer *peers, char *why,
                 size_t size)
{
    int rc = 0;
    for (int r = 0; r < l->host.ranks; r++) {
        struct word w = *own;
        l->host.bcast(l->host.ctx, &w, sizeof w, r);
        if (w.why[0] && rc == 0) {
            rc = -1;
            snprintf(why, size, "rank %d (%.63s): %.199s", r, w.contact.host, w.why);
        }
        if (!peers)
            continue;
        peers[r].contact = w.contact;
        if (has_addresses(l) && r != l->host.rank && w.contact.node == l->host.node)
            tcp_contact_here(&peers[r].contact);
        if (r == 0)
            l->cookie = w.cookie;
        peers[r].local =
            r != l->host.rank && l->paces && !strcmp(w.contact.host, own->contact.host);
    }
    return rc;
}

static const struct tcp_peer *not_connected(const struct tcp_link *l)
{
    for (int r = 0; r < l->host.ranks; r++)
        if (r != l->host.rank && l->peers[r].up < l->options.streams)
            return &l->peers[r];
    return NULL;
}

/* Two ranks that nobody can connect to have no link. */
static int check_closed(struct tcp_link *l)
{
    const struct tcp_peer *me = &l->peers[l->host.rank];
    for (int r = 0; me->contact.closed && r < l->host.ranks; r++)
        if (l->peers[r].contact.closed && l->peers[r].contact.node != me->contact.node)
            return tcp_fail(l,
                            "nobody can connect to it, nor to rank %d (%s), by %s: give one of "
                            "them an address there",
                            r, l->peers[r].contact.host, l->options.addresses);
    return 0;
}

/* Where a peer that should have connected to us tried to. */
static void where_called(const struct tcp_link *l, const struct tcp_peer *p, char *text,
                         size_t size)
{
    const struct tcp_contact *own = &l->peers[l->host.rank].contact;
    char at[64];
    text[0] = 0;
    if (tcp_join_calls(l, p->rank) || !own->addresses)
        return;
    tcp_contact_text(own, 0, at, sizeof at);
    snprintf(text, size, ": it should connect to %s%s", at,
             own->addresses > 1 ? " or another address of this host" : "");
}

static int connect_all(struct tcp_link *l)
{
    l->ready = true;
    const struct tcp_peer *p;
    double end = l->now + l->options.deadline_s;
    while ((p = not_connected(l))) {
        if (l->now <= end) {
            if (tcp_turn(l, 0.02))
                return -1;
            continue;
        }
        char strangers[96] = "", called[128];
        if (l->stats.strangers)
            snprintf(strangers, sizeof strangers,
                     "; refused %u connections that did not come from ranks of this job",
                     l->stats.strangers);
        where_called(l, p, called, sizeof called);
        return tcp_fail(l, "%d of %d streams with rank %d (%s) after %g s%s%s%s%s", p->up,
                        l->options.streams, p->rank, p->contact.host, l->options.deadline_s, called,
                        p->last[0] ? ": " : "", p->last, strangers);
    }
    return 0;
}

/* A step that each rank does, and whether all of them did it. */
static int together(struct tcp_link *l, int rc, struct word *own, char *why, size_t size)
{
    if (rc && !own->why[0])
        snprintf(own->why, sizeof own->why, "%.199s",
                 l->base.why[0] ? l->base.why : "could not open the tcp transport");
    return agree(l, own, NULL, why, size);
}

static void note_facts(const struct tcp_link *l)
{
    const struct wl_host *h = &l->host;
    char text[64];
    if (!h->note)
        return;
    tcp_congestion_name(l, text, sizeof text);
    h->note(h->ctx, "tcp_congestion", text);
    h->note(h->ctx, "tcp_interface", l->options.interface[0] ? l->options.interface : "any");
    if (l->stats.strangers) {
        snprintf(text, sizeof text, "%u", l->stats.strangers);
        h->note(h->ctx, "strangers", text);
    }
}

static int open_steps(struct tcp_link *l, struct word *own, char *why, size_t size)
{
    prepare_own(l, own, own->why, sizeof own->why);
    if (agree(l, own, l->peers, why, size) || together(l, check_closed(l), own, why, size) ||
        together(l, connect_all(l), own, why, size))
        return -1;
    bool probes = l->paces && l->options.probe_s > 0;
    for (int by = 1; probes && by < l->host.ranks && by <= PROBES_MOST; by++)
        if (together(l, tcp_probe(l, by), own, why, size))
            return -1;
    if (probes)
        tcp_probes_compare(l);
    note_facts(l);
    return 0;
}

int tcp_open(struct link **out, const struct wl_host *host, const struct tcp_options *options,
             char *why, size_t why_size)
{
    struct tcp_link *l = calloc(1, sizeof *l);
    if (!l)
        return LINK_WHY(why, why_size, "no memory");
    l->base.ops = &tcp_link_ops;
    memcpy(&l->host, host, host->size < sizeof l->host ? host->size : sizeof l->host);
    l->options = *options;
    l->automatic = !strcmp(options->congestion, "auto");
    if (l->automatic)
        l->options.congestion = "";
    l->epoll = l->listener = l->wake = -1;
    l->paces = host->nodes > 1 &&
               !options->unpaced; /* between processes of one host there is no link to fill */
    l->now = l->ticked = now_s();
    tcp_pace_init(&l->pace);
    l->paced = &l->pace;
    struct word own = {.why = ""};
    if (open_steps(l, &own, why, why_size)) {
        tcp_fail(l, "%s", why);
        tcp_link_ops.close(&l->base);
        return -1;
    }
    *out = &l->base;
    return 0;
}

void tcp_rates(const struct link *base, double *rate_Bps)
{
    const struct tcp_link *l = link_of(base);
    for (int r = 0; base->ops == &tcp_link_ops && r < l->host.ranks; r++)
        rate_Bps[r] = r == l->host.rank ? 0 : l->peers[r].pace.rate;
}

double tcp_segment(const struct link *base, bool *bbr)
{
    const struct tcp_link *l = link_of(base);
    char name[32] = "";
    bool tcp = base->ops == &tcp_link_ops;
    if (tcp)
        tcp_congestion_name(l, name, sizeof name);
    *bbr = !strcmp(name, "bbr");
    return tcp ? l->mss_B : 0;
}
