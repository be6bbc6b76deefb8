/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/setting.h"

#include "base/shell.h"
#include "base/units.h"
#include "config/settings.h"
#include "common/choice.h"

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

static void take_value(struct setting *s, const char *name, const char *value)
{
    if (!is_variable(name))
        words_addf(&s->rest, "%s=%s", name, value);
    else if (!strcmp(value, "unset"))
        words_add(&s->unset, name);
    else
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

static void take_parts(struct setting *s, const struct words *parts)
{
    uint64_t bytes;
    for (size_t i = 0; i < parts->n; i++)
        if (!strncmp(parts->v[i], "bucket_cap=", 11) && units_parse_size(parts->v[i] + 11, &bytes))
            s->bucket_mib = (double)bytes / (1 << 20);
        else
            words_add(&s->rest, parts->v[i]);
}

static void take_choice(struct setting *s, const struct choice *c)
{
    char ctas[16];
    s->algorithm = environment_name(c->algo);
    s->protocol = c->proto >= 0 ? choice_proto_name(c->proto) : "";
    s->ctas = c->channels;
    if (*s->algorithm)
        add_variable(s, "NCCL_ALGO", s->algorithm);
    if (*s->protocol)
        add_variable(s, "NCCL_PROTO", s->protocol);
    snprintf(ctas, sizeof ctas, "%d", s->ctas);
    if (s->ctas) {
        add_variable(s, "NCCL_MIN_CTAS", ctas);
        add_variable(s, "NCCL_MAX_CTAS", ctas);
    }
}

bool setting_is_price(const struct contrast *c)
{
    struct choice choice = {-1, -1, 0, PART_ALL};
    AUTO_WORDS struct words parts = {0};
    bool priced = !strcmp(c->workload, "trial") || !strcmp(c->label, "price");
    return priced && split(&choice, &parts, c->config) && choice.part != PART_ALL;
}

bool setting_of(struct setting *s, const struct contrast *c)
{
    struct choice choice = {-1, -1, 0, PART_ALL};
    AUTO_WORDS struct words parts = {0};
    bool training = !strcmp(c->workload, TRAIN_WORKLOAD);
    *s = (struct setting){.algorithm = "", .protocol = ""};
    if (!runs_nccl(c) || (!training && !split(&choice, &parts, c->config)) ||
        choice.part != PART_ALL) /* the arms of a price are no settings */
        return false;
    take_choice(s, &choice);
    if (training)
        take_values(s, &c->differs);
    else
        take_parts(s, &parts);
    return true;
}

void setting_free(struct setting *s)
{
    words_free(&s->environment);
    words_free(&s->unset);
    words_free(&s->rest);
}

bool setting_is_tunable(const struct setting *s, const struct contrast *c)
{
    const char *ran = c->baseline_ran ? strstr(c->baseline_ran, "ctas=") : NULL;
    bool more = ran && s->ctas > atoi(ran + 5);
    return !more && s->bucket_mib <= 0 && !s->rest.n && strcmp(c->workload, TRAIN_WORKLOAD) != 0;
}

size_t setting_changes(const struct setting *s)
{
    return s->environment.n / 2 - (s->ctas ? 1U : 0U) + s->unset.n + s->rest.n +
           (s->bucket_mib > 0 ? 1U : 0U);
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

/* ---- what it did ---- */

const char *const setting_effects[SETTING_EFFECTS] = {
    [EFFECT_UNKNOWN] = "unknown",
    [EFFECT_HONOURED] = "honoured",
    [EFFECT_CLAMPED] = "clamped",
    [EFFECT_IGNORED] = "ignored",
};

/* Of one operation, "RING/LL128 ctas=24". */
static enum setting_effect effect_of(const struct choice *asked, const char *operation)
{
    char algorithm[32], protocol[32];
    int ctas = 0;
    if (sscanf(operation, " %31[^/ ]/%31s ctas=%d", algorithm, protocol, &ctas) < 2)
        return EFFECT_UNKNOWN;
    if ((asked->algo >= 0 && choice_algo(algorithm) != asked->algo) ||
        (asked->proto >= 0 && choice_proto(protocol) != asked->proto))
        return EFFECT_IGNORED;
    if (!asked->channels || ctas == asked->channels)
        return EFFECT_HONOURED;
    return ctas == 0 ? EFFECT_UNKNOWN : ctas < asked->channels ? EFFECT_CLAMPED : EFFECT_IGNORED;
}

/* Of one launch, whose calls may run several operations: "ring/LL ctas=8 98%, ring/LL ctas=1 2%".
 * The largest calls decide; `trial` dropped arms that most of the calls did not take. */
static enum setting_effect launch_effect(const struct choice *asked, const char *ran)
{
    enum setting_effect best = EFFECT_UNKNOWN;
    AUTO_WORDS struct words w = {0};
    words_split(&w, ran, ',');
    for (size_t i = 0; i < w.n; i++) {
        enum setting_effect one = effect_of(asked, w.v[i]);
        if (one != EFFECT_UNKNOWN && (best == EFFECT_UNKNOWN || one < best))
            best = one;
    }
    return best;
}

enum setting_effect setting_effect(const char *config, const char *ran)
{
    struct choice asked;
    AUTO_WORDS struct words rest = {0}, launches = {0};
    enum setting_effect worst = EFFECT_UNKNOWN;
    bool good = split(&asked, &rest, config);
    if (!good || (asked.algo < 0 && asked.proto < 0 && !asked.channels))
        return EFFECT_UNKNOWN;
    words_split(&launches, ran, '|');
    for (size_t i = 0; i < launches.n; i++) {
        enum setting_effect one = launch_effect(&asked, launches.v[i]);
        worst = one > worst ? one : worst;
    }
    return worst;
}
