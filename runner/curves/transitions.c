/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/transitions.h"

#include "base/err.h"
#include "base/stats.h"
#include "base/term.h"
#include "base/text.h"
#include "compare/origin.h"
#include "store/printer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows to curves ----
 *
 * Reads the table `launches` into curves of time against size: one for each platform, workload, label, config
 * and mode, and each set of parameters but size. The replicates of a curve are the launches of its
 * runs. In place and out of place are two curves: one launch measured both, so neither confirms the
 * other.
 */

struct sample { /* one measured time of a curve */
    double size, time;
    size_t replicate;
    char *ran; /* what ran, from the recording; "": unknown */
};

struct curve_rows { /* a curve; its samples are in the order of size, then replicate */
    char *names[5]; /* platform, workload, label, config, mode */
    char *params;
    int64_t ranks, nodes;
    size_t n_replicates;
    struct sample *samples;
    size_t n;
};

struct curves {
    struct curve_rows *v; /* in the order of the table */
    size_t n;
};

const char curves_reads[] =
    "run_id,platform,workload,label,config,mode,ranks,nodes,size_B,params,launch,median_s,ran";

/* clang-format off */

/* Curves in the order of their first rows, each by size, then replicate. Only modes without
 * computation: t = a + n/b is a model of communication. */
static const char query[] =
    "SELECT curve, platform, workload, label, config, mode, along, ranks, nodes, size_B, median_s,"
    "   ran, dense_rank() OVER (PARTITION BY curve ORDER BY began) - 1 AS replicate"
    " FROM (SELECT *, min(at) OVER curve AS curve,"
    "         min(at) OVER (PARTITION BY platform, workload, label, config, mode, along, ranks,"
    "                       nodes, run_id, launch) AS began"
    "       FROM (SELECT *, rowid AS at, along(params) AS along FROM launches"
    "             WHERE size_B > 0 AND median_s > 0 AND mode IN ('', 'comm'))"
    "       WINDOW curve AS (PARTITION BY platform, workload, label, config, mode, along, ranks,"
    "                        nodes))"
    " ORDER BY curve, size_B, replicate, at";

/* clang-format on */

enum { CURVE, NAMES, PARAMS = NAMES + 5, RANKS, NODES, SIZE, TIME, RAN, REPLICATE };

/* The parameters without those that differ along a curve. */
static void sql_along(sqlite3_context *c, int n, sqlite3_value **v)
{
    static const char *const along[] = {"size", "config", NULL};
    const char *params = (const char *)sqlite3_value_text(v[0]);
    (void)n;
    sqlite3_result_text(c, alike_without(params ? params : "", along), -1, free);
}

struct reading {
    struct curves *all;
    sqlite3_int64 curve; /* of the last row; 0: none yet */
};

static void take_row(void *ctx, sqlite3_stmt *st)
{
    struct reading *r = ctx;
    struct curves *all = r->all;
    if (sqlite3_column_int64(st, CURVE) != r->curve) {
        struct curve_rows *new = &APPEND(all->v, all->n);
        *new = (struct curve_rows){.params = xstrdup(store_text(st, PARAMS)),
                                   .ranks = sqlite3_column_int64(st, RANKS),
                                   .nodes = sqlite3_column_int64(st, NODES)};
        for (int i = 0; i < 5; i++)
            new->names[i] = xstrdup(store_text(st, NAMES + i));
    }
    r->curve = sqlite3_column_int64(st, CURVE);
    struct curve_rows *g = &all->v[all->n - 1];
    struct sample s = {.size = sqlite3_column_double(st, SIZE),
                       .time = sqlite3_column_double(st, TIME),
                       .replicate = (size_t)sqlite3_column_int64(st, REPLICATE),
                       .ran = xstrdup(store_text(st, RAN))};
    if (s.replicate >= g->n_replicates)
        g->n_replicates = s.replicate + 1;
    APPEND(g->samples, g->n) = s;
}

/* GS_OK or reported; curves_free in both cases. */
static int curves_read(struct curves *all, struct store *s)
{
    struct reading r = {.all = all};
    *all = (struct curves){0};
    if (sqlite3_create_function(s->db, "along", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                sql_along, NULL, NULL))
        return store_failed(s);
    return store_each(s, query, take_row, &r);
}

static void curves_free(struct curves *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct curve_rows *g = &all->v[i];
        for (size_t k = 0; k < 5; k++)
            free(g->names[k]);
        for (size_t k = 0; k < g->n; k++)
            free(g->samples[k].ran);
        free(g->params);
        free(g->samples);
    }
    free(all->v);
}

/* ---- a curve ---- */

struct curve_grid {      /* the sizes that every replicate has, ascending, with their times */
    double *size, *time; /* size[n]; time[r * n_max] */
    const double **rows; /* the replicates in `time` */
    const char **ran;    /* ran[r * n_max]; rec_cell.ran */
    bool known;          /* none of them is "" */
    size_t n, n_max, replicates;
};

/* The grid has the sizes of all replicates, so one that lacks sizes would shrink it. It is left out if
 * it lacks more than half, or if most of the others lack none. */
static size_t keep_replicates(const struct curve_rows *g, size_t *place)
{
    AUTO_FREE size_t *count = xcalloc(g->n_replicates, sizeof *count);
    size_t most = 0, whole = 0, half = 0, kept = 0;
    for (size_t i = 0; i < g->n; i++)
        count[g->samples[i].replicate]++;
    for (size_t r = 0; r < g->n_replicates; r++)
        most = count[r] > most ? count[r] : most;
    for (size_t r = 0; r < g->n_replicates; r++) {
        whole += count[r] == most;
        half += 2 * count[r] >= most;
    }
    size_t least = 2 * whole > half ? most : (most + 1) / 2;
    for (size_t r = 0; r < g->n_replicates; r++)
        place[r] = count[r] >= least ? kept++ : SIZE_MAX;
    return kept;
}

/* A replicate that lacks sizes which most others have is left out. */
static struct curve_grid curve_grid_of(struct curve_rows *g)
{
    AUTO_FREE size_t *place = xmalloc(g->n_replicates * sizeof *place);
    struct curve_grid out = {.n_max = g->n, .replicates = keep_replicates(g, place)};
    out.size = xmalloc(g->n * sizeof *out.size);
    out.time = xmalloc(g->n * out.replicates * sizeof *out.time);
    out.rows = xmalloc(out.replicates * sizeof *out.rows);
    out.ran = xmalloc(g->n * out.replicates * sizeof *out.ran);
    out.known = true;
    for (size_t first = 0, end; first < g->n; first = end) {
        size_t found = 0;
        for (end = first; end < g->n && g->samples[end].size == g->samples[first].size; end++) {
            size_t r = place[g->samples[end].replicate];
            bool again = end > first && g->samples[end].replicate == g->samples[end - 1].replicate;
            if (r == SIZE_MAX || again)
                continue;
            out.time[r * out.n_max + out.n] = g->samples[end].time;
            out.ran[r * out.n_max + out.n] = g->samples[end].ran;
            found++;
        }
        if (found == out.replicates)
            out.size[out.n++] = g->samples[first].size;
    }
    for (size_t r = 0; r < out.replicates; r++) {
        out.rows[r] = out.time + r * out.n_max;
        for (size_t i = 0; i < out.n; i++)
            out.known = out.known && *out.ran[r * out.n_max + i];
    }
    return out;
}

static void curve_grid_free(struct curve_grid *g)
{
    free(g->size);
    free(g->time);
    free(g->rows);
    free(g->ran);
}

/* ---- findings ----
 *
 * The features of one row of times against size, of one replicate or of the median of several: the
 * points left out before the fit, the breaks and half-points of the fit, and the dips. transitions_find()
 * decides which of them it reports.
 */

/* The points that are left, and their fit; trace_free. */
struct trace {
    double *size, *time; /* owned */
    size_t n;
    struct piecewise fit;
};

struct finding { /* a feature of a trace */
    enum transition_kind kind;
    size_t first, last; /* points of the trace on both sides of it, or that it covers */
    double size, change;
    size_t piece; /* before a kink; the piece of a knee */
    bool jumps;   /* a kink: with a jump in time */
    bool falls;   /* a kink: with less bandwidth above */
};

struct findings {
    struct finding v[64];
    size_t n;
};

static void add_finding(struct findings *f, struct finding one)
{
    if (f->n < sizeof f->v / sizeof *f->v)
        f->v[f->n++] = one;
}

/* ---- what is left out before the fit ---- */

/* How far the first row is above the four rows after it; 0 unless that is more than these differ. Only
 * the first row includes one-time costs. */
static double findings_first_row(const double *time, size_t n)
{
    double rest[4];
    if (n < TRANSITIONS_LEAST)
        return 0;
    memcpy(rest, time + 1, sizeof rest);
    double median = stats_quantile_of(rest, 4, 0.5), least = INFINITY, most = 0;
    for (size_t i = 0; i < 4; i++) {
        least = fmin(least, rest[i]);
        most = fmax(most, rest[i]);
    }
    double excess = log(time[0] / median);
    return excess > fmax(log1p(TRANSITION_ARTEFACT), 4 * log(most / least)) ? excess : 0;
}

/* The least height of the points first..last above the line between their neighbours. */
static double above_neighbours(const double *size, const double *time, size_t first, size_t last)
{
    double x0 = log(size[first - 1]), x1 = log(size[last + 1]);
    double y0 = log(time[first - 1]), y1 = log(time[last + 1]), least = INFINITY;
    for (size_t i = first; i <= last; i++) {
        double line = y0 + (y1 - y0) * (log(size[i]) - x0) / (x1 - x0);
        least = fmin(least, log(time[i]) - line);
    }
    return least;
}

/* The median distance of a point from the line between its neighbours. */
static double roughness(const struct trace *t)
{
    AUTO_FREE double *off = xmalloc(t->n * sizeof *off);
    for (size_t i = 1; i + 1 < t->n; i++)
        off[i - 1] = fabs(above_neighbours(t->size, t->time, i, i));
    return stats_quantile_of(off, t->n - 2, 0.5);
}

static size_t spike_width(const double *size, const double *time, size_t n, size_t at, double least,
                          double *change)
{
    for (size_t width = 1; width <= 2 && at + width < n; width++) {
        *change = above_neighbours(size, time, at, at + width - 1);
        double next = 1.05 * time[at + width];
        if (*change > least && time[at] > next && time[at + width - 1] > next)
            return width;
    }
    return 0;
}

static void drop(struct trace *t, size_t at, size_t count)
{
    memmove(t->size + at, t->size + at + count, (t->n - at - count) * sizeof *t->size);
    memmove(t->time + at, t->time + at + count, (t->n - at - count) * sizeof *t->time);
    t->n -= count;
}

static void leave_out(struct trace *t, double first_row, struct findings *f)
{
    double change;
    if (first_row > 0) {
        add_finding(f, (struct finding){
                           .kind = TRANSITION_FIRST_ROW, .size = t->size[0], .change = first_row});
        drop(t, 0, 1);
    }
    double least = t->n > 2 ? fmax(log1p(TRANSITION_SPIKE), 4 * roughness(t)) : INFINITY;
    for (size_t i = 1; i + 1 < t->n && t->n > TRANSITIONS_LEAST; i++) {
        size_t width = spike_width(t->size, t->time, t->n, i, least, &change);
        if (!width)
            continue;
        add_finding(f, (struct finding){.kind = TRANSITION_SPIKED,
                                        .first = i - 1,
                                        .last = i,
                                        .size = t->size[i],
                                        .change = change});
        drop(t, i, width);
    }
}

/* ---- the fit and its breaks ---- */

static void find_break(const struct trace *t, size_t k, struct findings *f)
{
    const struct hockney *left = &t->fit.piece[k], *right = &t->fit.piece[k + 1];
    size_t last = t->fit.first[k + 1] - 1;
    double mid = sqrt(t->size[last] * t->size[last + 1]);
    double jump = log(hockney_time(right, mid) / hockney_time(left, mid));
    bool jumps = fabs(jump) > fmax(log1p(TRANSITION_JUMP), 2 * t->fit.error);
    add_finding(f, (struct finding){.kind = TRANSITION_KINK,
                                    .first = last,
                                    .last = last + 1,
                                    .size = mid,
                                    .change = jump,
                                    .piece = k,
                                    .jumps = jumps,
                                    .falls = right->b_Bps < left->b_Bps});
}

static void find_half(const struct trace *t, size_t k, struct findings *f)
{
    const struct hockney *h = &t->fit.piece[k];
    double half = h->a_s * h->b_Bps;
    size_t first = t->fit.first[k], last = t->fit.first[k + 1] - 1;
    if (!(half > t->size[first] && half < t->size[last]))
        return;
    size_t at = first;
    while (at + 1 < last && t->size[at + 1] <= half)
        at++;
    add_finding(
        f, (struct finding){
               .kind = TRANSITION_KNEE, .first = at, .last = at + 1, .size = half, .piece = k});
}

static double below(const struct trace *t, double most, size_t i)
{
    return log(most * t->time[i] / t->size[i]);
}

/* A shallow dip needs a neighbour of at least half its depth: the noise of one point makes no dip. */
static bool is_dip(const struct trace *t, double most, size_t low)
{
    double depth = below(t, most, low), noise = 2 * t->fit.error;
    double beside = low + 1 < t->n ? below(t, most, low + 1) : 0;
    beside = fmax(beside, below(t, most, low - 1));
    return depth > fmax(log1p(TRANSITION_DIP), noise) ||
           (depth > fmax(log1p(TRANSITION_SHALLOW), noise) && 2 * beside > depth);
}

/* The first larger size that regains half of what was lost; n: none. */
static size_t regained(const struct trace *t, double most, size_t low)
{
    size_t i = low;
    while (i < t->n && 2 * below(t, most, i) > below(t, most, low))
        i++;
    return i;
}

static void find_dips(const struct trace *t, struct findings *f)
{
    double most = 0;
    for (size_t i = 0, end; i < t->n; i = end) {
        size_t low = i;
        for (end = i; end < t->n && t->size[end] / t->time[end] < most; end++)
            low = below(t, most, end) > below(t, most, low) ? end : low;
        if (end > i && is_dip(t, most, low)) {
            size_t back = regained(t, most, low);
            bool dips = back < t->n && t->size[back] <= TRANSITION_DIP_WIDE * t->size[i - 1];
            add_finding(f, (struct finding){.kind = dips ? TRANSITION_DIPPED : TRANSITION_FELL,
                                            .first = i - 1,
                                            .last = dips ? back : low,
                                            .size = t->size[low],
                                            .change = -below(t, most, low)});
        }
        if (end == i)
            most = t->size[end] / t->time[end], end++;
    }
}

/* Leaves points out of the trace that no fit should see, fits the rest, and replaces *f by all that it
 * finds. first_row: of findings_first_row. known: the recordings say what ran, so kinks are not looked
 * for. */
static void findings_see(struct trace *t, double first_row, bool known, struct findings *f)
{
    f->n = 0;
    leave_out(t, first_row, f);
    t->fit = hockney_pieces(t->size, t->time, t->n);
    for (size_t k = 0; k < t->fit.n; k++) {
        find_half(t, k, f);
        if (!known && k + 1 < t->fit.n)
            find_break(t, k, f);
    }
    find_dips(t, f);
}

static struct trace trace_of(const double *size, const double *time, size_t n)
{
    struct trace t = {xmalloc(n * sizeof *size), xmalloc(n * sizeof *time), n, {.n = 0}};
    memcpy(t.size, size, n * sizeof *size);
    memcpy(t.time, time, n * sizeof *time);
    return t;
}

static void trace_free(struct trace *t)
{
    free(t->size);
    free(t->time);
}

/* ---- transitions ---- */

static const char *const transition_names[] = {
    [TRANSITION_FIRST_ROW] = "first row",
    [TRANSITION_SPIKED] = "spike",
    [TRANSITION_SWITCH] = "switch",
    [TRANSITION_CTAS] = "CTAs",
    [TRANSITION_KINK] = "kink",
    [TRANSITION_KNEE] = "knee",
    [TRANSITION_DIPPED] = "dip",
    [TRANSITION_FELL] = "fall",
    [TRANSITION_FIT] = "fit",
    [TRANSITION_REFUSED] = "refused",
};

static const struct hockney no_piece = {(double)NAN, (double)NAN, (double)NAN};

/* ---- chaos ---- */

static double disagreement(const struct curve *c)
{
    AUTO_FREE double *ratios = xmalloc(c->n * sizeof *ratios);
    for (size_t i = 0; i < c->n; i++) {
        double least = INFINITY, most = 0;
        for (size_t r = 0; r < c->replicates; r++) {
            least = fmin(least, c->time[r][i]);
            most = fmax(most, c->time[r][i]);
        }
        ratios[i] = log(most / least);
    }
    return stats_quantile_of(ratios, c->n, 0.5);
}

static double falling(const double *time, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < n; i++)
        count += time[i + 1] < 0.9 * time[i];
    return (double)count / (double)(n - 1);
}

/* Is the curve too short or too chaotic? Then `why` says so. */
static bool refuse(const struct curve *c, const struct trace *t, char *why, size_t size)
{
    double apart = disagreement(c), share = falling(t->time, t->n);
    if (c->n < TRANSITIONS_LEAST)
        snprintf(why, size, "%zu sizes, but a break can be told only in %d or more", c->n,
                 TRANSITIONS_LEAST);
    else if (share > TRANSITION_FALLING)
        snprintf(why, size, "chaotic: in %.0f%% of the steps the larger size is faster",
                 100 * share);
    else if (apart > TRANSITION_DISAGREE)
        snprintf(why, size, "chaotic: replicates are %.1f times apart at half of the sizes",
                 exp(apart));
    else
        return false;
    return true;
}

/* ---- all together ---- */

static void median_curve(const struct curve *c, double *out)
{
    AUTO_FREE double *x = xmalloc(c->replicates * sizeof *x);
    for (size_t i = 0; i < c->n; i++) {
        for (size_t r = 0; r < c->replicates; r++)
            x[r] = c->time[r][i];
        out[i] = stats_quantile_of(x, c->replicates, 0.5);
    }
}

/* At most one measured size apart, where the feature lies between sizes. */
static bool same_place(const struct curve *c, const struct finding *a, const struct finding *b)
{
    size_t steps = 0;
    if (a->kind != b->kind)
        return false;
    for (size_t i = 0; i < c->n; i++)
        steps += c->size[i] > fmin(a->size, b->size) * 1.0001 &&
                 c->size[i] < fmax(a->size, b->size) * 0.9999;
    bool between = a->kind == TRANSITION_KINK || a->kind == TRANSITION_KNEE;
    return a->size == b->size || steps <= (between ? 1 : 0);
}

static void say_why(struct transition *t, const struct finding *f)
{
    const char *why = "";
    if (f->kind == TRANSITION_KNEE)
        why = "n1/2: latency-bound below, bandwidth-bound above";
    else if (f->kind == TRANSITION_KINK)
        why = f->jumps   ? f->change > 0 ? "the time jumps up" : "the time drops"
              : f->falls ? "the bandwidth falls without a jump in time"
                         : "no jump, and more bandwidth above";
    else if (f->kind == TRANSITION_DIPPED)
        why = "regained at larger sizes";
    else if (f->kind == TRANSITION_FELL)
        why = "half of it is not regained at the next larger sizes";
    else if (f->kind == TRANSITION_FIRST_ROW)
        why = "measured first, and slower than the four sizes after it: warm-up";
    else if (f->kind == TRANSITION_SPIKED)
        why = "above both neighbours, and the next size is faster";
    snprintf(t->why, sizeof t->why, "%s", why);
}

static struct transition *add(struct transitions *t, enum transition_kind kind)
{
    APPEND(t->v, t->n) =
        (struct transition){.kind = kind, .before = no_piece, .after = no_piece, .change = NAN};
    return &t->v[t->n - 1];
}

static void add_feature(struct transitions *out, const struct trace *t, const struct finding *f)
{
    struct transition *one = add(out, f->kind);
    one->size = one->low = one->high = f->size;
    if (f->kind != TRANSITION_FIRST_ROW) {
        one->low = t->size[f->first];
        one->high = t->size[f->last];
    }
    if (f->kind == TRANSITION_KNEE || f->kind == TRANSITION_KINK)
        one->before = one->after = t->fit.piece[f->piece];
    if (f->kind == TRANSITION_KINK)
        one->after = t->fit.piece[f->piece + 1];
    if (f->kind != TRANSITION_KNEE)
        one->change = expm1(f->change);
    say_why(one, f);
}

static void add_fits(struct transitions *out, const struct trace *t)
{
    for (size_t k = 0; k < t->fit.n; k++) {
        struct transition *one = add(out, TRANSITION_FIT);
        one->after = t->fit.piece[k];
        one->low = one->size = t->size[t->fit.first[k]];
        one->high = t->size[t->fit.first[k + 1] - 1];
    }
}

/* out->v[first + i] is f->v[i]. */
static void count_agreement(const struct curve *c, struct transitions *out, size_t first,
                            const struct findings *f)
{
    for (size_t r = 0; r < c->replicates; r++) {
        struct trace t = trace_of(c->size, c->time[r], c->n);
        AUTO_FREE struct findings *own = xcalloc(1, sizeof *own);
        findings_see(&t, findings_first_row(c->time[r], c->n), c->ran, own);
        for (size_t i = 0; i < f->n; i++) {
            bool found = false;
            for (size_t j = 0; j < own->n && !found; j++)
                found = same_place(c, &f->v[i], &own->v[j]);
            out->v[first + i].agree += found;
        }
        trace_free(&t);
    }
}

/* ---- what ran ---- */

/* In "RING/LL ctas=24" the first word is algorithm and protocol. */
static bool same_kernel(const char *a, const char *b)
{
    size_t n = strcspn(a, " ");
    return n == strcspn(b, " ") && !strncmp(a, b, n);
}

/* How many replicates change from size i to the next as r does. *first: r is the first of them. */
static size_t agreeing(const struct curve *c, size_t r, size_t i, bool *first)
{
    size_t n = 0;
    *first = true;
    for (size_t k = 0; k < c->replicates; k++) {
        bool same =
            !strcmp(c->ran[k][i], c->ran[r][i]) && !strcmp(c->ran[k][i + 1], c->ran[r][i + 1]);
        n += same;
        *first = *first && !(same && k < r);
    }
    return n;
}

/* A row for each change from one size to the next; replicates with the same change share a row. */
static void add_switches(struct transitions *out, const struct curve *c)
{
    for (size_t i = 0; c->ran && i + 1 < c->n; i++)
        for (size_t r = 0; r < c->replicates; r++) {
            const char *from = c->ran[r][i], *to = c->ran[r][i + 1];
            bool first;
            size_t agree = agreeing(c, r, i, &first);
            if (!first || !strcmp(from, to))
                continue;
            struct transition *one =
                add(out, same_kernel(from, to) ? TRANSITION_CTAS : TRANSITION_SWITCH);
            one->low = c->size[i];
            one->high = c->size[i + 1];
            one->size = sqrt(one->low * one->high);
            one->agree = agree;
            snprintf(one->why, sizeof one->why, "%.70s to %.70s", from, to);
        }
}

static void refused(struct transitions *out, const struct curve *c, const char *why)
{
    struct transition *one = add(out, TRANSITION_REFUSED);
    one->low = one->size = c->size[0];
    one->high = c->size[c->n - 1];
    snprintf(one->why, sizeof one->why, "%s", why);
    out->error_in = out->error_out = NAN;
}

/* One launch is enough: it may be the only one that measured this size first. */
static double worst_first_row(const struct curve *c)
{
    double most = 0;
    for (size_t r = 0; r < c->replicates; r++)
        most = fmax(most, findings_first_row(c->time[r], c->n));
    return most;
}

struct transitions transitions_find(const struct curve *c)
{
    char why[128];
    struct transitions out = {.replicates = c->replicates};
    add_switches(&out, c);
    AUTO_FREE double *median = xmalloc(c->n * sizeof *median);
    median_curve(c, median);
    struct trace t = trace_of(c->size, median, c->n);
    AUTO_FREE struct findings *f = xcalloc(1, sizeof *f);
    if (refuse(c, &t, why, sizeof why)) {
        refused(&out, c, why);
    } else {
        findings_see(&t, worst_first_row(c), c->ran, f);
        out.error_in = t.fit.error;
        out.error_out = piecewise_error_out(&t.fit, t.size, t.time, t.n);
        if (out.error_in > TRANSITION_CHAOS) {
            snprintf(why, sizeof why, "chaotic: the best fit is off by %.0f%%", 100 * out.error_in);
            refused(&out, c, why);
        } else {
            size_t first = out.n;
            for (size_t i = 0; i < f->n; i++)
                add_feature(&out, &t, &f->v[i]);
            count_agreement(c, &out, first, f);
            add_fits(&out, &t);
        }
    }
    trace_free(&t);
    return out;
}

void transitions_free(struct transitions *t)
{
    free(t->v);
    *t = (struct transitions){0};
}

const char *transition_verdict(const struct transitions *t, const struct transition *one)
{
    if (one->kind == TRANSITION_FIT || one->kind == TRANSITION_REFUSED)
        return transition_names[one->kind];
    if (one->kind == TRANSITION_FIRST_ROW)
        return "artefact";
    if (one->kind == TRANSITION_SWITCH || one->kind == TRANSITION_CTAS)
        return "recorded";
    if (t->replicates < 2)
        return "unconfirmed";
    return one->agree > 1 && 2 * one->agree > t->replicates ? "confirmed" : "not confirmed";
}

/* ---- transitions csv ----
 *
 * Curves to the table `transitions`.
 */

const char transitions_columns[] =
    "platform,workload,label,config,mode,params,ranks,nodes,kind,size_B,from_B,to_B,before_a_s,"
    "before_b_Bps,after_a_s,after_b_Bps,change,agree,replicates,verdict,fit_error,"
    "fit_error_out,reason";

/* Sizes are rounded to bytes; an infinite bandwidth is an empty field. */
static void write_one(struct csv *c, const struct curve_rows *g, const struct transitions *t,
                      const struct transition *one)
{
    for (size_t i = 0; i < 5; i++)
        csv_text(c, g->names[i]);
    csv_text(c, g->params);
    csv_integer(c, g->ranks);
    csv_integer(c, g->nodes);
    csv_text(c, transition_names[one->kind]);
    CSV_INTEGERS(c, llround(one->size), llround(one->low), llround(one->high));
    const double real[] = {one->before.a_s, one->before.b_Bps, one->after.a_s, one->after.b_Bps,
                           one->change};
    for (size_t i = 0; i < COUNT(real); i++)
        csv_real(c, isinf(real[i]) ? (double)NAN : real[i]);
    csv_integer(c, (int64_t)one->agree);
    csv_integer(c, (int64_t)t->replicates);
    csv_text(c, transition_verdict(t, one));
    csv_real(c, t->error_in);
    csv_real(c, t->error_out);
    csv_text(c, one->why);
    csv_end(c);
}

static void write_curve(struct csv *c, struct curve_rows *g)
{
    AUTO(curve_grid_free) struct curve_grid grid = curve_grid_of(g);
    if (grid.n) {
        const char *const **ran = xmalloc(grid.replicates * sizeof *ran);
        for (size_t r = 0; r < grid.replicates; r++)
            ran[r] = grid.ran + r * grid.n_max;
        const struct curve curve = {grid.size, grid.n, grid.rows, grid.replicates,
                                    grid.known ? ran : NULL};
        struct transitions t = transitions_find(&curve);
        for (size_t i = 0; i < t.n; i++)
            write_one(c, g, &t, &t.v[i]);
        transitions_free(&t);
        free(ran);
    }
}

int transitions_make(struct store *s)
{
    AUTO(curves_free) struct curves all = {0};
    struct csv csv;
    CHECK(curves_read(&all, s));
    CHECK(store_make(s, "transitions", transitions_columns));
    struct store_rows *rows = store_rows_begin(s, "transitions", transitions_columns, false, &csv);
    for (size_t i = 0; i < all.n; i++)
        write_curve(&csv, &all.v[i]);
    return store_rows_end(rows);
}

/* ---- transitions table ----
 *
 * The table `transitions` in the terminal.
 */

/* clang-format off */

/* Recorded and confirmed first; then by the largest change; a switch before the other kinds that have
 * no change. Rows that would read alike, of curves that differ in what the table has no column for,
 * are one. */
static const char lines[] =
    "CREATE TEMP VIEW line AS"
    " SELECT *, verdict IN ('confirmed', 'recorded') AS sure, min(rowid) AS at, count(*) AS n"
    " FROM transitions"
    " WHERE kind NOT IN ('fit', 'refused') AND platform IN (SELECT platform FROM asked_platform)"
    " GROUP BY platform, workload, label, config, mode, kind, from_B, to_B, verdict, change,"
    "   iif(change IS NULL, 0, rowid)";

static const char shown[] =
    "SELECT platform, trim(workload || ' ' || label) AS workload,"
    "   iif(config = '', '-', config) AS config, iif(mode = '', '-', mode) AS mode, kind,"
    "   human_size(from_B) || iif(from_B < to_B, ' .. ' || human_size(to_B), '') AS sizes,"
    "   human_change(change) AS change, verdict || iif(n > 1, ' ×' || n, '') AS verdict"
    " FROM line"
    " ORDER BY sure DESC, coalesce(abs(change), -1 - (kind <> 'switch')) DESC, at";

/* Rows, curves, and those of them that were refused. */
static const char counts[] =
    "SELECT count(*),"
    "   count(DISTINCT json_array(platform, workload, label, config, mode, params, ranks, nodes)),"
    "   coalesce(sum(kind = 'refused'), 0)"
    " FROM transitions WHERE platform IN (SELECT platform FROM asked_platform)";

/* clang-format on */

/* "confirmed", "recorded ×3" */
static bool is_sure(const char *verdict)
{
    return !strncmp(verdict, "confirmed", 9) || !strncmp(verdict, "recorded", 8);
}

static void take_counts(void *ctx, sqlite3_stmt *st)
{
    for (int i = 0; i < 3; i++)
        ((size_t *)ctx)[i] = (size_t)sqlite3_column_int64(st, i);
}

static int choose(struct store *s, const char *platform)
{
    int code = store_make(s, "asked_platform", "platform");
    char *sql = platform
                    ? sqlite3_mprintf("INSERT INTO asked_platform VALUES (%Q)", platform)
                    : sqlite3_mprintf("INSERT INTO asked_platform SELECT DISTINCT platform FROM "
                                      "transitions");
    if (!code)
        code = store_execute(s, sql);
    sqlite3_free(sql);
    return code;
}

static void say_refused(size_t refused, const char *path)
{
    AUTO_FREE char *line =
        xstrfmt("%zu curve%s too short or irregular%s%s", refused, refused == 1 ? " is" : "s are",
                path ? "; reasons and fits: " : "", path ? path : "");
    screen_say(line);
}

/* Nothing found says something only of the curves that were looked at. */
static void say_none(size_t judged, size_t curves)
{
    if (judged)
        printf("no transition found in %zu of %zu curves\n", judged, curves);
    else
        printf("nothing can be said: every curve has fewer than %d sizes, or is irregular\n",
               TRANSITIONS_LEAST);
}

int transitions_print(struct store *s, const char *platform, bool all, const char *path)
{
    struct printing how = {.format = PRINT_TEXT,
                           .keys = 2,
                           .fine = is_sure,
                           .most = all ? 0 : screen_lines(stdout) - 3};
    size_t n[3] = {0};
    CHECK(choose(s, platform));
    CHECK(store_each(s, counts, take_counts, n));
    size_t rows = n[0], curves = n[1], refused = n[2];
    if (platform && !rows)
        return fail_at(GS_FAILED, path ? path : TRANSITIONS_CSV, 0,
                       "has no row of platform '%s': its recordings have no curve, or were left "
                       "out; see what 'make tables' says",
                       platform);
    CHECK(print_functions(s));
    CHECK(store_execute(s, lines));
    CHECK(print_query(s, shown, &how));
    if (!how.rows)
        say_none(curves - refused, curves);
    if (how.most && how.rows > how.most)
        printf("%zu more: --all\n", how.rows - how.most);
    say_refused(refused, path);
    return GS_OK;
}
