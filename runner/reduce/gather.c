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
    for (size_t i = 0; i < g->n_out; i++)
        free(g->out[i].why);
    free(g->out);
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

struct pass {
    const struct recorded *r;
    size_t group;
    struct gathered *out;
    int launch;
};

/* ---- a series grows ---- */

static struct series *add_series(struct gathered *g, size_t at, size_t cell, int copy,
                                 size_t n_metrics)
{
    ALLOC_MORE(g->series, g->n);
    memmove(g->series + at + 1, g->series + at, (g->n - at) * sizeof *g->series);
    g->n++;
    g->series[at] = (struct series){.cell = cell, .copy = copy, .whole = true};
    g->series[at].metrics = xcalloc(n_metrics, sizeof *g->series[at].metrics);
    return &g->series[at];
}

/* The series of a cell's copy, added if it is new; NULL: the group has no such cell. */
static struct series *series_of(struct pass *p, const char *cell, int copy)
{
    struct gathered *g = p->out;
    size_t i = 0;
    while (i < g->n && strcmp(p->r->cells[g->series[i].cell].id, cell))
        i++;
    if (i == g->n)
        return NULL;
    size_t index = g->series[i].cell;
    while (i < g->n && g->series[i].cell == index && g->series[i].copy < copy)
        i++;
    if (i < g->n && g->series[i].cell == index && g->series[i].copy == copy)
        return &g->series[i];
    return add_series(g, i, index, copy, p->r->cells[index].n_metrics);
}

/* ---- blocks ---- */

static void add_block(struct pass *p, struct series *s, const struct raw_line *l, int number,
                      uint64_t iters)
{
    const struct rec_cell *cell = &p->r->cells[s->cell];
    ALLOC_MORE(s->blocks, s->n_blocks);
    for (size_t i = 0; i < cell->n_metrics; i++)
        ALLOC_MORE(s->metrics[i], s->n_blocks);
    AUTO_FREE double *x = xmalloc(l->n * sizeof *x);
    for (size_t i = 0; i < l->n; i++)
        x[i] = (double)l->time_ns[i];
    s->launches += s->n_blocks == 0 || s->blocks[s->n_blocks - 1].launch != p->launch;
    for (size_t i = 0; i < cell->n_metrics; i++)
        s->metrics[i][s->n_blocks] = raw_number(l, "metrics", cell->metrics[i]);
    s->blocks[s->n_blocks++] = (struct block){
        .launch = p->launch,
        .number = number,
        .time_s = stats_quantile_of(x, l->n, 0.5) / ((double)iters * 1e9),
        .skew_s = raw_number(l, NULL, "skew_ns") / 1e9,
    };
    if (s->copy == 0)
        s->times = xrealloc(s->times, (s->n_samples + l->n) * sizeof *s->times);
    for (size_t i = 0; i < l->n && s->copy == 0; i++) {
        uint64_t ns = l->time_ns[i],
                 ps = ns < UINT64_MAX / 1000 ? ns * 1000 / iters : ns / iters * 1000;
        s->times[s->n_samples + i] = (double)ps;
    }
    s->n_samples += l->n;
    s->iterations = s->n_blocks == 1 || iters < s->iterations ? iters : s->iterations;
}

static int read_block(struct pass *p, const struct raw *raw, const char *path,
                      const struct raw_line *l)
{
    const char *cell;
    int64_t copy, number, iters;
    if (!raw_string(raw, l, "cell", &cell) || !raw_integer(raw, l, "copy", &copy) ||
        !raw_integer(raw, l, "block", &number) || !raw_integer(raw, l, "iters", &iters))
        return GS_FAILED;
    struct series *s = copy == 0 || copy == 1 ? series_of(p, cell, (int)copy) : NULL;
    if (!s)
        return fail_at(GS_FAILED, path, (int)l->number,
                       "damaged: a block of cell %s among those of group %s", cell,
                       p->r->groups[p->group].id);
    if (number < 1 || number > INT32_MAX)
        return fail_at(GS_FAILED, path, (int)l->number, "damaged: block %lld", (long long)number);
    if (l->n == 0 || iters < 1 || iters > INT32_MAX)
        return fail_at(GS_FAILED, path, (int)l->number,
                       "damaged: a block of %zu samples of %lld iterations", l->n,
                       (long long)iters);
    add_block(p, s, l, (int)number, (uint64_t)iters);
    return GS_OK;
}

/* ---- launches ---- */

/* Reads up to the cell line of another group, or the line that closes this group. */
static int read_span(struct pass *p, const struct rec_span *span)
{
    const char *path = p->r->ledger->files[span->file].path, *id = p->r->groups[p->group].id;
    const unsigned want = 1u << RAW_CELL | 1u << RAW_BLOCK | 1u << RAW_HEALTH | 1u << RAW_GROUP;
    AUTO(raw_close_of) struct raw *raw = NULL;
    struct raw_line l;
    int got = 0, code = raw_open(&raw, path);
    if (code)
        return code;
    raw_without_trees(raw, want & ~(1u << RAW_HEALTH));
    raw_seek(raw, span->start);
    for (bool more = true; more && !code && (got = raw_next(raw, want, &l)) == 1;) {
        bool ours = !strcmp(raw_text(&l, "group"), id);
        more = l.type == RAW_BLOCK || ((l.type == RAW_CELL || l.type == RAW_HEALTH) && ours);
        if (l.type == RAW_BLOCK)
            code = read_block(p, raw, path, &l);
        else if (l.type == RAW_HEALTH && ours)
            host_load_throttled(l.json, &p->out->readings, &p->out->throttled);
    }
    return got < 0 ? GS_FAILED : code;
}

/* judged: the same group, read before; its launches that are left out are not read. NULL: all are. */
static int read_group(const struct recorded *r, size_t group, const struct gathered *judged,
                      struct gathered *out)
{
    struct pass p = {.r = r, .group = group, .out = out};
    const struct rec_group *g = &r->groups[group];
    int code = GS_OK;
    *out = (struct gathered){0};
    for (size_t i = 0; i < g->n; i++)
        add_series(out, i, g->first + i, 0, r->cells[g->first + i].n_metrics);
    for (p.launch = 1; !code && p.launch <= r->launches; p.launch++) {
        bool closed, left_out = false;
        const struct rec_span *span = recorded_span(r, group, p.launch, &closed);
        for (size_t i = 0; judged && i < judged->n_out; i++)
            left_out = left_out || judged->out[i].launch == p.launch;
        if (left_out)
            continue;
        if (span)
            code = read_span(&p, span);
        for (size_t i = 0; i < out->n && !closed; i++) {
            struct series *s = &out->series[i];
            s->whole = s->whole && !(s->n_blocks && s->blocks[s->n_blocks - 1].launch == p.launch);
        }
    }
    launches_mark_warmup(r, out);
    if (code)
        gathered_free(r, out);
    return code;
}

/* A group is judged first, and read again without the launches that are left out. */
int gather_group(const struct recorded *r, size_t group, struct gathered *out)
{
    struct gathered all;
    int code = read_group(r, group, NULL, &all);
    if (code)
        return code;
    launches_judge(r, &all);
    if (!all.n_out || all.too_many) {
        *out = all;
        return GS_OK;
    }
    code = read_group(r, group, &all, out);
    if (!code) {
        for (size_t i = 0; i < out->n; i++) {
            struct series *s = &out->series[i];
            const struct series *was = gathered_find(&all, s->cell, s->copy);
            for (size_t o = 0; was && o < all.n_out; o++)
                s->left_out += stretch_of(was, all.out[o].launch).n > 0;
        }
        out->out = all.out;
        out->n_out = all.n_out;
        out->too_many = all.too_many;
        all.out = NULL;
        all.n_out = 0;
    }
    gathered_free(r, &all);
    return code;
}

int gather_run(const struct recorded *r, struct gathered **out)
{
    int code = GS_OK;
    *out = xcalloc(r->n_groups + 1, sizeof **out);
    for (size_t i = 0; i < r->n_groups && !code; i++)
        code = gather_group(r, i, &(*out)[i]);
    return code;
}

void gathered_free_run(const struct recorded *r, struct gathered *groups)
{
    for (size_t i = 0; groups && i < r->n_groups; i++)
        gathered_free(r, &groups[i]);
    free(groups);
}

/* ---- status ---- */

/* What a fail line does to the numbers of its cell. A process that died (crash, hang, lost) is tried
 * again; whether its launch was measured in the end decides. */
enum effect { RETRIED, LACKING, SPOILT };
static const struct kind {
    const char *name;
    enum effect effect;
} kinds[] = {
    {"skip", LACKING},  {"failed", LACKING}, {"wrong", SPOILT}, /* wrong results have no numbers */
    {"crash", RETRIED}, {"hang", RETRIED},   {"lost", RETRIED},
};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return &kinds[1];
}

struct series_status series_status(const struct recorded *r, const struct series *s)
{
    const struct ledger_fail *f = NULL; /* the gravest failure, the last of several */
    for (size_t i = 0; i < r->ledger->n_fails; i++) {
        const struct ledger_fail *one = &r->ledger->fails[i];
        if (!strcmp(one->cell, r->cells[s->cell].id) &&
            (!f || kind_of(one->kind)->effect >= kind_of(f->kind)->effect))
            f = one;
    }
    enum effect effect = f ? kind_of(f->kind)->effect : RETRIED;
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
        o.status = f ? kind_of(f->kind)->name : "partial";
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

/* ---- launches to measure again ---- */

int launches_tell(struct launches_told *told, const char *name, const char *dir)
{
    AUTO(recorded_free_of) struct recorded *r = NULL;
    struct gathered *groups = NULL;
    int code = recorded_read(&r, dir);
    if (!code && r)
        code = gather_run(r, &groups);
    for (size_t n = 0; !code && r && n < r->n_groups; n++) {
        const struct gathered *g = &groups[n];
        for (size_t i = 0; i < g->n_out && !g->too_many; i++) {
            size_t k = 0;
            while (k < told->n && told->v[k] != g->out[i].launch)
                k++;
            if (k < told->n)
                continue;
            APPEND(told->v, told->n) = g->out[i].launch;
            say("%s: launch %d is left out of the statistics: %s", name, g->out[i].launch,
                g->out[i].why);
        }
    }
    gathered_free_run(r, groups);
    return code;
}

int launches_more(const struct launches_told *told, int64_t n)
{
    return (int)((int64_t)told->n < n / 2 ? (int64_t)told->n : n / 2);
}
