/* SPDX-License-Identifier: Apache-2.0 */
#include "again.h"

#include "../csv.h"
#include "../err.h"
#include "../stats.h"
#include "../text.h"
#include "../units.h"
#include "axes.h"
#include "compare_table.h"

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

static int by_place(const void *a, const void *b)
{
    const struct repeat *x = a, *y = b;
    return (x->again > y->again) - (x->again < y->again);
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
    *r = (struct repeats){.v = xcalloc(c->n + 1, sizeof *r->v)};
    for (size_t i = 1; i < c->n; i++)
        if (!by_question(v[i - 1], v[i]) && single(v, c->n, i - 1) && single(v, c->n, i) &&
            has_numbers(v[i - 1]) && has_numbers(v[i]))
            r->v[r->n++] = (struct repeat){v[i - 1], v[i]};
    free(v);
    qsort(r->v, r->n, sizeof *r->v, by_place);
}

void repeats_free(struct repeats *r)
{
    free(r->v);
    *r = (struct repeats){0};
}

/* ---- whether they agree ---- */

enum agreement repeat_agreement(const struct repeat *r)
{
    enum verdict a = r->first->judgement.verdict, b = r->again->judgement.verdict;
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
            csv_text(&csv, verdict_names[first->judgement.verdict]);
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
    return !strcmp(a->again->platform, b->again->platform) &&
           !strcmp(a->again->run_id, b->again->run_id) &&
           !strcmp(a->first->run_id, b->first->run_id);
}

/* v[0 .. n) are of the same two runs. */
static void print_counts(const struct repeat *v, size_t n)
{
    const struct contrast *c = v[0].again;
    size_t counts[AGREEMENTS] = {0}, overlaps = 0;
    double *moved = xmalloc(n * sizeof *moved);
    for (size_t i = 0; i < n; i++) {
        counts[repeat_agreement(&v[i])]++;
        overlaps += repeat_overlaps(&v[i]);
        moved[i] = fabs(v[i].again->effect.value - v[i].first->effect.value);
    }
    printf("\n%s%s%s on %s, run %s after %s\n", c->workload, *c->label ? " " : "", c->label,
           c->platform, c->run_id, v[0].first->run_id);
    printf("  %zu contrasts in both: %zu with the same verdict, %zu inconclusive in one or both, "
           "%zu equivalent in one and not in the other, %zu contrary\n",
           n, counts[AGREEMENT_SAME], counts[AGREEMENT_OPEN], counts[AGREEMENT_DIFFERENT],
           counts[AGREEMENT_CONTRARY]);
    printf("  %zu of %zu intervals overlap; half of the ratios moved by less than %.2f%%\n",
           overlaps, n, 100 * expm1(stats_median(moved, n)));
    free(moved);
}

static void print_side(const char *when, const struct contrast *c)
{
    char ratio[32], lo[32], hi[32];
    printf(" %s %s %s [%s, %s]", when, verdict_names[c->judgement.verdict],
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
        print_side("earlier", v[i].first);
        printf(",");
        print_side("later", c);
        puts("");
        free(where);
    }
}

void repeats_print(const struct repeats *r)
{
    for (size_t i = 0, end; i < r->n; i = end) {
        for (end = i + 1; end < r->n && same_runs(&r->v[i], &r->v[end]); end++)
            ;
        print_counts(r->v + i, end - i);
        print_disagreeing(r->v + i, end - i);
    }
}
