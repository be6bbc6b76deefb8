/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/expand.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int expand_wrong(const struct reading *r, const char *what, const char *word)
{
    return fail_at(GS_USAGE, r->at.file, r->at.line,
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

/* The values of the first column, each once. NULL is no value. */
static int query_set(const struct reading *r, struct words *values, const char *query)
{
    const struct grid *g;
    AUTO(sql_result_free) struct sql_result found = {0};
    struct sql_parts parts;
    int code = sql_split(&parts, query, r->at);
    if (!code && parts.from)
        code = sql_use(r->sql, &parts, &g);
    AUTO_FREE char *ordered = xstrfmt("%s%s", query, code || *parts.order ? "" : " ORDER BY rowid");
    r->sql->refused = true;
    if (!code)
        code = sql_run(r->sql, &found, ordered, NULL, r->at);
    r->sql->refused = false;
    for (size_t i = 0; i < found.rows * found.columns; i += found.columns)
        if (*found.cells.v[i].text)
            words_add_once(values, found.cells.v[i].text);
    return code;
}

int expand_set(struct reading *r, const char *name, const char *values)
{
    struct set *s = &APPEND(r->sets, r->n_sets);
    *s = (struct set){.name = xstrdup(name)};
    if (!strncasecmp(values, "SELECT ", strlen("SELECT ")))
        return query_set(r, &s->values, values);
    words_split(&s->values, values, ',');
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

int expand_bind(const struct reading *r, struct bound *b, const char *text)
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

static const char *bound_value(const struct bound *b, const char *name, size_t n)
{
    for (size_t i = 0; i < b->n; i++)
        if (strlen(b->set[i]->name) == n && !strncmp(b->set[i]->name, name, n))
            return b->value[i];
    return NULL;
}

char *expand_text(const struct reading *r, const struct bound *b, const char *text)
{
    struct text t = {0};
    text_clear(&t);
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

int expand_each(const struct reading *r, struct bound *b, size_t depth, size_t end,
                expand_visit *each, void *ctx)
{
    int code = GS_OK;
    if (depth == end)
        return each(r, b, ctx);
    for (size_t i = 0; i < b->set[depth]->values.n && !code; i++) {
        b->value[depth] = b->set[depth]->values.v[i];
        code = expand_each(r, b, depth + 1, end, each, ctx);
    }
    return code;
}
