/* SPDX-License-Identifier: Apache-2.0 */
#include "curves/transitions.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const transition_names[] = {
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

bool transition_is_sure(const char *verdict)
{
    return !strcmp(verdict, "confirmed") || !strcmp(verdict, "recorded");
}
