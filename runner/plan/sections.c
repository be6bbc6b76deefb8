/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/sections.h"

#include "base/err.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/plan_build.h"

#include <stdlib.h>
#include <string.h>

bool sections_wanted(const char *section, const char *word)
{
    size_t n = word ? strlen(word) : 0;
    return !word || !strcmp(section, word) || (!strncmp(section, word, n) && section[n] == ' ');
}

int sections_none(const struct config *c, const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (; n < sizeof names / sizeof *names && config_workload(c, n); n++)
        names[n] = config_workload(c, n);
    if (!word)
        return fail_at(GS_USAGE, c->path, 0,
                       "no workload section; add one, e.g. [mpi_allreduce] ('gradsync list')");
    const char *near = text_nearest(word, names, n);
    return fail_at(GS_USAGE, c->path, 0, "no workload section [%s]%s%s", word, DID_YOU_MEAN(near),
                   strcmp(word, "train") ? "" : "; 'gradsync help train' shows how to write one");
}

static int plan_one(struct sections *s, struct config *c, const char *section)
{
    struct plan *p = NULL;
    int code = plan_build(&p, config_share(c), section);
    if (code == GS_CANNOT) {
        s->left_out = code;
        return GS_OK;
    }
    if (code)
        return code;
    APPEND(s->plans, s->n) = p;
    return GS_OK;
}

int sections_plan(struct sections *s, const char *config, const char *const *overrides,
                  const char *workload)
{
    AUTO(config_free_of) struct config *c = NULL;
    *s = (struct sections){0};
    int code = config_load(&c, config, overrides);
    if (!code)
        code = config_check_commands(c);
    return code ? code : sections_of(s, c, workload);
}

int sections_of(struct sections *s, struct config *c, const char *workload)
{
    int code = GS_OK;
    *s = (struct sections){0};
    for (size_t i = 0; !code && config_workload(c, i); i++)
        if (sections_wanted(config_workload(c, i), workload))
            code = plan_one(s, c, config_workload(c, i));
    if (!code && !s->n)
        code = s->left_out ? s->left_out : sections_none(c, workload);
    return code;
}

void sections_free(struct sections *s)
{
    for (size_t i = 0; i < s->n; i++)
        plan_free(s->plans[i]);
    free(s->plans);
    *s = (struct sections){0};
}
