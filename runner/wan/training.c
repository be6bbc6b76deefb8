/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/training.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "wan/wan_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_BITS 16
#define FIELD(key, type, m) key, type, WL_AXIS, WL_FIELD(struct wan_training, m, double)
#define ALT(key, type, m) key, type, WL_AXIS, WL_FIELD(struct wan_alternative, m, double)

static const char *const strategies[] = {"ring", "direct", "oneshot", "hierarchical", "best", NULL};

/* clang-format off */
const struct wl_param wan_training_words[] = {
    {FIELD("parameters", WL_REAL, parameters), NULL, "0", 0, 1e15, NULL, "parameters of the model"},
    {FIELD("layers", WL_REAL, layers), NULL, "0", 0, 1e5, NULL, "transformer layers, for the FLOPs of attention; 0: ignore attention"},
    {FIELD("width", WL_REAL, width), NULL, "0", 0, 1e7, NULL, "model width d"},
    {FIELD("sequence", WL_REAL, sequence), NULL, "0", 0, 1e9, NULL, "tokens per sequence"},
    {FIELD("tokens", WL_REAL, tokens), NULL, "0", 0, 1e12, NULL, "tokens per global step"},
    {FIELD("gpus", WL_REAL, gpus), NULL, "0", 0, 1e9, NULL, "total number of GPUs; 0: sum over [sites]"},
    {FIELD("peak", WL_REAL, peak_flops), "FLOP/s", "0", 0, 1e19, NULL, "dense peak of one GPU in the precision used"},
    {FIELD("mfu", WL_REAL, mfu), NULL, "40%", 0, 1e3, NULL, "fraction of the peak that compute reaches"},
    {FIELD("compute", WL_TIME, compute_s), "s", "0", 0, 1e6, NULL, "measured compute time per step; 0: computed from FLOPs, peak and mfu"},
    {FIELD("micro_batch", WL_REAL, micro_batch), NULL, "0", 0, 1e6, NULL, "sequences per GPU and micro-batch; 0: unknown"},
    {FIELD("bits", WL_REAL, bits), NULL, "16", 1, 64, NULL, "bits per gradient element on the wire"},
    {FIELD("group", WL_REAL, group), NULL, "0", 0, 1e9, NULL, "elements that share a 16-bit scale; 0: none"},
    {FIELD("every", WL_REAL, every), NULL, "1", 1, 1e9, NULL, "number of steps between synchronisations"},
    {FIELD("fragments", WL_REAL, fragments), NULL, "1", 1, 1e6, NULL, "number P of fragments per synchronisation"},
    {FIELD("backward", WL_REAL, backward), NULL, "66.7%", 0, 1, NULL, "fraction of a step's compute that overlaps with its exchange: the backward pass; 0: none"},
    {FIELD("overlap", WL_REAL, overlap), NULL, "0", 0, 1e9, NULL, "number tau of further steps that overlap with the exchange of a fragment"},
    {FIELD("sync", WL_TIME, sync_s), "s", "0", 0, 1e6, NULL, "measured time of one all-reduce of the gradient; 0: computed from the links"},
    {FIELD("outer", WL_TIME, outer_s), "s", "0", 0, 1e6, NULL, "time of the outer optimiser step"},
    {FIELD("straggle", WL_TIME, straggle_s), "s", "0", 0, 1e6, NULL, "time per step spent waiting for the slowest rank"},
    {"strategy", WL_CHOICE, WL_AXIS, WL_FIELD(struct wan_training, strategy, int), NULL, "best", 0, 0, strategies, "all-reduce algorithm; best: the one with the shortest step"},
    {FIELD("target_tokens", WL_REAL, target_tokens), NULL, "0", 0, 1e18, NULL, "tokens of the whole training; 0: unknown"},
    {"targets", WL_TEXT, WL_AXIS, WL_TEXT_FIELD(struct wan_training, targets_text), NULL, "60%, 75%, 95%", 0, 0, NULL, "fractions of compute in a step: print the rate and the value of every that each needs"},
    {0}};

const struct wl_param wan_alternative_words[] = {
    {ALT("gpus", WL_REAL, gpus), NULL, "0", 1, 1e9, NULL, "total number of GPUs"},
    {ALT("nodes", WL_REAL, nodes), NULL, "1", 1, 1e6, NULL, "number of nodes"},
    {ALT("rate", WL_RATE, rate_Bps), "B/s", "0B/s", 0, 1e15, NULL, "rate between the nodes; 0: unlimited"},
    {ALT("rtt", WL_TIME, rtt_s), "s", "0", 0, 3600, NULL, "round-trip time between the nodes"},
    {0}};
/* clang-format on */

struct wan_job wan_training_job(const struct wan_training *t)
{
    return (struct wan_job){.parameters = t->parameters,
                            .layers = t->layers,
                            .width = t->width,
                            .sequence = t->sequence,
                            .tokens = t->tokens,
                            .gpus = t->gpus,
                            .peak_flops = t->peak_flops,
                            .mfu = t->mfu};
}

double wan_training_compute_s(const struct wan_training *t)
{
    struct wan_job job = wan_training_job(t);
    return t->compute_s > 0 ? t->compute_s : wan_compute_s(&job);
}

double wan_training_bytes(const struct wan_training *t, double bits)
{
    double scales = bits < 16 && t->group > 0 ? SCALE_BITS / t->group : 0;
    return t->parameters * (bits + scales) / 8;
}

struct wan_schedule wan_training_schedule(const struct wan_training *t)
{
    return (struct wan_schedule){.every = t->every,
                                 .fragments = t->fragments,
                                 .hidden = t->backward + t->overlap,
                                 .outer_s = t->outer_s,
                                 .straggle_s = t->straggle_s};
}

/* ---- reading ---- */

static bool is_free(const char *key)
{
    return !strncmp(key, "claim.", 6) || !strncmp(key, "alt.", 4) || !strcmp(key, "source");
}

static int unknown(const struct config_entry *e)
{
    const char *near = params_nearest(wan_training_words, e->key);
    return config_error(e, "unknown key in [model]%s", DID_YOU_MEAN(near));
}

static int read_keys(struct wan_training *t, const struct config *c)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        const struct wl_param *p =
            strcmp(e->section, "model") ? NULL : params_find(wan_training_words, e->key);
        if (p && wan_value_read(e, p, t))
            code = GS_USAGE;
        else if (!p && !strcmp(e->section, "model") && !is_free(e->key))
            code = unknown(e);
    }
    return code;
}

static int read_targets(struct wan_training *t, const struct config *c)
{
    static const struct wl_param share = {"targets", WL_REAL, WL_AXIS, 0,    NULL,
                                          NULL,      0.01,    0.999,   NULL, NULL};
    const struct config_entry *e = config_find(c, "model", "targets");
    struct words w;
    char why[512] = "";
    bool ok = true;
    words_split(&w, t->targets_text, ',');
    for (size_t i = 0; i < w.n && ok && t->n_targets < WAN_TARGETS_MAX; i++)
        ok = param_parse(&share, w.v[i], &t->targets[t->n_targets++], why, sizeof why);
    ok = ok && w.n <= WAN_TARGETS_MAX;
    words_free(&w);
    if (ok)
        return GS_OK;
    return config_error(e, "%s", *why ? why : "at most 16 targets; remove some");
}

/* ---- what cannot be ---- */

/* Reported at the key when the config has it, else at the file. */
__attribute__((format(printf, 3, 4))) static int impossible(const struct config *c, const char *key,
                                                            const char *fmt, ...)
{
    const struct config_entry *e = config_find(c, "model", key);
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return e ? config_error(e, "%s", text)
             : fail_at(GS_USAGE, c->path, 0, "[model] %s: %s", key, text);
}

static int check_given(const struct wan_training *t, const struct config *c)
{
    const struct {
        const char *key;
        double value;
        bool needed;
    } needs[] = {
        {"parameters", t->parameters, true},
        {"tokens", t->tokens, true},
        {"peak", t->peak_flops, t->compute_s <= 0},
        {"mfu", t->mfu, t->compute_s <= 0},
    };
    int code = GS_OK;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].needed && needs[i].value <= 0)
            code = impossible(c, needs[i].key, "must be set and above 0");
    return code;
}

static int check_compute(const struct wan_training *t, const struct config *c)
{
    struct wan_job job = wan_training_job(t);
    if (t->mfu > 1)
        return impossible(c, "mfu",
                          "%.4g%% of the peak is impossible: %.4g TFLOP/s per GPU, the peak is "
                          "%.4g; 40 to 50%% is usual",
                          100 * t->mfu, t->mfu * t->peak_flops / 1e12, t->peak_flops / 1e12);
    double flops = t->tokens * wan_flops_per_token(&job);
    double least = t->gpus > 0 ? flops / (t->gpus * t->peak_flops) : 0;
    if (t->compute_s > 0 && t->peak_flops > 0 && t->compute_s < least)
        return impossible(c, "compute",
                          "a step of %.4g s is impossible: %.4g FLOP on %.0f GPUs of %.4g TFLOP/s "
                          "take %.4g s at 100%% of the peak",
                          t->compute_s, flops, t->gpus, t->peak_flops / 1e12, least);
    return GS_OK;
}

static int check_batch(const struct wan_training *t, const struct config *c)
{
    double once = t->gpus * t->micro_batch * t->sequence;
    if (once > t->tokens)
        return impossible(c, "micro_batch",
                          "one micro-batch per GPU exceeds a step: %.0f GPUs x %.0f sequences x "
                          "%.0f tokens = %.0f tokens; a step has %.0f",
                          t->gpus, t->micro_batch, t->sequence, once, t->tokens);
    return GS_OK;
}

static int check_schedule(const struct wan_training *t, const struct config *c)
{
    if (t->fragments > t->every && t->fragments > 1)
        return impossible(c, "fragments",
                          "%.0f fragments in %.0f steps; use at most one fragment per step",
                          t->fragments, t->every);
    if (t->overlap > t->every)
        return impossible(
            c, "overlap",
            "%.0f steps of overlap, but the next synchronisation comes after %.0f; lower it",
            t->overlap, t->every);
    return GS_OK;
}

static int check_gpus(const struct wan_training *t, const struct config *c, double at_sites)
{
    if (t->gpus <= 0)
        return impossible(c, "gpus", "no GPU; set gpus=… for each site or here");
    if (at_sites > 0 && t->gpus != at_sites)
        return impossible(c, "gpus", "%.0f GPUs, but the sites have %.0f in total", t->gpus,
                          at_sites);
    return GS_OK;
}

int wan_training_read(struct wan_training *t, const struct config *c, const struct wan_map *m)
{
    char why[512];
    double at_sites = (double)wan_map_gpus(m);
    *t = (struct wan_training){0};
    if (!params_default(wan_training_words, t, why, sizeof why))
        return fail_at(GS_USAGE, c->path, 0, "[model] %s", why);
    int code = read_keys(t, c);
    if (!code)
        code = read_targets(t, c);
    if (code)
        return code;
    if (t->gpus <= 0)
        t->gpus = at_sites;
    int (*const checks[])(const struct wan_training *, const struct config *) = {
        check_given, check_compute, check_batch, check_schedule};
    code = check_gpus(t, c, at_sites);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        code = checks[i](t, c) ? GS_USAGE : code;
    return code;
}

struct wan_alternative *wan_alternatives_read(const struct config *c, size_t *n)
{
    struct wan_alternative *alts = xcalloc(c->n + 1, sizeof *alts);
    int code = GS_OK;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, "model") || strncmp(e->key, "alt.", 4))
            continue;
        struct wan_alternative *a = &alts[(*n)++];
        *a = (struct wan_alternative){.name = e->key + 4, .nodes = 1};
        if (wan_words_read(e, wan_alternative_words, a))
            code = GS_USAGE;
        else if (a->gpus < a->nodes)
            code = config_error(e, "nodes=%.0f needs at least as many gpus=…", a->nodes);
    }
    if (!code)
        return alts;
    free(alts);
    return NULL;
}
