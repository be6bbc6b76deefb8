/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/repeatability_table.h"

#include "base/stats.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/compare_table.h"
#include "compare/origin.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
