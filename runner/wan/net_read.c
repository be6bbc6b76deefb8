/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include "err.h"
#include "params.h"
#include "text.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INT(S, m) #m, WL_INT, WL_AXIS, WL_FIELD(struct S, m, int64_t)
#define DOUBLE(S, name, type, m) name, type, WL_AXIS, WL_FIELD(struct S, m, double)

/* clang-format off */
static const struct wl_param site_words[] = {
    {INT(wan_site, count), NULL, "1", 1, 1e6, NULL, "equal sites in this place"},
    {INT(wan_site, gpus), NULL, "0", 0, 1e6, NULL, "of one site"},
    {INT(wan_site, ranks), NULL, "0", 0, 1e6, NULL, "members of its own reduction; 0: one a GPU"},
    {DOUBLE(wan_site, "up", WL_RATE, up_Bps), "B/s", "0B/s", 0, 1e15, NULL, "what it can send; 0: [links] rate"},
    {DOUBLE(wan_site, "down", WL_RATE, down_Bps), "B/s", "0B/s", 0, 1e15, NULL, "what it can receive; 0: as up"},
    {DOUBLE(wan_site, "lan", WL_RATE, lan_Bps), "B/s", "0B/s", 0, 1e15, NULL, "between its ranks; 0: takes no time"},
    {DOUBLE(wan_site, "lat", WL_REAL, lat), "degree", "0", -90, 90, NULL, "latitude, north positive"},
    {DOUBLE(wan_site, "lon", WL_REAL, lon), "degree", "0", -180, 180, NULL, "longitude, east positive"},
    {0}};

static const char *const congestions[] = {"reno", "cubic", "bbr", NULL};
#define LINK_WORDS \
    {DOUBLE(wan_link, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 0, 1e15, NULL, "what it carries; 0: as its ends"}, \
    {DOUBLE(wan_link, "rtt", WL_TIME, rtt_s), "s", "0", 0, 3600, NULL, "there and back; 0: from the distance"}, \
    {DOUBLE(wan_link, "loss", WL_REAL, loss), NULL, "0", 0, 0.5, NULL, "share of packets lost"}, \
    {DOUBLE(wan_link, "mtu", WL_REAL, mtu_B), "B", "0", 0, 65536, NULL, "rates count IP packets of so many bytes; 0: rates count payload"}, \
    {INT(wan_link, streams), NULL, "1", 1, 1e4, NULL, "TCP streams a link"}, \
    {"congestion", WL_CHOICE, WL_AXIS, WL_FIELD(struct wan_link, congestion, int), NULL, "cubic", 0, 0, congestions, "of the streams"}, \
    {DOUBLE(wan_link, "window", WL_REAL, window_B), "B", "0", 0, 1e12, NULL, "bytes a stream has on the way at most; 0: no limit"}, \
    {DOUBLE(wan_link, "queue", WL_REAL, queue_B), "B", "0", 0, 1e12, NULL, "bytes that wait in front of a rate, in a lab; 0: a bandwidth-delay product"}
static const struct wl_param link_words[] = {LINK_WORDS, {0}};
/* clang-format on */

/* ---- [sites] ---- */

static bool plain_name(const char *s)
{
    return strlen(s) < WL_TEXT_MAX && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static int read_site(struct wan_map *m, const struct config_entry *e)
{
    char why[256];
    struct wan_site *s = &m->sites[m->n_rows++];
    if (!params_default(site_words, s, why, sizeof why))
        return config_error(e, "%s", why);
    s->entry = e;
    s->lat = s->lon = NAN;
    if (!plain_name(e->key))
        return config_error(e, "is no name of a site (letters, digits and '_', at most %d)",
                            WL_TEXT_MAX - 1);
    memcpy(s->name, e->key, strlen(e->key) + 1);
    int code = wan_words_read(e, site_words, s);
    if (!code && isnan(s->lat) != isnan(s->lon))
        code = config_error(e, "a place is lat=… and lon=… together");
    m->n += (size_t)s->count;
    return code;
}

static int read_sites(struct wan_map *m, const struct config *c)
{
    int code = GS_OK;
    m->sites = xcalloc(c->n + 1, sizeof *m->sites);
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->entries[i].section, "sites") && read_site(m, &c->entries[i]))
            code = GS_USAGE;
    if (!m->n_rows)
        return fail_at(GS_USAGE, c->path, 0, "no site; say e.g. [sites] north = gpus=2 up=1Gbit/s");
    if (!code && m->n > 1000000)
        return fail_at(GS_USAGE, c->path, 0, "%zu sites (at most 1000000)", m->n);
    return code;
}

/* ---- [links] ---- */

static int site_index(const struct wan_map *m, const struct config_entry *e, const char *name,
                      size_t n, size_t *index)
{
    for (*index = 0; *index < m->n_rows; ++*index)
        if (strlen(m->sites[*index].name) == n && !memcmp(m->sites[*index].name, name, n))
            return GS_OK;
    const char **names = xcalloc(m->n_rows, sizeof *names);
    for (size_t i = 0; i < m->n_rows; i++)
        names[i] = m->sites[i].name;
    char *word = xstrfmt("%.*s", (int)n, name);
    const char *near = text_nearest(word, names, m->n_rows);
    int code = config_error(e, "no site '%.64s' in [sites]%s%s%s", word,
                            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
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
        return config_error(e, "'%.64s' is no link: two sites, A-B or A>B", text);
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
    size_t a, b;
    struct wan_link link = common_link(m);
    int code = read_ends(m, e, e->key, &a, &b);
    if (!code)
        code = wan_words_read(e, link_words, &link);
    if (!code)
        add_pair(m, e, a, b, link, strchr(e->key, '>'));
    return code;
}

/* [link A-B]: what [links] says in one line, a key a line. */
static int read_section(struct wan_map *m, const struct config *c, const struct config_section *s)
{
    size_t a, b;
    struct wan_link link = common_link(m);
    const struct config_entry *first = NULL;
    const struct config_entry title = {
        .section = s->name, .key = s->name, .file = c->path, .line = s->line};
    int code = read_ends(m, &title, s->name + strlen("link "), &a, &b);
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        const struct wl_param *p = params_find(link_words, e->key);
        if (strcmp(e->section, s->name))
            continue;
        first = first ? first : e;
        if (p ? wan_value_read(e, p, &link)
              : config_error(e, "unknown in [%s], which has the keys of [links]", s->name))
            code = GS_USAGE;
    }
    if (!code && first)
        add_pair(m, first, a, b, link, false);
    return code;
}

static void add_crossing(struct wan_map *m, size_t from, size_t to, size_t line)
{
    m->crossings = xrealloc(m->crossings, (m->n_crossings + 1) * sizeof *m->crossings);
    m->crossings[m->n_crossings++] = (struct wan_crossing){{from, to}, line};
}

static int read_line_links(struct wan_map *m, const struct config_entry *e, const char *list,
                           size_t line)
{
    struct words w;
    int code = GS_OK;
    words_split(&w, list, ',');
    for (size_t i = 0; i < w.n && !code; i++) {
        size_t a, b;
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

struct line_words {
    double rate_Bps;
};

/* shared.NAME = rate=10Gbit/s links=a-b,a-c */
static int read_line(struct wan_map *m, const struct config_entry *e)
{
    struct config_entry rate = *e;
    const char *links = strstr(e->value, "links=");
    struct line_words l = {0};
    static const struct wl_param words[] = {
        {DOUBLE(line_words, "rate", WL_RATE, rate_Bps), "B/s", "0B/s", 1, 1e15, NULL, "in all"},
        {0}};
    if (!links || strchr(links, ' '))
        return config_error(e, "wants rate=… links=A-B,C-D, the links last and without blanks");
    rate.value = xstrfmt("%.*s", (int)(links - e->value), e->value);
    int code = wan_words_read(&rate, words, &l);
    free(rate.value);
    if (!code && l.rate_Bps <= 0)
        code = config_error(e, "wants a rate=…");
    if (code)
        return code;
    m->lines = xrealloc(m->lines, (m->n_lines + 1) * sizeof *m->lines);
    m->lines[m->n_lines] = (struct wan_line){l.rate_Bps, 0};
    return read_line_links(m, e, links + strlen("links="), m->n_lines++);
}

static int read_common(struct wan_map *m, const struct config_entry *e)
{
    static const struct wl_param factor = {
        DOUBLE(wan_map, "path_factor", WL_REAL, path_factor), NULL, "1.5", 1, 10, NULL, ""};
    const struct wl_param *p = params_find(link_words, e->key);
    if (!strcmp(e->key, factor.name))
        return wan_value_read(e, &factor, m);
    if (p)
        return wan_value_read(e, p, &m->common);
    const char *near = params_nearest(link_words, e->key);
    return config_error(e,
                        "unknown in [links]%s%s%s: a link is A-B or A>B, a shared line shared.NAME",
                        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
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
    if (!params_default(link_words, &m->common, why, sizeof why))
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

/* ---- what no word can say ---- */

/* Pairs and crossings alike begin with their ends. */
static int compare_ends(const void *a, const void *b)
{
    const struct wan_ends *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to == y->to ? 0 : x->to < y->to ? -1 : 1;
}

static int fill_rates(struct wan_map *m)
{
    int code = GS_OK;
    for (size_t i = 0; i < m->n_rows; i++) {
        struct wan_site *s = &m->sites[i];
        if (s->up_Bps <= 0)
            s->up_Bps = m->common.rate_Bps;
        if (s->down_Bps <= 0)
            s->down_Bps = s->up_Bps;
        if (s->up_Bps <= 0 && m->n > 1)
            code = config_error(s->entry, "no rate: say up=… here or rate=… in [links]");
    }
    return code;
}

/* Nothing is faster than light in fibre along the great circle. GS_USAGE and reported at e, if it
 * is not NULL, when rtt_s is. */
static int check_light(const struct wan_map *m, size_t from, size_t to, double rtt_s,
                       const struct config_entry *e)
{
    double metres = wan_map_distance(m, from, to), least = 2 * metres / WAN_FIBRE_M_PER_S;
    if (!e || rtt_s <= 0 || isnan(metres) || rtt_s >= least)
        return GS_OK;
    return config_error(e,
                        "an RTT of %.3g ms is impossible: %.0f km from %s to %s there and back at "
                        "2/3 of the speed of light take %.3g ms",
                        1e3 * rtt_s, metres / 1e3, m->sites[from].name, m->sites[to].name,
                        1e3 * least);
}

static int check_all_light(const struct wan_map *m, const struct config *c)
{
    const struct config_entry *common = config_find(c, "links", "rtt");
    int code = GS_OK;
    for (size_t i = 0; i < m->n_pairs; i++) {
        const struct wan_pair *p = &m->pairs[i];
        bool twin = p->ends.from > p->ends.to && !strchr(p->entry->key, '>');
        if (!twin && check_light(m, p->ends.from, p->ends.to, p->link.rtt_s, p->entry))
            code = GS_USAGE;
    }
    for (size_t i = 0; i < m->n_rows; i++)
        for (size_t k = 0; k < sizeof m->typical[i] / sizeof *m->typical[i]; k++)
            if (check_light(m, i, m->typical[i][k], m->common.rtt_s, common))
                return GS_USAGE;
    return code;
}

static int check_twins(const struct wan_map *m)
{
    int code = GS_OK;
    for (size_t i = 1; i < m->n_pairs; i++) {
        const struct wan_pair *a = &m->pairs[i - 1], *b = &m->pairs[i];
        if (compare_ends(a, b))
            continue;
        /* Both directions of two links are one fault. */
        bool said = b->ends.from > b->ends.to && !strpbrk(a->entry->key, ">") &&
                    !strpbrk(b->entry->key, ">");
        code = said
                   ? code
                   : config_error(b->entry, "the same direction stands in '%s' too", a->entry->key);
    }
    return code;
}

int wan_map_read(struct wan_map *m, const struct config *c)
{
    *m = (struct wan_map){0};
    int sites = read_sites(m, c);
    int links = read_links(m, c);
    if (sites || links)
        return GS_USAGE;
    if (m->n_pairs)
        qsort(m->pairs, m->n_pairs, sizeof *m->pairs, compare_ends);
    if (m->n_crossings)
        qsort(m->crossings, m->n_crossings, sizeof *m->crossings, compare_ends);
    int twins = check_twins(m);
    int rates = fill_rates(m);
    wan_map_peers(m);
    int light = check_all_light(m, c);
    return light || twins || rates ? GS_USAGE : GS_OK;
}

void wan_map_free(struct wan_map *m)
{
    free(m->sites);
    free(m->pairs);
    free(m->lines);
    free(m->crossings);
    free(m->typical);
    *m = (struct wan_map){0};
}
