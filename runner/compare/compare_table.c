/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare_table.h"

#include "base/text.h"
#include "base/units.h"
#include "compare/placebo.h"
#include "compare/power.h"
#include "reduce/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *comparison_percent(char *buf, size_t n, double log_ratio)
{
    if (isnan(log_ratio))
        snprintf(buf, n, "-");
    else
        snprintf(buf, n, "%+.2f%%", 100 * expm1(log_ratio));
    return buf;
}

/* ---- rows ---- */

static bool same_heading(const struct contrast *a, const struct contrast *b)
{
    return contrasts_of_one_run(a, b) && !strcmp(a->baseline, b->baseline);
}

static void print_heading(const struct contrast *c, int width)
{
    printf("\n%s%s%s on %s, run %s, against %s\n", c->workload, *c->label ? " " : "", c->label,
           c->platform, c->run_id, c->baseline);
    printf("  %-9s %-20s %-*s %9s  %-20s %7s  %-18s  %-9s  %-12s %s\n", "size", "config", width,
           "where", "time", "95% interval", "p_holm", "A/A floor", "level", "verdict", "");
}

/* "-1.20% .. +0.40%" from logarithms; "-" for NaN. */
static const char *span(char *buf, size_t n, double lo, double hi)
{
    snprintf(buf, n, "%s .. %s", PERCENT(lo), PERCENT(hi));
    return isnan(lo) ? "-" : buf;
}

static void print_row(const struct contrast *c, const char *where, int width)
{
    char interval[72], p[32], floor[72];
    const struct effect *e = &c->effect;
    snprintf(p, sizeof p, c->p_holm < 5e-5 ? "<0.0001" : "%.4f", c->p_holm);
    printf("  %-9s %-20s %-*s %9s  %-20s %7s  %-18s  %-9s  %-12s ",
           c->size_B ? SHORT_SIZE(c->size_B) : "-", *c->config ? c->config : "-", width, where,
           PERCENT(e->value), span(interval, sizeof interval, e->lo, e->hi),
           isnan(c->p_holm) ? "-" : p,
           isnan(c->floor) && c->no_floor ? "no floor"
                                          : span(floor, sizeof floor, -c->floor, c->floor),
           level_names[contrast_level(c)], verdict_names[c->judgement.verdict]);
    printf("%s%s%s", c->judgement.reason, *c->judgement.reason && c->note ? "; " : "",
           c->note ? c->note : "");
    if (c->judgement.verdict == VERDICT_SAME && verdict_is_difference(c->measured))
        printf(" (by its time alone: %s)", verdict_names[c->measured]);
    if (c->judgement.needed > 0)
        printf(" (%lld more launch%s)", (long long)c->judgement.needed,
               c->judgement.needed == 1 ? "" : "es");
    puts("");
}

/* Says which test p_holm adjusts. */
static void print_tests(const struct comparison *c)
{
    bool tested = false, permuted = false;
    for (size_t i = 0; i < c->n; i++) {
        tested = tested || !isnan(c->v[i].p_holm);
        permuted = permuted || (!isnan(c->v[i].p_holm) && c->v[i].permuted);
    }
    if (tested)
        printf("\np_holm: p of the interval%s, adjusted over each group and mode\n",
               permuted ? ", or of permuted launches where that is larger" : "");
}

/* Counts the verdicts in the mode of c->v[first]; modes are different questions. */
static void print_counts(const struct comparison *c, size_t first)
{
    size_t counts[VERDICTS] = {0}, n = 0;
    const char *mode = c->v[first].mode;
    for (size_t i = first; i < c->n; i++)
        if (!strcmp(c->v[i].mode, mode)) {
            counts[c->v[i].judgement.verdict]++;
            n++;
        }
    printf("%zu contrasts%s%s:", n,
           *mode      ? " of mode "
           : n < c->n ? " of operations alone"
                      : "",
           mode);
    for (size_t v = 0; v < VERDICTS; v++)
        if (counts[v] || v < VERDICT_SAME)
            printf("%s %zu %s", v ? "," : "", counts[v], verdict_names[v]);
    puts("");
}

static void print_all_counts(const struct comparison *c)
{
    puts("");
    for (size_t i = 0; i < c->n; i++) {
        size_t k = 0;
        while (k < i && strcmp(c->v[k].mode, c->v[i].mode))
            k++;
        if (k == i)
            print_counts(c, i);
    }
}

/* Prints the rows from `first` on that have the same heading; returns where they end. */
static size_t print_part(const struct comparison *c, size_t first)
{
    struct axes axes = {0};
    size_t end = first;
    int width = 5;
    axes_config(&axes, c->v[first].baseline, "");
    for (; end < c->n && same_heading(&c->v[first], &c->v[end]); end++)
        axes_config(&axes, c->v[end].config, c->v[end].params);
    for (size_t i = first; i < end; i++)
        axes_add(&axes, c->v[first].params, c->v[i].params);
    AUTO_FREE char **where = xmalloc((end - first) * sizeof *where);
    for (size_t i = first; i < end; i++) {
        where[i - first] = axes_where(&axes, c->v[i].mode, c->v[i].params);
        int n = (int)strlen(where[i - first]);
        width = n > width ? n : width;
    }
    print_heading(&c->v[first], width);
    for (size_t i = first; i < end; i++) {
        print_row(&c->v[i], where[i - first], width);
        free(where[i - first]);
    }
    return end;
}

/* ---- how often the best of a mode is beaten ---- */

struct beaten {
    size_t groups, beaten, settled;
};

/* Counts the groups of the question of c->v[first]; each group is a family. */
static struct beaten count_beaten(const struct comparison *c, size_t first)
{
    struct beaten all = {0};
    AUTO_FREE bool *seen = xcalloc(c->families + 1, sizeof *seen);
    for (size_t i = first; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        bool faster = false, open = false;
        if (seen[one->family] || !contrasts_of_one_question(one, &c->v[first]))
            continue;
        seen[one->family] = true;
        for (size_t k = i; k < c->n; k++)
            if (c->v[k].family == one->family) {
                faster |= c->v[k].judgement.verdict == VERDICT_FASTER;
                open |= c->v[k].judgement.verdict == VERDICT_INCONCLUSIVE ||
                        c->v[k].judgement.small < 0;
            }
        all.groups++;
        all.beaten += faster;
        all.settled += !faster && !open;
    }
    return all;
}

static void print_beaten(const struct comparison *c, const char *best_of)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct contrast *one = &c->v[i];
        size_t k = 0;
        while (k < i && !contrasts_of_one_question(&c->v[k], one))
            k++;
        if (k < i)
            continue;
        struct beaten b = count_beaten(c, i);
        printf("%s%s%s on %s, run %s, %s: the fastest config of %s is beaten in %zu of %zu groups, "
               "confirmed best in %zu, undecided in %zu\n",
               one->workload, *one->label ? " " : "", one->label, one->platform, one->run_id,
               one->mode, best_of, b.beaten, b.groups, b.settled, b.groups - b.beaten - b.settled);
    }
}

void comparison_print(const struct comparison *c, const char *best_of)
{
    for (size_t i = 0; i < c->n;)
        i = print_part(c, i);
    print_tests(c);
    print_all_counts(c);
    placebo_print(c);
    power_print(c);
    if (best_of)
        print_beaten(c, best_of);
}
