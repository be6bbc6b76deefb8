/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/gather.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "record/host_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- series ---- */

const struct series *gathered_find(const struct gathered *g, size_t cell, int copy)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->series[i].cell == cell && g->series[i].copy == copy)
            return &g->series[i];
    return NULL;
}

void gathered_free(const struct recorded *r, struct gathered *g)
{
    for (size_t i = 0; i < g->n; i++) {
        struct series *s = &g->series[i];
        for (size_t m = 0; m < r->cells[s->cell].n_metrics; m++)
            free(s->metrics[m]);
        free(s->metrics);
        free(s->blocks);
        free(s->times);
    }
    free(g->series);
    host_load_free(&g->out);
    *g = (struct gathered){0};
}

const struct block *series_block(const struct series *s, int launch, int number, size_t *from)
{
    for (; *from < s->n_blocks; ++*from) {
        const struct block *b = &s->blocks[*from];
        if (b->launch == launch && b->number == number)
            return b;
        if (b->launch > launch || (b->launch == launch && b->number > number))
            return NULL;
    }
    return NULL;
}

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

/* ---- reading ---- */

static struct series *add_series(struct gathered *g, size_t at, size_t cell, int copy,
                                 size_t n_metrics)
{
    g->series = text_grown(g->series, g->n, sizeof *g->series);
    memmove(g->series + at + 1, g->series + at, (g->n - at) * sizeof *g->series);
    g->n++;
    g->series[at] = (struct series){.cell = cell, .copy = copy, .whole = true};
    g->series[at].metrics = xcalloc(n_metrics, sizeof *g->series[at].metrics);
    return &g->series[at];
}

static void add_block(const struct recorded *r, struct gathered *g, const struct rec_block *b,
                      int launch)
{
    size_t at = 0, n_metrics = r->cells[b->cell].n_metrics;
    while (at < g->n && (g->series[at].cell < b->cell ||
                         (g->series[at].cell == b->cell && g->series[at].copy < b->copy)))
        at++;
    bool there = at < g->n && g->series[at].cell == b->cell && g->series[at].copy == b->copy;
    struct series *s = there ? &g->series[at] : add_series(g, at, b->cell, b->copy, n_metrics);
    s->blocks = text_grown(s->blocks, s->n_blocks, sizeof *s->blocks);
    for (size_t i = 0; i < n_metrics; i++) {
        s->metrics[i] = text_grown(s->metrics[i], s->n_blocks, sizeof *s->metrics[i]);
        s->metrics[i][s->n_blocks] = b->metrics[i];
    }
    AUTO_FREE double *x = xmalloc(b->n * sizeof *x);
    for (size_t i = 0; i < b->n; i++)
        x[i] = (double)b->time_ns[i];
    s->launches += s->n_blocks == 0 || s->blocks[s->n_blocks - 1].launch != launch;
    s->blocks[s->n_blocks++] = (struct block){
        .launch = launch,
        .number = b->number,
        .time_s = stats_quantile_of(x, b->n, 0.5) / ((double)b->iters * 1e9),
        .skew_s = b->skew_ns / 1e9,
    };
    if (s->copy == 0)
        s->times = xrealloc(s->times, (s->n_samples + b->n) * sizeof *s->times);
    for (size_t i = 0; i < b->n && s->copy == 0; i++) {
        uint64_t ns = b->time_ns[i],
                 ps = ns < UINT64_MAX / 1000 ? ns * 1000 / b->iters : ns / b->iters * 1000;
        s->times[s->n_samples + i] = (double)ps;
    }
    s->n_samples += b->n;
    s->iterations = s->n_blocks == 1 || b->iters < s->iterations ? b->iters : s->iterations;
}

/* judged: the same group, gathered before; its launches that are left out are not. NULL: all are. */
static void read_group(const struct recorded *r, size_t group, const struct gathered *judged,
                       struct gathered *out)
{
    const struct rec_group *g = &r->groups[group];
    *out = (struct gathered){0};
    for (size_t i = 0; i < g->n; i++)
        add_series(out, i, g->first + i, 0, r->cells[g->first + i].n_metrics);
    for (int launch = 1; launch <= r->launches; launch++) {
        bool closed, left_out = false;
        const struct rec_span *span = recorded_span(r, group, launch, &closed);
        for (size_t i = 0; judged && i < judged->out.n; i++)
            left_out = left_out || judged->out.v[i].launch == launch;
        if (left_out || !span)
            continue;
        for (size_t i = 0; i < span->n; i++)
            add_block(r, out, &r->blocks[span->first + i], launch);
        out->readings += span->readings;
        out->throttled += span->throttled;
        for (size_t i = 0; i < out->n && !closed; i++) {
            struct series *s = &out->series[i];
            s->whole = s->whole && !(s->n_blocks && s->blocks[s->n_blocks - 1].launch == launch);
        }
    }
    launches_mark_warmup(r, out);
}

/* A group is judged first, and gathered again without the launches that are left out. */
void gather_group(const struct recorded *r, size_t group, struct gathered *out)
{
    struct gathered all;
    read_group(r, group, NULL, &all);
    launches_judge(r, &all);
    if (!all.out.n || all.too_many) {
        *out = all;
        return;
    }
    read_group(r, group, &all, out);
    for (size_t i = 0; i < out->n; i++) {
        struct series *s = &out->series[i];
        const struct series *was = gathered_find(&all, s->cell, s->copy);
        for (size_t o = 0; was && o < all.out.n; o++)
            s->left_out += stretch_of(was, all.out.v[o].launch).n > 0;
    }
    out->out = all.out;
    all.out = (struct disturbed_launches){0};
    gathered_free(r, &all);
}

struct gathered *gather_run(const struct recorded *r)
{
    struct gathered *groups = xcalloc(r->n_groups + 1, sizeof *groups);
    for (size_t i = 0; i < r->n_groups; i++)
        gather_group(r, i, &groups[i]);
    return groups;
}

void gathered_free_run(const struct recorded *r, struct gathered *groups)
{
    for (size_t i = 0; groups && i < r->n_groups; i++)
        gathered_free(r, &groups[i]);
    free(groups);
}

/* ---- status ---- */

/* What a failure does to the numbers of its cell. A process that died is tried again; whether its launch was
 * measured in the end decides. Wrong results have no numbers. */
enum effect { RETRIED, LACKING, SPOILT };

static enum effect effect_of(const struct ledger_fail *f)
{
    return f->again ? RETRIED : !strcmp(f->kind, "wrong") ? SPOILT : LACKING;
}

struct series_status series_status(const struct recorded *r, const struct series *s)
{
    const struct ledger_fail *f = NULL; /* the gravest failure, the last of several */
    for (size_t i = 0; i < r->ledger->n_fails; i++) {
        const struct ledger_fail *one = &r->ledger->fails[i];
        if (!strcmp(one->cell, r->cells[s->cell].id) && (!f || effect_of(one) >= effect_of(f)))
            f = one;
    }
    enum effect effect = f ? effect_of(f) : RETRIED;
    int64_t planned = r->cells[s->cell].launches;
    struct series_status o = {.status = "ok", .numbers = s->n_blocks && effect != SPOILT};
    if (o.numbers && s->whole && s->launches + s->left_out >= planned && effect == RETRIED)
        return o;
    if (o.numbers) {
        o.status = "partial";
        snprintf(o.why, sizeof o.why, "%s%d of %lld launches%s%s%s%s",
                 s->whole ? "" : "interrupted; ", s->launches, (long long)planned, f ? "; " : "",
                 f ? f->kind : "", f ? ": " : "", f ? f->why : "");
    } else {
        o.status = f ? f->kind : "partial";
        snprintf(o.why, sizeof o.why, "%s", f ? f->why : "not measured");
    }
    return o;
}

/* ---- baselines ---- */

/* Of its mode: the config that was measured twice; the first, where none was. Compute alone has no
 * config, and is as good a witness. */
static bool is_baseline(const struct recorded *r, const struct gathered *g, const struct series *s)
{
    const struct series *first = NULL;
    if (gathered_find(g, s->cell, 1))
        return true;
    for (size_t i = 0; i < g->n; i++) {
        const struct series *other = &g->series[i];
        if (strcmp(r->cells[other->cell].mode, r->cells[s->cell].mode) != 0)
            continue;
        if (other->copy)
            return false;
        first = first ? first : other;
    }
    return first == s;
}

/* ---- warm-up ---- */

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
        AUTO_FREE double *t = xmalloc((base[b].n + 1) * sizeof *t);
        for (size_t i = 0; i < base[b].n; i++)
            t[i] = base[b].v[i].time_s;
        double level = stats_quantile_of(t, base[b].n, 0.5);
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

/* ---- launches that are far from the others ---- */

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

void launches_judge(const struct recorded *r, struct gathered *g)
{
    size_t launches = 0;
    for (int k = 1; k <= r->launches && !r->imported; k++) {
        size_t i = 0;
        while (i < g->n && !stretch_of(&g->series[i], k).n)
            i++;
        if (i == g->n)
            continue;
        launches++;
        char *why = why_out(r, g, k);
        if (*why)
            APPEND(g->out.v, g->out.n) = (struct disturbed_launch){k, why};
        else
            free(why);
    }
    g->too_many = g->out.n && 2 * g->out.n >= launches;
}

char *launches_out_text(const struct gathered *g)
{
    struct text t = {0};
    text_add(&t, "");
    for (size_t i = 0; i < g->out.n; i++)
        text_addf(&t, "%slaunch %d %s: %s", t.len ? "; " : "", g->out.v[i].launch,
                  g->too_many ? "disturbed, but kept, as half of the launches are" : "left out",
                  g->out.v[i].why);
    return t.s;
}

/* ---- launches to measure again ---- */

int launches_tell(struct launches_told *told, const char *name, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    CHECK(recorded_read(&r, dir));
    struct gathered *groups = r ? gather_run(r) : NULL;
    for (size_t n = 0; r && n < r->n_groups; n++) {
        const struct gathered *g = &groups[n];
        for (size_t i = 0; i < g->out.n && !g->too_many; i++) {
            size_t k = 0;
            while (k < told->n && told->v[k] != g->out.v[i].launch)
                k++;
            if (k < told->n)
                continue;
            APPEND(told->v, told->n) = g->out.v[i].launch;
            say("%s: launch %d is left out of the statistics: %s", name, g->out.v[i].launch,
                g->out.v[i].why);
        }
    }
    gathered_free_run(r, groups);
    return GS_OK;
}

int launches_more(const struct launches_told *told, int64_t n)
{
    return (int)((int64_t)told->n < n / 2 ? (int64_t)told->n : n / 2);
}
