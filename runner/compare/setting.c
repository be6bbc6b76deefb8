/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/setting.h"

#include "base/text.h"
#include "base/units.h"
#include "nccl_tuner/choice.h"

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
    for (size_t i = 0; i < sizeof environment_names / sizeof *environment_names; i++)
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

/* The parts of a label that are about the collectives; the others go to rest. False: there are two
 * algorithms, or the like. */
static bool split(struct choice *c, struct text *rest, const char *label)
{
    AUTO_WORDS struct words parts = {0};
    AUTO_TEXT struct text known = {0};
    struct choice one;
    text_add(&known, "");
    text_add(rest, "");
    words_split(&parts, label, '/');
    for (size_t i = 0; i < parts.n; i++) {
        struct text *to = choice_parse(&one, parts.v[i]) ? &known : rest;
        text_addf(to, "%s%s", to->len ? "/" : "", parts.v[i]);
    }
    return choice_parse(c, known.len ? known.s : "auto");
}

/* A key in capitals is a variable of a training (config [train]); "unset" removes it. */
static bool is_variable(const char *part)
{
    size_t n = strspn(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n && part[n] == '=';
}

static void add(char *to, size_t n, const char *separator, const char *part)
{
    size_t used = strlen(to);
    snprintf(to + used, n - used, "%s%s", separator, part);
}

static void take_rest(struct setting *s, const struct contrast *c, const char *rest)
{
    AUTO_WORDS struct words parts = {0};
    uint64_t bytes;
    bool training = !strcmp(c->workload, "train");
    words_split(&parts, rest, '/');
    for (size_t i = 0; i < parts.n; i++) {
        const char *part = parts.v[i];
        if (!*part)
            continue;
        if (training && is_variable(part))
            add(s->variables, sizeof s->variables, " ", part);
        else if (!training && !strncmp(part, "bucket_cap=", 11) &&
                 units_parse_size(part + 11, &bytes))
            s->bucket_mib = (double)bytes / (1 << 20);
        else
            add(s->rest, sizeof s->rest, *s->rest ? "/" : "", part);
    }
}

bool setting_of(struct setting *s, const struct contrast *c)
{
    struct choice choice = {-1, -1, 0};
    AUTO_TEXT struct text rest = {0};
    bool training = !strcmp(c->workload, "train");
    *s = (struct setting){0};
    bool good = runs_nccl(c) && (training || split(&choice, &rest, c->config));
    s->algorithm = environment_name(choice.algo);
    s->protocol = choice.proto >= 0 ? choice_proto_name(choice.proto) : "";
    s->ctas = choice.channels;
    if (good)
        take_rest(s, c, training ? c->config : rest.s);
    return good;
}

bool setting_is_tunable(const struct setting *s, const struct contrast *c)
{
    const char *ran = c->baseline_ran ? strstr(c->baseline_ran, "ctas=") : NULL;
    bool more = ran && s->ctas > atoi(ran + 5);
    return !more && s->bucket_mib <= 0 && !*s->variables && !*s->rest;
}

char *setting_export_line(const struct contrast *c)
{
    struct setting s;
    AUTO_TEXT struct text t = {0};
    if (!setting_of(&s, c))
        return NULL;
    const char *quote = strchr(s.algorithm, ';') ? "'" : "";
    if (*s.algorithm)
        text_addf(&t, " NCCL_ALGO=%s%s%s", quote, s.algorithm, quote);
    if (*s.protocol)
        text_addf(&t, " NCCL_PROTO=%s", s.protocol);
    if (s.ctas)
        text_addf(&t, " NCCL_MIN_CTAS=%d NCCL_MAX_CTAS=%d", s.ctas, s.ctas);
    text_addf(&t, "%s", s.variables);
    return t.len ? xstrdup(t.s + 1) : NULL;
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
 * The largest calls decide; trial_taken.h drops arms that most of the calls did not take. */
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
    AUTO_TEXT struct text rest = {0};
    AUTO_WORDS struct words launches = {0};
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
