/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_script.h"

#include "base/shell_quote.h"
#include "base/text.h"
#include "config/params.h"
#include "config/train_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const struct train_filling *f;
    char value[WL_TEXT_MAX];
};

static const char *value_of(void *ctx, const char *name)
{
    struct request *r = ctx;
    const struct plan *p = r->f->plan;
    const struct wl_param *q = params_find(p->plugin->wl.params, name);
    const struct set_launch *s = &p->set.launch;
    long long number = !strcmp(name, "ranks")   ? s->ranks
                       : !strcmp(name, "nodes") ? s->nodes
                                                : r->f->launch;
    if (q)
        param_format(q, r->f->cell->values, r->value, sizeof r->value);
    else
        snprintf(r->value, sizeof r->value, "%lld", number);
    return r->value;
}

char *train_filled(const struct train_filling *f, const char *text)
{
    struct request r = {.f = f};
    return train_fill(text, value_of, &r);
}

char *train_script(const struct train_filling *f, const char *command)
{
    struct text t = {0};
    char value[WL_TEXT_MAX], *filled = train_filled(f, command);
    for (const struct wl_param *p = f->plan->plugin->wl.params; p->name; p++) {
        if (!train_is_variable(p->name))
            continue;
        param_format(p, f->cell->values, value, sizeof value);
        if (strcmp(value, TRAIN_UNSET))
            text_addf(&t, "export %s=%s\n", p->name, SHELL_WORD(value));
        else
            text_addf(&t, "unset %s\n", p->name);
    }
    text_addf(&t, "%s\n", filled);
    free(filled);
    return t.s;
}
