/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/numbers.h"

#include "base/err.h"
#include "base/locate.h"
#include "base/text.h"
#include "publish/format.h"
#include "record/runs.h"

#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    int code = GS_OK;
    for (size_t i = 0; i < b->d.n && !code; i++)
        if (!fnmatch(glob, b->d.v[i].name, 0)) {
            like++;
            code = numbers_answer(b, b->d.v[i].name, &part);
        }
    if (!code && !like && !a->macro->otherwise)
        return fail_at(GS_USAGE, b->d.path, a->macro->line, "no number has a name like '%s'", glob);
    if (!code && !like)
        a->gap = xstrfmt("no number has a name like '%s'", glob);
    /* Only now: those numbers may have used the table as well. */
    if (!code)
        code = sql_clear_numbers(&b->sql);
    for (size_t i = 0; i < b->d.n && !code; i++)
        if (!fnmatch(glob, b->d.v[i].name, 0))
            code =
                sql_add_number(&b->sql, i + 1, b->d.v[i].name, b->v[i].plain, number_of(&b->v[i]));
    return code;
}

/* Puts a parameter in place of @NAME, or `numbers` in place of @GLOB. */
static int resolve_name(struct numbers *b, struct answer *a, const char *name, bool text,
                        struct text *query, struct sql_values *in)
{
    struct answer *part = NULL;
    if (strchr(name, '*')) {
        text_add(query, "numbers");
        return list_numbers(b, a, name);
    }
    int code = numbers_answer(b, name, &part);
    if (code)
        return code;
    answer_part(a, part);
    sql_add(in, text ? xstrdup(part->plain ? part->plain : "") : NULL,
            part->n_v ? part->v[0] : (double)NAN);
    text_addf(query, "?%zu", in->n);
    return GS_OK;
}

static int resolve(struct numbers *b, struct answer *a, struct text *query, struct sql_values *in)
{
    int code = GS_OK;
    bool quoted = false;
    for (const char *s = a->macro->query; *s && !code;) {
        bool text = !quoted && s[0] == '\'' && s[1] == '@';
        if (!text && (quoted || *s != '@')) {
            quoted ^= *s == '\'';
            text_addn(query, s++, 1);
            continue;
        }
        s += text ? 2 : 1;
        size_t n = strcspn(s, text ? "'" : " ,;()'\"=<>+");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)n, s);
        code = resolve_name(b, a, name, text, query, in);
        s += n;
        s += text && *s;
    }
    return code;
}

/* ---- its value ---- */

static int look_up(struct numbers *b, struct answer *a)
{
    AUTO_TEXT struct text query = {0};
    AUTO(sql_values_free) struct sql_values in = {0};
    text_add(&query, "");
    int code = resolve(b, a, &query, &in);
    return code ? code : answer_query(b, a, query.s, &in);
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
    const struct form *f = form_find(m->form);
    if (!f) {
        const char *near = form_nearest(m->form);
        AUTO_FREE char *names = form_names();
        return fail_at(GS_USAGE, b->d.path, m->line, "no form '%s'%s; the forms are %s", m->form,
                       DID_YOU_MEAN(near), names);
    }
    if (!a->gap && !form_is_text(f))
        for (size_t i = 0; i < a->n_v && !a->gap; i++)
            if (!isfinite(a->v[i]))
                a->gap =
                    xstrfmt("no number: %s",
                            a->grid && a->rows.n && *grid_text(a->grid, a->rows.rows[0], "reason")
                                ? grid_text(a->grid, a->rows.rows[0], "reason")
                                : "the field is empty");
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
    *b = (struct numbers){
        .tables = tables, .admissibility.proofs.configs = tables.configs, .sql.tables = &b->tables};
    return definitions_read(&b->d, path, &b->sql);
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
    int code = look_up(b, a);
    if (!code)
        code = print(b, a);
    a->state = ANSWER_DONE;
    return code;
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
    sql_close(&b->sql);
    admissibility_free(&b->admissibility);
    definitions_free(&b->d);
    paper_tables_free(&b->tables);
    *b = (struct numbers){0};
}
