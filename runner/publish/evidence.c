/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/evidence.h"

#include "base/err.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "record/runs.h"
#include "reduce/gather.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- config ---- */

/* The config of the platform, CONFIGS/PLATFORM.ini, and how many launches it asks for; if there is none, as
 * where an override named the platform, the recorded config with its overrides. One that cannot be read
 * asks for none. Reports nothing. */
static void find_config(struct proof *p, const char *configs)
{
    char ignored[512];
    struct settings set;
    AUTO(config_free_of) struct config *config = NULL;
    p->config = xstrfmt("%s/%s.ini", configs, p->r->platform);
    if (access(p->config, F_OK)) {
        free(p->config);
        p->config = xstrfmt("%s/config.ini", p->r->dir);
        p->overrides = (const char *const *)p->r->overrides;
    }
    /* The number of launches of a job comes from the command line. */
    if (!strcmp(p->r->workload, "trial") || !strcmp(p->r->workload, "train"))
        return;
    err_capture(ignored, sizeof ignored);
    if (!config_load(&config, p->config, p->overrides) && !settings_read(config, &set))
        p->launches = set.measure.launches;
    err_capture(NULL, 0);
}

/* ---- runs ---- */

static void proof_free(struct proof *p)
{
    origins_free(&p->origins);
    machine_free(&p->machine);
    recorded_free(p->r);
    free(p->dir);
    free(p->config);
    free(p);
}

static int read_proof(struct proof *p, const char *configs)
{
    struct disturbed_launches out = {0};
    p->finished = run_is_final(p->dir);
    CHECK(recorded_read(&p->r, p->dir));
    if (!p->r)
        return fail_at(GS_FAILED, p->dir, 0,
                       "the recording is missing, but the tables have rows of it; "
                       "'make tables' makes the tables again");
    CHECK(origins_read(&p->origins, p->r));
    CHECK(machine_of_run(&p->machine, p->dir));
    CHECK(launches_out_of_run(&out, p->dir));
    p->left_out = (int64_t)out.n;
    host_load_free(&out);
    find_config(p, configs);
    return GS_OK;
}

int proof_of(struct proofs *ps, const char *dir, struct proof **out)
{
    for (size_t i = 0; i < ps->n; i++)
        if (!strcmp(ps->v[i]->dir, dir)) {
            *out = ps->v[i];
            return ps->v[i]->r ? GS_OK : GS_FAILED;
        }
    struct proof *p = *out = APPEND(ps->v, ps->n) = xcalloc(1, sizeof *p);
    p->dir = xstrdup(dir);
    return read_proof(p, ps->configs);
}

static void proofs_free(struct proofs *ps)
{
    for (size_t i = 0; i < ps->n; i++)
        proof_free(ps->v[i]);
    free(ps->v);
    ps->v = NULL;
    ps->n = 0;
}

/* ---- cells ---- */

/* What a row says of its cells. NULL: its table has no such column. */
struct wanted {
    const char *id, *config, *mode;
    struct words params; /* KEY=VALUE each */
};

static struct wanted wanted_by(const struct grid *g, size_t row)
{
    struct wanted w = {.id = grid_has(g, "cell_id") ? grid_text(g, row, "cell_id") : NULL,
                       .config = grid_text(g, row, "config"),
                       .mode = grid_has(g, "mode") ? grid_text(g, row, "mode") : NULL};
    words_split(&w.params, grid_text(g, row, "params"), ' ');
    return w;
}

/* Every parameter that row and cell both name is the same. A table leaves out what it runs over. */
static bool is_wanted(const struct rec_cell *c, const struct wanted *w)
{
    char buf[256];
    if (w->id)
        return !strcmp(w->id, c->id);
    if (strcmp(w->config, c->config) || (w->mode && strcmp(w->mode, c->mode)))
        return false;
    for (size_t i = 0; i < w->params.n; i++) {
        const char *word = w->params.v[i], *value = word + strcspn(word, "=");
        AUTO_FREE char *key = xstrfmt("%.*s", (int)(value - word), word);
        /* A row of several modes says one of them. */
        const char *v =
            !w->mode && !strcmp(key, "mode") ? NULL : recorded_param(c, key, buf, sizeof buf);
        if (v && strcmp(v, value + (*value == '=')) != 0)
            return false;
    }
    return true;
}

static size_t add_baselines(const struct recorded *r, const char *baseline, size_t *cells, size_t n)
{
    size_t found = n;
    for (size_t i = 0; i < r->n_cells; i++) {
        const struct rec_cell *c = &r->cells[i];
        bool beside = false;
        for (size_t k = 0; k < n; k++)
            beside = beside || (r->cells[cells[k]].group == c->group &&
                                !strcmp(r->cells[cells[k]].mode, c->mode));
        if (beside && !strcmp(c->config, baseline))
            cells[found++] = i;
    }
    return found;
}

size_t proof_cells(const struct proof *p, const struct grid *g, size_t row, size_t *cells)
{
    size_t n = 0;
    struct wanted w = wanted_by(g, row);
    for (size_t i = 0; i < p->r->n_cells; i++)
        if (is_wanted(&p->r->cells[i], &w))
            cells[n++] = i;
    words_free(&w.params);
    const char *baseline = grid_text(g, row, "baseline");
    return *baseline ? add_baselines(p->r, baseline, cells, n) : n;
}

/* ---- admissibility ---- */

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
    return config_command("run", p->config, section, p->overrides);
}

static char *complete(const struct proof *p)
{
    if (!p->finished && p->r->launches >= p->launches)
        return config_command("resume", p->dir, NULL, NULL);
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
        command = access(path, F_OK) ? NULL : config_command("run", path, NULL, NULL);
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

/* The next four return ROW_GOOD, or the index of the gap plus 1. */

static int refuse(struct admissibility *a, char *what, char *command)
{
    return (int)add_gap(a, what, command) + 1;
}

static int judge_cells(struct admissibility *a, const struct proof *p, const size_t *cells,
                       size_t n)
{
    if (!n)
        return refuse(a, xstrfmt("%s: has no such cell", p->dir), xstrdup("make tables"));
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *mixed = mixed_launches(p, cells[i]);
        if (mixed)
            return refuse(a, xstrfmt("%s: mixed: its launches differ in %s", p->dir, mixed),
                          measure_again(p));
    }
    return ROW_GOOD;
}

static int judge_run(struct admissibility *a, struct paper_tables *s, const struct grid *g,
                     size_t row, enum row_run which)
{
    struct proof *p;
    AUTO_FREE char *dir = paper_tables_run(s, g, row, which);
    if (!dir)
        return ROW_GOOD;
    if (proof_of(&a->proofs, dir, &p))
        return refuse(a, xstrfmt("%s: damaged", dir),
                      xstrfmt("git checkout -- %s", SHELL_WORD(dir)));
    int64_t launches = launches_of(g, row, which);
    /* Launches that the statistics leave out were measured. */
    if (launches >= 0 && p->launches && launches + p->left_out < p->launches)
        return refuse(a,
                      xstrfmt("%s: under-sampled: fewer launches count than the %lld that %s "
                              "asks for",
                              p->dir, (long long)p->launches, p->config),
                      complete(p));
    AUTO_FREE size_t *cells = xcalloc(p->r->n_cells + 1, sizeof *cells);
    return judge_cells(a, p, cells, proof_cells(p, g, row, cells));
}

/* ROW_SKIPPED: a cell that its platform cannot run: there is nothing to measure and no number to print.
 * A row without a cell, such as that of a run, has no launches. */
static int judge_row(struct admissibility *a, struct paper_tables *s, const struct grid *g,
                     size_t row)
{
    int judged = ROW_GOOD;
    if (!strcmp(grid_text(g, row, "status"), "skip") ||
        !strncmp(grid_text(g, row, "reason"), "skip: ", strlen("skip: ")))
        return ROW_SKIPPED;
    for (enum row_run which = ROW_RUN; which < ROW_RUNS && grid_has(g, "config"); which++)
        if ((judged = judge_run(a, s, g, row, which)) != ROW_GOOD)
            break;
    return judged;
}

void admissibility_rows(struct admissibility *a, struct paper_tables *s, const struct grid *g,
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
    for (size_t f = 0; p && q && p != q && f < COUNT(common); f++) {
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
