/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/net.h"

#include "wan/net_check.h"
#include "wan/net_words.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "wan/wan_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- [sites] ---- */

static bool plain_name(const char *s)
{
    return strlen(s) < WL_TEXT_MAX && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static int read_site(struct wan_map *m, const struct config_entry *e)
{
    char why[256];
    struct wan_site *s = &m->sites[m->n++];
    if (!params_default(wan_site_words, s, why, sizeof why))
        return config_error(e, "%s", why);
    s->entry = e;
    s->lat = s->lon = NAN;
    if (!plain_name(e->key))
        return config_error(
            e, "not a valid site name; use letters, digits and '_', at most %d characters",
            WL_TEXT_MAX - 1);
    memcpy(s->name, e->key, strlen(e->key) + 1);
    int code = wan_words_read(e, wan_site_words, s);
    if (!code && isnan(s->lat) != isnan(s->lon))
        code = config_error(e, "set lat=… and lon=… together");
    return code;
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
    if (!code && m->n > WAN_SITES_MOST)
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
    const char **names = xcalloc(m->n, sizeof *names);
    for (size_t i = 0; i < m->n; i++)
        names[i] = m->sites[i].name;
    char *word = xstrfmt("%.*s", (int)n, name);
    const char *near = text_nearest(word, names, m->n);
    int code = config_error(e, "no site '%.64s' in [sites]%s", word, DID_YOU_MEAN(near));
    free(word);
    free(names);
    return code;
}

/* "a-b" or "a>b" to rows. */
static int read_ends(const struct wan_map *m, const struct config_entry *e, const char *text,
                     size_t *from, size_t *to)
{
    size_t n = strcspn(text, "->");
    if (!text[n])
        return config_error(e, "'%.64s' is not a link; write two sites as A-B or A>B", text);
    int code = site_index(m, e, text, n, from);
    return code ? code : site_index(m, e, text + n + 1, strlen(text + n + 1), to);
}

/* What a pair has before anything is said of it. */
static struct wan_link common_link(const struct wan_map *m)
{
    struct wan_link link = m->common;
    link.rate_Bps = 0;
    return link;
}

static void add_pair(struct wan_map *m, const struct config_entry *e, size_t a, size_t b,
                     struct wan_link link, bool one_way)
{
    m->pairs = xrealloc(m->pairs, (m->n_pairs + 2) * sizeof *m->pairs);
    m->pairs[m->n_pairs++] = (struct wan_pair){{a, b}, link, e};
    if (!one_way && a != b)
        m->pairs[m->n_pairs++] = (struct wan_pair){{b, a}, link, e};
}

static int read_pair(struct wan_map *m, const struct config_entry *e)
{
    size_t a = 0, b = 0;
    struct wan_link link = common_link(m);
    int code = read_ends(m, e, e->key, &a, &b);
    if (!code)
        code = wan_words_read(e, wan_link_words, &link);
    if (!code)
        add_pair(m, e, a, b, link, strchr(e->key, '>'));
    return code;
}

/* [link A-B]: what [links] says in one line, a key a line. */
static int read_section(struct wan_map *m, const struct config *c, const struct config_section *s)
{
    size_t a = 0, b = 0;
    struct wan_link link = common_link(m);
    const struct config_entry *first = NULL;
    const struct config_entry title = {
        .section = s->name, .key = s->name, .file = c->path, .line = s->line};
    int code = read_ends(m, &title, s->name + strlen("link "), &a, &b);
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        const struct wl_param *p = params_find(wan_link_words, e->key);
        if (strcmp(e->section, s->name))
            continue;
        first = first ? first : e;
        if (p ? wan_value_read(e, p, &link)
              : config_error(e, "unknown key in [%s]; use the keys of [links]", s->name))
            code = GS_USAGE;
    }
    if (!code && first)
        add_pair(m, first, a, b, link, false);
    return code;
}

static void add_crossing(struct wan_map *m, size_t from, size_t to, size_t line)
{
    APPEND(m->crossings, m->n_crossings) = (struct wan_crossing){{from, to}, line};
}

static int read_line_links(struct wan_map *m, const struct config_entry *e, const char *list,
                           size_t line)
{
    struct words w;
    int code = GS_OK;
    words_split(&w, list, ',');
    for (size_t i = 0; i < w.n && !code; i++) {
        size_t a = 0, b = 0;
        code = read_ends(m, e, w.v[i], &a, &b);
        if (code)
            break;
        add_crossing(m, a, b, line);
        if (!strchr(w.v[i], '>'))
            add_crossing(m, b, a, line);
        m->lines[line].crossings++;
    }
    words_free(&w);
    return code;
}

/* shared.NAME = rate=10Gbit/s links=a-b,a-c */
static int read_line(struct wan_map *m, const struct config_entry *e)
{
    struct config_entry rate = *e;
    const char *links = strstr(e->value, "links=");
    struct wan_line l = {0};
    if (!links || strchr(links, ' '))
        return config_error(e, "write rate=… links=A-B,C-D with links last and no blanks in it");
    rate.value = xstrfmt("%.*s", (int)(links - e->value), e->value);
    int code = wan_words_read(&rate, wan_line_words, &l);
    free(rate.value);
    if (!code && l.rate_Bps <= 0)
        code = config_error(e, "rate=… is missing");
    if (code)
        return code;
    APPEND(m->lines, m->n_lines) = l;
    return read_line_links(m, e, links + strlen("links="), m->n_lines - 1);
}

static int read_common(struct wan_map *m, const struct config_entry *e)
{
    const struct wl_param *p = params_find(wan_link_words, e->key);
    const struct wl_param *of_all = params_find(wan_links_words, e->key);
    if (of_all)
        return wan_value_read(e, of_all, m);
    if (p)
        return wan_value_read(e, p, &m->common);
    const char *near = params_nearest(wan_link_words, e->key);
    return config_error(
        e, "unknown key in [links]%s; write a link as A-B or A>B, a shared line as shared.NAME",
        DID_YOU_MEAN(near));
}

enum link_key { COMMON, PAIR, LINE };

static enum link_key kind_of(const char *key)
{
    if (!strncmp(key, "shared.", strlen("shared.")))
        return LINE;
    return strpbrk(key, "->") ? PAIR : COMMON;
}

/* What all links have in common is read first: pairs begin from it. */
static int read_links(struct wan_map *m, const struct config *c)
{
    static int (*const read[])(struct wan_map *, const struct config_entry *) = {
        [COMMON] = read_common, [PAIR] = read_pair, [LINE] = read_line};
    char why[256];
    int code = GS_OK;
    m->path_factor = 1.5;
    if (!params_default(wan_link_words, &m->common, why, sizeof why))
        return fail_at(GS_USAGE, c->path, 0, "%s", why);
    for (int kind = COMMON; kind <= LINE; kind++)
        for (size_t i = 0; i < c->n; i++) {
            const struct config_entry *e = &c->entries[i];
            if (!strcmp(e->section, "links") && (int)kind_of(e->key) == kind && read[kind](m, e))
                code = GS_USAGE;
        }
    for (size_t i = 0; i < c->n_sections; i++)
        if (!strncmp(c->sections[i].name, "link ", strlen("link ")) &&
            read_section(m, c, &c->sections[i]))
            code = GS_USAGE;
    return code;
}

static int read_words(struct wan_map *m, const struct config *c)
{
    *m = (struct wan_map){0};
    int sites = read_sites(m, c);
    int links = read_links(m, c);
    return sites || links ? GS_USAGE : GS_OK;
}

int wan_map_read(struct wan_map *m, const struct config *c)
{
    int code = read_words(m, c);
    return code ? code : wan_map_check(m, c);
}

int wan_map_check_words(const struct config *c, bool *rated)
{
    struct wan_map m;
    bool sites = config_section(c, "sites"), unused;
    rated = rated ? rated : &unused;
    *rated = false;
    if (!sites)
        return GS_OK;
    int code = read_words(&m, c);
    *rated = !code;
    for (size_t i = 0; i < m.n; i++)
        *rated = *rated && (m.common.rate_Bps > 0 || m.sites[i].up_Bps > 0);
    wan_map_free(&m);
    return code;
}

void wan_map_free(struct wan_map *m)
{
    free(m->sites);
    free(m->pairs);
    free(m->lines);
    free(m->crossings);
    free(m->order);
    *m = (struct wan_map){0};
}
