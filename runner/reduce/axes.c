/* SPDX-License-Identifier: Apache-2.0 */
#include "reduce/axes.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

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
        AUTO_FREE char *key = xstrfmt("%.*s", (int)n, w.v[i]);
        if (text_lists("size,config,algorithm,protocol,ctas,memory,policy,mode", ",", key) ||
            is_among(&a->of_config, w.v[i], n))
            continue; /* of the first: the table has a column */
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

char *axes_where(const struct axes *a, const char *mode, const char *params)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    text_add(&t, mode);
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (is_among(&a->differ, w.v[i], strcspn(w.v[i], "="))) {
            /* A collective's name says what it is. */
            const size_t n = strncmp(w.v[i], "collective=", 11) ? 0 : 11;
            text_addf(&t, "%s%s", t.len ? " " : "", w.v[i] + n);
        }
    if (!t.len)
        text_add(&t, "-");
    return t.s;
}
