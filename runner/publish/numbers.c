/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/numbers.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/term.h"
#include "base/text.h"
#include "base/units.h"
#include "config/locate.h"
#include "record/runs.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- answer ---- */

static struct sql_source source_of(const struct numbers *b, const struct macro *m)
{
    return (struct sql_source){m->line ? b->d.path : "command line", m->line};
}

/* Adds another answer from which `a` was calculated; its gap is a gap of `a`. */
static void answer_part(struct answer *a, struct answer *part)
{
    APPEND(a->parts, a->n_parts) = part;
    if (part->gap && !a->gap) {
        a->gap = xstrdup(part->gap);
        a->fault = part->fault;
    }
}

/* ---- from a table ---- */

/* The columns in which the rows differ, "a, b"; the caller frees it. */
static char *differences(const struct grid *g, const struct chosen *rows)
{
    struct text t = {0};
    text_add(&t, "");
    for (size_t c = 0; c < g->columns.n; c++) {
        bool differ = false;
        for (size_t i = 1; i < rows->n; i++)
            differ = differ ||
                     strcmp(grid_field(g, rows->rows[i], c), grid_field(g, rows->rows[0], c)) != 0;
        if (differ && t.len < 200)
            text_addf(&t, "%s%s", t.len ? ", " : "", g->columns.v[c]);
    }
    return t.s;
}

/* A query of rowid: the rows, counted from 0. */
static int find_rows(struct numbers *b, struct answer *a, char *query)
{
    AUTO(sql_result_free) struct sql_result r = {0};
    int code = sql_run(&b->tables, &r, query, source_of(b, a->macro));
    chosen_free(&a->rows);
    a->rows.rows = xcalloc(r.rows + 1, sizeof *a->rows.rows);
    for (size_t i = 0; i < r.rows; i++)
        a->rows.rows[a->rows.n++] = (size_t)sql_number(r.cells.v[i]) - 1;
    free(query);
    return code;
}

static int several_rows(struct numbers *b, struct answer *a, size_t n)
{
    AUTO_FREE char *differ = a->grid ? differences(a->grid, &a->rows) : xstrdup("name");
    return fail_at(GS_USAGE, b->d.path, a->macro->line,
                   "%s: %zu rows of %s match, and they differ in %s; add a condition on "
                   "one of these, or ORDER BY COLUMN LIMIT 1",
                   a->macro->name, n, a->grid ? a->grid->name : "numbers", differ);
}

/* A field of a row is as it is in the table: 1e+10 stays that. */
static char *plain_of(const struct answer *a, const struct sql_result *r)
{
    if (!a->grid)
        return xstrfmt("%.12g", sql_number(r->cells.v[0]));
    if (a->rows.n == 1 && grid_has(a->grid, r->name))
        return xstrdup(grid_text(a->grid, a->rows.rows[0], r->name));
    return xstrdup(r->cells.v[0]);
}

static int take_result(struct numbers *b, struct answer *a, const struct sql_parts *p,
                       const struct sql_result *r)
{
    if (r->columns != 1 && r->columns != 3)
        return fail_at(GS_USAGE, b->d.path, a->macro->line,
                       "%s: %zu columns; there must be one, or a value and the two ends of its "
                       "interval",
                       a->macro->name, r->columns);
    if (p->distinct) {
        struct text t = {0};
        text_add(&t, "");
        for (size_t i = 0; i < r->rows; i++)
            text_addf(&t, "%s%s", i ? ", " : "", r->cells.v[i * r->columns]);
        a->plain = t.s;
        return GS_OK;
    }
    if (r->rows > 1)
        return several_rows(b, a, r->rows);
    if (!r->rows) {
        a->gap = a->gap ? a->gap : xstrdup("no row matches");
        a->plain = xstrdup("nan");
        return GS_OK;
    }
    for (a->n_v = 0; a->n_v < r->columns; a->n_v++)
        a->v[a->n_v] = sql_number(r->cells.v[a->n_v]);
    a->plain = plain_of(a, r);
    return GS_OK;
}

static int run_query(struct numbers *b, struct answer *a, const char *query,
                     const struct sql_parts *p)
{
    AUTO(sql_result_free) struct sql_result r = {0};
    int code = sql_run(&b->tables, &r, query, source_of(b, a->macro));
    if (!code && p->from && (p->limit || !a->grid))
        code = find_rows(b, a, xstrfmt("SELECT rowid %s", p->from));
    return code ? code : take_result(b, a, p, &r);
}

/* The condition between WHERE and ORDER BY, for messages; the caller frees it. */
static char *condition_of(const char *query)
{
    const char *where = strcasestr(query, " WHERE ");
    where = where ? where + strlen(" WHERE ") : "";
    const char *order = strcasestr(where, " ORDER BY ");
    return xstrfmt("%.*s", (int)(order ? (size_t)(order - where) : strlen(where)), where);
}

/* Why no row is left; the caller frees it. */
static char *no_rows(const struct answer *a)
{
    const char *table = a->grid->name;
    AUTO_FREE char *where = condition_of(a->macro->query);
    if (a->left_out)
        return xstrfmt("all rows of %s with %s are refused", table, where);
    if (!a->skipped)
        return xstrfmt("%s has no row with %s", table, where);
    const char *why = grid_text(a->grid, a->rows.rows[0], "reason");
    why += strncmp(why, "skip: ", 6) ? 0 : 6;
    return xstrfmt("all rows of %s with %s were skipped: %s", table, where, why);
}

/* First finds the rows of the query, to judge them; then runs the query on the admissible ones. */
static int query_table(struct numbers *b, struct answer *a, const char *query,
                       const struct sql_parts *p)
{
    int n = (int)(p->order - p->from);
    CHECK(sql_use(&b->tables, p, &a->grid));
    b->tables.refused = true;
    CHECK(find_rows(b, a, xstrfmt("SELECT rowid %.*s ORDER BY rowid", n, p->from)));
    b->tables.refused = false;
    size_t found = a->rows.n;
    admissibility_rows(&b->admissibility, &b->tables, a->grid, &a->rows, a->macro->name,
                       &a->left_out, &a->fault);
    if (a->rows.n || p->count)
        return run_query(b, a, query, p);
    a->skipped = found && !a->left_out;
    if (!a->gap)
        a->gap = no_rows(a);
    return GS_OK;
}

/* ---- from other numbers ---- */

/* A number that was calculated from recordings of different machines or software is refused. */
static void compare_parts(struct numbers *b, struct answer *a)
{
    const struct answer *first = NULL;
    for (size_t i = 0; i < a->n_parts && !a->gap; i++) {
        const struct answer *p = a->parts[i];
        if (!p->grid || !p->rows.n)
            continue;
        first = first ? first : p;
        if (admissibility_unlike(&b->admissibility, &b->tables, first->grid, first->rows.rows[0],
                                 p->grid, p->rows.rows[0], a->macro->name, &a->fault))
            a->gap = xstrdup("computed from recordings that differ");
    }
}

/* Its rows can come from several platforms; a calculation belongs to one. */
static int query_numbers(struct numbers *b, struct answer *a, const char *query,
                         const struct sql_parts *p)
{
    int code = run_query(b, a, query, p);
    for (size_t i = 0; i < a->rows.n && !code; i++)
        answer_part(a, &b->v[a->rows.rows[i]]);
    chosen_free(&a->rows);
    if (!code && !p->from)
        compare_parts(b, a);
    return code;
}

/* Fills v and plain, or gap. GS_OK, or GS_USAGE, reported. */
static int answer_query(struct numbers *b, struct answer *a, const char *query)
{
    struct sql_parts p;
    CHECK(sql_split(&p, query, source_of(b, a->macro)));
    return p.from && strncmp(p.table, "numbers", p.table_len) != 0 ? query_table(b, a, query, &p)
                                                                   : query_numbers(b, a, query, &p);
}

/* ---- other numbers in a query ---- */

static double number_of(const struct answer *a)
{
    return a->n_v && !a->none ? a->v[0] : (double)NAN;
}

/* Fills the table `numbers` with those whose names are like the glob. */
static int list_numbers(struct numbers *b, struct answer *a, const char *glob)
{
    struct answer *part;
    size_t like = 0;
    for (size_t i = 0; i < b->d.n; i++)
        if (!fnmatch(glob, b->d.v[i].name, 0)) {
            like++;
            CHECK(numbers_answer(b, b->d.v[i].name, &part));
        }
    if (!like && !a->macro->otherwise)
        return fail_at(GS_USAGE, b->d.path, a->macro->line, "no number has a name like '%s'", glob);
    if (!like)
        a->gap = xstrfmt("no number has a name like '%s'", glob);
    /* Only now: those numbers may have used the table as well. */
    CHECK(sql_clear_numbers(&b->tables));
    for (size_t i = 0; i < b->d.n; i++)
        if (!fnmatch(glob, b->d.v[i].name, 0))
            CHECK(sql_add_number(&b->tables, i + 1, b->d.v[i].name, b->v[i].plain,
                                 number_of(&b->v[i])));
    return GS_OK;
}

/* Adds the value of @NAME, the text of '@NAME', or the table `numbers` for @GLOB. */
static int add_number(struct numbers *b, struct answer *a, const char *name, bool text,
                      struct text *query)
{
    struct answer *part = NULL;
    char buf[40];
    if (strchr(name, '*')) {
        text_add(query, "numbers");
        return list_numbers(b, a, name);
    }
    CHECK(numbers_answer(b, name, &part));
    answer_part(a, part);
    if (text) {
        char *quoted = sqlite3_mprintf("%Q", part->plain ? part->plain : "");
        text_add(query, quoted);
        sqlite3_free(quoted);
    } else if (part->n_v && isfinite(part->v[0])) {
        text_addf(query, "(%s)", units_double(buf, sizeof buf, part->v[0]));
    } else {
        text_add(query, "NULL");
    }
    return GS_OK;
}

static int look_up(struct numbers *b, struct answer *a)
{
    AUTO_TEXT struct text query = {0};
    bool quoted = false;
    text_add(&query, "");
    for (const char *s = a->macro->query; *s;) {
        bool text = !quoted && s[0] == '\'' && s[1] == '@';
        if (!text && (quoted || *s != '@')) {
            quoted ^= *s == '\'';
            text_addn(&query, s++, 1);
            continue;
        }
        s += text ? 2 : 1;
        size_t n = strcspn(s, text ? "'" : " ,;()'\"=<>+");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, s);
        CHECK(add_number(b, a, name, text, &query));
        s += n;
        s += text && *s;
    }
    return answer_query(b, a, query.s);
}

/* ---- printed ---- */

/* Without `else` the paper cannot be made. */
static void judge_gap(struct numbers *b, struct answer *a)
{
    const struct macro *m = a->macro;
    a->none = m->otherwise;
    if (a->none)
        return;
    if (a->fault == SIZE_MAX)
        a->fault =
            admissibility_missing(&b->admissibility, &b->tables, a->skipped ? NULL : m->query,
                                  m->name, xstrfmt("%s:%d: %s", b->d.path, m->line, a->gap));
    b->admissibility.v[a->fault].needed = true;
}

static int print(struct numbers *b, struct answer *a)
{
    const struct macro *m = a->macro;
    const struct form *f = form_find(m->form, source_of(b, m));
    const char *reason = a->grid && a->rows.n ? grid_text(a->grid, a->rows.rows[0], "reason") : "";
    if (!f)
        return GS_USAGE;
    for (size_t i = 0; i < a->n_v && !a->gap && !form_is_text(f); i++)
        if (!isfinite(a->v[i]))
            a->gap = xstrfmt("no number: %s", *reason ? reason : "the field is empty");
    if (a->gap)
        judge_gap(b, a);
    if (a->gap)
        a->text = xstrdup(a->none ? m->otherwise : "?");
    else
        a->text = form_is_text(f) ? xstrdup(a->plain) : form_number(f, a->v, a->n_v);
    if (!a->plain)
        a->plain = xstrdup(a->none ? m->otherwise : "");
    return GS_OK;
}

/* ---- all numbers ---- */

int numbers_open(struct numbers *b, const char *path, struct paper_tables tables)
{
    *b = (struct numbers){.tables = tables, .admissibility.proofs.configs = tables.configs};
    return definitions_read(&b->d, path, &b->tables);
}

/* "; local is a platform or a run: gradsync show local"; "": it names nothing else. */
static char *other_meaning(const char *name)
{
    AUTO_FREE char *run = locate_run(name), *platform = locate_platform(name);
    return platform || runs_is_run(run) ? xstrfmt("; that is a recording: gradsync show %s", name)
                                        : xstrdup("");
}

static int no_such(const struct numbers *b, const char *name)
{
    const char *near = definitions_nearest(&b->d, name);
    AUTO_FREE char *meaning = other_meaning(name);
    return fail(GS_USAGE, "no number '%s' in %s; 'gradsync why' lists them%s", name, b->d.path,
                near ? DID_YOU_MEAN(near) : meaning);
}

int numbers_answer(struct numbers *b, const char *name, struct answer **out)
{
    const struct macro *m = definitions_find(&b->d, name);
    *out = NULL;
    if (!m)
        return no_such(b, name);
    if (!b->v) {
        b->n = b->d.n;
        b->v = xcalloc(b->n, sizeof *b->v);
    }
    struct answer *a = *out = &b->v[m - b->d.v];
    if (a->state == ANSWER_BUSY)
        return fail_at(GS_USAGE, b->d.path, m->line, "%s is defined by itself", name);
    if (a->state == ANSWER_DONE)
        return GS_OK;
    a->state = ANSWER_BUSY;
    a->macro = m;
    a->fault = SIZE_MAX;
    CHECK(look_up(b, a));
    CHECK(print(b, a));
    a->state = ANSWER_DONE;
    return GS_OK;
}

void numbers_close(struct numbers *b)
{
    for (size_t i = 0; b->v && i < b->n; i++) {
        struct answer *a = &b->v[i];
        free(a->text);
        free(a->plain);
        free(a->parts);
        free(a->gap);
        chosen_free(&a->rows);
    }
    free(b->v);
    admissibility_free(&b->admissibility);
    definitions_free(&b->d);
    paper_tables_free(&b->tables);
    *b = (struct numbers){0};
}

/* ---- tex ---- */

static void define(struct text *t, const char *kind, const char *name, const char *tex)
{
    text_addf(t, "\\expandafter\\def\\csname gs@%s@%s\\endcsname{%s}\n", kind, name, tex);
}

int tex_write(struct numbers *b, const char *dir)
{
    AUTO_TEXT struct text t = {0};
    AUTO_FREE char *path = xstrfmt("%s/macros.tex", dir);
    struct answer *a;
    text_add(&t,
             "% Written by 'gradsync why -o'; 'gradsync why NAME' says where a number is from.\n");
    for (size_t i = 0; i < b->d.n; i++) {
        CHECK(numbers_answer(b, b->d.v[i].name, &a));
        AUTO_FREE char *text = form_tex(a->text), *plain = form_tex(a->plain);
        /* A number without a value has the text that the author gave, which is TeX already. */
        define(&t, "v", a->macro->name, a->none ? a->text : text);
        define(&t, "p", a->macro->name, plain);
    }
    for (size_t i = 0; i < b->d.n_bodies; i++)
        define(&t, "rows", b->d.bodies[i].name, b->d.bodies[i].text);
    CHECK(admissibility_report(&b->admissibility));
    return csv_write_file(path, t.s);
}

/* ---- trace ---- */

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
    for (size_t i = 0; i < g->columns.n; i++)
        if (*grid_field(g, row, i))
            text_addf(&t, " %s=%s", g->columns.v[i], grid_field(g, row, i));
    put("row", "%s:%ld%s", g->path, g->lines[row], t.len ? t.s : "");
}

/* shown: the runs that were printed before. */
static int print_evidence(struct numbers *b, const struct grid *g, size_t row,
                          const struct proof **shown)
{
    for (enum row_run which = ROW_RUN; which < ROW_RUNS; which++) {
        struct proof *p;
        AUTO_FREE char *dir = paper_tables_run(&b->tables, g, row, which);
        if (!dir)
            continue;
        CHECK(proof_of(&b->admissibility.proofs, dir, &p));
        AUTO_FREE size_t *cells = xcalloc(p->r->n_cells + 1, sizeof *cells);
        size_t n = proof_cells(p, g, row, cells);
        if (p != shown[which])
            print_run(p);
        shown[which] = p;
        for (size_t i = 0; i < n; i++)
            CHECK(print_cell(p, cells[i]));
    }
    return GS_OK;
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
        {"needed", "the model and published numbers, mk/wan-needed.sh"},
        {"limits", "gradsync limits configs/*.ini"},
        {"model-error", "model_sync_s beside sync_s in wan.csv, figures/wan_errors.sql"},
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

static int print_traced(struct numbers *b, const struct grid *g, size_t row,
                        const struct proof **shown)
{
    print_row(g, row);
    print_source(g, row);
    return print_evidence(b, g, row, shown);
}

static int print_rows(struct numbers *b, const struct answer *a, size_t most)
{
    const struct proof *shown[ROW_RUNS] = {0};
    for (size_t i = 0; i < a->rows.n && i < most; i++)
        CHECK(print_traced(b, a->grid, a->rows.rows[i], shown));
    if (a->rows.n > most)
        put("and", "%zu more rows of %s; 'gradsync why --all' traces them too", a->rows.n - most,
            a->grid->path);
    return GS_OK;
}

int trace_line(struct numbers *b, const char *table, long line)
{
    const struct proof *shown[ROW_RUNS] = {0};
    AUTO_FREE char *path = xstrfmt("%s/%s.csv", b->tables.csv, table);
    AUTO(grid_free_of) struct grid *g = NULL;
    size_t row = 0;
    if (access(path, F_OK))
        return paper_tables_no_table(&b->tables, table, path);
    CHECK(grid_read(&g, table, path));
    while (row < g->n && g->lines[row] != line)
        row++;
    if (row == g->n)
        return fail_at(GS_USAGE, g->path, 0,
                       "no row begins on line %ld; rows are on lines 2 to %ld", line,
                       g->n ? g->lines[g->n - 1] : 1);
    printf("%s:%ld\n", g->name, line);
    return print_traced(b, g, row, shown);
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
    if (!a->gap)
        CHECK(print_rows(b, a, most));
    for (size_t i = 0; i < a->n_parts; i++) {
        printf("from ");
        CHECK(trace_print(b, a->parts[i], most));
    }
    return GS_OK;
}
