/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_words.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <string.h>

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
    return param_parse(p, equals + 1, object, why, sizeof why)
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
    return param_parse(p, e->value, object, why, sizeof why) ? GS_OK : config_error(e, "%s", why);
}
