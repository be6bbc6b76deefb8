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

static double possible_gpu(const struct wan_ground *g)
{
    return g->t->tokens / g->compute_s / g->t->gpus;
}

static double possible_site(const struct wan_ground *g)
{
    return g->t->tokens / g->compute_s;
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

static double possible_site_time(const struct wan_ground *g)
{
    return g->t->target_tokens / possible_site(g);
}

static void why_site_time(const struct wan_ground *g, struct wan_finding *f)
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

static double possible_bytes(const struct wan_ground *g)
{
    return wan_wire_bytes(WAN_RING, g->map->n, g->bytes);
}

static void why_bytes(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "an all-reduce of %.3g GB over %zu sites makes each send and receive at least "
              "2(S-1)/S x %.3g = %.3g GB; fp32 doubles the %.0f bits",
              g->bytes / 1e9, g->map->n, g->bytes / 1e9, f->possible / 1e9, g->t->bits);
}

static double possible_pair(const struct wan_ground *g)
{
    return 2 * g->bytes / (double)g->map->n;
}

static void why_pair(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "two phases of a share each are 2/S x %.3g = %.3g GB a pair and direction when all "
              "exchange directly; a ring sends %.3g GB to one neighbour",
              g->bytes / 1e9, f->possible / 1e9, possible_bytes(g) / 1e9);
}

static double possible_sync(const struct wan_ground *g)
{
    return g->bound_s;
}

static void why_sync(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g GB each way at %.4g Mbit/s take %.3g s, whatever the algorithm",
              possible_bytes(g) / 1e9, wan_map_rate(g->map) * 8e-6, f->possible);
}

/* ---- the plan ---- */

static double possible_efficiency(const struct wan_ground *g)
{
    return g->out.efficiency;
}

static void why_efficiency(const struct wan_ground *g, struct wan_finding *f)
{
    double factor = wan_factor_for(&g->plan, f->low);
    text_addf(
        &f->why,
        "%.3g s of compute in a step of %.3g s are %.2g%%; %.0f%% needs %.3g Gbit/s a site, or "
        "a synchronisation every %.0f steps",
        g->compute_s, g->out.step_s, 100 * f->possible, 100 * f->low,
        factor * wan_map_rate(g->map) * 8e-9, wan_every_for(&g->plan, f->low));
}

static double possible_slowdown(const struct wan_ground *g)
{
    return 1 - g->out.efficiency;
}

static void why_slowdown(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g s of every %.3g s step are waiting for the network: %.3g%% are lost",
              g->out.step_s - g->compute_s, g->out.step_s, 100 * f->possible);
}

static double possible_rate(const struct wan_ground *g)
{
    return g->out.tokens_per_s;
}

static void why_rate(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.0f tokens in a step of %.3g s are %.3gK tokens/s", g->t->tokens,
              g->out.step_s, f->possible / 1e3);
    if (f->low > peak_rate(g, g->t->gpus))
        text_addf(&f->why, "; %.0f GPUs at their full peak reach %.3gK", g->t->gpus,
                  peak_rate(g, g->t->gpus) / 1e3);
}

static double possible_time(const struct wan_ground *g)
{
    return g->out.seconds;
}

static void why_time(const struct wan_ground *g, struct wan_finding *f)
{
    char claimed[32], real[32];
    text_addf(&f->why, "%.4g tokens at %.3gK tokens/s take %s, not %s", g->t->target_tokens,
              g->out.tokens_per_s / 1e3, days(real, sizeof real, f->possible),
              days(claimed, sizeof claimed, f->high));
}

static double possible_step(const struct wan_ground *g)
{
    return g->compute_s + g->bound_s / g->t->every;
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
    if (f->verdict == WAN_POSSIBLE)
        f->verdict = WAN_CONTRADICTED;
}

/* ---- the network ---- */

static double possible_rtt(const struct wan_ground *g)
{
    return g->rtt_high;
}

static void why_rtt(const struct wan_ground *g, struct wan_finding *f)
{
    (void)f;
    text_addf(&f->why, "the links of this config have %.3g to %.3g ms", 1e3 * g->rtt_low,
              1e3 * g->rtt_high);
}

static double possible_buffer(const struct wan_ground *g)
{
    (void)g;
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
    {CLAIM("gpu_tokens_per_s", WL_REAL, "tokens/s", "one GPU"), true, possible_gpu, why_gpu},
    {CLAIM("ideal_tokens_per_s", WL_REAL, "tokens/s", "all GPUs in one place"), true, possible_site, why_site},
    {CLAIM("ideal_time", WL_TIME, "s", "the training in one place"), false, possible_site_time, why_site_time},
    {CLAIM("sync_bytes", WL_REAL, "B", "sent by a site a synchronisation"), false, possible_bytes, why_bytes},
    {CLAIM("pair_bytes", WL_REAL, "B", "sent from one site to another"), false, possible_pair, why_pair},
    {CLAIM("sync_time", WL_TIME, "s", "one synchronisation"), false, possible_sync, why_sync},
    {CLAIM("efficiency", WL_REAL, "", "compute in a step"), true, possible_efficiency, why_efficiency},
    {CLAIM("slowdown", WL_REAL, "", "lost to the network"), false, possible_slowdown, why_slowdown},
    {CLAIM("tokens_per_s", WL_REAL, "tokens/s", "the training"), true, possible_rate, why_rate},
    {CLAIM("worst_tokens_per_s", WL_REAL, "tokens/s", "the training at worst"), true, possible_rate, why_rate},
    {CLAIM("step_time", WL_TIME, "s", "one step"), false, possible_step, why_step},
    {CLAIM("time", WL_TIME, "s", "the training"), false, possible_time, why_time},
    {CLAIM("worst_time", WL_TIME, "s", "the training at worst"), false, possible_time, why_time},
    {CLAIM("rtt", WL_TIME, "s", "between two sites"), false, possible_rtt, why_rtt},
    {CLAIM("nccl_buffsize", WL_REAL, "B", "set against latency"), true, possible_buffer, why_buffer},
    {.claim = {.name = NULL}}};
/* clang-format on */
