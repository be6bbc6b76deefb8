/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "commands.h"
#include "err.h"
#include "runs.h"
#include "text.h"
#include "units.h"
#include "verdict/reference.h"
#include "verdict/sides.h"
#include "verdict/within.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *out, *config;
    bool reference, quiet;
    long threads;
    char **args;
    size_t n;
};

/* ---- a table in the terminal ---- */

static const char *percent(char *buf, size_t n, double log_ratio)
{
    if (isnan(log_ratio))
        snprintf(buf, n, "-");
    else
        snprintf(buf, n, "%+.2f%%", 100 * expm1(log_ratio));
    return buf;
}

static bool same_heading(const struct contrast *a, const struct contrast *b)
{
    return !strcmp(a->platform, b->platform) && !strcmp(a->run_id, b->run_id) &&
           !strcmp(a->baseline, b->baseline);
}

static void print_heading(const struct contrast *c)
{
    printf("\n%s%s%s on %s, run %s, against %s\n", c->workload, *c->label ? " " : "", c->label,
           c->platform, c->run_id, c->baseline);
    printf("  %-9s %-20s %-14s %9s  %-20s %7s %7s  %-12s %s\n", "size", "config", "mode", "time",
           "95% interval", "p", "floor", "verdict", "");
}

static void print_row(const struct contrast *c)
{
    char size[32], ratio[32], lo[32], hi[32], interval[72], p[32], floor[32];
    const struct effect *e = &c->effect;
    snprintf(interval, sizeof interval, "%s .. %s", percent(lo, sizeof lo, e->lo),
             percent(hi, sizeof hi, e->hi));
    snprintf(p, sizeof p, "%.4f", c->p_holm);
    snprintf(floor, sizeof floor, "%.2f%%", 100 * expm1(c->floor));
    printf("  %-9s %-20s %-14s %9s  %-20s %7s %7s  %-12s ",
           c->size_B ? units_size(size, sizeof size, (uint64_t)c->size_B) : "-",
           *c->config ? c->config : "-", *c->mode ? c->mode : "-",
           percent(ratio, sizeof ratio, e->value), isnan(e->lo) ? "-" : interval,
           isnan(c->p_holm) ? "-" : p, isnan(c->floor) ? "-" : floor,
           verdict_names[c->judgement.verdict]);
    printf("%s%s%s", c->judgement.reason, *c->judgement.reason && c->note ? "; " : "",
           c->note ? c->note : "");
    if (c->judgement.needed > 0)
        printf(" (%lld more launch%s)", (long long)c->judgement.needed,
               c->judgement.needed == 1 ? "" : "es");
    puts("");
}

static void print_counts(const struct comparison *c)
{
    size_t counts[4] = {0};
    for (size_t i = 0; i < c->n; i++)
        counts[c->v[i].judgement.verdict]++;
    printf("\n%zu contrasts:", c->n);
    for (size_t v = 0; v < sizeof counts / sizeof *counts; v++)
        printf("%s %zu %s", v ? "," : "", counts[v], verdict_names[v]);
    puts("");
}

static void print_table(const struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (i == 0 || !same_heading(&c->v[i - 1], &c->v[i]))
            print_heading(&c->v[i]);
        print_row(&c->v[i]);
    }
    print_counts(c);
}

/* ---- what is compared ---- */

static int compare_roots(struct comparison *c, char *const *roots, size_t n)
{
    struct runs runs = {0};
    int code = GS_OK;
    for (size_t i = 0; i < n && !code; i++)
        code = runs_find(&runs, roots[i]);
    if (!code)
        code = runs_sort(&runs);
    if (!code && !runs.n)
        code = fail(GS_USAGE, "no recording below %s; 'gradsync run CONFIG' makes one", roots[0]);
    for (size_t i = 0; i < runs.n && code != GS_USAGE;
         i++) { /* past a damaged one, so that all are named */
        int one = compare_within(c, runs.v[i].dir);
        code = code ? code : one;
    }
    runs_free(&runs);
    return code;
}

static int collect(struct comparison *c, const struct request *q)
{
    if (q->config && !q->reference)
        return fail(GS_USAGE, "compare: --config goes with --reference");
    if (q->reference && q->n != 1)
        return fail(GS_USAGE, "compare: --reference takes one run, or a folder of them");
    if (q->reference)
        return compare_reference(c, q->args[0], q->config);
    if (q->n == 2)
        return compare_sides(c, q->args[0], q->args[1]);
    static char default_root[] = "data/raw", *const default_roots[] = {default_root};
    return compare_roots(c, q->n ? q->args : default_roots, q->n ? q->n : 1);
}

/* One launch is said on stderr too: its rows look like the others in the CSV. */
static void say_refused(const struct comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->v[i].effect.launches == 1;
    if (n)
        say("%zu contrast%s rest%s on one launch: nothing is claimed of what another would show", n,
            n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static int compare(const struct request *q)
{
    struct comparison c = {0};
    int code = collect(&c, q);
    if (!code) {
        comparison_solve(&c, q->threads);
        if (q->out)
            code = comparison_write(&c, q->out);
        if (!q->quiet)
            print_table(&c);
        say_refused(&c);
    }
    if (!code && comparison_regressed(&c))
        code = fail(GS_FAILED, "%s: slower than [reference] allows", q->args[0]);
    comparison_free(&c);
    return code;
}

int cmd_compare(int argc, char **argv)
{
    struct request q = {0};
    bool done;
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.out, "CSV", "folder for compare.csv; none is written without"},
        {"reference", 0, CLI_FLAG, &q.reference, NULL,
         "hold a run against [reference]; slower than its tolerance: exit 1"},
        {"config", 0, CLI_TEXT, &q.config, "FILE", "whose [reference]; the run's own unless given"},
        {"threads", 0, CLI_INT, &q.threads, "N", "at most so many; the answer is the same"},
        {"quiet", 'q', CLI_FLAG, &q.quiet, NULL, "no table, and nothing but errors"},
        {0},
    };
    const struct cli cli = {"compare",
                            "[RAW… | A B]",
                            "configs against their baseline, or B against A: verdicts",
                            options,
                            0,
                            -1};
    char **args = xcalloc((size_t)argc, sizeof *args);
    int n, code = cli_parse(&cli, argc, argv, args, &n, &done);
    say_quiet(q.quiet);
    q.args = args;
    q.n = (size_t)n;
    if (!code && !done)
        code = compare(&q);
    free(args);
    return code;
}
