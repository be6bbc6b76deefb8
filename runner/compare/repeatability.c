/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/repeatability.h"

#include "base/csv.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/compare_print.h"
#include "compare/origin.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- repeatability ---- */

/* ---- which are alike ---- */

static int by_question(const struct contrast *a, const struct contrast *b)
{
    const char *const x[] = {a->platform, a->workload, a->label, a->mode,
                             a->params,   a->baseline, a->config};
    const char *const y[] = {b->platform, b->workload, b->label, b->mode,
                             b->params,   b->baseline, b->config};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        int order = strcmp(x[i], y[i]);
        if (order)
            return order;
    }
    return (a->size_B > b->size_B) - (a->size_B < b->size_B);
}

/* Names of runs begin with their time. */
static int by_question_and_run(const void *a, const void *b)
{
    const struct contrast *x = *(const struct contrast *const *)a,
                          *y = *(const struct contrast *const *)b;
    int order = by_question(x, y);
    return order ? order : strcmp(x->run_id, y->run_id);
}

bool contrast_has_twin(const struct comparison *c, const struct contrast *one)
{
    for (size_t i = 0; i < c->n; i++)
        if (contrasts_of_one_section(&c->v[i], one) && strcmp(c->v[i].run_id, one->run_id) != 0)
            return true;
    return false;
}

/* By the pair of runs, then in the order of the comparison. */
static int by_place(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    const struct contrast *c = x->later, *d = y->later;
    const char *const u[] = {c->platform, c->workload, c->label, c->run_id, x->earlier->run_id};
    const char *const v[] = {d->platform, d->workload, d->label, d->run_id, y->earlier->run_id};
    for (size_t i = 0; i < sizeof u / sizeof *u; i++) {
        int order = strcmp(u[i], v[i]);
        if (order)
            return order;
    }
    return (c > d) - (c < d);
}

static bool has_numbers(const struct contrast *c)
{
    return isfinite(c->effect.value) && isfinite(c->effect.lo) && isfinite(c->effect.hi);
}

/* Is v[i] the only contrast of its question in its run? */
static bool single(const struct contrast *const *v, size_t n, size_t i)
{
    return (i == 0 || by_question_and_run(&v[i - 1], &v[i]) != 0) &&
           (i + 1 == n || by_question_and_run(&v[i], &v[i + 1]) != 0);
}

void repeats_find(struct repeats *r, const struct comparison *c)
{
    AUTO_FREE const struct contrast **v = xcalloc(c->n + 1, sizeof *v);
    for (size_t i = 0; i < c->n; i++)
        v[i] = &c->v[i];
    qsort(v, c->n, sizeof *v, by_question_and_run);
    *r = (struct repeats){.of = c, .v = xcalloc(c->n + 1, sizeof *r->v)};
    const struct contrast *last = NULL; /* the last that is single and has numbers */
    for (size_t i = 0; i < c->n; i++) {
        if (!single(v, c->n, i) || !has_numbers(v[i]))
            continue;
        if (last && !by_question(last, v[i]))
            r->v[r->n++] = (struct repeat){last, v[i]};
        last = v[i];
    }
    qsort(r->v, r->n, sizeof *r->v, by_place);
}

void repeats_free(struct repeats *r)
{
    free(r->v);
    *r = (struct repeats){0};
}

/* ---- whether they agree ---- */

/* The verdict of the earlier run by the equivalence bound of the later run. */
static enum verdict repeat_earlier(const struct repeat *r)
{
    const struct contrast *c = r->earlier;
    if (c->judgement.verdict == VERDICT_SAME)
        return VERDICT_SAME;
    return judge_effect(&c->effect, r->later->bound, contrast_floor(c), c->p_holm).verdict;
}

static enum agreement repeat_agreement(const struct repeat *r)
{
    enum verdict a = repeat_earlier(r), b = r->later->judgement.verdict;
    if (a == VERDICT_SAME || b == VERDICT_SAME)
        return AGREEMENT_OPERATION;
    if (a == VERDICT_INCONCLUSIVE || b == VERDICT_INCONCLUSIVE)
        return AGREEMENT_OPEN;
    if (a == b)
        return AGREEMENT_SAME;
    return a == VERDICT_EQUIVALENT || b == VERDICT_EQUIVALENT ? AGREEMENT_DIFFERENT
                                                              : AGREEMENT_CONTRARY;
}

static bool repeat_overlaps(const struct repeat *r)
{
    return r->earlier->effect.lo <= r->later->effect.hi &&
           r->later->effect.lo <= r->earlier->effect.hi;
}

/* ---- as a table ---- */

const char again_columns[] = "earlier_run_id,earlier_launches,earlier_ratio,earlier_ratio_low,"
                             "earlier_ratio_high,earlier_verdict,agreement,overlap";

int repeats_write(const struct repeats *r, const char *dir)
{
    static const char *const agreements[AGREEMENTS] = {"same", "same operation", "open",
                                                       "different", "contrary"};
    struct csv csv;
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, AGAIN_CSV);
    AUTO_FREE char *columns = xstrfmt("%s,%s", compare_columns, again_columns);
    int code = csv_open(&csv, path);
    if (!code) {
        csv_params_header(&csv, columns);
        for (size_t i = 0; i < r->n; i++) {
            const struct contrast *first = r->v[i].earlier;
            contrast_row(&csv, r->v[i].later);
            csv_text(&csv, first->run_id);
            csv_integer(&csv, first->effect.launches);
            CSV_REALS(&csv, exp(first->effect.value), exp(first->effect.lo), exp(first->effect.hi));
            CSV_TEXTS(&csv, verdict_names[repeat_earlier(&r->v[i])],
                      agreements[repeat_agreement(&r->v[i])],
                      repeat_overlaps(&r->v[i]) ? "yes" : "no");
            csv_end(&csv);
        }
        code = csv_close(&csv, true);
    }
    return code;
}

/* ---- repeatability table ---- */

static bool same_runs(const struct repeat *a, const struct repeat *b)
{
    return contrasts_of_one_run(a->later, b->later) && contrasts_of_one_run(a->earlier, b->earlier);
}

static size_t contrasts_of(const struct comparison *c, const struct contrast *run)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += contrasts_of_one_run(&c->v[i], run);
    return n;
}

static void print_run(const struct contrast *c)
{
    printf("\n%s%s%s on %s, run %s", c->workload, *c->label ? " " : "", c->label, c->platform,
           c->run_id);
}

static void print_difference(const struct repeat *r)
{
    AUTO_FREE char *difference = r->earlier->origin && r->later->origin
                                     ? origin_difference(r->earlier->origin, r->later->origin)
                                     : xstrdup("");
    if (*difference)
        printf("  different provenance: %s\n", difference);
}

/* v[0 .. n) have the same two runs. */
static void print_counts(const struct comparison *all, const struct repeat *v, size_t n)
{
    size_t counts[AGREEMENTS] = {0}, overlaps = 0;
    AUTO_FREE double *moved = xmalloc(n * sizeof *moved);
    for (size_t i = 0; i < n; i++) {
        counts[repeat_agreement(&v[i])]++;
        overlaps += repeat_overlaps(&v[i]);
        moved[i] = fabs(v[i].later->effect.value - v[i].earlier->effect.value);
    }
    print_run(v[0].later);
    printf(" after %s\n", v[0].earlier->run_id);
    print_difference(&v[0]);
    printf("  %zu of %zu contrasts have numbers in both: %zu with the same verdict, %zu "
           "inconclusive in one or both, %zu equivalent in one and not in the other, %zu contrary",
           n, contrasts_of(all, v[0].later), counts[AGREEMENT_SAME], counts[AGREEMENT_OPEN],
           counts[AGREEMENT_DIFFERENT], counts[AGREEMENT_CONTRARY]);
    if (counts[AGREEMENT_OPERATION])
        printf(", %zu same operation in one or both", counts[AGREEMENT_OPERATION]);
    puts("");
    printf("  %zu of %zu intervals overlap; half of the ratios moved by at most %.2f%%\n", overlaps,
           n, 100 * expm1(stats_median(moved, n)));
}

static void print_side(const char *when, enum verdict verdict, const struct contrast *c)
{
    printf(" %s %s %s [%s, %s]", when, verdict_names[verdict], PERCENT(c->effect.value),
           PERCENT(c->effect.lo), PERCENT(c->effect.hi));
}

static void print_disagreeing(const struct repeat *v, size_t n)
{
    struct axes axes = {0};
    for (size_t i = 0; i < n; i++)
        axes_config(&axes, v[i].later->config, v[i].later->params);
    for (size_t i = 1; i < n; i++)
        axes_add(&axes, v[0].later->params, v[i].later->params);
    for (size_t i = 0; i < n; i++) {
        const struct contrast *c = v[i].later;
        if (repeat_agreement(&v[i]) < AGREEMENT_DIFFERENT)
            continue;
        AUTO_FREE char *where = axes_where(&axes, c->mode, c->params);
        bool placed = strcmp(where, "-") != 0;
        printf("  %-9s %-12s%s%s ", c->size_B ? SHORT_SIZE(c->size_B) : "-", c->config,
               placed ? " " : "", placed ? where : "");
        print_side("earlier", repeat_earlier(&v[i]), v[i].earlier);
        printf(",");
        print_side("later", c->judgement.verdict, c);
        puts("");
    }
}

static bool repeated(const struct repeats *r, const struct contrast *run)
{
    for (size_t i = 0; i < r->n; i++)
        if (contrasts_of_one_run(r->v[i].earlier, run) || contrasts_of_one_run(r->v[i].later, run))
            return true;
    return false;
}

/* The contrasts of a run are consecutive. */
static void print_alone(const struct repeats *r)
{
    for (size_t i = 0; i < r->of->n; i++) {
        const struct contrast *c = &r->of->v[i];
        if ((i && contrasts_of_one_run(c, c - 1)) || repeated(r, c) || !contrast_has_twin(r->of, c))
            continue;
        print_run(c);
        printf("\n  none of its %zu contrasts has numbers in this run and in another; 'gradsync "
               "compare' prints the reasons\n",
               contrasts_of(r->of, c));
    }
}

void repeats_print(const struct repeats *r)
{
    for (size_t i = 0, end; i < r->n; i = end) {
        for (end = i + 1; end < r->n && same_runs(&r->v[i], &r->v[end]); end++)
            ;
        print_counts(r->of, r->v + i, end - i);
        print_disagreeing(r->v + i, end - i);
    }
    print_alone(r);
}
