/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/axes.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_column(const char *word, size_t n)
{
    static const char *const columns[] = {"size", "config", "algorithm", "protocol",
                                          "ctas", "memory", "policy",    "mode"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strlen(columns[i]) == n && !strncmp(columns[i], word, n))
            return true;
    return false;
}

static bool is_axis(const struct axes *a, const char *word, size_t n)
{
    for (size_t i = 0; i < a->n; i++)
        if (strlen(a->key[i]) == n && !strncmp(a->key[i], word, n))
            return true;
    return false;
}

/* The keys of the words that `other` does not have. */
static void add_missing(struct axes *a, const char *other, const char *params)
{
    struct words w;
    char *known = xstrfmt(" %s ", other);
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++) {
        size_t n = strcspn(w.v[i], "=");
        if (is_column(w.v[i], n) || is_axis(a, w.v[i], n) || a->n == AXES || n >= 32)
            continue;
        char *word = xstrfmt(" %s ", w.v[i]);
        if (!strstr(known, word))
            snprintf(a->key[a->n++], sizeof *a->key, "%.*s", (int)n, w.v[i]);
        free(word);
    }
    free(known);
    words_free(&w);
}

/* Both ways: a parameter that was added to a plugin is absent while it has its default. */
void axes_add(struct axes *a, const char *first, const char *params)
{
    add_missing(a, first, params);
    add_missing(a, params, first);
}

char *axes_where(const struct axes *a, const char *mode, const char *params)
{
    struct words w;
    struct text t = {0};
    text_add(&t, mode);
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (is_axis(a, w.v[i], strcspn(w.v[i], "=")))
            text_addf(&t, "%s%s", t.len ? " " : "", w.v[i]);
    words_free(&w);
    if (!t.len)
        text_add(&t, "-");
    return t.s;
}
