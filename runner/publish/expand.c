/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/expand.h"

#include "base/err.h"
#include "publish/select.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int expand_wrong(const struct reading *r, const char *what, const char *word)
{
    return fail_at(GS_USAGE, r->d->path, r->line,
                   "%s '%s'; runner/publish/define.h says what a line may be", what, word);
}

const struct set *expand_find(const struct reading *r, const char *name, size_t n)
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
        code = select_rows(&c, g, where, at);
    if (!code && c.n) /* a parameter that other rows have not is none's */
        code = select_key(g, key, at);
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

int expand_set(struct reading *r, const struct words *w)
{
    if (w->n < 3 || w->n > 4)
        return expand_wrong(r, "no set", w->n > 1 ? w->v[1] : "");
    r->sets = xrealloc(r->sets, (r->n_sets + 1) * sizeof *r->sets);
    struct set *s = &r->sets[r->n_sets++];
    *s = (struct set){.name = xstrdup(w->v[1])};
    if (w->n == 4)
        return set_from_table(r, &s->values, w->v[2], w->v[3]);
    words_split(&s->values, w->v[2], ',');
    return GS_OK;
}

void expand_free(struct reading *r)
{
    for (size_t i = 0; i < r->n_sets; i++) {
        free(r->sets[i].name);
        words_free(&r->sets[i].values);
    }
    free(r->sets);
    r->sets = NULL;
    r->n_sets = 0;
}

/* ---- variables ---- */

/* "<p>" that `s` begins with: its length, or 0. */
static size_t variable_at(const char *s)
{
    size_t n = *s == '<' ? strcspn(s, "> ") : 0;
    return n > 1 && s[n] == '>' ? n + 1 : 0;
}

int expand_bind(const struct reading *r, struct binding *b, const char *text)
{
    for (const char *s = text; *s; s++) {
        size_t n = variable_at(s);
        const struct set *set = n ? expand_find(r, s + 1, n - 2) : NULL;
        bool known = false;
        for (size_t i = 0; i < b->n; i++)
            known = known || b->set[i] == set;
        if (n && (!set || b->n == VARS))
            return expand_wrong(r, set ? "too many variables in" : "no set for a variable of",
                                text);
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

char *expand_text(const struct reading *r, const struct binding *b, const char *text)
{
    struct text t = {0};
    text_clear(&t);
    text_add(&t, "");
    for (const char *s = text; *s;) {
        size_t n = variable_at(s);
        const char *value = n ? bound_value(b, s + 1, n - 2) : NULL;
        if (n && !value) {
            expand_wrong(r, "a variable that is not in the name, in", text);
            text_free(&t);
            return NULL;
        }
        text_addn(&t, value ? value : s, value ? strlen(value) : 1);
        s += n ? n : 1;
    }
    return t.s;
}

int expand_each(struct reading *r, struct binding *b, size_t depth, size_t end,
                const struct words *w, expand_visit *each, void *ctx)
{
    int code = GS_OK;
    if (depth == end)
        return each(r, b, w, ctx);
    for (size_t i = 0; i < b->set[depth]->values.n && !code; i++) {
        b->value[depth] = b->set[depth]->values.v[i];
        code = expand_each(r, b, depth + 1, end, w, each, ctx);
    }
    return code;
}
