/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sweep_exclude.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <stdlib.h>
#include <string.h>

static int read_term(struct sweep *s, const struct config_entry *e, char *text,
                     struct sweep_term *term)
{
    char *equals = strchr(text, '='), why[1024];
    if (!equals)
        return config_error(e, "'%s' is no PARAMETER=VALUE", text);
    *equals = '\0';
    const struct sweep_axis *axis = sweep_axis(s, text);
    const char *near = params_nearest(s->wl->params, text);
    if (!axis)
        return config_error(e, "'%s' is no parameter%s", text, DID_YOU_MEAN(near));
    struct wl_param p = *axis->p;
    p.offset = 0;
    term->axis = (size_t)(axis - s->axes);
    term->value = xcalloc(1, param_size(&p));
    return param_parse(&p, equals + 1, term->value, why, sizeof why)
               ? GS_OK
               : config_error(e, "%s: %s", text, why);
}

static int read_clause(struct sweep *s, const struct config_entry *e, const char *text)
{
    struct words terms;
    int code = GS_OK;
    s->excludes = xrealloc(s->excludes, (s->n_excludes + 1) * sizeof *s->excludes);
    struct sweep_clause *clause = &s->excludes[s->n_excludes++];
    words_split(&terms, text, ' ');
    *clause = (struct sweep_clause){.terms = xcalloc(terms.n, sizeof *clause->terms)};
    for (size_t i = 0; i < terms.n; i++)
        if (*terms.v[i] && read_term(s, e, terms.v[i], &clause->terms[clause->n++]))
            code = GS_USAGE;
    words_free(&terms);
    return clause->n ? code : config_error(e, "an empty clause (PARAMETER=VALUE …; …)");
}

int sweep_read_excludes(struct sweep *s, const struct config_entry *e)
{
    char *value = xstrdup(e->value);
    struct words clauses;
    int code = GS_OK;
    for (char *p = value; (p = strchr(p, ',')); p++)
        *p = ';';
    words_split(&clauses, value, ';');
    for (size_t i = 0; i < clauses.n; i++)
        if (read_clause(s, e, clauses.v[i]))
            code = GS_USAGE;
    words_free(&clauses);
    free(value);
    return code;
}

bool sweep_excluded(const struct sweep *s, const void *cell)
{
    for (size_t k = 0; k < s->n_excludes; k++) {
        const struct sweep_clause *clause = &s->excludes[k];
        size_t i = 0;
        for (; i < clause->n; i++) {
            const struct wl_param *p = s->axes[clause->terms[i].axis].p;
            if (memcmp((const char *)cell + p->offset, clause->terms[i].value, param_size(p)))
                break;
        }
        if (i == clause->n)
            return true;
    }
    return false;
}

void sweep_free_excludes(struct sweep *s)
{
    for (size_t k = 0; k < s->n_excludes; k++) {
        for (size_t i = 0; i < s->excludes[k].n; i++)
            free(s->excludes[k].terms[i].value);
        free(s->excludes[k].terms);
    }
    free(s->excludes);
}
