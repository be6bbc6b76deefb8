/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/trace.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/screen.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints "  title    words …". */
__attribute__((format(printf, 2, 3))) static void put(const char *title, const char *fmt, ...)
{
    AUTO_FREE char *words = NULL;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&words, fmt, args);
    va_end(args);
    if (n < 0)
        abort(); /* no memory, as in xmalloc */
    screen_say_from((size_t)printf("  %-8s ", title), 11, words);
}

/* ---- lines of a recording ---- */

/* "12-15, 18": ranges of the lines that speak of a cell. */
struct lines {
    struct text t;
    size_t first, last, n;
};

static void end_range(struct lines *l)
{
    if (!l->n)
        return;
    text_addf(&l->t, "%s%zu", l->t.len ? ", " : "", l->first);
    if (l->last != l->first)
        text_addf(&l->t, "-%zu", l->last);
}

static void add_line(struct lines *l, size_t number)
{
    if (!l->n || number != l->last + 1) {
        end_range(l);
        l->first = number;
    }
    l->last = number;
    l->n++;
}

static int find_lines(struct lines *l, const char *path, const char *cell)
{
    const unsigned want = 1u << RAW_NOTE | 1u << RAW_CELL | 1u << RAW_BLOCK | 1u << RAW_FAIL;
    struct raw *raw;
    struct raw_line line;
    int got = 0, code = raw_open(&raw, path);
    *l = (struct lines){0};
    if (code)
        return code;
    while ((got = raw_next(raw, want, &line)) == 1) {
        if (!strcmp(json_text_of(line.json, "cell"), cell))
            add_line(l, line.number);
    }
    raw_close(raw);
    end_range(l);
    l->first = 0;
    return got < 0 ? GS_FAILED : GS_OK;
}

static int print_cell(const struct proof *p, size_t cell)
{
    const struct rec_cell *c = &p->r->cells[cell];
    const struct rec_span *last = NULL;
    int code = GS_OK;
    put("cell", "%s %s", c->id, c->params);
    if (*c->ran)
        put("ran", "%s", c->ran);
    for (int launch = 1; launch <= p->r->launches && !code; launch++) {
        bool closed;
        struct lines l;
        const struct rec_span *span = recorded_span(p->r, c->group, launch, &closed);
        if (!span || (last && span->file == last->file))
            continue;
        last = span;
        const char *path = p->r->ledger->files[span->file].path;
        code = find_lines(&l, path, c->id);
        if (!code && l.n)
            screen_say_from((size_t)printf("    %s:", path_name(path)), 6, l.t.s);
        text_free(&l.t);
    }
    return code;
}

/* ---- a run ---- */

static const enum machine_fact machine_line[] = {FACT_HOST, FACT_GPU,   FACT_UUID,
                                                 FACT_CPU,  FACT_CORES, FACT_KERNEL};
static const enum machine_fact version_line[] = {FACT_NCCL, FACT_CUDA,     FACT_DRIVER, FACT_CUBLAS,
                                                 FACT_MPI,  FACT_GRADSYNC, FACT_PLUGIN};

static void print_facts(const char *title, const struct machine *m, const enum machine_fact *facts,
                        size_t n)
{
    AUTO_TEXT struct text t = {0};
    for (size_t i = 0; i < n; i++)
        if (m->facts[facts[i]])
            text_addf(&t, "%s%s %s", t.len ? ", " : "", machine_facts[facts[i]],
                      m->facts[facts[i]]);
    put(title, "%s", t.len ? t.s : "");
}

static void print_run(const struct proof *p)
{
    const struct machine *m = &p->machine;
    const char *commit = m->facts[FACT_COMMIT];
    put("run", "%s, %s, %d launch%s, begun %s%s", p->dir,
        RANKS_ON((long long)p->r->ranks, (long long)p->r->nodes), m->launches,
        m->launches == 1 ? "" : "es", m->facts[FACT_STARTED], p->finished ? "" : "; not finished");
    print_facts("machine", m, machine_line, COUNT(machine_line));
    print_facts("versions", m, version_line, COUNT(version_line));
    printf("  commit   %s\n", commit ? commit : "not recorded");
}

/* ---- a row ---- */

static void print_row(const struct grid *g, size_t row)
{
    AUTO_TEXT struct text t = {0};
    for (size_t i = 0; i < g->n_columns; i++)
        if (*g->rows[row].fields[i])
            text_addf(&t, " %s=%s", g->columns[i], g->rows[row].fields[i]);
    put("row", "%s:%ld%s", g->path, g->rows[row].line, t.len ? t.s : "");
}

static int print_run_of(struct numbers *b, const struct grid *g, size_t row, enum row_run which,
                        const struct proof **shown)
{
    struct proof *p;
    AUTO_FREE char *dir = paper_tables_run(&b->tables, g, row, which);
    int code = dir ? proof_of(&b->admissibility.proofs, dir, &p) : GS_OK;
    if (dir && !code) {
        AUTO_FREE size_t *cells = xcalloc(p->r->n_cells + 1, sizeof *cells);
        size_t n = proof_cells(p, g, row, cells);
        if (p != shown[which])
            print_run(p);
        shown[which] = p;
        for (size_t i = 0; i < n && !code; i++)
            code = print_cell(p, cells[i]);
    }
    return code;
}

static int print_evidence(struct numbers *b, const struct grid *g, size_t row,
                          const struct proof **shown)
{
    int code = GS_OK;
    for (enum row_run which = ROW_RUN; which < ROW_RUNS && !code; which++)
        code = print_run_of(b, g, row, which, shown);
    return code;
}

/* Of what was not measured: where it is written down. */
static void print_source(const struct grid *g, size_t row)
{
    static const struct {
        const char *table, *made;
    } made[] = {
        {"error_rates", "simulated campaigns, tests/sim/error_rates.c"},
        {"settings", "the program's own, runner/config/settings_tables.c"},
        {"asked", "the platform's config"},
        {"needed", "the model and published numbers, tests/sim/wan_needed.c"},
        {"limits", "gradsync limits configs/*.ini"},
        {"model-error", "model_sync_s beside sync_s in wan.csv, figures/wan_errors.awk"},
        {"wan-", "gradsync model"},
    };
    const char *platform = grid_text(g, row, "platform"), *name = path_name(g->name);
    for (size_t i = 0; i < COUNT(made); i++)
        if (!strncmp(name, made[i].table, strlen(made[i].table)))
            put("made by", "%s%s%s%s", made[i].made, *platform ? ", configs/" : "", platform,
                *platform ? ".ini" : "");
    if (*grid_text(g, row, "source"))
        put("source", "%s", grid_text(g, row, "source"));
    if (grid_has(g, "path"))
        put("run", "%s", grid_text(g, row, "path"));
}

static int print_rows(struct numbers *b, const struct answer *a, size_t most)
{
    const struct proof *shown[ROW_RUNS] = {0};
    int code = GS_OK;
    for (size_t i = 0; i < a->rows.n && i < most && !code; i++) {
        print_row(a->grid, a->rows.rows[i]);
        print_source(a->grid, a->rows.rows[i]);
        code = print_evidence(b, a->grid, a->rows.rows[i], shown);
    }
    if (a->rows.n > most)
        put("and", "%zu more rows of %s; 'gradsync why --all' traces them too", a->rows.n - most,
            a->grid->path);
    return code;
}

static int print_line(struct numbers *b, const struct grid *g, long line)
{
    const struct proof *shown[ROW_RUNS] = {0};
    size_t row = 0;
    while (row < g->n && g->rows[row].line != line)
        row++;
    if (row == g->n)
        return fail_at(GS_USAGE, g->path, 0,
                       "no row begins on line %ld; rows are on lines 2 to %ld", line,
                       g->n ? g->rows[g->n - 1].line : 1);
    printf("%s:%ld\n", g->name, line);
    print_row(g, row);
    print_source(g, row);
    return print_evidence(b, g, row, shown);
}

int trace_line(struct numbers *b, const char *table, long line)
{
    AUTO_FREE char *path = xstrfmt("%s/%s.csv", b->tables.csv, table);
    struct grid *g = NULL;
    int code = access(path, F_OK) ? paper_tables_no_table(&b->tables, table, path)
                                  : grid_read(&g, table, path);
    if (!code && g) {
        code = print_line(b, g, line);
        grid_free(g);
    }
    return code;
}

int trace_print(struct numbers *b, const struct answer *a, size_t most)
{
    const struct macro *m = a->macro;
    printf("%s = %s\n", m->name, a->text);
    put("defined", "%s:%d  %s", m->line ? b->d.path : "command line", m->line, m->query);
    if (a->gap)
        put("missing", "%s", a->gap);
    if (a->left_out)
        put("refused", "%zu row%s, the last one: %s; fill it: %s", a->left_out,
            a->left_out == 1 ? "" : "s", b->admissibility.v[a->fault].what,
            b->admissibility.v[a->fault].command);
    int code = a->gap ? GS_OK : print_rows(b, a, most);
    for (size_t i = 0; i < a->n_parts && !code; i++) {
        printf("from ");
        code = trace_print(b, a->parts[i], most);
    }
    return code;
}
