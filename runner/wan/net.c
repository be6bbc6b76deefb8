/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/net.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one stream, one step ----
 *
 * The model of gradient synchronisation over a WAN. Pure functions; SI units: bytes, bytes/s,
 * seconds.
 *
 * S sites, D bytes of gradient on each, B a site's uplink, L a one-way delay, c = D / S.
 * Sources: ring bound, Patarasuk and Yuan 2009; recursive halving and doubling, Rabenseifner 2004,
 * Thakur et al. 2005; Reno throughput, Mathis et al. 1997; CUBIC, Ha et al. 2008 and RFC 8312;
 * synchronising every H steps, Douillard et al. 2023 (DiLoCo) and 2025 (Streaming DiLoCo).
 */

double wan_stream_Bps(enum wan_congestion cc, double link_Bps, double rtt_s, double loss,
                      double mss_B, double window_B)
{
    double rate = window_B > 0 ? fmin(link_Bps, window_B / rtt_s) : link_Bps;
    if (loss <= 0)
        return rate;
    double reno = 1.22 * mss_B / (rtt_s * sqrt(loss));
    double cubic = 1.054 * mss_B * pow(rtt_s / loss, 0.75) / rtt_s;
    double limit[] = {
        [WAN_RENO] = reno, [WAN_CUBIC] = fmax(reno, cubic), [WAN_BBR] = link_Bps * (1 - loss)};
    return fmin(rate, limit[cc]);
}

double wan_streams_Bps(double stream_Bps, double streams)
{
    return streams * stream_Bps * exp(-0.6 * sqrt(log(streams)));
}

double wan_goodput(double mtu_B)
{
    enum { SEGMENTS_PER_ACK = 2 };
    return (mtu_B - WAN_HEADERS_B) / (mtu_B + WAN_HEADERS_B / SEGMENTS_PER_ACK);
}

double wan_exposed_s(const struct wan_schedule *sch, double compute_s, double fragment_s)
{
    double late_s = sch->fragments * fmax(0, fragment_s - sch->hidden * compute_s);
    bool several = sch->wire_s > 0 && sch->hidden * sch->fragments > sch->every;
    double each_s = several ? fmin(sch->wire_s, fragment_s) : fragment_s;
    return fmax(late_s, sch->fragments * each_s - sch->every * compute_s);
}

double wan_efficiency(const struct wan_schedule *sch, double compute_s, double fragment_s)
{
    double busy = sch->every * compute_s;
    return busy / (busy + wan_exposed_s(sch, compute_s, fragment_s) + sch->outer_s +
                   sch->every * sch->straggle_s);
}

/* ---- keys ----
 *
 * Keys of sites and links. These tables read the config, and `gradsync help` prints them.
 */

#define INT(S, m) #m, WL_INT, WL_AXIS, WL_FIELD(struct S, m, int64_t)
#define DOUBLE(S, name, type, m) name, type, WL_AXIS, WL_FIELD(struct S, m, double)

/* clang-format off */
const struct wl_param wan_site_words[] = {
    {INT(wan_site, gpus), NULL, "0", 0, 1e6, NULL, "GPUs per site"},
    {INT(wan_site, ranks), NULL, "0", 0, 1e6, NULL, "ranks per site; 0: one per GPU"},
    {DOUBLE(wan_site, "up", WL_RATE, up_Bps), "B/s", "0B/s", 0, 1e15, NULL, "uplink rate; 0: rate of [links]"},
    {DOUBLE(wan_site, "down", WL_RATE, down_Bps), "B/s", "0B/s", 0, 1e15, NULL, "downlink rate; 0: same as up"},
    {DOUBLE(wan_site, "lan", WL_RATE, lan_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate between the ranks of a site; 0: unlimited"},
    {DOUBLE(wan_site, "lat", WL_REAL, lat), "degree", "0", -90, 90, NULL, "latitude, north positive"},
    {DOUBLE(wan_site, "lon", WL_REAL, lon), "degree", "0", -180, 180, NULL, "longitude, east positive"},
    {0}};

const char *const wan_congestions[] = {"reno", "cubic", "bbr", NULL};
const struct wl_param wan_link_words[] = {
    {DOUBLE(wan_link, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate of the link; 0: limited by the sites only"},
    {DOUBLE(wan_link, "rtt", WL_TIME, rtt_s), "s", "0", 0, 3600, NULL, "round-trip time; 0: computed from the distance"},
    {DOUBLE(wan_link, "loss", WL_REAL, loss), NULL, "0", 0, 0.5, NULL, "fraction of packets lost"},
    {DOUBLE(wan_link, "mtu", WL_REAL, mtu_B), "B", "0", 0, 65536, NULL, "IP packet size: rates include headers; 0: rates count only payload"},
    {INT(wan_link, streams), NULL, "0", 0, 1e4, NULL, "TCP streams per link; 0: as many as fill the rate, or one if loss or window is set"},
    {"congestion", WL_CHOICE, WL_AXIS, WL_FIELD(struct wan_link, congestion, int), NULL, "cubic", 0, 0, wan_congestions, "TCP congestion control"},
    {DOUBLE(wan_link, "window", WL_REAL, window_B), "B", "0", 0, 1e12, NULL, "maximum bytes in flight per stream; 0: 3 MiB, the default of Linux"},
    {"queue", WL_SIZE, WL_AXIS, WL_FIELD(struct wan_link, queue_B, uint64_t), "B", "0", 0, 1e12, NULL, "queue size of an emulated link; 0: one bandwidth-delay product"},
    {0}};
/* A lab emulated these before; the model of a recording needs them. */
static const struct wl_param old_link_words[] = {
    {DOUBLE(wan_link, "burst", WL_REAL, burst), NULL, "1", 1, 1e4, NULL, "mean number of packets lost in a row"},
    {DOUBLE(wan_link, "jitter", WL_TIME, jitter_s), "s", "0", 0, 1, NULL, "largest extra delay of each direction"},
    {DOUBLE(wan_link, "reorder", WL_REAL, reorder), NULL, "0", 0, 0.5, NULL, "fraction of packets out of order"},
    {DOUBLE(wan_link, "cross", WL_RATE, cross_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate of other traffic in each direction"},
    {0}};
const struct wl_param wan_links_words[] = {
    {DOUBLE(wan_map, "path_factor", WL_REAL, path_factor), NULL, "1.5", 1, 10, NULL, "fibre length divided by great-circle distance"},
    {0}};

/* clang-format on */

/* ---- values of KEY=VALUE pairs ----
 *
 * Reads values that consist of KEY=VALUE pairs, by table. Faults name the file, line and key.
 */

/* A count may end in K, M, B (billion) or T (trillion): 7B parameters, 1T tokens. */
bool wan_param_parse(const struct wl_param *p, const char *text, void *object, char *why, size_t n)
{
    static const char suffixes[] = "KMBT";
    size_t length = strlen(text);
    const char *suffix = length > 1 ? strchr(suffixes, text[length - 1]) : NULL;
    if (p->type != WL_REAL || !suffix || !isdigit((unsigned char)text[length - 2]))
        return param_parse(p, text, object, why, n);
    AUTO_FREE char *number =
        xstrfmt("%.*se%d", (int)length - 1, text, 3 * (int)(suffix - suffixes + 1));
    return param_parse(p, number, object, why, n);
}

static int read_word(const struct config_entry *e, const struct wl_param *table, char *word,
                     void *object)
{
    char why[512], *equals = strchr(word, '=');
    if (!equals)
        return config_error(e, "'%.40s' is not KEY=VALUE; put blanks only between pairs", word);
    *equals = '\0';
    const struct wl_param *p = params_find(table, word);
    if (!p && table == wan_link_words)
        p = params_find(old_link_words, word);
    const char *near = p ? NULL : params_nearest(table, word);
    if (!p)
        return config_error(e, "unknown key '%.40s'%s", word, DID_YOU_MEAN(near));
    return wan_param_parse(p, equals + 1, object, why, sizeof why)
               ? GS_OK
               : config_error(e, "%s: %s", word, why);
}

/* Reads "up=1Gbit/s gpus=2" into the members of object. GS_OK or GS_USAGE. */
static int read_pairs(const struct config_entry *e, const struct wl_param *table, void *object)
{
    AUTO_WORDS struct words w = {0};
    int code = GS_OK;
    words_split(&w, e->value, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (*w.v[i] && read_word(e, table, w.v[i], object))
            code = GS_USAGE;
    return code;
}

int wan_value_read(const struct config_entry *e, const struct wl_param *p, void *object)
{
    char why[512];
    return wan_param_parse(p, e->value, object, why, sizeof why) ? GS_OK
                                                                 : config_error(e, "%s", why);
}

/* Linux: tcp_rmem allows a buffer of 6 MiB, of which half is window. */
#define WAN_WINDOW_B (3.0 * 1048576)
#define WAN_SITES_MOST 64
#define WAN_FIBRE_M_PER_S (2.0 / 3 * 299792458)

#define EARTH_RADIUS_M 6371008.8
#define SEGMENT_B 1500.0 /* a loss costs a segment of so many bytes where no MTU is said */

/* ---- links ---- */

/* Metres along the great circle; NaN if a place is unknown. */
static double wan_map_distance(const struct wan_map *m, size_t from, size_t to)
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

struct wan_link wan_map_link(const struct wan_map *m, size_t from, size_t to)
{
    struct wan_link l = m->links[from * m->n + to];
    double metres = l.rtt_s > 0 ? 0 : wan_map_distance(m, from, to);
    if (l.rtt_s <= 0)
        l.rtt_s = isnan(metres) ? 0 : 2 * metres / WAN_FIBRE_M_PER_S * m->path_factor;
    double ends = fmin(m->sites[from].up_Bps, m->sites[to].down_Bps);
    l.rate_Bps = l.rate_Bps > 0 ? fmin(ends, l.rate_Bps) : ends;
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
        double streams = fmax(1, (double)l->streams);
        rate = fmin(rate, l->free_sends ? streams * stream : wan_streams_Bps(stream, streams));
    }
    return l->mtu_B > 0 ? rate * wan_goodput(l->mtu_B) : rate;
}

void wan_map_disturb(struct wan_map *m)
{
    for (size_t row = 0; row < m->n; row++) {
        double out_Bps = 0, in_Bps = 0;
        for (size_t k = 0; k < m->n; k++) {
            out_Bps += k == row ? 0 : m->links[row * m->n + k].cross_Bps;
            in_Bps += k == row ? 0 : m->links[k * m->n + row].cross_Bps;
        }
        struct wan_site *s = &m->sites[row];
        s->up_Bps -= fmin(out_Bps, 0.9 * s->up_Bps);
        s->down_Bps -= fmin(in_Bps, 0.9 * s->down_Bps);
    }
    for (size_t i = 0; i < m->n * m->n; i++) {
        struct wan_link *l = &m->links[i];
        if (l->rtt_s > 0) /* the delay varies between nothing and `jitter`, in each direction */
            l->rtt_s += l->jitter_s;
        if (l->rate_Bps > l->cross_Bps)
            l->rate_Bps -= l->cross_Bps;
    }
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

struct wan_map wan_map_without(const struct wan_map *m, size_t row)
{
    struct wan_map c = *m;
    size_t links = 0;
    c.sites = xcalloc(m->n, sizeof *c.sites);
    c.links = xcalloc(m->n * m->n, sizeof *c.links);
    c.n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (i != row)
            c.sites[c.n++] = m->sites[i];
    for (size_t i = 0; i < m->n * m->n; i++)
        if (i / m->n != row && i % m->n != row)
            c.links[links++] = m->links[i];
    return c;
}

/* ---- a ring ---- */

static void view_ring(struct wan_view *view, const struct wan_map *m, double factor)
{
    for (size_t i = 0; i < m->n; i++) {
        struct wan_link l = wan_map_link(m, i, (i + 1) % m->n);
        view->up[i] = wan_link_Bps(&l, factor);
        view->down[i] = INFINITY; /* the receiving end is in the link */
        view->hop[i] = l.rtt_s / 2;
        view->nearest_rtt_s = fmin(view->nearest_rtt_s, l.rtt_s);
        view->farthest_rtt_s = fmax(view->farthest_rtt_s, l.rtt_s);
    }
}

/* ---- everybody with everybody ---- */

/* All links in use at once: each gets an equal part of its site's end, and the slowest paces. A
 * strategy in rounds uses one link of a site at a time. */
static void view_mesh(struct wan_view *view, const struct wan_map *m, bool rounds, double factor)
{
    double links = rounds ? 1 : (double)(m->n - 1);
    double payload = m->common.mtu_B > 0 ? wan_goodput(m->common.mtu_B) : 1;
    for (size_t r = 0; r < m->n; r++) {
        const struct wan_site *site = &m->sites[r];
        double least_Bps = INFINITY; /* what the slowest link of the site carries */
        for (size_t to = 0; to < m->n; to++) {
            struct wan_link l = wan_map_link(m, r, to);
            if (to == r)
                continue;
            least_Bps = fmin(least_Bps, wan_link_Bps(&l, factor));
            view->nearest_rtt_s = fmin(view->nearest_rtt_s, l.rtt_s);
            view->farthest_rtt_s = fmax(view->farthest_rtt_s, l.rtt_s);
        }
        view->up[r] = fmin(site->up_Bps * payload * factor, least_Bps * links);
        view->down[r] = site->down_Bps * payload * factor;
    }
}

/* For the shares of a direct exchange: the links by pair, each with its own rate. */
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
        view_mesh(v, m, !wan_strategy_to_all[strategy], factor);
    if (strategy == WAN_DIRECT && m->n <= WAN_SHARES_MOST)
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

/* ---- checks ---- */

static int fill_rates(struct wan_map *m)
{
    int code = GS_OK;
    for (size_t i = 0; i < m->n; i++) {
        struct wan_site *s = &m->sites[i];
        if (s->up_Bps <= 0)
            s->up_Bps = m->common.rate_Bps;
        if (s->down_Bps <= 0)
            s->down_Bps = s->up_Bps;
        if (s->up_Bps <= 0 && m->n > 1)
            code = config_error(s->entry, "no rate; set up=… here or rate=… in [links]");
    }
    return code;
}

/* Nothing is faster than light in fibre along the great circle. A row that sets both directions is
 * reported once, and so is `rtt` of [links]. */
static int check_light(const struct wan_map *m, const struct config *c)
{
    const struct config_entry *common = config_find(c, "links", "rtt");
    bool told = false;
    int code = GS_OK;
    for (size_t i = 0; i < m->n * m->n; i++) {
        size_t from = i / m->n, to = i % m->n;
        const struct wan_link *l = &m->links[i];
        const struct config_entry *e = l->entry ? l->entry : common;
        double metres = wan_map_distance(m, from, to), least_s = 2 * metres / WAN_FIBRE_M_PER_S;
        bool twin = l->entry && from > to && !strchr(l->entry->key, '>');
        if (!e || from == to || l->rtt_s <= 0 || isnan(metres) || l->rtt_s >= least_s || twin ||
            (told && !l->entry))
            continue;
        told = told || !l->entry;
        code = config_error(
            e,
            "an RTT of %.3g ms is impossible: %.0f km from %s to %s there and back at 2/3 of the "
            "speed of light take %.3g ms",
            1e3 * l->rtt_s, metres / 1e3, m->sites[from].name, m->sites[to].name, 1e3 * least_s);
    }
    return code;
}

/* ---- [sites] ---- */

static int read_site(struct wan_map *m, const struct config_entry *e)
{
    char why[256];
    struct wan_site *s = &m->sites[m->n++];
    if (!params_default(wan_site_words, s, why, sizeof why))
        return config_error(e, "%s", why);
    s->entry = e;
    s->lat = s->lon = NAN;
    const char *plain = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (strlen(e->key) >= WL_TEXT_MAX || e->key[strspn(e->key, plain)])
        return config_error(
            e, "not a valid site name; use letters, digits and '_', at most %d characters",
            WL_TEXT_MAX - 1);
    memcpy(s->name, e->key, strlen(e->key) + 1);
    CHECK(read_pairs(e, wan_site_words, s));
    if (isnan(s->lat) != isnan(s->lon))
        return config_error(e, "set lat=… and lon=… together");
    return GS_OK;
}

static int read_sites(struct wan_map *m, const struct config *c)
{
    int code = GS_OK;
    m->sites = xcalloc(c->n + 1, sizeof *m->sites);
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->entries[i].section, "sites") && read_site(m, &c->entries[i]))
            code = GS_USAGE;
    if (!m->n)
        return fail_at(GS_USAGE, c->path, 0,
                       "[sites] has no site; add e.g. north = gpus=2 up=1Gbit/s");
    if (m->n > WAN_SITES_MOST)
        return fail_at(GS_USAGE, c->path, 0, "[sites] has %zu sites; at most %d are allowed", m->n,
                       WAN_SITES_MOST);
    return code;
}

/* ---- [links] ---- */

static int site_index(const struct wan_map *m, const struct config_entry *e, const char *name,
                      size_t n, size_t *index)
{
    for (*index = 0; *index < m->n; ++*index)
        if (strlen(m->sites[*index].name) == n && !memcmp(m->sites[*index].name, name, n))
            return GS_OK;
    AUTO_FREE const char **names = xcalloc(m->n, sizeof *names);
    for (size_t i = 0; i < m->n; i++)
        names[i] = m->sites[i].name;
    AUTO_FREE char *word = xstrfmt("%.*s", (int)n, name);
    const char *near = text_nearest(word, names, m->n);
    return config_error(e, "no site '%.64s' in [sites]%s", word, DID_YOU_MEAN(near));
}

/* "a-b" or "a>b" to rows. */
static int read_ends(const struct wan_map *m, const struct config_entry *e, const char *text,
                     size_t *from, size_t *to)
{
    size_t n = strcspn(text, "->");
    if (!text[n])
        return config_error(e, "'%.64s' is not a link; write two sites as A-B or A>B", text);
    CHECK(site_index(m, e, text, n, from));
    return site_index(m, e, text + n + 1, strlen(text + n + 1), to);
}

/* A-B, or one direction A>B. */
static int read_pair(struct wan_map *m, const struct config_entry *e)
{
    size_t a = 0, b = 0;
    struct wan_link link = m->common;
    link.rate_Bps = 0;
    link.entry = e;
    CHECK(read_ends(m, e, e->key, &a, &b));
    CHECK(read_pairs(e, wan_link_words, &link));
    struct wan_link *there = &m->links[a * m->n + b], *back = &m->links[b * m->n + a];
    bool both = !strchr(e->key, '>');
    const struct config_entry *twin = there->entry ? there->entry : both ? back->entry : NULL;
    if (twin)
        return config_error(e, "duplicate: '%s' sets the same direction; delete one of them",
                            twin->key);
    *there = link;
    if (both)
        *back = link;
    return GS_OK;
}

static int read_common(struct wan_map *m, const struct config_entry *e)
{
    const struct wl_param *p = params_find(wan_link_words, e->key);
    const struct wl_param *of_all = params_find(wan_links_words, e->key);
    p = p ? p : params_find(old_link_words, e->key);
    if (of_all)
        return wan_value_read(e, of_all, m);
    if (p)
        return wan_value_read(e, p, &m->common);
    const char *near = params_nearest(wan_link_words, e->key);
    return config_error(e, "unknown key in [links]%s; write a link as A-B or A>B",
                        DID_YOU_MEAN(near));
}

/* What all links have in common is read first: pairs begin from it. */
static int read_links(struct wan_map *m, const struct config *c)
{
    char why[256];
    int code = GS_OK;
    m->path_factor = 1.5;
    if (!params_default(wan_link_words, &m->common, why, sizeof why))
        return fail_at(GS_USAGE, c->path, 0, "%s", why);
    for (int pairs = 0; pairs < 2; pairs++) {
        for (size_t i = 0; pairs && i < m->n * m->n; i++) {
            m->links[i] = m->common;
            m->links[i].rate_Bps = 0;
        }
        for (size_t i = 0; i < c->n; i++) {
            const struct config_entry *e = &c->entries[i];
            if (!strcmp(e->section, "links") && !!strpbrk(e->key, "->") == pairs &&
                (pairs ? read_pair(m, e) : read_common(m, e)))
                code = GS_USAGE;
        }
    }
    return code;
}

static int read_words(struct wan_map *m, const struct config *c)
{
    *m = (struct wan_map){0};
    int sites = read_sites(m, c);
    if (m->n > WAN_SITES_MOST)
        return GS_USAGE;
    m->links = xcalloc(m->n * m->n + 1, sizeof *m->links);
    int links = read_links(m, c);
    return sites || links ? GS_USAGE : GS_OK;
}

int wan_map_read(struct wan_map *m, const struct config *c)
{
    CHECK(read_words(m, c));
    int rates = fill_rates(m), light = check_light(m, c);
    return light || rates ? GS_USAGE : GS_OK;
}

int wan_map_check_words(const struct config *c, bool *rated)
{
    AUTO(wan_map_free) struct wan_map m = {0};
    int code = config_section(c, "sites") ? read_words(&m, c) : GS_OK;
    bool all = !code && m.n > 0;
    for (size_t i = 0; i < m.n; i++)
        all = all && (m.common.rate_Bps > 0 || m.sites[i].up_Bps > 0);
    if (rated)
        *rated = all;
    return code;
}

void wan_map_free(struct wan_map *m)
{
    free(m->sites);
    free(m->links);
    *m = (struct wan_map){0};
}
