/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/spec.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "wan/net.h"
#include "wan/net_words.h"
#include "wan/wan_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUE_LEAST 3    /* packets: a shorter queue is empty while the line could send */
#define QUEUE_PACKETS 30 /* a queue holds so many at least, however short the lines are */

struct lab_words {
    int64_t seed;
    double late;
};

/* clang-format off */
static const struct wl_param lab_words[] = {
    {"seed", WL_INT, WL_AXIS, WL_FIELD(struct lab_words, seed, int64_t), NULL, "1", 0, 9007199254740992.0, NULL, "seed of the random losses"},
    {"late", WL_REAL, WL_AXIS, WL_FIELD(struct lab_words, late, double), NULL, "0.01", 0, 1, NULL, "largest allowed share of late packets per block"},
    {0}};
/* clang-format on */

static int read_words(struct lab_words *w, const struct config *c)
{
    char why[256];
    int code = GS_OK;
    if (!params_default(lab_words, w, why, sizeof why))
        return fail_at(GS_USAGE, c->path, 0, "%s", why);
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, "lab"))
            continue;
        const struct wl_param *p = params_find(lab_words, e->key);
        if (!p)
            code = config_error(e, "unknown key in [lab]; it has seed and late%s",
                                DID_YOU_MEAN(params_nearest(lab_words, e->key)));
        else if (wan_value_read(e, p, w))
            code = GS_USAGE;
    }
    return code;
}

static int check_map(const struct wan_map *m, const struct config *c)
{
    int code = GS_OK;
    if (!code && (m->n < 2 || m->n > LAB_SITES_MAX))
        code = fail_at(GS_USAGE, c->path, 0, "%zu sites; a lab needs 2 to %d", m->n, LAB_SITES_MAX);
    if (!code && m->common.mtu_B > 0 && m->common.mtu_B < 576)
        code = fail_at(GS_USAGE, c->path, 0, "[links] mtu: a lab needs 576 bytes or more");
    return code;
}

/* A queue that was not given: one bandwidth-delay product, by which one stream fills the line. */
static double queue_of(const struct lab_spec *s, const struct wan_map *m, double rate_Bps,
                       double rtt_s)
{
    if (m->common.queue_B > 0)
        return (double)m->common.queue_B;
    return fmax(rate_Bps * rtt_s, QUEUE_PACKETS * (double)s->mtu_B);
}

static void take_lines(struct lab_way *w, const struct wan_map *m, size_t from, size_t to)
{
    for (size_t i = wan_ends_find(m->crossings, m->n_crossings, sizeof *m->crossings, from, to);
         i < m->n_crossings && m->crossings[i].ends.from == from && m->crossings[i].ends.to == to;
         i++) {
        APPEND(w->lines, w->n_lines) = m->crossings[i].line;
    }
}

static void take_way(struct lab_spec *s, const struct wan_map *m, size_t from, size_t to)
{
    struct lab_way *w = &s->ways[from * s->n + to];
    struct wan_link l = wan_map_link(m, from, to);
    double ends = fmin(m->sites[from].up_Bps, m->sites[to].down_Bps);
    *w = (struct lab_way){.rate_Bps = l.rate_Bps < ends ? l.rate_Bps : 0,
                          .delay_s = l.rtt_s / 2,
                          .loss = l.loss,
                          .burst = l.burst,
                          .jitter_s = l.jitter_s,
                          .reorder = l.reorder,
                          .cross_Bps = l.cross_Bps};
    w->queue_B = l.queue_B > 0 ? (double)l.queue_B : queue_of(s, m, l.rate_Bps, l.rtt_s);
    take_lines(w, m, from, to);
}

static void take_ends(struct lab_spec *s, const struct wan_map *m, size_t i)
{
    const struct wan_site *from = &m->sites[i];
    struct lab_site *to = &s->sites[i];
    double rtt_s = 0;
    for (size_t k = 0; k < s->n; k++)
        rtt_s = k == i ? rtt_s : fmax(rtt_s, lab_rtt_s(s, i, k));
    memcpy(to->name, from->name, sizeof to->name);
    to->up_Bps = from->up_Bps;
    to->down_Bps = from->down_Bps;
    to->up_queue_B = queue_of(s, m, to->up_Bps, rtt_s);
    to->down_queue_B = queue_of(s, m, to->down_Bps, rtt_s);
}

static void take_map(struct lab_spec *s, const struct wan_map *m)
{
    s->n = m->n;
    s->mtu_B = m->common.mtu_B > 0 ? (int)m->common.mtu_B : LAB_MTU_B;
    s->congestion = wan_congestions[m->common.congestion];
    s->sites = xcalloc(s->n, sizeof *s->sites);
    s->ways = xcalloc(s->n * s->n, sizeof *s->ways);
    s->n_lines = m->n_lines;
    s->lines = xcalloc(s->n_lines + 1, sizeof *s->lines);
    for (size_t i = 0; i < s->n * s->n; i++)
        if (i / s->n != i % s->n)
            take_way(s, m, i / s->n, i % s->n);
    for (size_t i = 0; i < s->n; i++)
        take_ends(s, m, i);
    for (size_t i = 0; i < s->n_lines; i++) {
        s->lines[i].rate_Bps = m->lines[i].rate_Bps;
        s->lines[i].queue_B = queue_of(s, m, m->lines[i].rate_Bps, lab_max_rtt_s(s));
    }
}

static int check_rates(const struct lab_spec *s, const struct config *c)
{
    if (lab_slowest_Bps(s) >= LAB_RATE_MIN_BPS)
        return GS_OK;
    return fail_at(GS_USAGE, c->path, 0,
                   "a link of %g kbit/s is too slow for a lab; set %g or more",
                   8e-3 * lab_slowest_Bps(s), 8e-3 * LAB_RATE_MIN_BPS);
}

static int check_way(const struct lab_spec *s, const struct config *c, size_t a, size_t b)
{
    double least_B = QUEUE_LEAST * (double)s->mtu_B;
    if (a != b && fmin(s->ways[a * s->n + b].queue_B, s->sites[a].up_queue_B) < least_B)
        return fail_at(GS_USAGE, c->path, 0,
                       "[links] queue: a lab needs room for %d packets of mtu=%d (%g bytes)",
                       QUEUE_LEAST, s->mtu_B, least_B);
    if (lab_rtt_s(s, a, b) > LAB_RTT_MAX_S)
        return fail_at(GS_USAGE, c->path, 0,
                       "the RTT between %s and %s is %g s; at most %g s are allowed, e.g. rtt=50ms",
                       s->sites[a].name, s->sites[b].name, lab_rtt_s(s, a, b), LAB_RTT_MAX_S);
    return GS_OK;
}

/* Others must leave a tenth of the rate of every site. */
static int check_others(const struct lab_spec *s, const struct config *c)
{
    for (size_t i = 0; i < s->n; i++) {
        double out = 0, in = 0;
        for (size_t k = 0; k < s->n; k++) {
            out += s->ways[i * s->n + k].cross_Bps;
            in += s->ways[k * s->n + i].cross_Bps;
        }
        if (out > 0.9 * s->sites[i].up_Bps || in > 0.9 * s->sites[i].down_Bps)
            return fail_at(
                GS_USAGE, c->path, 0,
                "[links] cross: the links of site %s carry %g Mbit/s of others' traffic, "
                "more than 90%% of the site's rate; cross= counts once per link",
                s->sites[i].name, 8e-6 * fmax(out, in));
    }
    return GS_OK;
}

static int check_ways(const struct lab_spec *s, const struct config *c)
{
    int code = check_others(s, c);
    for (size_t a = 0; a < s->n && !code; a++)
        for (size_t b = 0; b < s->n && !code; b++)
            code = check_way(s, c, a, b);
    return code;
}

int lab_spec_read(struct lab_spec *s, const struct config *c)
{
    AUTO(wan_map_free) struct wan_map m = {0};
    struct lab_words w;
    *s = (struct lab_spec){0};
    gethostname(s->host, sizeof s->host - 1);
    int words = read_words(&w, c);
    int code = wan_map_read(&m, c);
    if (!code)
        code = check_map(&m, c);
    if (!code && !words) {
        s->seed = (uint64_t)w.seed;
        s->late_share = w.late;
        take_map(s, &m);
        code = check_rates(s, c);
        if (!code)
            code = check_ways(s, c);
    }
    return code ? code : words;
}

void lab_spec_free(struct lab_spec *s)
{
    for (size_t i = 0; s->ways && i < s->n * s->n; i++)
        free(s->ways[i].lines);
    free(s->ways);
    free(s->sites);
    free(s->lines);
    *s = (struct lab_spec){0};
}

const struct lab_way *lab_way_of(const struct lab_spec *s, size_t from, size_t to)
{
    return &s->ways[from * s->n + to];
}

double lab_rtt_s(const struct lab_spec *s, size_t a, size_t b)
{
    return lab_way_of(s, a, b)->delay_s + lab_way_of(s, b, a)->delay_s;
}

double lab_max_rtt_s(const struct lab_spec *s)
{
    double most = 0;
    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < a; b++)
            most = fmax(most, lab_rtt_s(s, a, b));
    return most;
}

double lab_slowest_Bps(const struct lab_spec *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        least = fmin(least, fmin(s->sites[i].up_Bps, s->sites[i].down_Bps));
    for (size_t i = 0; i < s->n * s->n; i++)
        least = s->ways[i].rate_Bps > 0 ? fmin(least, s->ways[i].rate_Bps) : least;
    for (size_t i = 0; i < s->n_lines; i++)
        least = fmin(least, s->lines[i].rate_Bps);
    return least;
}

size_t lab_site_find(const struct lab_spec *s, const char *name)
{
    size_t i = 0;
    while (i < s->n && strcmp(s->sites[i].name, name))
        i++;
    return i;
}
