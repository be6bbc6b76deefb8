/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/links.h"

#include "base/term.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_BEST 0.95
/* Between configs: a second measurement of one stream in a lab differed by 0.1 to 1.3% in five directions, and
 * by 7% in one. */
#define MARGIN 0.05

/* ---- the matrices ---- */

/* Makes `many` matrices in one piece of memory, which the first of them frees. */
static void matrices(size_t n, double **const made[], size_t many)
{
    double *x = xcalloc(many * n * n, sizeof *x);
    for (size_t i = 0; i < many * n * n; i++)
        x[i] = NAN;
    for (size_t i = 0; i < many; i++)
        *made[i] = x + i * n * n;
}

void links_make(struct links *l, size_t n)
{
    *l = (struct links){.n = n, .names = xcalloc(n + 1, sizeof *l->names)};
    double **const made[] = {&l->rtt_s,    &l->spread_s, &l->mtu_B,
                             &l->line_Bps, &l->up_Bps,   &l->down_Bps};
    matrices(n, made, COUNT(made));
    strcpy(l->usual, "cubic");
}

void links_free(struct links *l)
{
    for (size_t i = 0; i < l->n && l->names; i++)
        free(l->names[i]);
    free(l->names);
    free(l->rtt_s);
    for (size_t i = 0; i < l->n_configs; i++)
        free(l->configs[i].alone);
    *l = (struct links){0};
}

struct links_config *links_config(struct links *l, int streams, const char *congestion)
{
    size_t i = 0;
    /* cubic before bbr, and few streams before many */
    for (; i < l->n_configs; i++) {
        int order = strcmp(congestion, l->configs[i].congestion);
        if (order > 0 || (order == 0 && l->configs[i].streams >= streams))
            break;
    }
    struct links_config *c = &l->configs[i];
    if (i < l->n_configs && c->streams == streams && !strcmp(c->congestion, congestion))
        return c;
    if (l->n_configs == LINKS_CONFIGS_MAX)
        return NULL;
    memmove(c + 1, c, (l->n_configs++ - i) * sizeof *c);
    *c = (struct links_config){.streams = streams};
    snprintf(c->congestion, sizeof c->congestion, "%s", congestion);
    double **const made[] = {&c->alone, &c->both, &c->loss};
    matrices(l->n, made, COUNT(made));
    return c;
}

void links_take(struct links *l, struct links_config *c, bool alone, size_t at, double rate_Bps)
{
    double *best = alone ? &c->alone[at] : &c->both[at];
    *best = fmax(*best, fmin(rate_Bps, l->line_Bps[at]));
}

/* ---- what follows from them ---- */

double links_rate(const struct links *l, bool alone, size_t from, size_t to)
{
    double most = 0, sum = 0, n = 0, rate[LINKS_CONFIGS_MAX];
    for (size_t i = 0; i < l->n_configs; i++) {
        rate[i] = (alone ? l->configs[i].alone : l->configs[i].both)[from * l->n + to];
        most = fmax(most, rate[i]);
    }
    for (size_t i = 0; i < l->n_configs; i++)
        if (rate[i] >= NEAR_BEST * most)
            sum += rate[i], n++;
    return n > 0 ? sum / n : 0;
}

/* The least that a config lost: the others lose packets by filling queues. */
static double links_loss(const struct links *l, size_t from, size_t to)
{
    double least = 1;
    for (size_t i = 0; i < l->n_configs; i++)
        least = fmin(least, l->configs[i].loss[from * l->n + to]);
    return least;
}

/* Between all sites while both directions are busy: the share of links_rate where it is least. Where no
 * two directions were busy, each counts alone. */
static double links_share(const struct links *l, const struct links_config *c)
{
    double worst = 1;
    for (size_t at = 0; at < l->n * l->n; at++) {
        bool alone = !(links_rate(l, false, at / l->n, at % l->n) > 0);
        double most = links_rate(l, alone, at / l->n, at % l->n);
        double is = alone ? c->alone[at] : c->both[at];
        if (most > 0)
            worst = fmin(worst, isnan(is) ? 0 : is / most);
    }
    return worst;
}

const struct links_config *links_best(const struct links *l)
{
    const struct links_config *best = NULL;
    double most = 0;
    for (size_t i = 0; i < l->n_configs; i++)
        most = fmax(most, links_share(l, &l->configs[i]));
    for (size_t i = 0; i < l->n_configs; i++) {
        const struct links_config *c = &l->configs[i];
        bool usual = !strcmp(c->congestion, l->usual);
        bool best_usual = best && !strcmp(best->congestion, l->usual);
        bool simpler = !best || (usual == best_usual ? c->streams < best->streams : usual);
        if (links_share(l, c) >= most - MARGIN && simpler)
            best = c;
    }
    return best;
}

/* What a site sends, or receives, at most: to all others at once, or to one alone if that is
 * more. */
static double links_end(const struct links *l, size_t site, bool up)
{
    double most = fmax(0, up ? l->up_Bps[site] : l->down_Bps[site]);
    for (size_t k = 0; k < l->n; k++)
        if (k != site)
            most = fmax(most, up ? links_rate(l, true, site, k) : links_rate(l, true, k, site));
    return most;
}

/* ---- for configs ---- */

static void write_links(struct text *t, const struct links *l, const char *origin)
{
    const struct links_config *best = links_best(l);
    double mtu_B = INFINITY;
    for (size_t i = 0; i < l->n * l->n; i++)
        mtu_B = fmin(mtu_B, l->mtu_B[i]);
    text_addf(t,
              "# Measured by gradsync links, run %s: IP packets; up and down of [sites] are what %s"
              ".\n[links]\nmtu = %.0f\nstreams = %d\ncongestion = %s\n",
              origin,
              isnan(l->up_Bps[0]) ? "one other site got or sent alone, at least"
                                  : "each sent and received while all sent to all",
              mtu_B, best->streams, best->congestion);
    for (size_t at = 0; at < l->n * l->n; at++) {
        size_t from = at / l->n, to = at % l->n;
        double rate_Bps = links_rate(l, true, from, to);
        if (rate_Bps > 0)
            text_addf(t, "%s>%s = rate=%.4gMbit/s rtt=%.4gms loss=%.3g\n", l->names[from],
                      l->names[to], rate_Bps * 8e-6, 1e3 * l->rtt_s[at], links_loss(l, from, to));
    }
}

/* A row of [sites], with the rates that were measured in place of its own. */
static void write_site(struct text *t, const struct links *l, const char *line)
{
    size_t name = strcspn(line, " \t="), i = 0;
    const char *equals = strchr(line, '=');
    AUTO_WORDS struct words w = {0};
    while (i < l->n && (strlen(l->names[i]) != name || strncmp(l->names[i], line, name) != 0))
        i++;
    if (i == l->n || !equals) {
        text_addf(t, "%s\n", line);
        return;
    }
    text_addf(t, "%s = up=%.4gMbit/s down=%.4gMbit/s", l->names[i], links_end(l, i, true) * 8e-6,
              links_end(l, i, false) * 8e-6);
    words_split(&w, equals + 1, ' ');
    for (size_t k = 0; k < w.n; k++)
        if (*w.v[k] && strncmp(w.v[k], "up=", 3) != 0 && strncmp(w.v[k], "down=", 5) != 0)
            text_addf(t, " %s", w.v[k]);
    text_add(t, "\n");
}

static bool in_section(const char *line, const char *name)
{
    size_t n = strlen(name);
    return line[0] == '[' && !strncmp(line + 1, name, n) &&
           (line[n + 1] == ']' || line[n + 1] == ' ');
}

char *links_config_text(const struct links *l, const char *config, const char *origin)
{
    struct text t = {0};
    AUTO_WORDS struct words lines = {0};
    bool sites = false, links = false, written = false;
    words_split(&lines, config, '\n');
    for (size_t i = 0; i < lines.n && strcmp(lines.v[i], LINKS_ADDED) != 0; i++) {
        const char *line = lines.v[i];
        if (*line == '[') {
            sites = in_section(line, "sites");
            links = in_section(line, "links");
            if (links) {
                write_links(&t, l, origin);
                written = true;
            }
        }
        if (sites)
            write_site(&t, l, line);
        else if (!links || *line == '#' || !strncmp(line, "path_factor", 11))
            text_addf(&t, "%s\n", line);
    }
    if (!written)
        write_links(&t, l, origin);
    return t.s;
}

/* ---- printing ---- */

static void add_mbit(struct words *w, double rate_Bps)
{
    if (isnan(rate_Bps))
        words_add(w, "-");
    else
        words_addf(w, "%.*f", rate_Bps < 12.5e6 ? 2 : 1, rate_Bps * 8e-6);
}

void links_print(const struct links *l)
{
    AUTO_WORDS struct words w = {0};
    size_t columns = 5 + l->n_configs;
    words_add(&w, "direction");
    words_add(&w, "RTT ms");
    words_add(&w, "loss");
    words_add(&w, "MTU");
    for (size_t i = 0; i < l->n_configs; i++)
        words_addf(&w, "%s/%d", l->configs[i].congestion, l->configs[i].streams);
    words_add(&w, "both");
    for (size_t at = 0; at < l->n * l->n; at++) {
        size_t from = at / l->n, to = at % l->n;
        if (!(links_rate(l, true, from, to) > 0))
            continue;
        words_addf(&w, "%s>%s", l->names[from], l->names[to]);
        words_addf(&w, "%.1f +%.1f", 1e3 * l->rtt_s[at], 1e3 * l->spread_s[at]);
        words_addf(&w, "%.2g%%", 100 * links_loss(l, from, to));
        words_addf(&w, "%.0f", l->mtu_B[at]);
        for (size_t i = 0; i < l->n_configs; i++)
            add_mbit(&w, l->configs[i].alone[at]);
        add_mbit(&w, links_rate(l, false, from, to));
    }
    words_add(&w, "both, worst"); /* with both directions busy, as in an all-reduce */
    for (int i = 0; i < 3; i++)
        words_add(&w, "");
    for (size_t i = 0; i < l->n_configs; i++)
        words_addf(&w, "%.0f%%", 100 * links_share(l, &l->configs[i]));
    words_add(&w, "");
    text_table_print(&w, columns, 0, NULL);
    printf("RTT: shortest idle round trip + to its 90th percentile. cubic/1 ...: Mbit/s of IP "
           "packets\n"
           "alone, by congestion control and streams; both: while the other direction is busy, and "
           "the\n"
           "share of it that each reaches in its worst direction.\n");
    for (size_t i = 0; i < l->n && !isnan(l->up_Bps[0]); i++)
        printf("%s%s: up %.1f, down %.1f Mbit/s%s", i ? "; " : "All to all at once: ", l->names[i],
               links_end(l, i, true) * 8e-6, links_end(l, i, false) * 8e-6,
               i + 1 == l->n ? ".\n" : "");
    const struct links_config *best = links_best(l);
    printf(
        "Choose streams = %d, congestion = %s%s: no other setting is faster by more than %.0f%%.\n",
        best->streams, best->congestion,
        strcmp(best->congestion, l->usual) ? "" : " (the kernel's own)", 100 * MARGIN);
}
