/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/axes.h"

#include "base/text.h"

#include <stdio.h>
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

static bool is_among(const struct axes_keys *k, const char *word, size_t n)
{
    for (size_t i = 0; i < k->n; i++)
        if (strlen(k->v[i]) == n && !strncmp(k->v[i], word, n))
            return true;
    return false;
}

static void add_key(struct axes_keys *k, const char *word, size_t n)
{
    if (k->n < AXES && n < sizeof *k->v && !is_among(k, word, n))
        snprintf(k->v[k->n++], sizeof *k->v, "%.*s", (int)n, word);
}

void axes_config(struct axes *a, const char *label, const char *params)
{
    AUTO_WORDS struct words parts = {0}, set = {0};
    words_split(&parts, label, '/');
    words_split(&set, params, ' ');
    for (size_t i = 0; i < parts.n; i++)
        if (strchr(parts.v[i], '='))
            add_key(&a->of_config, parts.v[i], strcspn(parts.v[i], "="));
        else
            for (size_t k = 0; k < set.n; k++) {
                size_t n = strcspn(set.v[k], "=");
                if (set.v[k][n] && !strcmp(set.v[k] + n + 1, parts.v[i]))
                    add_key(&a->of_config, set.v[k], n);
            }
}

/* The keys of the words that `other` does not have. */
static void add_missing(struct axes *a, const char *other, const char *params)
{
    AUTO_WORDS struct words w = {0};
    AUTO_FREE char *known = xstrfmt(" %s ", other);
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++) {
        size_t n = strcspn(w.v[i], "=");
        if (is_column(w.v[i], n) || is_among(&a->of_config, w.v[i], n))
            continue;
        AUTO_FREE char *word = xstrfmt(" %s ", w.v[i]);
        if (!strstr(known, word))
            add_key(&a->differ, w.v[i], n);
    }
}

/* Both ways: a parameter that was added to a plugin is absent while it has its default. */
void axes_add(struct axes *a, const char *first, const char *params)
{
    add_missing(a, first, params);
    add_missing(a, params, first);
}

/* A collective's name says what it is. */
static const char *shown(const char *word)
{
    const char key[] = "collective=";
    return strncmp(word, key, strlen(key)) ? word : word + strlen(key);
}

char *axes_where(const struct axes *a, const char *mode, const char *params)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    text_add(&t, mode);
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (is_among(&a->differ, w.v[i], strcspn(w.v[i], "=")))
            text_addf(&t, "%s%s", t.len ? " " : "", shown(w.v[i]));
    if (!t.len)
        text_add(&t, "-");
    return t.s;
}
