/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/evidence.h"

#include "base/text.h"
#include "compare/alike.h"
#include "limits/bounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_of(const char *config, const char *word)
{
    AUTO_WORDS struct words parts = {0};
    bool found = false;
    words_split(&parts, config, '/');
    for (size_t i = 0; i < parts.n; i++)
        found = found || !strcasecmp(parts.v[i], word);
    return found;
}

static bool is_slower(const struct claim *c, const char *config)
{
    if (!strcasecmp(c->word[W_SLOWER], "others"))
        return !is_of(config, c->word[W_FASTER]);
    return is_of(config, c->word[W_SLOWER]);
}

static bool wanted(const struct claim *c, const struct measured_cell *m)
{
    const char *mode = c->word[W_MODE];
    bool right_mode = mode ? !strcasecmp(m->mode, mode) : !*m->mode || !strcmp(m->mode, "comm");
    return right_mode && m->size_B > 0 && m->time_s > 0 &&
           (!c->word[W_WORKLOAD] || !strcasecmp(m->workload, c->word[W_WORKLOAD]));
}

static bool same_else(const char *a, const char *b)
{
    AUTO_FREE char *x = alike_without(a, alike_config), *y = alike_without(b, alike_config);
    return !strcmp(x, y);
}

static bool alike(const struct measured_cell *a, const struct measured_cell *b)
{
    return a->size_B == b->size_B && a->ranks == b->ranks && !strcmp(a->run_id, b->run_id) &&
           !strcmp(a->platform, b->platform) && !strcmp(a->workload, b->workload) &&
           !strcmp(a->label, b->label) && !strcmp(a->mode, b->mode) &&
           same_else(a->params, b->params);
}

/* The cells that a claim is about, in the order of the table. */
struct families {
    const struct measured_cell **faster, **slower;
    size_t n_faster, n_slower;
};

static struct families families_of(const struct audit *a, const struct claim *c)
{
    size_t n = a->cells->n + 1;
    struct families f = {xcalloc(n, sizeof *f.faster), xcalloc(n, sizeof *f.slower), 0, 0};
    for (size_t i = 0; i < a->cells->n; i++) {
        const struct measured_cell *m = &a->cells->v[i];
        if (!wanted(c, m))
            continue;
        if (is_of(m->config, c->word[W_FASTER]))
            f.faster[f.n_faster++] = m;
        else if (is_slower(c, m->config))
            f.slower[f.n_slower++] = m;
    }
    return f;
}

struct ratios { /* of the slower's time to the faster's */
    double least, most;
    size_t n, enough;
    int64_t ranks;
};

/* The fastest of its family: the first of equals. */
static bool is_best(const struct families *f, const struct measured_cell *m)
{
    for (size_t i = 0; i < f->n_faster; i++) {
        const struct measured_cell *o = f->faster[i];
        if (o->time_s <= m->time_s && o != m && alike(o, m) && (o->time_s < m->time_s || o < m))
            return false;
    }
    return true;
}

static void add_ratio(const struct families *f, const struct measured_cell *m, double speedup,
                      struct ratios *r)
{
    double other = INFINITY;
    for (size_t i = 0; i < f->n_slower; i++)
        if (f->slower[i]->time_s < other && alike(f->slower[i], m))
            other = f->slower[i]->time_s;
    if (isinf(other))
        return;
    double ratio = other / m->time_s;
    r->least = fmin(r->least, ratio);
    r->most = fmax(r->most, ratio);
    r->enough += ratio >= speedup;
    r->ranks = m->ranks;
    r->n++;
}

static struct ratios ratios_on(const struct families *f, const char *platform, double speedup)
{
    struct ratios r = {.least = INFINITY};
    for (size_t i = 0; i < f->n_faster; i++)
        if (!strcmp(f->faster[i]->platform, platform) && is_best(f, f->faster[i]))
            add_ratio(f, f->faster[i], speedup, &r);
    return r;
}

/* Is the platform what the claim is about: the same, or the same GPU? And as many ranks? */
static bool comparable(const struct audit *a, const struct claim *c, const struct measured_cell *m,
                       int64_t ranks)
{
    const char *device = bounds_device(a->config);
    bool same = (a->platform && !strcmp(a->platform, m->platform)) ||
                (*device && m->device && !strcmp(device, m->device));
    return same && (isnan(c->q[Q_RANKS]) || (double)ranks == c->q[Q_RANKS]);
}

static void fill(struct limits_row *row, const struct claim *c, const char *platform,
                 double speedup, const struct ratios *r, bool counts)
{
    *row = (struct limits_row){.quantity = "speedup", .unit = "1"};
    limits_judge(row, speedup, r->most);
    row->verdict = !counts             ? DATA_ELSEWHERE
                   : r->enough == r->n ? DATA_SUPPORTED
                   : r->enough         ? DATA_IN_PART
                                       : DATA_CONTRADICTED;
    snprintf(row->limit_source, sizeof row->limit_source, "measured on %s, %lld ranks", platform,
             (long long)r->ranks);
    snprintf(row->physics, sizeof row->physics,
             "time of %s over time of the best of %s: %.3g to %.3g; %.3g or more in %zu of %zu "
             "conditions",
             c->word[W_SLOWER], c->word[W_FASTER], r->least, r->most, speedup, r->enough, r->n);
}

size_t limits_of_data(const struct audit *a, const struct claim *c, struct limits_row *rows,
                      size_t most)
{
    double speedup = isnan(c->q[Q_SPEEDUP]) ? 1 : c->q[Q_SPEEDUP];
    const char *last = "";
    size_t n = 0;
    if (!c->word[W_FASTER] || !c->word[W_SLOWER])
        return 0;
    struct families f = families_of(a, c);
    for (size_t i = 0; i < f.n_faster && n < most; i++) { /* in the order of platforms */
        const char *platform = f.faster[i]->platform;
        if (!strcmp(platform, last))
            continue;
        last = platform;
        struct ratios r = ratios_on(&f, platform, speedup);
        if (r.n)
            fill(&rows[n++], c, platform, speedup, &r, comparable(a, c, f.faster[i], r.ranks));
    }
    free(f.faster);
    free(f.slower);
    return n;
}
