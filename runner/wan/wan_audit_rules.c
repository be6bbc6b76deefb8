/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_audit_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NCCL_BUFFSIZE_DEFAULT 4194304.0

/* ---- numbers for people ---- */

static const char *days(char *buf, size_t n, double seconds)
{
    if (seconds >= 3 * 86400)
        snprintf(buf, n, "%.3g days", seconds / 86400);
    else
        snprintf(buf, n, "%.3g h", seconds / 3600);
    return buf;
}

static double flops_per_token(const struct wan_ground *g)
{
    struct wan_job job = wan_training_job(g->t);
    return wan_flops_per_token(&job);
}

/* ---- compute ---- */

static double peak_rate(const struct wan_ground *g, double gpus)
{
    return gpus * g->t->peak_flops / flops_per_token(g);
}

static double best_gpu(const struct wan_ground *g, const struct wan_reach *by)
{
    return g->t->tokens / by->compute_s / g->t->gpus;
}

static double best_site(const struct wan_ground *g, const struct wan_reach *by)
{
    return g->t->tokens / by->compute_s;
}

static void why_compute(const struct wan_ground *g, struct wan_finding *f, double gpus)
{
    double flops = f->low * flops_per_token(g);
    text_addf(
        &f->why,
        "%.4gK tokens/s on %.0f GPU%s are %.3g PFLOP/s, %.0f%% of the peak of %.4g TFLOP/s; at "
        "40 to 50%% of it %.3gK to %.3gK tokens/s",
        f->low / 1e3, gpus, gpus > 1 ? "s" : "", flops / 1e15, 100 * f->low / peak_rate(g, gpus),
        gpus * g->t->peak_flops / 1e12, 0.4e-3 * peak_rate(g, gpus), 0.5e-3 * peak_rate(g, gpus));
}

static void why_gpu(const struct wan_ground *g, struct wan_finding *f)
{
    why_compute(g, f, 1);
}

static void why_site(const struct wan_ground *g, struct wan_finding *f)
{
    why_compute(g, f, g->t->gpus);
}

static double best_site_time(const struct wan_ground *g, const struct wan_reach *by)
{
    return g->t->target_tokens / best_site(g, by);
}

static void why_site_time(const struct wan_ground *g, struct wan_finding *f)
{
    char claimed[32], real[32], least[32];
    text_addf(
        &f->why,
        "%.4g tokens in %s: the GPUs' full peak takes %s, %.0f%% of it %s, without any network",
        g->t->target_tokens, days(claimed, sizeof claimed, f->high),
        days(least, sizeof least, g->t->target_tokens / peak_rate(g, g->t->gpus)), 100 * g->t->mfu,
        days(real, sizeof real, f->reached));
}

/* ---- one synchronisation ---- */

static double best_bytes(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)by;
    return wan_wire_bytes(WAN_RING, g->map->n, g->bytes);
}

static void why_bytes(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "in an all-reduce of %.3g GB over %zu sites each sends and receives at least "
              "2(S-1)/S x %.3g = %.3g GB at %.0f bits",
              g->bytes / 1e9, g->map->n, g->bytes / 1e9, f->possible / 1e9, g->t->bits);
    if (g->t->bits < 32)
        text_addf(&f->why, "; fp32 sends %.3g times that", 32 / g->t->bits);
}

static double best_pair(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)by;
    return 2 * g->bytes / (double)g->map->n;
}

static void why_pair(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "in a direct exchange each pair moves 2/S x %.3g = %.3g GB per direction, in two "
              "phases; a ring sends %.3g GB to one neighbour",
              g->bytes / 1e9, f->possible / 1e9, best_bytes(g, NULL) / 1e9);
}

static double best_sync(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)g;
    return by->sync_s;
}

static void why_sync(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g GB each way at %.4g Mbit/s take %.3g s, whatever the algorithm",
              best_bytes(g, NULL) / 1e9, wan_map_rate(g->map) * 8e-6, f->possible);
    if (f->verdict == WAN_UNREACHED)
        text_addf(&f->why, "; %s with this plan's streams takes %.3g s",
                  wan_strategy_names[g->plan.strategy], f->reached);
}

/* ---- the plan ---- */

static double best_efficiency(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)g;
    return by->efficiency;
}

static void why_efficiency(const struct wan_ground *g, struct wan_finding *f)
{
    struct wan_need need = wan_need_for(&g->plan, f->low);
    char pair[160] = " per site";
    if (need.of_pair || need.pair_too)
        snprintf(pair, sizeof pair, "%s %s-%s", need.of_pair ? " for" : " per site and for",
                 g->map->sites[need.from].name, g->map->sites[need.to].name);
    text_addf(&f->why,
              "%.3g s of compute in a step of %.3g s are %.2g%%; %.0f%% needs %.3g Gbit/s%s, or "
              "a synchronisation every %.0f steps",
              g->reached.compute_s, g->reached.step_s, 100 * f->reached, 100 * f->low,
              need.rate_Bps * 8e-9, pair, wan_every_for(&g->plan, f->low));
}

static double best_slowdown(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)g;
    return 1 - by->efficiency;
}

static void why_slowdown(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g s of every %.3g s step are waiting for the network: %.3g%% are lost",
              g->reached.step_s - g->reached.compute_s, g->reached.step_s, 100 * f->reached);
}

static double best_rate(const struct wan_ground *g, const struct wan_reach *by)
{
    return g->t->tokens / by->step_s;
}

static void why_rate(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.0f tokens in a step of %.3g s are %.3gK tokens/s", g->t->tokens,
              g->reached.step_s, f->reached / 1e3);
    text_addf(&f->why, "; at most %.3gK with %s and all overlapped", f->possible / 1e3,
              g->t->compute_s > 0 ? "the measured compute time" : "the GPUs at their peak");
}

static double best_time(const struct wan_ground *g, const struct wan_reach *by)
{
    return g->t->target_tokens / best_rate(g, by);
}

static void why_time(const struct wan_ground *g, struct wan_finding *f)
{
    char claimed[32], real[32];
    text_addf(&f->why, "%.4g tokens at %.3gK tokens/s take %s, not %s", g->t->target_tokens,
              best_rate(g, &g->reached) / 1e3, days(real, sizeof real, f->reached),
              days(claimed, sizeof claimed, f->high));
}

static double best_step(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)g;
    return by->step_s;
}

/* Other claims may say what a step would have to take. */
static void why_step(const struct wan_ground *g, struct wan_finding *f)
{
    const struct config_entry *e = config_find(g->config, "model", "claim.tokens_per_s");
    double rate = e ? strtod(e->value, NULL) : 0;
    text_addf(&f->why, "%.0f tokens in %.3g to %.3g s are %.3gK to %.3gK tokens/s", g->t->tokens,
              f->low, f->high, g->t->tokens / f->high / 1e3, g->t->tokens / f->low / 1e3);
    if (rate * f->low <= g->t->tokens * (1 + WAN_CLAIM_TOLERANCE))
        return;
    text_addf(&f->why, ", which contradicts the %.4gK tokens/s of claim.tokens_per_s", rate / 1e3);
    if (f->verdict < WAN_IMPOSSIBLE)
        f->verdict = WAN_CONTRADICTED;
}

/* ---- the network ---- */

static double best_rtt(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)by;
    return g->rtt_high;
}

static void why_rtt(const struct wan_ground *g, struct wan_finding *f)
{
    (void)f;
    text_addf(&f->why, "the links of this config have %.3g to %.3g ms", 1e3 * g->rtt_low,
              1e3 * g->rtt_high);
}

static double best_buffer(const struct wan_ground *g, const struct wan_reach *by)
{
    (void)g;
    (void)by;
    return NCCL_BUFFSIZE_DEFAULT;
}

static void why_buffer(const struct wan_ground *g, struct wan_finding *f)
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

#define CLAIM(name, type, unit, what)                                                              \
    {                                                                                              \
        name, type, WL_AXIS, 0, unit, NULL, 1e-12, 1e30, NULL, what                                \
    }
/* clang-format off */
const struct wan_rule wan_rules[] = {
    {CLAIM("gpu_tokens_per_s", WL_REAL, "tokens/s", "one GPU"), true, best_gpu, why_gpu},
    {CLAIM("ideal_tokens_per_s", WL_REAL, "tokens/s", "all GPUs in one place"), true, best_site, why_site},
    {CLAIM("ideal_time", WL_TIME, "s", "the training in one place"), false, best_site_time, why_site_time},
    {CLAIM("sync_bytes", WL_REAL, "B", "payload that a site sends per synchronisation"), false, best_bytes, why_bytes},
    {CLAIM("pair_bytes", WL_REAL, "B", "payload from one site to another"), false, best_pair, why_pair},
    {CLAIM("sync_time", WL_TIME, "s", "one synchronisation"), false, best_sync, why_sync},
    {CLAIM("efficiency", WL_REAL, "", "fraction of compute in a step"), true, best_efficiency, why_efficiency},
    {CLAIM("slowdown", WL_REAL, "", "fraction of time lost to the network"), false, best_slowdown, why_slowdown},
    {CLAIM("tokens_per_s", WL_REAL, "tokens/s", "the training"), true, best_rate, why_rate},
    {CLAIM("worst_tokens_per_s", WL_REAL, "tokens/s", "the training at worst"), true, best_rate, why_rate},
    {CLAIM("step_time", WL_TIME, "s", "one step"), false, best_step, why_step},
    {CLAIM("time", WL_TIME, "s", "the training"), false, best_time, why_time},
    {CLAIM("worst_time", WL_TIME, "s", "the training at worst"), false, best_time, why_time},
    {CLAIM("rtt", WL_TIME, "s", "RTT between two sites"), false, best_rtt, why_rtt},
    {CLAIM("nccl_buffsize", WL_REAL, "B", "buffer size set to hide latency"), true, best_buffer, why_buffer},
    {.claim = {.name = NULL}}};
/* clang-format on */
