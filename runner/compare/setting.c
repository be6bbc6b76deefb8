/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/setting.h"

#include "base/shell.h"
#include "compare/choice.h"
#include "config/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only the ring runs every collective. Setting another for all of them makes the rest fail. */
static const char *const environment_names[][2] = {
    {"ring", "Ring"},
    {"tree", "allreduce:tree"},
    {"collnet_direct", "allreduce:collnetdirect"},
    {"collnet_chain", "allreduce:collnetchain"},
    {"nvls", "allreduce:nvls"},
    {"nvls_tree", "allreduce:nvlstree"},
    {"pat", "allgather:pat;reducescatter:pat"},
};

static const char *environment_name(int algorithm)
{
    const char *name = choice_algo_name(algorithm);
    for (size_t i = 0; i < COUNT(environment_names); i++)
        if (!strcmp(environment_names[i][0], name))
            return environment_names[i][1];
    return "";
}

/* iter_proxy and others may also run MPI's all-reduce, whose algorithms have the same names. */
static bool runs_nccl(const struct contrast *c)
{
    return !strncmp(c->workload, "nccl_", 5) || !strcmp(c->workload, "trial") ||
           !strcmp(c->workload, "train") || *c->ran || strstr(c->params, "backend=cuda");
}

/* The parts of a label that are about the collectives; the others are added to rest. False: there are
 * two algorithms, or the like. */
static bool split(struct choice *c, struct words *rest, const char *label)
{
    AUTO_WORDS struct words parts = {0};
    AUTO_TEXT struct text known = {0};
    struct choice one;
    text_add(&known, "");
    words_split(&parts, label, '/');
    for (size_t i = 0; i < parts.n; i++)
        if (choice_parse(&one, parts.v[i]))
            text_addf(&known, "%s%s", known.len ? "/" : "", parts.v[i]);
        else if (*parts.v[i])
            words_add(rest, parts.v[i]);
    return choice_parse(c, known.len ? known.s : "auto");
}

/* A key in capitals is a variable of a training (config [train]). */
static bool is_variable(const char *name)
{
    return *name && !strchr("0123456789", *name) &&
           !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static void add_variable(struct setting *s, const char *name, const char *value)
{
    words_add(&s->environment, name);
    words_add(&s->environment, value);
}

static void take_value(struct setting *s, const char *name, const char *recorded)
{
    AUTO_FREE char *value = label_value(recorded);
    if (is_variable(name) && !strcmp(value, "unset"))
        words_add(&s->unset, name);
    else if (is_variable(name))
        add_variable(s, name, value);
}

/* The first recordings of tune have a label alone, "NCCL_A=2/NCCL_B=unset". True where each part
 * of it is a variable. */
static bool take_label(struct setting *s, const char *label)
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
                take_value(s, name, value);
        }
    return parts.n > 0;
}

static void take_values(struct setting *s, const struct words *differs)
{
    bool labelled = differs->n == 2 && !strcmp(differs->v[0], "config");
    if (labelled && take_label(s, differs->v[1]))
        return;
    for (size_t i = 0; i + 1 < differs->n; i += 2)
        if (labelled || strcmp(differs->v[i], "config") != 0)
            take_value(s, differs->v[i], differs->v[i + 1]);
}

static void take_choice(struct setting *s, const struct choice *c)
{
    char ctas[16];
    const char *algorithm = environment_name(c->algo);
    if (*algorithm)
        add_variable(s, "NCCL_ALGO", algorithm);
    if (c->proto >= 0)
        add_variable(s, "NCCL_PROTO", choice_proto_name(c->proto));
    snprintf(ctas, sizeof ctas, "%d", c->channels);
    if (c->channels) {
        add_variable(s, "NCCL_MIN_CTAS", ctas);
        add_variable(s, "NCCL_MAX_CTAS", ctas);
    }
}

bool setting_of(struct setting *s, const struct contrast *c)
{
    struct choice choice = {-1, -1, 0};
    AUTO_WORDS struct words parts = {0};
    bool training = !strcmp(c->workload, TRAIN_WORKLOAD);
    *s = (struct setting){0};
    if (!runs_nccl(c) || contrast_level(c) == LEVEL_PRICE ||
        (!training && !split(&choice, &parts, c->config)))
        return false;
    take_choice(s, &choice);
    if (training)
        take_values(s, &c->differs);
    return true;
}

void setting_free(struct setting *s)
{
    words_free(&s->environment);
    words_free(&s->unset);
}

char *setting_export_line(const struct setting *s)
{
    struct text t = {0};
    for (size_t i = 0; i < s->unset.n; i++)
        text_addf(&t, "%s -u %s", i ? "" : " env", s->unset.v[i]);
    for (size_t i = 0; i + 1 < s->environment.n; i += 2) {
        text_addf(&t, " %s=", s->environment.v[i]);
        shell_quote(&t, s->environment.v[i + 1]);
    }
    if (!t.len)
        return NULL;
    memmove(t.s, t.s + 1, t.len);
    return t.s;
}
