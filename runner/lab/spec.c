/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/spec.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "wan/net.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slower or longer values usually lack a unit, and the probe would take minutes. */
#define LAB_RATE_MIN_BPS 125e3
#define LAB_RTT_MAX_S 5.0
/* Default of mtu in [links]: jumbo frames, as usual between sites with their own links. */
#define LAB_MTU_B 9000

#define QUEUE_LEAST 3    /* packets: a shorter queue is empty while the line could send */
#define QUEUE_PACKETS 30 /* a queue holds so many at least, however short the lines are */

/* Configs take these keys, because old recordings have them. */
static int check_keys(const struct config *c)
{
    static const char *const dropped[] = {"burst", "jitter", "reorder", "cross"};
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (!strcmp(e->section, "lab"))
            return config_error(e, "a lab has no keys of its own any more; delete it");
        for (size_t k = 0; k < COUNT(dropped) && !strcmp(e->section, "links"); k++) {
            AUTO_FREE char *word = xstrfmt("%s=", dropped[k]);
            if (!strcmp(e->key, dropped[k]) || strstr(e->value, word))
                return config_error(e, "a lab does not emulate %s any more; delete it", dropped[k]);
        }
    }
    return GS_OK;
}

/* A queue that was not given: one bandwidth-delay product, by which one stream fills the line. */
static double queue_of(const struct lab_spec *s, const struct wan_map *m, double rate_Bps,
                       double rtt_s)
{
    if (m->common.queue_B > 0)
        return (double)m->common.queue_B;
    return fmax(rate_Bps * rtt_s, QUEUE_PACKETS * (double)s->mtu_B);
}

/* RTT without queueing and transmission times. */
static double rtt_of(const struct lab_spec *s, size_t a, size_t b)
{
    return s->ways[a * s->n + b].delay_s + s->ways[b * s->n + a].delay_s;
}

static void take_map(struct lab_spec *s, const struct wan_map *m)
{
    s->n = m->n;
    s->mtu_B = m->common.mtu_B > 0 ? (int)m->common.mtu_B : LAB_MTU_B;
    s->congestion = wan_congestions[m->common.congestion];
    s->sites = xcalloc(s->n, sizeof *s->sites);
    s->ways = xcalloc(s->n * s->n, sizeof *s->ways);
    for (size_t i = 0; i < s->n * s->n; i++) {
        size_t from = i / s->n, to = i % s->n;
        struct wan_link l = wan_map_link(m, from, to);
        double ends_Bps = fmin(m->sites[from].up_Bps, m->sites[to].down_Bps);
        if (from == to)
            continue;
        s->ways[i] = (struct lab_way){
            .rate_Bps = l.rate_Bps < ends_Bps ? l.rate_Bps : 0,
            .queue_B = l.queue_B > 0 ? (double)l.queue_B : queue_of(s, m, l.rate_Bps, l.rtt_s),
            .delay_s = l.rtt_s / 2,
            .loss = l.loss};
    }
    for (size_t i = 0; i < s->n; i++) {
        double rtt_s = 0;
        for (size_t k = 0; k < s->n; k++)
            rtt_s = k == i ? rtt_s : fmax(rtt_s, rtt_of(s, i, k));
        struct lab_site *to = &s->sites[i];
        memcpy(to->name, m->sites[i].name, sizeof to->name);
        to->up_Bps = m->sites[i].up_Bps;
        to->down_Bps = m->sites[i].down_Bps;
        to->up_queue_B = queue_of(s, m, to->up_Bps, rtt_s);
        to->down_queue_B = queue_of(s, m, to->down_Bps, rtt_s);
    }
}

static int check_links(const struct lab_spec *s, const struct config *c)
{
    double least_B = QUEUE_LEAST * (double)s->mtu_B;
    if (lab_slowest_Bps(s) < LAB_RATE_MIN_BPS)
        return fail_at(GS_USAGE, c->path, 0,
                       "a link of %g kbit/s is too slow for a lab; set %g or more",
                       8e-3 * lab_slowest_Bps(s), 8e-3 * LAB_RATE_MIN_BPS);
    for (size_t i = 0; i < s->n * s->n; i++) {
        size_t a = i / s->n, b = i % s->n;
        if (a != b && fmin(s->ways[i].queue_B, s->sites[a].up_queue_B) < least_B)
            return fail_at(GS_USAGE, c->path, 0,
                           "[links] queue: a lab needs room for %d packets of mtu=%d (%g bytes)",
                           QUEUE_LEAST, s->mtu_B, least_B);
        if (rtt_of(s, a, b) > LAB_RTT_MAX_S)
            return fail_at(GS_USAGE, c->path, 0,
                           "the RTT between %s and %s is %g s; at most %g s are allowed, e.g. "
                           "rtt=50ms",
                           s->sites[a].name, s->sites[b].name, rtt_of(s, a, b), LAB_RTT_MAX_S);
    }
    return GS_OK;
}

int lab_spec_read(struct lab_spec *s, const struct config *c)
{
    AUTO(wan_map_free) struct wan_map m = {0};
    *s = (struct lab_spec){0};
    gethostname(s->host, sizeof s->host - 1);
    CHECK(wan_map_read(&m, c));
    CHECK(check_keys(c));
    if (m.n < 2 || m.n > LAB_SITES_MAX)
        return fail_at(GS_USAGE, c->path, 0, "%zu sites; a lab needs 2 to %d", m.n, LAB_SITES_MAX);
    if (m.common.mtu_B > 0 && m.common.mtu_B < 576)
        return fail_at(GS_USAGE, c->path, 0, "[links] mtu: a lab needs 576 bytes or more");
    take_map(s, &m);
    return check_links(s, c);
}

void lab_spec_free(struct lab_spec *s)
{
    free(s->ways);
    free(s->sites);
    *s = (struct lab_spec){0};
}

double lab_max_rtt_s(const struct lab_spec *s)
{
    double most = 0;
    for (size_t a = 0; a < s->n; a++)
        for (size_t b = 0; b < a; b++)
            most = fmax(most, rtt_of(s, a, b));
    return most;
}

double lab_slowest_Bps(const struct lab_spec *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        least = fmin(least, fmin(s->sites[i].up_Bps, s->sites[i].down_Bps));
    for (size_t i = 0; i < s->n * s->n; i++)
        least = s->ways[i].rate_Bps > 0 ? fmin(least, s->ways[i].rate_Bps) : least;
    return least;
}

/* ---- the description of a running lab ----
 *
 * A JSON file, which the variable GRADSYNC_LAB names:
 *
 *   schema, mtu_B, congestion, rmem_B, relay ("tun")
 *   host    name of the machine that emulates the sites
 *   sites   [{name, wan, ctl, up_Bps, down_Bps, up_queue_B, down_queue_B, pid}]
 *   pairs   [{from, to, rate_Bps (0: that of the sites), delay_s, loss, queue_B}], one per
 *           direction
 *   before  the probe before the command (probe.h)
 *   control the path of the control socket (lab/relay.h)
 *
 * The header of a recording holds it as "lab", without pid and control. Older recordings may
 * also have seed, late_share, lines, after, and burst, jitter_s, reorder and cross_Bps of a pair.
 */

#define LAB_FACTS_SCHEMA 1

json_t *lab_facts_make(const struct lab_spec *s, double rmem_B, const pid_t *holders,
                       const char *control)
{
    json_t *sites = json_array(), *pairs = json_array();
    for (size_t i = 0; i < s->n; i++) {
        const struct lab_site *one = &s->sites[i];
        size_t host = i + SITE_FIRST_HOST;
        json_array_append_new(
            sites, json_pack("{so so so sf sf sf sf sI}", "name", json_text(one->name), "wan",
                             json_sprintf(SITE_WAN_NET "%zu", host), "ctl",
                             json_sprintf(SITE_CTL_NET "%zu", host), "up_Bps", one->up_Bps,
                             "down_Bps", one->down_Bps, "up_queue_B", one->up_queue_B,
                             "down_queue_B", one->down_queue_B, "pid", (json_int_t)holders[i]));
    }
    for (size_t i = 0; i < s->n * s->n; i++) {
        const struct lab_way *w = &s->ways[i];
        if (i / s->n != i % s->n)
            json_array_append_new(
                pairs, json_pack("{so so sf sf sf sf}", "from", json_text(s->sites[i / s->n].name),
                                 "to", json_text(s->sites[i % s->n].name), "rate_Bps", w->rate_Bps,
                                 "delay_s", w->delay_s, "loss", w->loss, "queue_B", w->queue_B));
    }
    return json_pack("{si so ss si ss sf so so so}", "schema", LAB_FACTS_SCHEMA, "host",
                     json_text(s->host), "relay", "tun", "mtu_B", s->mtu_B, "congestion",
                     s->congestion, "rmem_B", rmem_B, "sites", sites, "pairs", pairs, "control",
                     json_text(control));
}

int lab_facts_write(const json_t *facts, const char *path)
{
    AUTO_FREE char *temp = xstrfmt("%s.new", path);
    if (json_dump_file(facts, temp, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) || rename(temp, path))
        return fail_at(GS_FAILED, path, 0, "cannot be written: %s", strerror(errno));
    return GS_OK;
}

int lab_facts_read(json_t **facts)
{
    const char *path = getenv(LAB_FACTS_VARIABLE);
    json_error_t e;
    *facts = NULL;
    if (!path || !*path)
        return GS_OK;
    *facts = json_load_file(path, 0, &e);
    if (*facts && json_is_array(json_object_get(*facts, "sites")))
        return GS_OK;
    json_decref(*facts);
    *facts = NULL;
    return fail(
        GS_CANNOT,
        LAB_FACTS_VARIABLE
        "=%.200s: not the description of a lab: %s; only gradsync lab may set this variable",
        path, *e.text ? e.text : "no sites");
}

json_t *lab_facts_recorded(void)
{
    json_t *facts, *site;
    size_t i;
    if (lab_facts_read(&facts) || !facts)
        return NULL;
    json_object_del(facts, "control");
    json_array_foreach(json_object_get(facts, "sites"), i, site) json_object_del(site, "pid");
    return facts;
}

double lab_facts_line_Bps(const json_t *lab, const char *from, const char *to)
{
    double least = INFINITY;
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(lab, "sites"), i, one)
    {
        const char *name = json_text_of(one, "name");
        if (!strcmp(name, from))
            least = fmin(least, json_number_value(json_object_get(one, "up_Bps")));
        if (!strcmp(name, to))
            least = fmin(least, json_number_value(json_object_get(one, "down_Bps")));
    }
    json_array_foreach(json_object_get(lab, "pairs"), i, one)
    {
        double own = json_number_value(json_object_get(one, "rate_Bps"));
        if (own > 0 && !strcmp(json_text_of(one, "from"), from) &&
            !strcmp(json_text_of(one, "to"), to))
            least = fmin(least, own);
    }
    return least;
}

bool lab_facts_missed(const struct config *c, const char *hosts)
{
    AUTO_WORDS struct words w = {0};
    words_split(&w, hosts, ',');
    bool all = w.n > 0 && !getenv(LAB_FACTS_VARIABLE);
    for (size_t i = 0; all && i < w.n; i++)
        all = config_find(c, "sites", w.v[i]);
    return all;
}
