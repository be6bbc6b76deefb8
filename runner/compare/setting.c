/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/setting.h"

#include "base/text.h"
#include "nccl_tuner/choice.h"

#include <stdio.h>
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

bool setting_of(struct setting *s, const struct contrast *c)
{
    struct choice choice;
    if (!runs_nccl(c) || !choice_parse(&choice, c->config))
        return false;
    *s = (struct setting){.algorithm = environment_name(choice.algo),
                          .protocol = choice.proto >= 0 ? choice_proto_name(choice.proto) : "",
                          .ctas = choice.channels};
    return true;
}

char *setting_export_line(const struct contrast *c)
{
    struct setting s;
    struct text t = {0};
    if (!setting_of(&s, c))
        return NULL;
    const char *quote = strchr(s.algorithm, ';') ? "'" : "";
    if (*s.algorithm)
        text_addf(&t, " NCCL_ALGO=%s%s%s", quote, s.algorithm, quote);
    if (*s.protocol)
        text_addf(&t, " NCCL_PROTO=%s", s.protocol);
    if (s.ctas)
        text_addf(&t, " NCCL_MIN_CTAS=%d NCCL_MAX_CTAS=%d", s.ctas, s.ctas);
    char *line = t.len ? xstrdup(t.s + 1) : NULL;
    text_free(&t);
    return line;
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

enum setting_effect setting_effect(const char *config, const char *ran)
{
    struct choice asked;
    enum setting_effect worst = EFFECT_UNKNOWN;
    if (!choice_parse(&asked, config))
        return EFFECT_UNKNOWN;
    for (const char *next = ran; next; next = strpbrk(next, "|,")) {
        next += strspn(next, "|, ");
        enum setting_effect one = effect_of(&asked, next);
        worst = one > worst ? one : worst;
    }
    return worst;
}
