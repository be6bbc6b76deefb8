/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/tex.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/text.h"
#include "publish/format.h"

#include <stdlib.h>
#include <string.h>

static void put(struct csv *f, const char *s)
{
    csv_bytes(f, s, strlen(s));
}

static void put_define(struct csv *f, const char *kind, const char *name, const char *text)
{
    AUTO_FREE char *line =
        xstrfmt("\\expandafter\\def\\csname gs@%s@%s\\endcsname{%s}\n", kind, name, text);
    put(f, line);
}

static void put_answer(struct csv *f, const struct answer *a)
{
    const char *name = a->macro->name;
    AUTO_FREE char *text = form_tex(a->text), *plain = form_tex(a->plain);
    /* What stands there instead is the author's own TeX. */
    put_define(f, "v", name, a->none ? a->text : text);
    put_define(f, "p", name, plain);
}

static void put_trace(struct csv *f, struct numbers *b, const struct answer *a)
{
    AUTO_TEXT struct text t = {0};
    AUTO_FREE char *last = NULL;
    text_addf(&t, "%s\t%s\t", a->macro->name, a->text);
    for (size_t i = 0; i < a->rows.n; i++)
        text_addf(&t, "%s%s:%ld", i ? "," : "", a->grid->name, a->grid->rows[a->rows.rows[i]].line);
    text_add(&t, "\t");
    for (size_t i = 0; i < a->rows.n * ROW_RUNS; i++) {
        char *run = paper_tables_run(&b->tables, a->grid, a->rows.rows[i % a->rows.n],
                                     (enum row_run)(i / a->rows.n));
        if (run && (!last || strcmp(run, last)))
            text_addf(&t, "%s%s", last ? "," : "", run);
        free(run ? last : NULL);
        last = run ? run : last;
    }
    for (size_t i = 0; i < a->n_parts; i++)
        text_addf(&t, "%s%s", i ? "," : last ? " from " : "from ", a->parts[i]->macro->name);
    text_add(&t, "\n");
    csv_bytes(f, t.s, t.len);
}

static int answer_all(struct numbers *b)
{
    struct answer *a;
    int code = GS_OK;
    for (size_t i = 0; i < b->d.n && !code; i++)
        code = numbers_answer(b, b->d.v[i].name, &a);
    return code ? code : admissibility_report(&b->admissibility);
}

static int write_file(struct numbers *b, const char *dir, const char *name, bool trace)
{
    struct csv f;
    AUTO_FREE char *path = xstrfmt("%s/%s", dir, name);
    int code = csv_open(&f, path);
    if (code)
        return code;
    if (!trace)
        put(&f,
            "% Written by 'gradsync why -o'; 'gradsync why NAME' says where a number is from.\n");
    for (size_t i = 0; i < b->n; i++)
        if (trace)
            put_trace(&f, b, &b->v[i]);
        else
            put_answer(&f, &b->v[i]);
    for (size_t i = 0; i < b->d.n_bodies && !trace; i++)
        put_define(&f, "rows", b->d.bodies[i].name, b->d.bodies[i].text);
    return csv_close(&f, true);
}

int tex_write(struct numbers *b, const char *dir)
{
    int code = answer_all(b);
    if (!code)
        code = write_file(b, dir, "macros.tex", false);
    return code ? code : write_file(b, dir, "trace.tsv", true);
}
