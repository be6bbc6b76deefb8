/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/select.h"

#include "base/err.h"
#include "base/text.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_IS, OP_IS_NOT, OP_LIKE };
static const struct {
    const char *text;
    enum op op;
} ops[] = {{"!=", OP_IS_NOT}, {"=", OP_IS}, {"~", OP_LIKE}};
#define OPS (sizeof ops / sizeof *ops)

struct clause {
    char *key, *value;
    enum op op;
    size_t column; /* of the key, or none */
};

int select_key(const struct grid *g, const char *key, struct place at)
{
    char buf[256];
    if (!strcmp(key, "line"))
        return GS_OK;
    for (size_t i = 0; i < g->n; i++)
        if (grid_get(g, i, key, buf, sizeof buf))
            return GS_OK;
    if (!g->n && (grid_has(g, key) || grid_has(g, "params")))
        return GS_OK;
    const char *near = text_nearest(key, (const char *const *)g->columns, g->n_columns);
    return fail_at(GS_USAGE, at.file, at.line, "table %s has no column or parameter '%s'%s",
                   g->name, key, DID_YOU_MEAN(near));
}

/* The operator that comes first; "=" of "!=" is not one of its own. */
static bool parse_clause(struct clause *c, const char *text)
{
    const char *first = NULL;
    size_t which = 0;
    for (size_t i = 0; i < OPS; i++) {
        const char *p = strstr(text, ops[i].text);
        if (p && (!first || p < first)) {
            first = p;
            which = i;
        }
    }
    if (!first || first == text)
        return false;
    *c = (struct clause){xstrfmt("%.*s", (int)(first - text), text),
                         xstrdup(first + strlen(ops[which].text)), ops[which].op, 0};
    return true;
}

static bool holds(const struct clause *c, const struct grid *g, size_t row)
{
    char buf[256];
    const char *v = c->column < g->n_columns ? g->rows[row].fields[c->column]
                                             : grid_get(g, row, c->key, buf, sizeof buf);
    v = v ? v : "";
    if (c->op == OP_LIKE)
        return fnmatch(c->value, v, 0) == 0;
    return !strcmp(v, c->value) == (c->op == OP_IS);
}

static int parse_all(struct clause *v, size_t *n, const struct grid *g, const struct words *w,
                     struct place at)
{
    int code = GS_OK;
    for (size_t i = 0; i < w->n && !code; i++) {
        if (!*w->v[i])
            continue;
        if (!parse_clause(&v[*n], w->v[i]))
            return fail_at(GS_USAGE, at.file, at.line,
                           "'%s' is no clause: KEY=TEXT, KEY!=TEXT or KEY~GLOB", w->v[i]);
        v[*n].column = grid_column(g, v[*n].key);
        code = select_key(g, v[(*n)++].key, at);
    }
    return code;
}

int select_rows(struct chosen *out, const struct grid *g, const char *where, struct place at)
{
    struct words w;
    size_t n = 0;
    words_split(&w, where, ';');
    struct clause *v = xcalloc(w.n + 1, sizeof *v);
    *out = (struct chosen){0};
    int code = parse_all(v, &n, g, &w, at);
    if (!code)
        out->rows = xcalloc(g->n + 1, sizeof *out->rows);
    for (size_t row = 0; row < g->n && !code; row++) {
        bool all = true;
        for (size_t i = 0; i < n && all; i++)
            all = holds(&v[i], g, row);
        if (all)
            out->rows[out->n++] = row;
    }
    for (size_t i = 0; i < n; i++) {
        free(v[i].key);
        free(v[i].value);
    }
    free(v);
    words_free(&w);
    return code;
}

void chosen_free(struct chosen *c)
{
    free(c->rows);
    *c = (struct chosen){0};
}
