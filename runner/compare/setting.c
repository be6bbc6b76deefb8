/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/setting.h"

#include "base/shell.h"
#include "base/text.h"
#include "config/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Only the ring runs every collective. Setting another for all of them makes the rest fail. */
static const char *const names[][3] = {
    {"ring", "NCCL_ALGO", "Ring"},
    {"tree", "NCCL_ALGO", "allreduce:tree"},
    {"collnet_direct", "NCCL_ALGO", "allreduce:collnetdirect"},
    {"collnet_chain", "NCCL_ALGO", "allreduce:collnetchain"},
    {"nvls", "NCCL_ALGO", "allreduce:nvls"},
    {"nvls_tree", "NCCL_ALGO", "allreduce:nvlstree"},
    {"pat", "NCCL_ALGO", "allgather:pat;reducescatter:pat"},
    {"LL", "NCCL_PROTO", "LL"},
    {"LL128", "NCCL_PROTO", "LL128"},
    {"Simple", "NCCL_PROTO", "Simple"},
};

struct line {
    struct text unset; /* " -u NAME -u NAME" */
    struct text set;   /* " NAME=VALUE NAME=VALUE" */
};

static void add_variable(struct line *l, const char *name, const char *value)
{
    text_addf(&l->set, " %s=", name);
    shell_quote(&l->set, value);
}

/* The parts of a label that are about the collectives. False: there are two algorithms, or the like. */
static bool take_choice(struct line *l, const char *label)
{
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, label, '/');
    for (size_t i = 0; i < parts.n; i++) {
        char *part = parts.v[i];
        const char *variable = NULL, *value = part + strlen("ctas=");
        const bool ctas =
            !strncmp(part, "ctas=", 5) && !value[strspn(value, "0123456789")] && atoi(value) > 0;
        for (char *s = part; *s; s++)
            *s = *s == '-' ? '_' : *s;
        for (size_t k = 0; k < COUNT(names) && !variable && !ctas; k++)
            if (!strcasecmp(names[k][0], part)) {
                variable = names[k][1];
                value = names[k][2];
            }
        variable = ctas ? "NCCL_MIN_CTAS" : variable;
        if (variable && l->set.len && strstr(l->set.s, variable))
            return false;
        if (variable)
            add_variable(l, variable, value);
        if (ctas)
            add_variable(l, "NCCL_MAX_CTAS", value);
    }
    return true;
}

/* A key in capitals is a variable of a training (config [train]). */
static bool is_variable(const char *name)
{
    return *name && !strchr("0123456789", *name) &&
           !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static void take_value(struct line *l, const char *name, const char *recorded)
{
    AUTO_FREE char *value = label_value(recorded);
    if (is_variable(name) && !strcmp(value, "unset"))
        text_addf(&l->unset, " -u %s", name);
    else if (is_variable(name))
        add_variable(l, name, value);
}

/* The first recordings of tune have a label alone, "NCCL_A=2/NCCL_B=unset". True where each part
 * of it is a variable. */
static bool take_label(struct line *l, const char *label)
{
    AUTO_WORDS struct words parts = {0};
    words_split(&parts, label, '/');
    for (size_t take = 0; take < 2; take++)
        for (size_t i = 0; i < parts.n; i++) {
            AUTO_FREE char *name = xstrdup(parts.v[i]);
            char *value = strchr(name, '=');
            if (value)
                *value++ = '\0';
            if (!value || !is_variable(name))
                return false;
            if (take)
                take_value(l, name, value);
        }
    return parts.n > 0;
}

char *setting_export_line(const struct contrast *c)
{
    struct line l = {0};
    const struct words *differs = &c->differs;
    const bool training = !strcmp(c->workload, TRAIN_WORKLOAD);
    /* iter_proxy and others may also run MPI's all-reduce, whose algorithms have the same names. */
    const bool nccl = training || !strncmp(c->workload, "nccl_", 5) ||
                      !strcmp(c->workload, "trial") || *c->ran || strstr(c->params, "backend=cuda");
    bool good = nccl && contrast_level(c) != LEVEL_PRICE;
    if (good && !training)
        good = take_choice(&l, c->config);
    else if (good && !(differs->n == 2 && !strcmp(differs->v[0], "config") &&
                       take_label(&l, differs->v[1])))
        for (size_t i = 0; i + 1 < differs->n; i += 2)
            take_value(&l, differs->v[i], differs->v[i + 1]);
    const char *unset = l.unset.len ? l.unset.s : "", *set = l.set.len ? l.set.s : "";
    char *line = !good || (!*unset && !*set) ? NULL
                 : *unset                    ? xstrfmt("env%s%s", unset, set)
                                             : xstrdup(set + 1);
    text_free(&l.unset);
    text_free(&l.set);
    return line;
}
