/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/admissibility.h"

#include "base/err.h"
#include "base/shell_quote.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Both texts are taken over. A fault that many numbers share is one gap. */
static size_t add_gap(struct admissibility *g, char *what, char *command)
{
    size_t i = 0;
    while (i < g->n && strcmp(g->v[i].what, what) != 0)
        i++;
    if (i < g->n) {
        free(what);
        free(command);
        return i;
    }
    APPEND(g->v, g->n) = (struct gap){.what = what, .command = command};
    return g->n - 1;
}

static void lack(struct gap *g, const char *number)
{
    if (!g->first)
        g->first = xstrdup(number);
    g->numbers++;
}

/* ---- what fills a gap ---- */

static char *measure_again(const struct proof *p)
{
    AUTO_FREE char *section =
        xstrfmt("%s%s%s", p->r->workload, *p->r->label ? " " : "", p->r->label);
    return shell_command("run", p->config, section, p->overrides);
}

static char *complete(const struct proof *p)
{
    if (!p->finished && p->r->launches >= p->launches)
        return shell_command("resume", p->dir, NULL, NULL);
    return measure_again(p);
}

/* "platform='X'" in the query: the config to run when there is no row at all. */
static char *measure_first(const struct paper_tables *tables, const char *query)
{
    const char *s = strstr(query, "platform"), *quote = s ? strpbrk(s, "='") : NULL;
    char *command = NULL;
    if (quote && *quote == '=') {
        s = quote + 1 + strspn(quote + 1, " '");
        AUTO_FREE char *path = xstrfmt("%s/%.*s.ini", tables->configs, (int)strcspn(s, "' "), s);
        command = access(path, F_OK) ? NULL : shell_command("run", path, NULL, NULL);
    }
    return command ? command : xstrdup("make figures");
}

size_t admissibility_missing(struct admissibility *a, const struct paper_tables *s,
                             const char *query, const char *number, char *what)
{
    size_t gap = add_gap(a, what, query ? measure_first(s, query) : NULL);
    lack(&a->v[gap], number);
    return gap;
}

/* ---- one row ---- */

static int64_t launches_of(const struct grid *g, size_t row, enum row_run which)
{
    const char *s = grid_text(g, row,
                              which == ROW_EARLIER_RUN  ? "earlier_launches"
                              : grid_has(g, "launches") ? "launches"
                                                        : "replicates");
    return *s ? strtoll(s, NULL, 10) : -1;
}

/* Of the launches of a cell's group; NULL: one origin, or none. */
static char *mixed_launches(const struct proof *p, size_t cell)
{
    size_t first = p->origins.n;
    for (int launch = 1; launch <= p->r->launches; launch++) {
        size_t o = origins_of(&p->origins, p->r, p->r->cells[cell].group, launch);
        if (o == p->origins.n)
            continue;
        if (first != p->origins.n && o != first)
            return origin_difference(p->origins.texts[first], p->origins.texts[o]);
        first = o;
    }
    return NULL;
}

/* True, and the gap, when a cell of the row is refused. */
static bool refuse_cells(struct admissibility *a, const struct proof *p, const size_t *cells,
                         size_t n, size_t *gap)
{
    AUTO_FREE char *mixed = NULL;
    bool stale = !n;
    for (size_t i = 0; i < n; i++) {
        stale = stale || !p->requested[cells[i]];
        mixed = mixed ? mixed : mixed_launches(p, cells[i]);
    }
    if (p->why)
        *gap = add_gap(a, xstrfmt("%s: its config cannot be planned: %s", p->dir, p->why),
                       xstrfmt("gradsync check %s", SHELL_WORD(p->config)));
    else if (stale)
        *gap = add_gap(a, xstrfmt("%s: stale: %s no longer requests this cell", p->dir, p->config),
                       measure_again(p));
    else if (mixed)
        *gap = add_gap(a, xstrfmt("%s: mixed: its launches differ in %s", p->dir, mixed),
                       measure_again(p));
    return p->why || stale || mixed;
}

static bool refuse_row(struct admissibility *a, const struct proof *p, const struct grid *g,
                       size_t row, enum row_run which, size_t *gap)
{
    int64_t launches = launches_of(g, row, which);
    /* Launches that the statistics leave out were measured. */
    if (launches >= 0 && p->launches && launches + p->left_out < p->launches) {
        *gap = add_gap(a,
                       xstrfmt("%s: under-sampled: fewer launches count than the %lld that %s "
                               "asks for",
                               p->dir, (long long)p->launches, p->config),
                       complete(p));
        return true;
    }
    AUTO_FREE size_t *cells = xcalloc(p->r->n_cells + 1, sizeof *cells);
    return refuse_cells(a, p, cells, proof_cells(p, g, row, cells), gap);
}

static bool refuse_run(struct admissibility *a, struct paper_tables *s, const struct grid *g,
                       size_t row, enum row_run which, size_t *gap)
{
    struct proof *p;
    AUTO_FREE char *dir = paper_tables_run(s, g, row, which);
    bool refused = false;
    if (dir && proof_of(&a->proofs, dir, &p)) {
        *gap =
            add_gap(a, xstrfmt("%s: damaged", dir), xstrfmt("git checkout -- %s", SHELL_WORD(dir)));
        refused = true;
    } else if (dir) {
        refused = refuse_row(a, p, g, row, which, gap);
    }
    return refused;
}

/* A cell that its platform cannot run: there is nothing to measure and no number to print. */
static bool is_skipped(const struct grid *g, size_t row)
{
    return !strcmp(grid_text(g, row, "status"), "skip") ||
           !strncmp(grid_text(g, row, "reason"), "skip: ", strlen("skip: "));
}

/* Rows that are of no cell, as those of runs, are of no launches either. */
static int judge_row(struct admissibility *a, struct paper_tables *s, const struct grid *g,
                     size_t row)
{
    size_t gap = 0;
    bool refused = false;
    if (is_skipped(g, row))
        return ROW_SKIPPED;
    for (enum row_run which = ROW_RUN; which < ROW_RUNS && grid_has(g, "config") && !refused;
         which++)
        refused = refuse_run(a, s, g, row, which, &gap);
    return refused ? (int)gap + 1 : ROW_GOOD;
}

int admissibility_rows(struct admissibility *a, struct paper_tables *s, const struct grid *g,
                       struct chosen *rows, const char *number, size_t *left_out, size_t *gap)
{
    size_t kept = 0, seen = SIZE_MAX;
    *left_out = 0;
    for (size_t i = 0; i < rows->n; i++) {
        int *judged = &g->judged[rows->rows[i]];
        if (!*judged)
            *judged = judge_row(a, s, g, rows->rows[i]);
        if (*judged == ROW_GOOD)
            rows->rows[kept++] = rows->rows[i];
        if (*judged < 0)
            continue;
        *gap = (size_t)(*judged - 1);
        if (*gap != seen)
            lack(&a->v[*gap], number);
        seen = *gap;
        ++*left_out;
    }
    rows->n = kept;
    return GS_OK;
}

/* ---- two rows ---- */

/* What numbers that are calculated with each other must have in common. */
static const enum machine_fact common[] = {FACT_GPU, FACT_DRIVER, FACT_CUDA,  FACT_NCCL,
                                           FACT_CPU, FACT_KERNEL, FACT_RANKS, FACT_MPI};

static const struct proof *proof_of_row(struct admissibility *a, struct paper_tables *s,
                                        const struct grid *g, size_t row)
{
    struct proof *p = NULL;
    AUTO_FREE char *dir = paper_tables_run(s, g, row, ROW_RUN);
    bool good = dir && !proof_of(&a->proofs, dir, &p);
    return good ? p : NULL;
}

bool admissibility_unlike(struct admissibility *a, struct paper_tables *s, const struct grid *g,
                          size_t row, const struct grid *h, size_t other, const char *number,
                          size_t *gap)
{
    const struct proof *p = proof_of_row(a, s, g, row), *q = proof_of_row(a, s, h, other);
    for (size_t f = 0; p && q && p != q && f < sizeof common / sizeof *common; f++) {
        const char *x = p->machine.facts[common[f]], *y = q->machine.facts[common[f]];
        if (!x || !y || !strcmp(x, y))
            continue;
        *gap = add_gap(a,
                       xstrfmt("%s and %s: mixed: %s %s and %s", p->dir, q->dir,
                               machine_facts[common[f]], x, y),
                       measure_again(q));
        lack(&a->v[*gap], number);
        return true;
    }
    return false;
}

/* ---- report ---- */

int admissibility_report(const struct admissibility *a)
{
    int code = GS_OK;
    for (size_t i = 0; i < a->n; i++) {
        const struct gap *g = &a->v[i];
        const char *fill = g->command ? "; fill it: " : "", *command = g->command ? g->command : "";
        AUTO_FREE char *more =
            g->numbers > 1 ? xstrfmt(" and %zu more", g->numbers - 1) : xstrdup("");
        if (g->needed)
            code = fail(GS_FAILED, "%s: %s%s cannot be printed%s%s", g->what, g->first, more, fill,
                        command);
        else if (g->numbers)
            say("left out: %s: %s%s%s%s", g->what, g->first, more, fill, command);
    }
    return code;
}

void admissibility_free(struct admissibility *a)
{
    for (size_t i = 0; i < a->n; i++) {
        free(a->v[i].what);
        free(a->v[i].command);
        free(a->v[i].first);
    }
    free(a->v);
    proofs_free(&a->proofs);
    *a = (struct admissibility){0};
}
