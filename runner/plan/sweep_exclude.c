/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sweep_exclude.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <stdlib.h>
#include <string.h>

static int read_term(struct sweep_term *term, const struct wl_param *params,
                     const struct config_entry *e, char *text)
{
    char *equals = strchr(text, '='), why[1024];
    if (!equals)
        return config_error(e, "'%s' is not of the form PARAMETER=VALUE", text);
    *equals = '\0';
    term->p = params_find(params, text);
    const char *near = params_nearest(params, text);
    if (!term->p)
        return config_error(e, "'%s' is not a parameter%s", text, DID_YOU_MEAN(near));
    struct wl_param alone = *term->p;
    alone.offset = 0;
    term->value = xcalloc(1, param_size(&alone));
    return param_parse(&alone, equals + 1, term->value, why, sizeof why)
               ? GS_OK
               : config_error(e, "%s: %s", text, why);
}

static int read_clause(struct sweep_excludes *x, const struct wl_param *params,
                       const struct config_entry *e, const char *text)
{
    AUTO_WORDS struct words terms = {0};
    int code = GS_OK;
    struct sweep_clause *clause = &APPEND(x->v, x->n);
    words_split(&terms, text, ' ');
    *clause = (struct sweep_clause){.terms = xcalloc(terms.n, sizeof *clause->terms)};
    for (size_t i = 0; i < terms.n; i++)
        if (*terms.v[i] && read_term(&clause->terms[clause->n++], params, e, terms.v[i]))
            code = GS_USAGE;
    return clause->n ? code : config_error(e, "a clause is empty (write PARAMETER=VALUE …, …)");
}

int sweep_read_excludes(struct sweep_excludes *x, const struct wl_param *params,
                        const struct config_entry *e)
{
    AUTO_FREE char *value = xstrdup(e->value);
    AUTO_WORDS struct words clauses = {0};
    int code = GS_OK;
    for (char *p = value; (p = strchr(p, ',')); p++)
        *p = ';';
    words_split(&clauses, value, ';');
    for (size_t i = 0; i < clauses.n; i++)
        if (read_clause(x, params, e, clauses.v[i]))
            code = GS_USAGE;
    return code;
}

static bool matches(const struct sweep_clause *clause, const void *cell)
{
    for (size_t i = 0; i < clause->n; i++) {
        const struct wl_param *p = clause->terms[i].p;
        if (memcmp((const char *)cell + p->offset, clause->terms[i].value, param_size(p)))
            return false;
    }
    return true;
}

bool sweep_excluded(const struct sweep_excludes *x, const void *cell)
{
    for (size_t k = 0; k < x->n; k++)
        if (matches(&x->v[k], cell))
            return true;
    return false;
}

void sweep_free_excludes(struct sweep_excludes *x)
{
    for (size_t k = 0; k < x->n; k++) {
        for (size_t i = 0; i < x->v[k].n; i++)
            free(x->v[k].terms[i].value);
        free(x->v[k].terms);
    }
    free(x->v);
}
