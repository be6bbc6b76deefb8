/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/links.h"

#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_BEST 0.95
#define NEARLY 0.02 /* configs whose worst directions differ by less are equal */

/* ---- the matrices ---- */

static double *matrix(size_t n)
{
    double *x = xcalloc(n * n, sizeof *x);
    for (size_t i = 0; i < n * n; i++)
        x[i] = NAN;
    return x;
}

void links_make(struct links *l, size_t n)
{
    *l = (struct links){.n = n, .names = xcalloc(n + 1, sizeof *l->names)};
    l->rtt_s = matrix(n);
    l->spread_s = matrix(n);
    l->mtu_B = matrix(n);
}

void links_free(struct links *l)
{
    for (size_t i = 0; i < l->n && l->names; i++)
        free(l->names[i]);
    free(l->names);
    free(l->rtt_s);
    free(l->spread_s);
    free(l->mtu_B);
    for (size_t i = 0; i < l->n_configs; i++) {
        free(l->configs[i].alone);
        free(l->configs[i].both);
        free(l->configs[i].loss);
    }
    *l = (struct links){0};
}

static bool before(const struct links_config *c, int streams, const char *congestion)
{
    int order = -strcmp(c->congestion, congestion); /* cubic first, as the parameter has it */
    return order < 0 || (order == 0 && c->streams < streams);
}

struct links_config *links_config(struct links *l, int streams, const char *congestion)
{
    size_t i = 0;
    while (i < l->n_configs && before(&l->configs[i], streams, congestion))
        i++;
    struct links_config *c = &l->configs[i];
    if (i < l->n_configs && c->streams == streams && !strcmp(c->congestion, congestion))
        return c;
    if (l->n_configs == LINKS_CONFIGS_MAX)
        return NULL;
    memmove(c + 1, c, (l->n_configs++ - i) * sizeof *c);
    *c = (struct links_config){.streams = streams};
    snprintf(c->congestion, sizeof c->congestion, "%s", congestion);
    c->alone = matrix(l->n);
    c->both = matrix(l->n);
    c->loss = matrix(l->n);
    return c;
}

/* ---- what follows from them ---- */

static double rate_of(const struct links_config *c, bool alone, size_t at)
{
    return alone ? c->alone[at] : c->both[at];
}

/* What the link gives: the mean of the configs that come near to the highest one, which alone
 * would be the luckiest. */
static double best_rate(const struct links *l, bool alone, size_t at)
{
    double most = 0, sum = 0, n = 0;
    for (size_t i = 0; i < l->n_configs; i++)
        most = fmax(most, rate_of(&l->configs[i], alone, at));
    for (size_t i = 0; i < l->n_configs; i++)
        if (rate_of(&l->configs[i], alone, at) >= NEAR_BEST * most)
            sum += rate_of(&l->configs[i], alone, at), n++;
    return n > 0 ? sum / n : 0;
}

static double worst_share(const struct links *l, const struct links_config *c)
{
    double worst = INFINITY;
    for (size_t at = 0; at < l->n * l->n; at++)
        if (best_rate(l, false, at) > 0)
            worst = fmin(worst, isnan(c->both[at]) ? 0 : c->both[at] / best_rate(l, false, at));
    return worst;
}

/* The one that comes nearest to the best rate of each direction where it is farthest from it; of
 * nearly equal ones, that with the fewest streams. */
static const struct links_config *links_best(const struct links *l)
{
    const struct links_config *best = NULL;
    double most = 0;
    for (size_t i = 0; i < l->n_configs; i++)
        most = fmax(most, worst_share(l, &l->configs[i]));
    for (size_t i = 0; i < l->n_configs; i++) {
        const struct links_config *c = &l->configs[i];
        if (worst_share(l, c) >= most - NEARLY && (!best || c->streams < best->streams))
            best = c;
    }
    return best;
}

double links_rate(const struct links *l, size_t from, size_t to)
{
    return best_rate(l, true, from * l->n + to);
}

/* The least that a config lost: the others lose packets by filling queues. */
static double links_loss(const struct links *l, size_t from, size_t to)
{
    double least = 1;
    for (size_t i = 0; i < l->n_configs; i++)
        least = fmin(least, l->configs[i].loss[from * l->n + to]);
    return least;
}

/* The most that a site sends (or receives) in one direction: what its own line gives at least. */
static double end_rate(const struct links *l, size_t site, bool up)
{
    double most = 0;
    for (size_t k = 0; k < l->n; k++)
        if (k != site)
            most = fmax(most, up ? links_rate(l, site, k) : links_rate(l, k, site));
    return most;
}

/* ---- for people ---- */

static void add_mbit(struct words *w, double rate_Bps)
{
    if (isnan(rate_Bps))
        words_add(w, "-");
    else
        words_addf(w, "%.*f", rate_Bps < 12.5e6 ? 2 : 1, rate_Bps * 8e-6);
}

static void add_row(struct words *w, const struct links *l, size_t from, size_t to)
{
    size_t at = from * l->n + to;
    words_addf(w, "%s>%s", l->names[from], l->names[to]);
    words_addf(w, "%.1f +%.1f", 1e3 * l->rtt_s[at], 1e3 * l->spread_s[at]);
    words_addf(w, "%.2g%%", 100 * links_loss(l, from, to));
    words_addf(w, "%.0f", l->mtu_B[at]);
    for (size_t i = 0; i < l->n_configs; i++)
        add_mbit(w, l->configs[i].alone[at]);
    add_mbit(w, best_rate(l, false, at));
}

void links_print(const struct links *l)
{
    struct words w = {0};
    size_t columns = 5 + l->n_configs;
    words_add(&w, "direction");
    words_add(&w, "RTT ms");
    words_add(&w, "loss");
    words_add(&w, "MTU");
    for (size_t i = 0; i < l->n_configs; i++)
        words_addf(&w, "%s/%d", l->configs[i].congestion, l->configs[i].streams);
    words_add(&w, "both");
    for (size_t from = 0; from < l->n; from++)
        for (size_t to = 0; to < l->n; to++)
            if (links_rate(l, from, to) > 0)
                add_row(&w, l, from, to);
    text_table_print(&w, columns, 0, NULL);
    printf("RTT: shortest idle round trip + to its 90th percentile. cubic/1 ...: Mbit/s of IP "
           "packets\n"
           "alone, by congestion control and streams; both: while the other direction is busy.\n");
    words_free(&w);
}

/* ---- for configs ---- */

static void text_rate(struct text *t, const char *key, double rate_Bps)
{
    text_addf(t, "%s=%.4gMbit/s", key, rate_Bps * 8e-6);
}

static void write_pair(struct text *t, const struct links *l, size_t from, size_t to)
{
    size_t at = from * l->n + to;
    text_addf(t, "%s>%s = ", l->names[from], l->names[to]);
    text_rate(t, "rate", links_rate(l, from, to));
    text_addf(t, " rtt=%.4gms loss=%.3g\n", 1e3 * l->rtt_s[at], links_loss(l, from, to));
}

static void write_links(struct text *t, const struct links *l, const char *origin)
{
    const struct links_config *best = links_best(l);
    double mtu_B = INFINITY;
    for (size_t i = 0; i < l->n * l->n; i++)
        mtu_B = fmin(mtu_B, l->mtu_B[i]);
    text_addf(
        t,
        "# Measured by gradsync links, run %s: IP packets; up and down of [sites] are the most to "
        "or from one other site.\n[links]\nmtu = %.0f\nstreams = %d\ncongestion = %s\n",
        origin, mtu_B, best->streams, best->congestion);
    for (size_t from = 0; from < l->n; from++)
        for (size_t to = 0; to < l->n; to++)
            if (links_rate(l, from, to) > 0)
                write_pair(t, l, from, to);
}

/* A row of [sites], with the rates that were measured in place of its own. */
static void write_site(struct text *t, const struct links *l, const char *line)
{
    size_t name = strcspn(line, " \t="), i = 0;
    const char *equals = strchr(line, '=');
    struct words w = {0};
    while (i < l->n && (strlen(l->names[i]) != name || strncmp(l->names[i], line, name) != 0))
        i++;
    if (i == l->n || !equals) {
        text_addf(t, "%s\n", line);
        return;
    }
    text_addf(t, "%s = ", l->names[i]);
    text_rate(t, "up", end_rate(l, i, true));
    text_rate(t, " down", end_rate(l, i, false));
    words_split(&w, equals + 1, ' ');
    for (size_t k = 0; k < w.n; k++)
        if (*w.v[k] && strncmp(w.v[k], "up=", 3) != 0 && strncmp(w.v[k], "down=", 5) != 0)
            text_addf(t, " %s", w.v[k]);
    text_add(t, "\n");
    words_free(&w);
}

static bool in_section(const char *line, const char *name)
{
    size_t n = strlen(name);
    return line[0] == '[' && !strncmp(line + 1, name, n) &&
           (line[n + 1] == ']' || line[n + 1] == ' ');
}

static bool stays(const char *line) /* a line of [links] */
{
    return *line == '#' || !strncmp(line, "shared.", 7) || !strncmp(line, "path_factor", 11);
}

char *links_config_text(const struct links *l, const char *config, const char *origin)
{
    struct text t = {0};
    struct words lines;
    bool sites = false, links = false, written = false;
    words_split(&lines, config, '\n');
    for (size_t i = 0; i < lines.n && strcmp(lines.v[i], LINKS_ADDED) != 0; i++) {
        const char *line = lines.v[i];
        if (*line == '[') {
            sites = in_section(line, "sites");
            links = in_section(line, "links") || in_section(line, "link");
            if (in_section(line, "links")) {
                write_links(&t, l, origin);
                written = true;
            }
        }
        if (sites)
            write_site(&t, l, line);
        else if (!links || stays(line))
            text_addf(&t, "%s\n", line);
    }
    if (!written)
        write_links(&t, l, origin);
    words_free(&lines);
    return t.s;
}
