/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_words.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A count may end in K, M, B (billion) or T (trillion): 7B parameters, 1T tokens. */
bool wan_param_parse(const struct wl_param *p, const char *text, void *object, char *why, size_t n)
{
    static const char suffixes[] = "KMBT";
    size_t length = strlen(text);
    const char *suffix = length > 1 ? strchr(suffixes, text[length - 1]) : NULL;
    if (p->type != WL_REAL || !suffix || !isdigit((unsigned char)text[length - 2]))
        return param_parse(p, text, object, why, n);
    char *number = xstrfmt("%.*se%d", (int)length - 1, text, 3 * (int)(suffix - suffixes + 1));
    bool ok = param_parse(p, number, object, why, n);
    free(number);
    return ok;
}

static int read_word(const struct config_entry *e, const struct wl_param *table, char *word,
                     void *object)
{
    char why[512], *equals = strchr(word, '=');
    if (!equals)
        return config_error(e, "'%.40s' is not KEY=VALUE; put blanks only between pairs", word);
    *equals = '\0';
    const struct wl_param *p = params_find(table, word);
    const char *near = p ? NULL : params_nearest(table, word);
    if (!p)
        return config_error(e, "unknown key '%.40s'%s", word, DID_YOU_MEAN(near));
    return wan_param_parse(p, equals + 1, object, why, sizeof why)
               ? GS_OK
               : config_error(e, "%s: %s", word, why);
}

int wan_words_read(const struct config_entry *e, const struct wl_param *table, void *object)
{
    struct words w;
    int code = GS_OK;
    words_split(&w, e->value, ' ');
    for (size_t i = 0; i < w.n; i++)
        if (*w.v[i] && read_word(e, table, w.v[i], object))
            code = GS_USAGE;
    words_free(&w);
    return code;
}

int wan_value_read(const struct config_entry *e, const struct wl_param *p, void *object)
{
    char why[512];
    return wan_param_parse(p, e->value, object, why, sizeof why) ? GS_OK
                                                                 : config_error(e, "%s", why);
}
