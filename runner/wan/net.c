/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/net.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#define EARTH_RADIUS_M 6371008.8
#define SEGMENT_B 1500.0 /* a loss costs a segment of so many bytes where no MTU is said */

/* ---- links ---- */

size_t wan_ends_find(const void *sorted, size_t n, size_t size, size_t from, size_t to)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct wan_ends *e = (const void *)((const char *)sorted + mid * size);
        if (e->from < from || (e->from == from && e->to < to))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool joins(struct wan_ends e, size_t from, size_t to)
{
    return e.from == from && e.to == to;
}

static const struct wan_pair *find_pair(const struct wan_map *m, size_t from, size_t to)
{
    size_t i = wan_ends_find(m->pairs, m->n_pairs, sizeof *m->pairs, from, to);
    return i < m->n_pairs && joins(m->pairs[i].ends, from, to) ? &m->pairs[i] : NULL;
}

static size_t first_crossing(const struct wan_map *m, size_t from, size_t to)
{
    return wan_ends_find(m->crossings, m->n_crossings, sizeof *m->crossings, from, to);
}

double wan_map_distance(const struct wan_map *m, size_t from, size_t to)
{
    const double degree = acos(-1) / 180;
    const struct wan_site *a = &m->sites[from], *b = &m->sites[to];
    if (isnan(a->lat) || isnan(b->lat))
        return NAN;
    double half_lat = sin((b->lat - a->lat) * degree / 2);
    double half_lon = sin((b->lon - a->lon) * degree / 2);
    double h =
        half_lat * half_lat + cos(a->lat * degree) * cos(b->lat * degree) * half_lon * half_lon;
    return 2 * EARTH_RADIUS_M * asin(fmin(1, sqrt(h)));
}

static double rtt_of_distance(const struct wan_map *m, double metres)
{
    return isnan(metres) ? 0 : 2 * metres / WAN_FIBRE_M_PER_S * m->path_factor;
}

struct wan_link wan_map_link(const struct wan_map *m, size_t from, size_t to)
{
    const struct wan_pair *p = find_pair(m, from, to);
    struct wan_link l = p ? p->link : m->common;
    if (l.rtt_s <= 0)
        l.rtt_s = rtt_of_distance(m, wan_map_distance(m, from, to));
    double ends = fmin(m->sites[from].up_Bps, m->sites[to].down_Bps);
    l.rate_Bps = p && l.rate_Bps > 0 ? fmin(ends, l.rate_Bps) : ends;
    if (m->any_transport) {
        l.rate_Bps *= 1 - l.loss;
        l.loss = l.window_B = 0;
        l.streams = 0;
    }
    return l;
}

double wan_segment_B(const struct wan_link *l)
{
    return (l->mtu_B > 0 ? l->mtu_B : SEGMENT_B) - WAN_HEADERS_B;
}

double wan_link_Bps(const struct wan_link *l, double factor)
{
    double rate = l->rate_Bps * factor, mss = wan_segment_B(l);
    double window_B = l->window_B > 0 ? l->window_B : WAN_WINDOW_B;
    bool limited = l->streams > 0 || l->loss > 0 || l->window_B > 0;
    if (l->rtt_s > 0 && limited) {
        double events = l->loss / fmax(1, l->burst); /* a burst slows a stream down once */
        double stream = wan_stream_Bps((enum wan_congestion)l->congestion, rate, l->rtt_s, events,
                                       mss, window_B);
        rate = fmin(rate, fmax(1, (double)l->streams) * stream);
    }
    return l->mtu_B > 0 ? rate * wan_goodput(l->mtu_B) : rate;
}

/* Other traffic on the links of a row, in one direction. It does not slow down. */
static double others_Bps(const struct wan_map *m, size_t row, bool out)
{
    double sum = 0;
    for (size_t k = 0; k < m->n; k++) {
        const struct wan_pair *p = out ? find_pair(m, row, k) : find_pair(m, k, row);
        sum += k == row ? 0 : p ? p->link.cross_Bps : m->common.cross_Bps;
    }
    return sum;
}

/* The delay wanders between nothing and `jitter`, in each direction. */
static void disturb(struct wan_link *l)
{
    if (l->rtt_s > 0)
        l->rtt_s += l->jitter_s;
    if (l->rate_Bps > l->cross_Bps)
        l->rate_Bps -= l->cross_Bps;
}

void wan_map_disturb(struct wan_map *m)
{
    bool any = m->common.cross_Bps > 0;
    for (size_t i = 0; i < m->n_pairs; i++) {
        any = any || m->pairs[i].link.cross_Bps > 0;
        disturb(&m->pairs[i].link);
    }
    disturb(&m->common);
    for (size_t r = 0; any && r < m->n; r++) {
        m->sites[r].up_Bps -= fmin(others_Bps(m, r, true), 0.9 * m->sites[r].up_Bps);
        m->sites[r].down_Bps -= fmin(others_Bps(m, r, false), 0.9 * m->sites[r].down_Bps);
    }
}

int64_t wan_map_gpus(const struct wan_map *m)
{
    int64_t gpus = 0;
    for (size_t i = 0; i < m->n; i++)
        gpus += m->sites[i].gpus;
    return gpus;
}

double wan_map_rate(const struct wan_map *m)
{
    double rate = INFINITY;
    for (size_t i = 0; i < m->n; i++)
        rate = fmin(rate, fmin(m->sites[i].up_Bps, m->sites[i].down_Bps));
    return rate;
}

bool wan_map_slowest(const struct wan_map *m, size_t *from, size_t *to)
{
    double least = wan_map_rate(m);
    *from = *to = 0;
    for (size_t i = 0; i < m->n * m->n; i++) {
        double rate = wan_map_link(m, i / m->n, i % m->n).rate_Bps;
        if (rate > 0 && rate < least && i / m->n != i % m->n) {
            least = rate;
            *from = i / m->n, *to = i % m->n;
        }
    }
    return *from != *to;
}

static bool moves(struct wan_ends *e, size_t without)
{
    bool stays = e->from != without && e->to != without;
    e->from -= e->from > without;
    e->to -= e->to > without;
    return stays;
}

struct wan_map wan_map_copy(const struct wan_map *m, size_t without, size_t from, size_t to,
                            double rate_Bps)
{
    struct wan_map c = *m;
    c.sites = xcalloc(m->n + 1, sizeof *c.sites);
    c.pairs = xcalloc(m->n_pairs + 1, sizeof *c.pairs);
    c.lines = xcalloc(m->n_lines + 1, sizeof *c.lines);
    c.crossings = xcalloc(m->n_crossings + 1, sizeof *c.crossings);
    c.order = NULL;
    c.n = c.n_pairs = c.n_crossings = 0;
    for (size_t i = 0; i < m->n_lines; i++)
        c.lines[i] = m->lines[i];
    for (size_t i = 0; i < m->n; i++)
        if (i != without)
            c.sites[c.n++] = m->sites[i];
    for (size_t i = 0; i < m->n_pairs; i++) {
        struct wan_pair p = m->pairs[i];
        bool is = joins(p.ends, from, to) || joins(p.ends, to, from);
        if (is && rate_Bps > 0)
            p.link.rate_Bps = rate_Bps;
        if (moves(&p.ends, without))
            c.pairs[c.n_pairs++] = p;
    }
    for (size_t i = 0; i < m->n_crossings; i++) {
        struct wan_crossing x = m->crossings[i];
        if (moves(&x.ends, without))
            c.crossings[c.n_crossings++] = x;
        else
            c.lines[x.line].crossings--;
    }
    return c;
}

/* ---- shared lines ---- */

/* A link's part of the lines it runs over, each with so many links `busy`. */
static double shared_Bps(const struct wan_map *m, size_t from, size_t to, const double *busy,
                         double factor)
{
    double rate = INFINITY;
    for (size_t i = first_crossing(m, from, to);
         i < m->n_crossings && joins(m->crossings[i].ends, from, to); i++) {
        size_t line = m->crossings[i].line;
        rate = fmin(rate, m->lines[line].rate_Bps * factor / fmax(1, busy[line]));
    }
    return rate;
}

/* ---- a ring ---- */

struct visit {
    size_t row, next; /* rows */
};

static struct visit *ring_order(const struct wan_map *m)
{
    struct visit *v = xcalloc(m->n + 1, sizeof *v);
    for (size_t i = 0; i < m->n; i++)
        v[i].row = m->order ? m->order[i] : i;
    for (size_t i = 0; i < m->n; i++)
        v[i].next = v[(i + 1) % m->n].row;
    return v;
}

static void count_ring(const struct wan_map *m, const struct visit *v, double *busy)
{
    for (size_t i = 0; i < m->n; i++)
        for (size_t c = first_crossing(m, v[i].row, v[i].next);
             c < m->n_crossings && joins(m->crossings[c].ends, v[i].row, v[i].next); c++)
            busy[m->crossings[c].line]++;
}

static void view_ring(struct wan_view *view, const struct wan_map *m, double factor)
{
    struct visit *v = ring_order(m);
    double *busy = xcalloc(m->n_lines + 1, sizeof *busy);
    count_ring(m, v, busy);
    for (size_t i = 0; i < m->n; i++) {
        struct wan_link l = wan_map_link(m, v[i].row, v[i].next);
        view->up[i] =
            fmin(wan_link_Bps(&l, factor), shared_Bps(m, v[i].row, v[i].next, busy, factor));
        view->down[i] = INFINITY; /* the receiving end is in the link */
        view->hop[i] = l.rtt_s / 2;
        view->nearest_rtt_s = fmin(view->nearest_rtt_s, l.rtt_s);
        view->farthest_rtt_s = fmax(view->farthest_rtt_s, l.rtt_s);
    }
    free(busy);
    free(v);
}

/* ---- everybody with everybody ---- */

/* What the peers of one row come to. */
struct peers {
    double rtt_low, rtt_high; /* of any */
    double least_Bps;         /* what the slowest link carries */
};

static void take_peer(struct peers *p, const struct wan_map *m, const double *busy, size_t from,
                      size_t to, double factor)
{
    struct wan_link l = wan_map_link(m, from, to);
    double rate = fmin(wan_link_Bps(&l, factor), shared_Bps(m, from, to, busy, factor));
    p->rtt_low = fmin(p->rtt_low, l.rtt_s);
    p->rtt_high = fmax(p->rtt_high, l.rtt_s);
    p->least_Bps = fmin(p->least_Bps, rate);
}

static struct peers peers_of(const struct wan_map *m, size_t from, const double *busy,
                             double factor)
{
    struct peers p = {INFINITY, 0, INFINITY};
    for (size_t to = 0; to < m->n; to++)
        if (to != from)
            take_peer(&p, m, busy, from, to, factor);
    return p;
}

/* All links in use at once: each gets an equal part of its site's end, and the slowest paces. A
 * strategy in rounds uses one link of a site at a time. */
static void view_mesh(struct wan_view *view, const struct wan_map *m, bool rounds, double factor)
{
    double *busy = xcalloc(m->n_lines + 1, sizeof *busy);
    size_t at_a_time = m->n / 2;
    for (size_t i = 0; i < m->n_lines; i++)
        busy[i] = rounds ? fmin((double)m->lines[i].crossings, (double)at_a_time)
                         : (double)m->lines[i].crossings;
    double links = rounds ? 1 : (double)(m->n - 1);
    double payload = m->common.mtu_B > 0 ? wan_goodput(m->common.mtu_B) : 1;
    for (size_t r = 0; r < m->n; r++) {
        const struct wan_site *site = &m->sites[r];
        struct peers p = peers_of(m, r, busy, factor);
        view->up[r] = fmin(site->up_Bps * payload * factor, p.least_Bps * links);
        view->down[r] = site->down_Bps * payload * factor;
        view->nearest_rtt_s = fmin(view->nearest_rtt_s, p.rtt_low);
        view->farthest_rtt_s = fmax(view->farthest_rtt_s, p.rtt_high);
    }
    free(busy);
}

/* For the shares of a direct exchange: the links by pair, each with its own rate. Shared lines limit
 * several pairs together, so there the slowest link paces, as before. */
static void view_pairs(struct wan_view *view, const struct wan_map *m, double factor)
{
    double payload = m->common.mtu_B > 0 ? wan_goodput(m->common.mtu_B) : 1;
    view->pair = xcalloc(m->n * m->n + 1, sizeof *view->pair);
    view->end = xcalloc(m->n + 1, sizeof *view->end);
    for (size_t i = 0; i < m->n * m->n; i++) {
        struct wan_link l = wan_map_link(m, i / m->n, i % m->n);
        view->pair[i] = wan_link_Bps(&l, factor);
    }
    for (size_t i = 0; i < m->n; i++) {
        const struct wan_site *s = &m->sites[i];
        view->end[i] = fmin(s->up_Bps, s->down_Bps) * payload * factor;
    }
}

/* ---- views ---- */

void wan_view_make(struct wan_view *v, const struct wan_map *m, enum wan_strategy strategy,
                   double factor)
{
    *v = (struct wan_view){.nearest_rtt_s = INFINITY};
    v->up = xcalloc(m->n + 1, sizeof *v->up);
    v->down = xcalloc(m->n + 1, sizeof *v->down);
    v->hop = xcalloc(m->n + 1, sizeof *v->hop);
    if (strategy == WAN_RING || strategy == WAN_HIERARCHICAL)
        view_ring(v, m, factor);
    else
        view_mesh(v, m, strategy != WAN_DIRECT && strategy != WAN_ONESHOT, factor);
    if (strategy == WAN_DIRECT && m->n <= WAN_SHARES_MOST && !m->n_lines)
        view_pairs(v, m, factor);
    double ranks = 1, lan = INFINITY;
    for (size_t i = 0; i < m->n; i++) {
        const struct wan_site *s = &m->sites[i];
        ranks = fmax(ranks, (double)(s->ranks ? s->ranks : s->gpus));
        if (s->lan_Bps > 0)
            lan = fmin(lan, s->lan_Bps);
    }
    v->net = (struct wan_net){.n = m->n,
                              .up_Bps = v->up,
                              .down_Bps = v->down,
                              .hop_s = v->hop,
                              .pair_Bps = v->pair,
                              .end_Bps = v->end,
                              .farthest_s = v->farthest_rtt_s / 2,
                              .lan_Bps = isinf(lan) ? 0 : lan,
                              .ranks_per_site = ranks};
}

void wan_view_free(struct wan_view *v)
{
    free(v->up);
    free(v->down);
    free(v->hop);
    free(v->pair);
    free(v->end);
    *v = (struct wan_view){0};
}
