/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/define.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "publish/expand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct macro *definitions_find(const struct definitions *d, const char *name)
{
    const json_t *place = json_object_get(d->places, name);
    return place ? &d->v[json_integer_value(place)] : NULL;
}

static void free_macro(struct macro *m)
{
    free(m->name);
    free(m->form);
    free(m->otherwise);
    free(m->query);
}

/* ---- numbers ---- */

/* A line before its variables have values. */
struct template
{
    struct definitions *d;
    struct macro macro;
};

static int add_macro(const struct reading *r, const struct bound *b, void *ctx)
{
    const struct template *t = ctx;
    const char *otherwise = t->macro.otherwise;
    struct macro m = {.line = r->at.line};
    m.name = expand_text(r, b, t->macro.name);
    m.form = m.name ? expand_text(r, b, t->macro.form) : NULL;
    m.query = m.form ? expand_text(r, b, t->macro.query) : NULL;
    m.otherwise = m.query && otherwise ? expand_text(r, b, otherwise) : NULL;
    int code = m.query && !m.otherwise == !otherwise ? GS_OK : GS_USAGE;
    if (!code && definitions_find(t->d, m.name))
        code = expand_wrong(r, "a second definition of", m.name);
    if (code) {
        free_macro(&m);
        return code;
    }
    t->d->places = t->d->places ? t->d->places : json_object();
    json_object_set_new(t->d->places, m.name, json_integer((json_int_t)t->d->n));
    APPEND(t->d->v, t->d->n) = m;
    return GS_OK;
}

/* "FORM: SELECT …" or "FORM else TEXT: SELECT …" */
static bool split_macro(struct macro *m, char *text)
{
    char *query = strcasestr(text, ": SELECT "), *otherwise;
    if (!query)
        return false;
    *query = '\0';
    m->query = query + 2;
    m->form = text;
    otherwise = strstr(text, " else ");
    if (otherwise) {
        *otherwise = '\0';
        m->otherwise = otherwise + strlen(" else ");
    }
    return true;
}

static int read_macro(struct reading *r, struct definitions *d, char *name, char *text)
{
    struct bound b = {0};
    struct template t = {d, {.name = name}};
    if (!split_macro(&t.macro, text))
        return expand_wrong(r, "no 'FORM: SELECT …' in the definition of", name);
    int code = expand_bind(r, &b, name);
    return code ? code : expand_each(r, &b, 0, b.n, add_macro, &t);
}

int definitions_add(struct definitions *d, const char *name, const char *text)
{
    struct reading r = {.at.file = "command line"};
    AUTO_FREE char *copy = xstrdup(text), *n = xstrdup(name);
    return read_macro(&r, d, n, copy);
}

/* ---- bodies of tables ---- */

struct rows {
    struct definitions *d;
    const char *name, *line;
    size_t named, all; /* variables of the name come first, then those that the text runs over */
    struct text text;
};

static int add_line(const struct reading *r, const struct bound *b, void *ctx)
{
    struct rows *rows = ctx;
    AUTO_FREE char *line = expand_text(r, b, rows->line);
    if (line)
        text_addf(&rows->text, "%s\n", line);
    return line ? GS_OK : GS_USAGE;
}

static int add_body(const struct reading *r, const struct bound *named, void *ctx)
{
    struct bound b = *named;
    struct rows *rows = ctx;
    struct definitions *d = rows->d;
    rows->text = (struct text){0};
    text_add(&rows->text, "");
    int code = expand_each(r, &b, rows->named, rows->all, add_line, rows);
    APPEND(d->bodies, d->n_bodies) = (struct body){expand_text(r, &b, rows->name), rows->text.s};
    return code;
}

/* head: "NAME over VAR VAR" */
static int read_rows(struct reading *r, struct definitions *d, const char *head, const char *text)
{
    struct bound b = {0};
    AUTO_WORDS struct words w = {0};
    words_split(&w, head, ' ');
    struct rows rows = {.d = d, .name = w.n ? w.v[0] : "", .line = text};
    int code = w.n > 2 && !strcmp(w.v[1], "over")
                   ? expand_bind(r, &b, rows.name)
                   : expand_wrong(r, "no 'rows NAME over VAR' in", head);
    rows.named = b.n;
    for (size_t i = 2; i < w.n && !code; i++) {
        const struct set *s = expand_find(r, w.v[i], strlen(w.v[i]));
        if (s && b.n < VARS)
            b.set[b.n++] = s;
        else
            code = expand_wrong(r, "no set", w.v[i]);
    }
    rows.all = b.n;
    return code ? code : expand_each(r, &b, 0, rows.named, add_body, &rows);
}

/* ---- the file ---- */

static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        n--;
    s[n] = '\0';
    return s;
}

static int read_line(struct reading *r, struct definitions *d, char *line)
{
    line = trim(line);
    if (!*line || *line == '#')
        return GS_OK;
    char *equals = strstr(line, " = ");
    if (!equals)
        return expand_wrong(r, "no ' = ' in", line);
    *equals = '\0';
    char *left = trim(line), *right = trim(equals + strlen(" = "));
    if (!strncmp(left, "set ", 4))
        return expand_set(r, trim(left + 4), right);
    if (!strncmp(left, "rows ", 5))
        return read_rows(r, d, trim(left + 5), right);
    return read_macro(r, d, left, right);
}

int definitions_read(struct definitions *d, const char *path, struct sql *sql)
{
    AUTO_TEXT struct text t = {0};
    int code = GS_OK;
    *d = (struct definitions){.path = xstrdup(path)};
    struct reading r = {.sql = sql, .at.file = d->path};
    if (!files_read(path, FILES_ANY, FILES_WHOLE_MAX, &t))
        return fail_at(GS_USAGE, path, 0, "%s; --macros names the file of definitions",
                       files_why(errno));
    for (char *line = t.s, *end; line && *line && !code; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        r.at.line++;
        code = read_line(&r, d, line);
    }
    expand_free(&r);
    return code;
}

const char *definitions_nearest(const struct definitions *d, const char *word)
{
    return NEAREST(word, d->v, d->n, name);
}

void definitions_free(struct definitions *d)
{
    for (size_t i = 0; i < d->n; i++)
        free_macro(&d->v[i]);
    for (size_t i = 0; i < d->n_bodies; i++) {
        free(d->bodies[i].name);
        free(d->bodies[i].text);
    }
    json_decref(d->places);
    free(d->bodies);
    free(d->v);
    free(d->path);
    *d = (struct definitions){0};
}
