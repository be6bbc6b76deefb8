/* SPDX-License-Identifier: Apache-2.0 */
#include "audit.h"

#include "err.h"
#include "params.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCCL_BUFFSIZE_DEFAULT 4194304.0
#define TOLERANCE 0.01 /* claims are rounded */

struct ground {
    const struct config *config;
    const struct wan_map *map;
    const struct wan_training *t;
    struct wan_case plan;
    struct wan_outcome out; /* of the plan */
    double compute_s, bytes, bound_s, rtt_low, rtt_high;
};

/* What `text` says is what is possible; a claim's own numbers are added before it. */
struct rule {
    const char *name, *unit, *what;
    enum wl_type type;
    bool high_is_good; /* the claim is impossible when even its low end is above what is possible */
    double (*possible)(const struct ground *g);
    void (*why)(const struct ground *g, struct wan_finding *f);
};

/* ---- numbers for people ---- */

static const char *days(char *buf, size_t n, double seconds)
{
    if (seconds >= 3 * 86400)
        snprintf(buf, n, "%.3g days", seconds / 86400);
    else
        snprintf(buf, n, "%.3g h", seconds / 3600);
    return buf;
}

static double flops_per_token(const struct ground *g)
{
    struct wan_job job = wan_training_job(g->t);
    return wan_flops_per_token(&job);
}

/* ---- compute ---- */

static double peak_rate(const struct ground *g, double gpus)
{
    return gpus * g->t->peak_flops / flops_per_token(g);
}

static double possible_gpu(const struct ground *g)
{
    return g->t->tokens / g->compute_s / g->t->gpus;
}

static double possible_site(const struct ground *g)
{
    return g->t->tokens / g->compute_s;
}

static void why_compute(const struct ground *g, struct wan_finding *f, double gpus)
{
    double flops = f->low * flops_per_token(g);
    text_addf(
        &f->why,
        "%.4gK tokens/s on %.0f GPU%s are %.3g PFLOP/s, %.0f%% of the peak of %.4g TFLOP/s; at "
        "40 to 50%% of it %.3gK to %.3gK tokens/s",
        f->low / 1e3, gpus, gpus > 1 ? "s" : "", flops / 1e15, 100 * f->low / peak_rate(g, gpus),
        gpus * g->t->peak_flops / 1e12, 0.4e-3 * peak_rate(g, gpus), 0.5e-3 * peak_rate(g, gpus));
}

static void why_gpu(const struct ground *g, struct wan_finding *f)
{
    why_compute(g, f, 1);
}

static void why_site(const struct ground *g, struct wan_finding *f)
{
    why_compute(g, f, g->t->gpus);
}

static double possible_site_time(const struct ground *g)
{
    return g->t->target_tokens / possible_site(g);
}

static void why_site_time(const struct ground *g, struct wan_finding *f)
{
    char claimed[32], real[32], least[32];
    text_addf(
        &f->why,
        "%.4g tokens in %s: the GPUs' full peak takes %s, %.0f%% of it %s, without any network",
        g->t->target_tokens, days(claimed, sizeof claimed, f->high),
        days(least, sizeof least, g->t->target_tokens / peak_rate(g, g->t->gpus)), 100 * g->t->mfu,
        days(real, sizeof real, f->possible));
}

/* ---- one synchronisation ---- */

static double possible_bytes(const struct ground *g)
{
    return wan_wire_bytes(WAN_RING, g->map->n, g->bytes);
}

static void why_bytes(const struct ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "an all-reduce of %.3g GB over %zu sites makes each send and receive at least "
              "2(S-1)/S x %.3g = %.3g GB; fp32 doubles the %.0f bits",
              g->bytes / 1e9, g->map->n, g->bytes / 1e9, f->possible / 1e9, g->t->bits);
}

static double possible_pair(const struct ground *g)
{
    return 2 * g->bytes / (double)g->map->n;
}

static void why_pair(const struct ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "two phases of a share each are 2/S x %.3g = %.3g GB a pair and direction when all "
              "exchange directly; a ring sends %.3g GB to one neighbour",
              g->bytes / 1e9, f->possible / 1e9, possible_bytes(g) / 1e9);
}

static double possible_sync(const struct ground *g)
{
    return g->bound_s;
}

static void why_sync(const struct ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g GB each way at %.4g Mbit/s take %.3g s, whatever the algorithm",
              possible_bytes(g) / 1e9, wan_map_rate(g->map) * 8e-6, f->possible);
}

/* ---- the plan ---- */

static double possible_efficiency(const struct ground *g)
{
    return g->out.efficiency;
}

static void why_efficiency(const struct ground *g, struct wan_finding *f)
{
    double factor = wan_factor_for(&g->plan, f->low);
    text_addf(
        &f->why,
        "%.3g s of compute in a step of %.3g s are %.2g%%; %.0f%% needs %.3g Gbit/s a site, or "
        "a synchronisation every %.0f steps",
        g->compute_s, g->out.step_s, 100 * f->possible, 100 * f->low,
        factor * wan_map_rate(g->map) * 8e-9, wan_every_for(&g->plan, f->low));
}

static double possible_slowdown(const struct ground *g)
{
    return 1 - g->out.efficiency;
}

static void why_slowdown(const struct ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g s of every %.3g s step are waiting for the network: %.3g%% are lost",
              g->out.step_s - g->compute_s, g->out.step_s, 100 * f->possible);
}

static double possible_rate(const struct ground *g)
{
    return g->out.tokens_per_s;
}

static void why_rate(const struct ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.0f tokens in a step of %.3g s are %.3gK tokens/s", g->t->tokens,
              g->out.step_s, f->possible / 1e3);
    if (f->low > peak_rate(g, g->t->gpus))
        text_addf(&f->why, "; %.0f GPUs at their full peak reach %.3gK", g->t->gpus,
                  peak_rate(g, g->t->gpus) / 1e3);
}

static double possible_time(const struct ground *g)
{
    return g->out.seconds;
}

static void why_time(const struct ground *g, struct wan_finding *f)
{
    char claimed[32], real[32];
    text_addf(&f->why, "%.4g tokens at %.3gK tokens/s take %s, not %s", g->t->target_tokens,
              g->out.tokens_per_s / 1e3, days(real, sizeof real, f->possible),
              days(claimed, sizeof claimed, f->high));
}

static double possible_step(const struct ground *g)
{
    return g->compute_s + g->bound_s / g->t->every;
}

/* Other claims may say what a step would have to take. */
static void why_step(const struct ground *g, struct wan_finding *f)
{
    const struct config_entry *e = config_find(g->config, "model", "claim.tokens_per_s");
    double rate = e ? strtod(e->value, NULL) : 0;
    text_addf(&f->why, "%.0f tokens in %.3g to %.3g s are %.3gK to %.3gK tokens/s", g->t->tokens,
              f->low, f->high, g->t->tokens / f->high / 1e3, g->t->tokens / f->low / 1e3);
    if (rate * f->low <= g->t->tokens * (1 + TOLERANCE))
        return;
    text_addf(&f->why, ", which contradicts the %.4gK tokens/s of claim.tokens_per_s", rate / 1e3);
    if (f->verdict == WAN_POSSIBLE)
        f->verdict = WAN_CONTRADICTED;
}

/* ---- the network ---- */

static double possible_rtt(const struct ground *g)
{
    return g->rtt_high;
}

static void why_rtt(const struct ground *g, struct wan_finding *f)
{
    (void)f;
    text_addf(&f->why, "the links of this config have %.3g to %.3g ms", 1e3 * g->rtt_low,
              1e3 * g->rtt_high);
}

static double possible_buffer(const struct ground *g)
{
    (void)g;
    return NCCL_BUFFSIZE_DEFAULT;
}

static void why_buffer(const struct ground *g, struct wan_finding *f)
{
    (void)g;
    text_addf(&f->why,
              "NCCL_BUFFSIZE=%.0f is %s NCCL's default of %.0f; bytes, rates and round trips stay "
              "what they are",
              f->low, f->low == NCCL_BUFFSIZE_DEFAULT ? "just" : "not far from",
              NCCL_BUFFSIZE_DEFAULT);
    if (f->low == NCCL_BUFFSIZE_DEFAULT)
        f->verdict = WAN_CONTRADICTED;
}

/* clang-format off */
static const struct rule rules[] = {
    {"gpu_tokens_per_s", "tokens/s", "one GPU", WL_REAL, true, possible_gpu, why_gpu},
    {"ideal_tokens_per_s", "tokens/s", "all GPUs in one place", WL_REAL, true, possible_site, why_site},
    {"ideal_time", "s", "the training in one place", WL_TIME, false, possible_site_time, why_site_time},
    {"sync_bytes", "B", "sent by a site a synchronisation", WL_REAL, false, possible_bytes, why_bytes},
    {"pair_bytes", "B", "sent from one site to another", WL_REAL, false, possible_pair, why_pair},
    {"sync_time", "s", "one synchronisation", WL_TIME, false, possible_sync, why_sync},
    {"efficiency", "", "compute in a step", WL_REAL, true, possible_efficiency, why_efficiency},
    {"slowdown", "", "lost to the network", WL_REAL, false, possible_slowdown, why_slowdown},
    {"tokens_per_s", "tokens/s", "the training", WL_REAL, true, possible_rate, why_rate},
    {"worst_tokens_per_s", "tokens/s", "the training at worst", WL_REAL, true, possible_rate, why_rate},
    {"step_time", "s", "one step", WL_TIME, false, possible_step, why_step},
    {"time", "s", "the training", WL_TIME, false, possible_time, why_time},
    {"worst_time", "s", "the training at worst", WL_TIME, false, possible_time, why_time},
    {"rtt", "s", "between two sites", WL_TIME, false, possible_rtt, why_rtt},
    {"nccl_buffsize", "B", "set against latency", WL_REAL, true, possible_buffer, why_buffer},
};
/* clang-format on */

/* ---- reading ---- */

static int unknown_claim(const struct config_entry *e)
{
    const char *names[sizeof rules / sizeof *rules];
    size_t n = 0;
    for (; n < sizeof rules / sizeof *rules; n++)
        names[n] = rules[n].name;
    const char *near = text_nearest(e->key + strlen("claim."), names, n);
    struct text all = {0};
    for (size_t i = 0; i < n; i++)
        text_addf(&all, "%s%s", i ? ", " : "", names[i]);
    int code = near ? config_error(e, "no such claim; did you mean 'claim.%s'?", near)
                    : config_error(e, "no such claim (claim. and one of %s)", all.s);
    text_free(&all);
    return code;
}

/* "20s..30s" or "30s". */
static int read_range(const struct config_entry *e, const struct rule *r, struct wan_finding *f)
{
    const struct wl_param value = {r->name, r->type, WL_AXIS, 0,    r->unit,
                                   NULL,    1e-12,   1e30,    NULL, NULL};
    const char *dots = strstr(e->value, "..");
    char why[512], *low = xstrfmt("%.*s", dots ? (int)(dots - e->value) : 1000, e->value);
    bool ok = param_parse(&value, low, &f->low, why, sizeof why) &&
              param_parse(&value, dots ? dots + 2 : low, &f->high, why, sizeof why);
    free(low);
    if (ok && f->low > f->high)
        return config_error(e, "%s: the low end stands first", e->value);
    return ok ? GS_OK : config_error(e, "%s", why);
}

static int judge(const struct ground *g, const struct config_entry *e, struct wan_finding *f)
{
    const struct rule *r = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].name, e->key + strlen("claim.")))
            r = &rules[i];
    if (!r)
        return unknown_claim(e);
    *f = (struct wan_finding){.entry = e,
                              .name = r->name,
                              .unit = r->unit,
                              .what = r->what,
                              .high_is_good = r->high_is_good};
    int code = read_range(e, r, f);
    if (code)
        return code;
    f->possible = r->possible(g);
    bool beyond = r->high_is_good ? f->low > f->possible * (1 + TOLERANCE)
                                  : f->high < f->possible * (1 - TOLERANCE);
    f->verdict = beyond ? WAN_IMPOSSIBLE : WAN_POSSIBLE;
    r->why(g, f);
    return GS_OK;
}

static struct ground ground_of(const struct config *c, const struct wan_map *m,
                               const struct wan_training *t)
{
    struct ground g = {.config = c, .map = m, .t = t, .plan = wan_case_of(m, t)};
    struct wan_view v;
    g.out = wan_evaluate(&g.plan);
    g.compute_s = wan_training_compute_s(t);
    g.bytes = wan_training_bytes(t, t->bits);
    wan_view_make(&v, m, WAN_DIRECT, 1);
    g.bound_s = wan_bound_s(&v.net, g.bytes);
    g.rtt_low = v.nearest_rtt_s;
    g.rtt_high = v.farthest_rtt_s;
    wan_view_free(&v);
    return g;
}

/* claim.NAME.source of a claim that is there; of any other the name is judged, and unknown. */
static bool is_source_of(const struct config *c, const struct config_entry *e)
{
    const char *dot = strrchr(e->key, '.');
    char *claim = xstrfmt("%.*s", (int)(dot - e->key), e->key);
    bool is = !strcmp(dot, ".source") && config_find(c, "model", claim);
    free(claim);
    return is;
}

struct wan_finding *wan_audit(const struct config *c, const struct wan_map *m,
                              const struct wan_training *t, size_t *n)
{
    struct wan_finding *f = xcalloc(c->n + 1, sizeof *f);
    struct ground g = ground_of(c, m, t);
    int code = GS_OK;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, "model") || strncmp(e->key, "claim.", strlen("claim.")) ||
            is_source_of(c, e))
            continue;
        if (judge(&g, e, &f[*n]))
            code = GS_USAGE;
        else
            ++*n;
    }
    if (!code)
        return f;
    wan_findings_free(f, *n);
    return NULL;
}

void wan_findings_free(struct wan_finding *f, size_t n)
{
    for (size_t i = 0; f && i < n; i++)
        text_free(&f[i].why);
    free(f);
}

/* ---- check ---- */

static int check_training(const struct config *c, const struct wan_map *m)
{
    struct wan_training t;
    size_t n, n_alternatives;
    int code = wan_training_read(&t, c, m);
    struct wan_alternative *alternatives = wan_alternatives_read(c, &n_alternatives);
    free(alternatives);
    if (code)
        return code;
    struct wan_finding *f = wan_audit(c, m, &t, &n);
    for (size_t i = 0; f && i < n; i++)
        if (f[i].verdict != WAN_POSSIBLE)
            fail_at(GS_OK, f[i].entry->file, f[i].entry->line, "warning: key '%s': %s",
                    f[i].entry->key, f[i].why.s);
    wan_findings_free(f, n);
    return f && alternatives ? GS_OK : GS_USAGE;
}

int wan_config_check(const struct config *c)
{
    bool model = config_section(c, "model");
    if (!model && !config_section(c, "sites"))
        return GS_OK;
    struct wan_map m;
    int code = wan_map_read(&m, c);
    if (!code && model)
        code = check_training(c, &m);
    wan_map_free(&m);
    return code;
}
