/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/orders.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum what { RATE, LOSS, ADMIT, CUT, HELD };
static const struct order {
    const char *name;
    enum what what;
    bool on; /* the value of CUT and HELD; the others have one on the line */
} orders[] = {
    {"rate", RATE, false}, {"loss", LOSS, false}, {"admit", ADMIT, false}, {"down", CUT, true},
    {"up", CUT, false},    {"stall", HELD, true}, {"go", HELD, false},
};

static struct lab_path *path_of(struct relay *r, size_t from, size_t to)
{
    return &r->mesh.paths[from * r->mesh.spec->n + to];
}

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
    struct lab_path *p = path_of(r, from, to);
    double ends = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps);
    if (o->what == RATE)
        shaper_set(&p->own,
                   a.x * (!a.share          ? 1
                          : w->rate_Bps > 0 ? w->rate_Bps
                                            : ends),
                   w->queue_B);
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
    json_t *o =
        json_pack("{s:I,s:I,s:I,s:I,s:f,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "packets",
                  (json_int_t)c->packets, "bytes", (json_int_t)c->bytes, "delivered",
                  (json_int_t)d->delivered, "late", (json_int_t)d->late, "late_mean_s",
                  d->delivered ? d->late_sum_ns * 1e-9 / (double)d->delivered : 0, "late_max_s",
                  d->late_max_ns * 1e-9, "queue_drops", (json_int_t)c->queue_drops, "losses",
                  (json_int_t)c->losses, "cut_drops", (json_int_t)c->cut_drops, "memory_drops",
                  (json_int_t)c->memory_drops, "ctl_packets", (json_int_t)d->ctl_packets, "strange",
                  (json_int_t)d->strange, "refused", (json_int_t)d->refused, "detours",
                  (json_int_t)c->detours, "others", (json_int_t)c->others);
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    return text;
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
    for (size_t i = 0; i < sizeof orders / sizeof *orders && w->n; i++)
        if (!strcmp(orders[i].name, w->v[0]) && w->n == (orders[i].what <= ADMIT ? 3 : 2))
            return obey_at(r, &orders[i], w->v[1], w->v[2]);
    return xstrdup("error: unknown command; use: rate WHERE RATE, loss WHERE SHARE, admit SITE "
                   "PORT, down WHERE, "
                   "up WHERE, stall WHERE, go WHERE, disturb on|off, reset, stats; "
                   "WHERE is SITE, A-B or A>B");
}

char *orders_obey(struct relay *r, const char *line)
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
