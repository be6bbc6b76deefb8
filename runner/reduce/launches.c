/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/launches.h"

#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- baselines ---- */

static const char *mode_of(const struct recorded *r, const struct series *s)
{
    return r->cells[s->cell].mode;
}

/* Of its mode: the config that was measured twice; the first, where none was. Compute alone has no
 * config, and is as good a witness. */
static bool is_baseline(const struct recorded *r, const struct gathered *g, const struct series *s)
{
    const struct series *first = NULL;
    if (gathered_find(g, s->cell, 1))
        return true;
    for (size_t i = 0; i < g->n; i++) {
        const struct series *other = &g->series[i];
        if (strcmp(mode_of(r, other), mode_of(r, s)))
            continue;
        if (other->copy)
            return false;
        first = first ? first : other;
    }
    return first == s;
}

/* ---- warm-up ---- */

/* The blocks of one launch of one series. */
struct stretch {
    const struct block *v;
    size_t n;
};

static struct stretch stretch_of(const struct series *s, int launch)
{
    struct stretch x = {0};
    for (size_t i = 0; i < s->n_blocks; i++)
        if (s->blocks[i].launch == launch) {
            x.v = x.n ? x.v : &s->blocks[i];
            x.n++;
        }
    return x;
}

static double level_of_stretch(const struct stretch *x)
{
    AUTO_FREE double *t = xmalloc((x->n + 1) * sizeof *t);
    for (size_t i = 0; i < x->n; i++)
        t[i] = x->v[i].time_s;
    return stats_quantile_of(t, x->n, 0.5);
}

/* The number of the last block of the warm-up, by the mean of the baselines; 0: none. */
static int warm_until(const struct recorded *r, const struct gathered *g, int launch)
{
    AUTO_FREE struct stretch *base = xcalloc(g->n + 1, sizeof *base);
    size_t n_base = 0, n = SIZE_MAX;
    for (size_t i = 0; i < g->n; i++) {
        struct stretch x = stretch_of(&g->series[i], launch);
        if (!x.n || !is_baseline(r, g, &g->series[i]))
            continue;
        n = x.n < n ? x.n : n;
        base[n_base++] = x;
    }
    if (!n_base)
        return 0;
    AUTO_FREE double *mean = xcalloc(n + 1, sizeof *mean);
    for (size_t b = 0; b < n_base; b++) {
        double level = level_of_stretch(&base[b]);
        for (size_t k = 0; k < n && level > 0; k++)
            mean[k] += base[b].v[k].time_s / level;
    }
    size_t warm = stats_warmup(mean, n, r->imported ? WARMUP_IMPORTED(n) : WARMUP_OWN(n));
    return warm ? base[0].v[warm - 1].number : 0;
}

void launches_mark_warmup(const struct recorded *r, struct gathered *g)
{
    for (int launch = 1; launch <= r->launches; launch++) {
        int until = warm_until(r, g, launch);
        for (size_t i = 0; until && i < g->n; i++) {
            struct series *s = &g->series[i];
            for (size_t k = 0; k < s->n_blocks; k++)
                if (s->blocks[k].launch == launch && s->blocks[k].number <= until) {
                    s->blocks[k].warm = true;
                    s->n_warm++;
                }
        }
    }
}

/* ---- launches ---- */

bool launches_far(double median, const double *others, size_t n)
{
    if (n < LAUNCH_OTHERS)
        return false;
    double level = stats_median(others, n);
    AUTO_FREE double *off = xmalloc(n * sizeof *off);
    for (size_t i = 0; i < n; i++)
        off[i] = fabs(others[i] - level);
    double deviation = 1.4826 * stats_quantile_of(off, n, 0.5), far = fabs(median - level);
    return far > LAUNCH_FAR * level && far > LAUNCH_DEVIATIONS * deviation;
}

/* Of the blocks of both copies that are not warm-up; NaN: none. */
static double baseline_median(const struct gathered *g, const struct series *s, int launch)
{
    const struct series *copy = gathered_find(g, s->cell, 1);
    size_t n = 0, most = s->n_blocks + (copy ? copy->n_blocks : 0);
    AUTO_FREE double *x = xmalloc((most + 1) * sizeof *x);
    for (const struct series *one = s; one; one = one == s ? copy : NULL)
        for (size_t i = 0; i < one->n_blocks; i++)
            if (one->blocks[i].launch == launch && !one->blocks[i].warm)
                x[n++] = one->blocks[i].time_s;
    return stats_quantile_of(x, n, 0.5);
}

struct judged {
    int launch;
    double median;
};

/* "": it is not far. */
static char *why_far(const struct recorded *r, const struct gathered *g, const struct series *s,
                     int launch)
{
    AUTO_FREE double *others = xmalloc((size_t)(r->launches + 1) * sizeof *others);
    double mine = baseline_median(g, s, launch);
    char took[32], usual[32];
    size_t n = 0;
    for (int k = 1; k <= r->launches; k++) {
        double x = k == launch ? (double)NAN : baseline_median(g, s, k);
        if (!isnan(x))
            others[n++] = x;
    }
    if (isnan(mine) || !launches_far(mine, others, n))
        return xstrdup("");
    const struct rec_cell *c = &r->cells[s->cell];
    return xstrfmt("%s%s%s took %s, in the other launches %s", *c->mode ? c->mode : "",
                   *c->mode && *c->config ? " " : "", c->config,
                   units_human_time(took, sizeof took, mine),
                   units_human_time(usual, sizeof usual, stats_median(others, n)));
}

/* "": nothing is wrong with it. */
static char *why_out(const struct recorded *r, const struct gathered *g, int launch)
{
    struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < r->disturbed.n; i++)
        if (r->disturbed.v[i].launch == launch)
            text_add(&t, r->disturbed.v[i].why);
    for (size_t i = 0; i < g->n; i++) {
        const struct series *s = &g->series[i];
        if (s->copy || !is_baseline(r, g, s))
            continue;
        AUTO_FREE char *far = why_far(r, g, s, launch);
        if (!*far)
            continue;
        text_addf(&t, "%s%s", t.len ? ", " : "", far);
        break; /* one says enough */
    }
    return t.s;
}

static bool has_blocks(const struct gathered *g, int launch)
{
    for (size_t i = 0; i < g->n; i++)
        if (stretch_of(&g->series[i], launch).n)
            return true;
    return false;
}

void launches_judge(const struct recorded *r, struct gathered *g)
{
    size_t launches = 0;
    for (int k = 1; k <= r->launches && !r->imported; k++) {
        if (!has_blocks(g, k))
            continue;
        launches++;
        char *why = why_out(r, g, k);
        if (*why)
            APPEND(g->out, g->n_out) = (struct launch_out){k, why};
        else
            free(why);
    }
    g->too_many = g->n_out && 2 * g->n_out >= launches;
}

char *launches_out_text(const struct gathered *g)
{
    struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < g->n_out; i++)
        text_addf(&t, "%slaunch %d %s: %s", t.len ? "; " : "", g->out[i].launch,
                  g->too_many ? "disturbed, but kept, as half of the launches are" : "left out",
                  g->out[i].why);
    return t.s;
}
