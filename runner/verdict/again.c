/* SPDX-License-Identifier: Apache-2.0 */
#include "again.h"

#include "../csv.h"
#include "../err.h"
#include "../stats.h"
#include "../text.h"
#include "../units.h"
#include "axes.h"
#include "compare_table.h"
#include "origin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Names of runs begin with the time. */
static int by_question_and_run(const void *a, const void *b)
{
    const struct contrast *x = *(const struct contrast *const *)a,
                          *y = *(const struct contrast *const *)b;
    int order = by_question(x, y);
    return order ? order : strcmp(x->run_id, y->run_id);
}

static bool same_run(const struct contrast *a, const struct contrast *b)
{
    return !strcmp(a->platform, b->platform) && !strcmp(a->workload, b->workload) &&
           !strcmp(a->label, b->label) && !strcmp(a->run_id, b->run_id);
}

/* Those of the same two runs stand together. */
static int by_place(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    int order = same_run(x->again, y->again) ? strcmp(x->first->run_id, y->first->run_id) : 0;
    return order ? order : (x->again > y->again) - (x->again < y->again);
}

static bool has_numbers(const struct contrast *c)
{
    return isfinite(c->effect.value) && isfinite(c->effect.lo) && isfinite(c->effect.hi);
}

/* The only one of its question in its run. */
static bool single(const struct contrast *const *v, size_t n, size_t i)
{
    return (i == 0 || by_question_and_run(&v[i - 1], &v[i]) != 0) &&
           (i + 1 == n || by_question_and_run(&v[i], &v[i + 1]) != 0);
}

void repeats_find(struct repeats *r, const struct comparison *c)
{
    const struct contrast **v = xcalloc(c->n + 1, sizeof *v);
    for (size_t i = 0; i < c->n; i++)
        v[i] = &c->v[i];
    qsort(v, c->n, sizeof *v, by_question_and_run);
    *r = (struct repeats){.of = c, .v = xcalloc(c->n + 1, sizeof *r->v)};
    const struct contrast *last = NULL; /* that can be held against another */
    for (size_t i = 0; i < c->n; i++) {
        if (!single(v, c->n, i) || !has_numbers(v[i]))
            continue;
        if (last && !by_question(last, v[i]))
            r->v[r->n++] = (struct repeat){last, v[i]};
        last = v[i];
    }
    free(v);
    qsort(r->v, r->n, sizeof *r->v, by_place);
}

void repeats_free(struct repeats *r)
{
    free(r->v);
    *r = (struct repeats){0};
}

/* ---- whether they agree ---- */

/* By the later run's bound: what it calls equivalent is the question's, not the machine's. */
static enum verdict earlier_verdict(const struct repeat *r)
{
    const struct contrast *c = r->first;
    return judge_effect(&c->effect, r->again->bound, isnan(c->floor) ? 0 : c->floor, c->p_holm)
        .verdict;
}

enum agreement repeat_agreement(const struct repeat *r)
{
    enum verdict a = earlier_verdict(r), b = r->again->judgement.verdict;
    if (a == VERDICT_INCONCLUSIVE || b == VERDICT_INCONCLUSIVE)
        return AGREEMENT_OPEN;
    if (a == b)
        return AGREEMENT_SAME;
    return a == VERDICT_EQUIVALENT || b == VERDICT_EQUIVALENT ? AGREEMENT_DIFFERENT
                                                              : AGREEMENT_CONTRARY;
}

bool repeat_overlaps(const struct repeat *r)
{
    return r->first->effect.lo <= r->again->effect.hi && r->again->effect.lo <= r->first->effect.hi;
}

/* ---- as a table ---- */

int repeats_write(const struct repeats *r, const char *dir)
{
    static const char *const agreements[AGREEMENTS] = {"same", "open", "different", "contrary"};
    struct csv csv;
    char *path = xstrfmt("%s/%s", dir, AGAIN_CSV);
    char *columns = xstrfmt("%s,earlier_run_id,earlier_launches,earlier_ratio,earlier_ratio_low,"
                            "earlier_ratio_high,earlier_verdict,agreement,overlap",
                            compare_columns);
    int code = csv_open(&csv, path);
    if (!code) {
        csv_header(&csv, columns);
        for (size_t i = 0; i < r->n; i++) {
            const struct contrast *first = r->v[i].first;
            contrast_row(&csv, r->v[i].again);
            csv_text(&csv, first->run_id);
            csv_integer(&csv, first->effect.launches);
            csv_real(&csv, exp(first->effect.value));
            csv_real(&csv, exp(first->effect.lo));
            csv_real(&csv, exp(first->effect.hi));
            csv_text(&csv, verdict_names[earlier_verdict(&r->v[i])]);
            csv_text(&csv, agreements[repeat_agreement(&r->v[i])]);
            csv_text(&csv, repeat_overlaps(&r->v[i]) ? "yes" : "no");
            csv_end(&csv);
        }
        code = csv_close(&csv, true);
    }
    free(columns);
    free(path);
    return code;
}

/* ---- in the terminal ---- */

static bool same_runs(const struct repeat *a, const struct repeat *b)
{
    return same_run(a->again, b->again) && same_run(a->first, b->first);
}

static size_t contrasts_of(const struct comparison *c, const struct contrast *run)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += same_run(&c->v[i], run);
    return n;
}

static void print_run(const struct contrast *c)
{
    printf("\n%s%s%s on %s, run %s", c->workload, *c->label ? " " : "", c->label, c->platform,
           c->run_id);
}

static void print_unlike(const struct repeat *r)
{
    char *unlike = r->first->origin && r->again->origin
                       ? origin_difference(r->first->origin, r->again->origin)
                       : xstrdup("");
    if (*unlike)
        printf("  not alike: %s\n", unlike);
    free(unlike);
}

/* v[0 .. n) are of the same two runs. */
static void print_counts(const struct comparison *all, const struct repeat *v, size_t n)
{
    size_t counts[AGREEMENTS] = {0}, overlaps = 0;
    double *moved = xmalloc(n * sizeof *moved);
    for (size_t i = 0; i < n; i++) {
        counts[repeat_agreement(&v[i])]++;
        overlaps += repeat_overlaps(&v[i]);
        moved[i] = fabs(v[i].again->effect.value - v[i].first->effect.value);
    }
    print_run(v[0].again);
    printf(" after %s\n", v[0].first->run_id);
    print_unlike(&v[0]);
    printf(
        "  %zu of %zu contrasts have numbers in both: %zu with the same verdict, %zu "
        "inconclusive in one or both, %zu equivalent in one and not in the other, %zu contrary\n",
        n, contrasts_of(all, v[0].again), counts[AGREEMENT_SAME], counts[AGREEMENT_OPEN],
        counts[AGREEMENT_DIFFERENT], counts[AGREEMENT_CONTRARY]);
    printf("  %zu of %zu intervals overlap; half of the ratios moved by at most %.2f%%\n", overlaps,
           n, 100 * expm1(stats_median(moved, n)));
    free(moved);
}

static void print_side(const char *when, enum verdict verdict, const struct contrast *c)
{
    char ratio[32], lo[32], hi[32];
    printf(" %s %s %s [%s, %s]", when, verdict_names[verdict],
           comparison_percent(ratio, sizeof ratio, c->effect.value),
           comparison_percent(lo, sizeof lo, c->effect.lo),
           comparison_percent(hi, sizeof hi, c->effect.hi));
}

static void print_disagreeing(const struct repeat *v, size_t n)
{
    struct axes axes = {0};
    for (size_t i = 1; i < n; i++)
        axes_add(&axes, v[0].again->params, v[i].again->params);
    for (size_t i = 0; i < n; i++) {
        const struct contrast *c = v[i].again;
        if (repeat_agreement(&v[i]) < AGREEMENT_DIFFERENT)
            continue;
        char size[32], *where = axes_where(&axes, c->mode, c->params);
        bool placed = strcmp(where, "-") != 0;
        printf("  %-9s %-12s%s%s ",
               c->size_B ? units_size(size, sizeof size, (uint64_t)c->size_B) : "-", c->config,
               placed ? " " : "", placed ? where : "");
        print_side("earlier", earlier_verdict(&v[i]), v[i].first);
        printf(",");
        print_side("later", c->judgement.verdict, c);
        puts("");
        free(where);
    }
}

static bool held(const struct repeats *r, const struct contrast *run)
{
    for (size_t i = 0; i < r->n; i++)
        if (same_run(r->v[i].first, run) || same_run(r->v[i].again, run))
            return true;
    return false;
}

/* Contrasts of a run stand together. */
static void print_alone(const struct repeats *r)
{
    for (size_t i = 0; i < r->of->n; i++) {
        const struct contrast *c = &r->of->v[i];
        if ((i && same_run(c, c - 1)) || held(r, c))
            continue;
        print_run(c);
        printf("\n  none of its %zu contrasts has numbers here and in another run; 'gradsync "
               "compare' says why\n",
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
