/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/alike.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

const char *const alike_config[] = {"config", "algorithm", "protocol", "ctas", "memory", NULL};

static bool has_key(const char *word, const char *const *keys)
{
    size_t n = strcspn(word, "=");
    for (size_t i = 0; keys[i]; i++)
        if (strlen(keys[i]) == n && !strncmp(word, keys[i], n))
            return true;
    return false;
}

char *alike_without(const char *params, const char *const *keys)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    text_add(&t, "");
    words_split(&w, params, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (!has_key(w.v[i], keys))
            text_addf(&t, "%s%s", t.len ? " " : "", w.v[i]);
    return t.s;
}
