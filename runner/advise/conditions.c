/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/conditions.h"

#include "base/printable.h"
#include "base/shell_quote.h"

#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name, const char *variable)
{
    size_t n = strcspn(variable, "=");
    return strlen(name) == n && !strncmp(name, variable, n);
}

/* Does a setting of the run set the variable, or leave it out, so that it differs from auto? */
static bool is_set(const struct steps_evidence *s, const struct advice_run *run,
                   const char *variable)
{
    bool found = false;
    for (size_t i = 0; i < s->n && !found; i++) {
        AUTO(setting_free) struct setting setting = {0};
        if (s->v[i].run != run || !setting_of(&setting, s->v[i].c))
            continue;
        for (size_t k = 0; k + 1 < setting.environment.n; k += 2)
            found = found || is_name(setting.environment.v[k], variable);
        for (size_t k = 0; k < setting.unset.n; k++)
            found = found || is_name(setting.unset.v[k], variable);
    }
    return found;
}

void conditions_of_run(struct words *variables, const struct steps_evidence *s,
                       const struct advice_run *run)
{
    for (size_t i = 0; i < run->machine.nccl_env.n; i++)
        if (!is_set(s, run, run->machine.nccl_env.v[i]))
            words_add(variables, run->machine.nccl_env.v[i]);
}

/* "NAME=VALUE NAME='A VALUE'", to be read; new lines and other control characters are blanks. */
static char *list_of(const struct steps_evidence *s, const struct advice_run *run)
{
    AUTO_WORDS struct words w = {0};
    struct text t = {0};
    text_add(&t, "");
    conditions_of_run(&w, s, run);
    for (size_t i = 0; i < w.n; i++) {
        text_add(&t, i ? " " : "");
        shell_quote(&t, printable_make(w.v[i], ""));
    }
    return t.s;
}

static bool is_meant(const struct evidence *e, size_t shape, const char *config)
{
    return e->counts && e->run->shape == shape &&
           (!config || (evidence_wins(e) && !strcmp(e->c->config, config)));
}

char *conditions_sentence(const struct steps_evidence *s, size_t shape, const char *config)
{
    AUTO_WORDS struct words lists = {0};
    struct text t = {0};
    bool any = false;
    for (size_t i = 0; i < s->n; i++)
        if (is_meant(&s->v[i], shape, config)) {
            AUTO_FREE char *list = list_of(s, s->v[i].run);
            words_add_once(&lists, list);
            any = any || *list;
        }
    text_add(&t, "");
    for (size_t i = 0; any && i < lists.n; i++)
        text_addf(&t, "%s%s%s", i ? ", in other runs with " : "Measured with ",
                  *lists.v[i] ? lists.v[i] : "no variable of NCCL",
                  i ? "" : " in the environment of the ranks");
    if (any && lists.n == 1)
        text_addf(&t, "; without %s nothing was measured", strchr(lists.v[0], ' ') ? "them" : "it");
    text_add(&t, any ? "." : "");
    return t.s;
}
