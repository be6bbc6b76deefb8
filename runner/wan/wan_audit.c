/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_audit.h"

#include "base/err.h"
#include "wan/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_TOLERANCE 0.01 /* claims are rounded */
#define NCCL_BUFFSIZE_DEFAULT 4194304.0

/* ---- the claims ---- */

/* clang-format off */
enum claim {
    GPU_RATE, SITE_RATE, SITE_TIME, BYTES, PAIR_BYTES, SYNC_TIME, EFFICIENCY, SLOWDOWN, RATE,
    WORST_RATE, STEP_TIME, TIME, WORST_TIME, RTT, BUFFER, CLAIMS
};

#define CLAIM(name, type, unit, what) {name, type, WL_AXIS, 0, unit, NULL, 1e-12, 1e30, NULL, what}
const struct wl_param wan_claims[CLAIMS + 1] = {
    [GPU_RATE] = CLAIM("gpu_tokens_per_s", WL_REAL, "tokens/s", "one GPU"),
    [SITE_RATE] = CLAIM("ideal_tokens_per_s", WL_REAL, "tokens/s", "all GPUs in one place"),
    [SITE_TIME] = CLAIM("ideal_time", WL_TIME, "s", "the training in one place"),
    [BYTES] = CLAIM("sync_bytes", WL_REAL, "B", "payload that a site sends per synchronisation"),
    [PAIR_BYTES] = CLAIM("pair_bytes", WL_REAL, "B", "payload from one site to another"),
    [SYNC_TIME] = CLAIM("sync_time", WL_TIME, "s", "one synchronisation"),
    [EFFICIENCY] = CLAIM("efficiency", WL_REAL, "", "fraction of compute in a step"),
    [SLOWDOWN] = CLAIM("slowdown", WL_REAL, "", "fraction of time lost to the network"),
    [RATE] = CLAIM("tokens_per_s", WL_REAL, "tokens/s", "the training"),
    [WORST_RATE] = CLAIM("worst_tokens_per_s", WL_REAL, "tokens/s", "the training at worst"),
    [STEP_TIME] = CLAIM("step_time", WL_TIME, "s", "one step"),
    [TIME] = CLAIM("time", WL_TIME, "s", "the training"),
    [WORST_TIME] = CLAIM("worst_time", WL_TIME, "s", "the training at worst"),
    [RTT] = CLAIM("rtt", WL_TIME, "s", "RTT between two sites"),
    [BUFFER] = CLAIM("nccl_buffsize", WL_REAL, "B", "buffer size set to hide latency"),
};
/* clang-format on */

/* Of these a claim is impossible if its low end is above the best value; of the others, if its high
 * end is below it. */
static const bool high_is_good[CLAIMS] = {
    [GPU_RATE] = true, [SITE_RATE] = true,  [EFFICIENCY] = true,
    [RATE] = true,     [WORST_RATE] = true, [BUFFER] = true};

/* What the claims of a config are compared with. */
struct ground {
    const struct config *config;
    const struct wan_map *map;
    const struct wan_training *t;
    struct wan_case plan;
    double bytes, compute_s, step_s, rtt_low_s;
    /* By claim: the best value within physics (GPUs at their peak, links at their rate, all
     * overlapped), and within the plan. */
    double possible[CLAIMS], reached[CLAIMS];
};

static void fill(const struct ground *g, double *values, double compute_s, double step_s,
                 double efficiency, double sync_s)
{
    const struct wan_training *t = g->t;
    values[SITE_RATE] = t->tokens / compute_s;
    values[GPU_RATE] = values[SITE_RATE] / t->gpus;
    values[SITE_TIME] = t->target_tokens / values[SITE_RATE];
    values[BYTES] = wan_wire_bytes(WAN_RING, g->map->n, g->bytes);
    values[PAIR_BYTES] = 2 * g->bytes / (double)g->map->n;
    values[SYNC_TIME] = sync_s;
    values[EFFICIENCY] = efficiency;
    values[SLOWDOWN] = 1 - efficiency;
    values[RATE] = values[WORST_RATE] = t->tokens / step_s;
    values[STEP_TIME] = step_s;
    values[TIME] = values[WORST_TIME] = t->target_tokens / values[RATE];
    values[BUFFER] = NCCL_BUFFSIZE_DEFAULT;
}

static struct ground ground_of(const struct config *c, const struct wan_map *m,
                               const struct wan_training *t)
{
    struct ground g = {.config = c, .map = m, .t = t, .plan = wan_case_of(m, t)};
    struct wan_outcome o = wan_evaluate(&g.plan);
    struct wan_view v;
    g.bytes = wan_training_bytes(t, t->bits);
    g.compute_s = wan_training_compute_s(t);
    g.step_s = o.step_s;
    fill(&g, g.reached, g.compute_s, o.step_s, o.efficiency, o.sync_s);
    /* A compute time that was measured is a fact. One that was computed rests on the plan's mfu;
     * the GPUs' peak is the limit then, and any share of compute in a step is possible. */
    bool measured = t->compute_s > 0;
    double least_s = measured ? t->compute_s : g.compute_s * t->mfu;
    double sync_s = wan_map_bound_s(m, g.bytes), step_s = fmax(least_s, sync_s / t->every);
    fill(&g, g.possible, least_s, step_s, measured ? least_s / step_s : 1, sync_s);
    wan_view_make(&v, m, WAN_DIRECT, 1);
    g.rtt_low_s = v.nearest_rtt_s;
    g.possible[RTT] = g.reached[RTT] = v.farthest_rtt_s;
    wan_view_free(&v);
    return g;
}

/* ---- the reasons ---- */

static const char *days(double seconds, char *text, size_t n)
{
    bool many = seconds >= 3 * 86400;
    snprintf(text, n, "%.3g %s", seconds / (many ? 86400 : 3600), many ? "days" : "h");
    return text;
}
#define DAYS(seconds) days(seconds, (char[32]){""}, 32)

static void explain_compute(const struct ground *g, enum claim c, struct wan_finding *f)
{
    double gpus = c == GPU_RATE ? 1 : g->t->gpus, flops = wan_training_flops(g->t);
    double peak = g->t->gpus * g->t->peak_flops / flops, rate = gpus * g->t->peak_flops / flops;
    if (c == SITE_TIME)
        text_addf(&f->why,
                  "%.4g tokens in %s: the GPUs' full peak takes %s, %.0f%% of it %s, without any "
                  "network",
                  g->t->target_tokens, DAYS(f->high), DAYS(g->t->target_tokens / peak),
                  100 * g->t->mfu, DAYS(f->reached));
    else
        text_addf(&f->why,
                  "%.4gK tokens/s on %.0f GPU%s are %.3g PFLOP/s, %.0f%% of the peak of %.4g "
                  "TFLOP/s; at 40 to 50%% of it %.3gK to %.3gK tokens/s",
                  f->low / 1e3, gpus, gpus > 1 ? "s" : "", f->low * flops / 1e15,
                  100 * f->low / rate, gpus * g->t->peak_flops / 1e12, 0.4e-3 * rate,
                  0.5e-3 * rate);
}

static void explain_sync(const struct ground *g, enum claim c, struct wan_finding *f)
{
    double gigabytes = g->bytes / 1e9, ring = g->possible[BYTES] / 1e9;
    if (c == BYTES) {
        text_addf(&f->why,
                  "in an all-reduce of %.3g GB over %zu sites each sends and receives at least "
                  "2(S-1)/S x %.3g = %.3g GB at %.0f bits",
                  gigabytes, g->map->n, gigabytes, ring, g->t->bits);
        if (g->t->bits < 32)
            text_addf(&f->why, "; fp32 sends %.3g times that", 32 / g->t->bits);
    } else if (c == PAIR_BYTES) {
        text_addf(&f->why,
                  "in a direct exchange each pair moves 2/S x %.3g = %.3g GB per direction, in two "
                  "phases; a ring sends %.3g GB to one neighbour",
                  gigabytes, f->possible / 1e9, ring);
    } else {
        text_addf(&f->why, "%.3g GB each way at %.4g Mbit/s take %.3g s, whatever the algorithm",
                  ring, wan_map_rate(g->map) * 8e-6, f->possible);
        if (f->verdict == WAN_UNREACHED)
            text_addf(&f->why, "; %s with this plan's streams takes %.3g s",
                      wan_strategy_names[g->plan.strategy], f->reached);
    }
}

static void explain_efficiency(const struct ground *g, struct wan_finding *f)
{
    double rate_Bps = wan_factor_for(&g->plan, f->low) * wan_map_rate(g->map);
    text_addf(
        &f->why,
        "%.3g s of compute in a step of %.3g s are %.3g%%; %.0f%% needs %.3g Gbit/s per site, "
        "or a synchronisation every %.0f steps",
        g->compute_s, g->step_s, 100 * f->reached, 100 * f->low, rate_Bps * 8e-9,
        wan_every_for(&g->plan, f->low));
}

/* Another claim may say how long a step takes. */
static void explain_step(const struct ground *g, struct wan_finding *f)
{
    const struct config_entry *e = config_find(g->config, "model", "claim.tokens_per_s");
    double rate = e ? strtod(e->value, NULL) : 0;
    text_addf(&f->why, "%.0f tokens in %.3g to %.3g s are %.3gK to %.3gK tokens/s", g->t->tokens,
              f->low, f->high, g->t->tokens / f->high / 1e3, g->t->tokens / f->low / 1e3);
    if (rate * f->low <= g->t->tokens * (1 + CLAIM_TOLERANCE))
        return;
    text_addf(&f->why, ", which contradicts the %.4gK tokens/s of claim.tokens_per_s", rate / 1e3);
    if (f->verdict < WAN_IMPOSSIBLE)
        f->verdict = WAN_CONTRADICTED;
}

/* Writes f->why; may set the verdict to contradicted. */
static void explain(const struct ground *g, enum claim c, struct wan_finding *f)
{
    if (c <= SITE_TIME)
        explain_compute(g, c, f);
    else if (c <= SYNC_TIME)
        explain_sync(g, c, f);
    else if (c == EFFICIENCY)
        explain_efficiency(g, f);
    else if (c == SLOWDOWN)
        text_addf(&f->why,
                  "%.3g s of every %.3g s step are waiting for the network: %.3g%% are lost",
                  g->step_s - g->compute_s, g->step_s, 100 * f->reached);
    else if (c == RATE || c == WORST_RATE)
        text_addf(&f->why,
                  "%.0f tokens in a step of %.3g s are %.3gK tokens/s; at most %.3gK with %s and "
                  "all overlapped",
                  g->t->tokens, g->step_s, f->reached / 1e3, f->possible / 1e3,
                  g->t->compute_s > 0 ? "the measured compute time" : "the GPUs at their peak");
    else if (c == STEP_TIME)
        explain_step(g, f);
    else if (c == TIME || c == WORST_TIME)
        text_addf(&f->why, "%.4g tokens at %.3gK tokens/s take %s, not %s", g->t->target_tokens,
                  g->reached[RATE] / 1e3, DAYS(f->reached), DAYS(f->high));
    else if (c == RTT)
        text_addf(&f->why, "the links of this config have %.3g to %.3g ms", 1e3 * g->rtt_low_s,
                  1e3 * f->possible);
    else {
        bool same = f->low == NCCL_BUFFSIZE_DEFAULT;
        text_addf(&f->why,
                  "NCCL_BUFFSIZE=%.0f is %s NCCL's default of %.0f; bytes, rates and round trips "
                  "stay what they are",
                  f->low, same ? "just" : "not far from", NCCL_BUFFSIZE_DEFAULT);
        f->verdict = same ? WAN_CONTRADICTED : f->verdict;
    }
}

/* ---- reading ---- */

static bool is_beyond(const struct wan_finding *f, double limit)
{
    return f->high_is_good ? f->low > limit * (1 + CLAIM_TOLERANCE)
                           : f->high < limit * (1 - CLAIM_TOLERANCE);
}

/* The value is "20s..30s" or "30s". */
static int judge(const struct ground *g, const struct config_entry *e, struct wan_finding *f)
{
    enum claim c = GPU_RATE;
    const char *name = e->key + strlen("claim."), *near;
    while (c < CLAIMS && strcmp(wan_claims[c].name, name) != 0)
        c++;
    if (c == CLAIMS && (near = NEAREST(name, wan_claims, CLAIMS, name)))
        return config_error(e, "unknown claim%s", DID_YOU_MEAN_IN("'claim.", near, "'"));
    if (c == CLAIMS)
        return config_error(e, "unknown claim; 'gradsync help model' lists them");
    const char *dots = strstr(e->value, "..");
    char why[512];
    AUTO_FREE char *low = xstrfmt("%.*s", dots ? (int)(dots - e->value) : 1000, e->value);
    *f = (struct wan_finding){.entry = e,
                              .name = wan_claims[c].name,
                              .unit = wan_claims[c].unit,
                              .what = wan_claims[c].help,
                              .high_is_good = high_is_good[c],
                              .possible = g->possible[c],
                              .reached = g->reached[c]};
    if (!wan_param_parse(&wan_claims[c], low, &f->low, why, sizeof why) ||
        !wan_param_parse(&wan_claims[c], dots ? dots + 2 : low, &f->high, why, sizeof why))
        return config_error(e, "%s", why);
    if (f->low > f->high)
        return config_error(e, "%s: write the lower value first", e->value);
    f->verdict = is_beyond(f, f->possible)  ? WAN_IMPOSSIBLE
                 : is_beyond(f, f->reached) ? WAN_UNREACHED
                                            : WAN_POSSIBLE;
    explain(g, c, f);
    return GS_OK;
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
        if (strcmp(e->section, "model") || strncmp(e->key, "claim.", strlen("claim.")))
            continue;
        const char *dot = strrchr(e->key, '.');
        AUTO_FREE char *claim = xstrfmt("%.*s", (int)(dot - e->key), e->key);
        if (!strcmp(dot, ".source") && config_find(c, "model", claim))
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
