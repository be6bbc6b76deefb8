/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/facts.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "lab/site.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *site_facts(const struct lab_site *s, size_t i, pid_t holder)
{
    json_t *o = json_object();
    char wan[32], ctl[32];
    snprintf(wan, sizeof wan, SITE_WAN_NET "%zu", i + SITE_FIRST_HOST);
    snprintf(ctl, sizeof ctl, SITE_CTL_NET "%zu", i + SITE_FIRST_HOST);
    json_object_set_new(o, "name", json_text(s->name));
    json_object_set_new(o, "wan", json_text(wan));
    json_object_set_new(o, "ctl", json_text(ctl));
    json_object_set_new(o, "up_Bps", json_real(s->up_Bps));
    json_object_set_new(o, "down_Bps", json_real(s->down_Bps));
    json_object_set_new(o, "up_queue_B", json_real(s->up_queue_B));
    json_object_set_new(o, "down_queue_B", json_real(s->down_queue_B));
    json_object_set_new(o, "pid", json_integer(holder));
    return o;
}

static json_t *pair_facts(const struct lab_spec *s, size_t from, size_t to)
{
    const struct lab_way *w = lab_way_of(s, from, to);
    json_t *o = json_object();
    json_object_set_new(o, "from", json_text(s->sites[from].name));
    json_object_set_new(o, "to", json_text(s->sites[to].name));
    json_object_set_new(o, "rate_Bps", json_real(w->rate_Bps));
    json_object_set_new(o, "delay_s", json_real(w->delay_s));
    json_object_set_new(o, "loss", json_real(w->loss));
    json_object_set_new(o, "queue_B", json_real(w->queue_B));
    json_object_set_new(o, "burst", json_real(w->burst));
    json_object_set_new(o, "jitter_s", json_real(w->jitter_s));
    json_object_set_new(o, "reorder", json_real(w->reorder));
    json_object_set_new(o, "cross_Bps", json_real(w->cross_Bps));
    return o;
}

/* A line that several links share. */
static json_t *line_facts(const struct lab_spec *s, size_t line)
{
    json_t *o = json_object(), *links = json_array();
    json_object_set_new(o, "rate_Bps", json_real(s->lines[line].rate_Bps));
    json_object_set_new(o, "links", links);
    for (size_t i = 0; i < s->n * s->n; i++)
        for (size_t k = 0; k < s->ways[i].n_lines; k++)
            if (s->ways[i].lines[k] == line)
                json_array_append_new(
                    links, json_sprintf("%s>%s", s->sites[i / s->n].name, s->sites[i % s->n].name));
    return o;
}

json_t *facts_make(const struct lab_spec *s, double rmem_B, const pid_t *holders,
                   const char *control)
{
    json_t *o = json_object(), *sites = json_array(), *pairs = json_array();
    json_t *lines = json_array();
    json_object_set_new(o, "schema", json_integer(FACTS_SCHEMA));
    json_object_set_new(o, "host", json_text(s->host));
    json_object_set_new(o, "relay", json_string("tun"));
    json_object_set_new(o, "mtu_B", json_integer(s->mtu_B));
    json_object_set_new(o, "congestion", json_string(s->congestion));
    json_object_set_new(o, "rmem_B", json_real(rmem_B));
    json_object_set_new(o, "seed", json_integer((json_int_t)s->seed));
    json_object_set_new(o, "late_share", json_real(s->late_share));
    json_object_set_new(o, "sites", sites);
    json_object_set_new(o, "pairs", pairs);
    json_object_set_new(o, "lines", lines);
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(sites, site_facts(&s->sites[i], i, holders[i]));
    for (size_t i = 0; i < s->n * s->n; i++)
        if (i / s->n != i % s->n)
            json_array_append_new(pairs, pair_facts(s, i / s->n, i % s->n));
    for (size_t i = 0; i < s->n_lines; i++)
        json_array_append_new(lines, line_facts(s, i));
    json_object_set_new(o, "control", json_text(control));
    return o;
}

int facts_write(const json_t *facts, const char *path)
{
    AUTO_FREE char *temp = xstrfmt("%s.new", path);
    if (json_dump_file(facts, temp, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) || rename(temp, path))
        return fail_at(GS_FAILED, path, 0, "cannot be written: %s", strerror(errno));
    return GS_OK;
}

int facts_read(json_t **facts)
{
    const char *path = getenv(FACTS_VARIABLE);
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
        FACTS_VARIABLE
        "=%.200s: not the description of a lab: %s; only gradsync lab may set this variable",
        path, *e.text ? e.text : "no sites");
}

json_t *facts_recorded(void)
{
    json_t *facts, *site;
    size_t i;
    if (facts_read(&facts) || !facts)
        return NULL;
    json_object_del(facts, "control");
    json_array_foreach(json_object_get(facts, "sites"), i, site) json_object_del(site, "pid");
    return facts;
}

double facts_line_Bps(const json_t *lab, const char *from, const char *to)
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

bool facts_missed(const struct config *c, const char *hosts)
{
    AUTO_WORDS struct words w = {0};
    words_split(&w, hosts, ',');
    bool all = w.n > 0 && !getenv(FACTS_VARIABLE);
    for (size_t i = 0; all && i < w.n; i++)
        all = config_find(c, "sites", w.v[i]);
    return all;
}
