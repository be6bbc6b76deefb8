/* SPDX-License-Identifier: Apache-2.0 */
#include "paper/define.h"

#include "err.h"
#include "paper/select.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARS 8 /* in one name */

struct set {
    char *name;
    struct words values;
};

struct reading {
    struct definitions *d;
    struct shelf *shelf;
    struct set *sets;
    size_t n_sets;
    int line;
};

/* What the variables stand for just now. */
struct binding {
    const struct set *set[VARS];
    const char *value[VARS];
    size_t n;
};

static int wrong(const struct reading *r, const char *what, const char *word)
{
    return fail_at(GS_USAGE, r->d->path, r->line,
                   "%s '%s'; runner/paper/define.h says what a line "
                   "may be",
                   what, word);
}

static const struct set *find_set(const struct reading *r, const char *name, size_t n)
{
    for (size_t i = 0; i < r->n_sets; i++)
        if (strlen(r->sets[i].name) == n && !strncmp(r->sets[i].name, name, n))
            return &r->sets[i];
    return NULL;
}

/* ---- sets ---- */

static bool holds_word(const struct words *w, const char *word)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->v[i], word))
            return true;
    return false;
}

static int set_from_table(const struct reading *r, struct words *values, const char *rows,
                          const char *key)
{
    const struct grid *g;
    const struct place at = {r->d->path, r->line};
    struct chosen c = {0};
    char *table = xstrfmt("%.*s", (int)strcspn(rows, ":"), rows), buf[256];
    const char *where = rows + strlen(table) + (rows[strlen(table)] == ':');
    int code = shelf_find(r->shelf, table, &g);
    if (!code)
        code = select_key(g, key, at);
    if (!code)
        code = select_rows(&c, g, where, at);
    for (size_t i = 0; i < c.n && !code; i++) {
        const char *v = grid_get(g, c.rows[i], key, buf, sizeof buf);
        if (!v || holds_word(values, v))
            continue;
        values->v = xrealloc(values->v, (values->n + 1) * sizeof *values->v);
        values->v[values->n++] = xstrdup(v);
    }
    chosen_free(&c);
    free(table);
    return code;
}

static int read_set(struct reading *r, const struct words *w)
{
    if (w->n < 3 || w->n > 4)
        return wrong(r, "no set", w->n > 1 ? w->v[1] : "");
    r->sets = xrealloc(r->sets, (r->n_sets + 1) * sizeof *r->sets);
    struct set *s = &r->sets[r->n_sets++];
    *s = (struct set){.name = xstrdup(w->v[1])};
    if (w->n == 4)
        return set_from_table(r, &s->values, w->v[2], w->v[3]);
    words_split(&s->values, w->v[2], ',');
    return GS_OK;
}

/* ---- variables ---- */

/* "<p>" that `s` begins with: its length, or 0. */
static size_t variable_at(const char *s)
{
    size_t n = *s == '<' ? strcspn(s, "> ") : 0;
    return n > 1 && s[n] == '>' ? n + 1 : 0;
}

static int bind_names(const struct reading *r, struct binding *b, const char *text)
{
    for (const char *s = text; *s; s++) {
        size_t n = variable_at(s);
        const struct set *set = n ? find_set(r, s + 1, n - 2) : NULL;
        bool known = false;
        for (size_t i = 0; i < b->n; i++)
            known = known || b->set[i] == set;
        if (n && (!set || b->n == VARS))
            return wrong(r, set ? "too many variables in" : "no set for a variable of", text);
        if (n && !known)
            b->set[b->n++] = set;
    }
    return GS_OK;
}

static const char *bound_value(const struct binding *b, const char *name, size_t n)
{
    for (size_t i = 0; i < b->n; i++)
        if (strlen(b->set[i]->name) == n && !strncmp(b->set[i]->name, name, n))
            return b->value[i];
    return NULL;
}

/* NULL and an error: a variable that is not bound. */
static char *replace(const struct reading *r, const struct binding *b, const char *text)
{
    struct text t = {0};
    text_clear(&t);
    text_add(&t, "");
    for (const char *s = text; *s;) {
        size_t n = variable_at(s);
        const char *value = n ? bound_value(b, s + 1, n - 2) : NULL;
        if (n && !value) {
            wrong(r, "a variable that is not in the name, in", text);
            text_free(&t);
            return NULL;
        }
        text_addn(&t, value ? value : s, value ? strlen(value) : 1);
        s += n ? n : 1;
    }
    return t.s;
}

/* Calls `each` for every combination, the last variable running fastest. */
typedef int visit_fn(struct reading *r, const struct binding *b, const struct words *w, void *ctx);
static int for_each(struct reading *r, struct binding *b, size_t depth, size_t end,
                    const struct words *w, visit_fn *each, void *ctx)
{
    int code = GS_OK;
    if (depth == end)
        return each(r, b, w, ctx);
    for (size_t i = 0; i < b->set[depth]->values.n && !code; i++) {
        b->value[depth] = b->set[depth]->values.v[i];
        code = for_each(r, b, depth + 1, end, w, each, ctx);
    }
    return code;
}

/* ---- numbers ---- */

const struct macro *definitions_find(const struct definitions *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->v[i].field[DEF_NAME], name))
            return &d->v[i];
    return NULL;
}

static int add_macro(struct reading *r, const struct binding *b, const struct words *w, void *ctx)
{
    struct macro m = {.line = r->line};
    (void)ctx;
    for (size_t i = 0; i < w->n; i++)
        if (!(m.field[i] = replace(r, b, w->v[i])))
            return GS_USAGE;
    if (definitions_find(r->d, m.field[DEF_NAME]))
        return wrong(r, "a second definition of", m.field[DEF_NAME]);
    r->d->v = xrealloc(r->d->v, (r->d->n + 1) * sizeof *r->d->v);
    r->d->v[r->d->n++] = m;
    return GS_OK;
}

static int read_macro(struct reading *r, const struct words *w)
{
    struct binding b = {0};
    if (w->n < DEF_ELSE || w->n > DEF_FIELDS)
        return wrong(r, "not five or six fields in the definition of", w->v[0]);
    int code = bind_names(r, &b, w->v[DEF_NAME]);
    return code ? code : for_each(r, &b, 0, b.n, w, add_macro, NULL);
}

int definitions_add(struct definitions *d, const char *name, const char *text)
{
    struct reading r = {.d = d};
    char *line = xstrfmt("%s | %s", name, text);
    struct words w;
    words_split(&w, line, '|');
    int code = read_macro(&r, &w);
    words_free(&w);
    free(line);
    return code;
}

/* ---- bodies of tables ---- */

static int add_line(struct reading *r, const struct binding *b, const struct words *w, void *ctx)
{
    char *line = replace(r, b, w->v[3]);
    if (line)
        text_addf(ctx, "%s\n", line);
    free(line);
    return line ? GS_OK : GS_USAGE;
}

/* Of a body's variables: those of its name come first, and those that its text runs over end here.
 */
struct reach {
    size_t named, all;
};

static int add_body(struct reading *r, const struct binding *named, const struct words *w,
                    void *ctx)
{
    struct binding b = *named;
    struct text t = {0};
    const struct reach *reach = ctx;
    text_clear(&t);
    text_add(&t, "");
    int code = for_each(r, &b, reach->named, reach->all, w, add_line, &t);
    r->d->bodies = xrealloc(r->d->bodies, (r->d->n_bodies + 1) * sizeof *r->d->bodies);
    r->d->bodies[r->d->n_bodies++] = (struct body){replace(r, &b, w->v[1]), t.s, r->line};
    return code;
}

static int read_rows(struct reading *r, const struct words *w)
{
    struct binding b = {0};
    struct words over;
    int code = w->n == 4 ? bind_names(r, &b, w->v[1]) : wrong(r, "no four fields in", "rows");
    if (code)
        return code;
    struct reach reach = {.named = b.n};
    words_split(&over, w->v[2], ' ');
    for (size_t i = 0; i < over.n && !code; i++) {
        const struct set *s = find_set(r, over.v[i], strlen(over.v[i]));
        if (s && b.n < VARS)
            b.set[b.n++] = s;
        else
            code = wrong(r, "no set", over.v[i]);
    }
    words_free(&over);
    reach.all = b.n;
    return code ? code : for_each(r, &b, 0, reach.named, w, add_body, &reach);
}

/* ---- the file ---- */

static int read_line(struct reading *r, const char *line)
{
    struct words w;
    int code;
    if (!line[strspn(line, " \t")] || *line == '#')
        return GS_OK;
    words_split(&w, line, '|');
    if (!strcmp(w.v[0], "set"))
        code = read_set(r, &w);
    else
        code = !strcmp(w.v[0], "rows") ? read_rows(r, &w) : read_macro(r, &w);
    words_free(&w);
    return code;
}

int definitions_read(struct definitions *d, const char *path, struct shelf *shelf)
{
    struct reading r = {.d = d, .shelf = shelf};
    struct text t = {0};
    int code = GS_OK;
    *d = (struct definitions){.path = xstrdup(path)};
    if (!text_read_file(path, &t))
        return fail_at(GS_USAGE, path, 0, "%s", strerror(errno));
    for (char *line = t.s, *end; line && *line && !code; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        r.line++;
        code = read_line(&r, line);
    }
    for (size_t i = 0; i < r.n_sets; i++) {
        free(r.sets[i].name);
        words_free(&r.sets[i].values);
    }
    free(r.sets);
    text_free(&t);
    return code;
}

const char *definitions_nearest(const struct definitions *d, const char *word)
{
    const char **names = xcalloc(d->n + 1, sizeof *names);
    for (size_t i = 0; i < d->n; i++)
        names[i] = d->v[i].field[DEF_NAME];
    const char *near = text_nearest(word, names, d->n);
    free(names);
    return near;
}

void definitions_free(struct definitions *d)
{
    for (size_t i = 0; i < d->n; i++)
        for (size_t f = 0; f < DEF_FIELDS; f++)
            free(d->v[i].field[f]);
    for (size_t i = 0; i < d->n_bodies; i++) {
        free(d->bodies[i].name);
        free(d->bodies[i].text);
    }
    free(d->bodies);
    free(d->v);
    free(d->path);
    *d = (struct definitions){0};
}
