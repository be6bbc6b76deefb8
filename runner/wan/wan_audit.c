/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_audit.h"

#include "base/err.h"
#include "wan/net.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rules ----
 *
 * The known claims about a training. Each rule computes the best possible value and explains it.
 */

#define WAN_CLAIM_TOLERANCE 0.01 /* claims are rounded */

/* What the claims are about, at its best within the limits of physics, or of the plan. */
struct wan_reach {
    double compute_s, step_s, efficiency, slowdown; /* of a step on all GPUs */
    double gpu_rate, site_rate, site_time_s;        /* without any network */
    double sync_s, bytes, pair_bytes;               /* of one synchronisation */
    double rate, time_s, rtt_s, buffer_B;
};

/* The values that the claims of a config are compared with. */
struct wan_ground {
    const struct config *config;
    const struct wan_map *map;
    const struct wan_training *t;
    struct wan_case plan;
    struct wan_reach physics; /* GPUs at their peak, links at their rate, all overlapped */
    struct wan_reach reached; /* within the plan */
    double bytes, rtt_low;
};

struct wan_rule {
    struct wl_param claim; /* claim.NAME; help: the quantity */
    bool high_is_good; /* true: impossible if the low end of the claim is above the best value */
    size_t best;       /* a double of struct wan_reach */
    /* Writes f->why; may set the verdict to contradicted. */
    void (*why)(const struct wan_ground *g, struct wan_finding *f);
};

#define NCCL_BUFFSIZE_DEFAULT 4194304.0

/* ---- numbers for people ---- */

static const char *days(char *buf, size_t n, double seconds)
{
    bool many = seconds >= 3 * 86400;
    snprintf(buf, n, "%.3g %s", seconds / (many ? 86400 : 3600), many ? "days" : "h");
    return buf;
}

/* ---- compute ---- */

static double peak_rate(const struct wan_ground *g, double gpus)
{
    return gpus * g->t->peak_flops / wan_training_flops(g->t);
}

static void why_compute(const struct wan_ground *g, struct wan_finding *f, double gpus)
{
    double flops = f->low * wan_training_flops(g->t);
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

static void why_bytes(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "in an all-reduce of %.3g GB over %zu sites each sends and receives at least "
              "2(S-1)/S x %.3g = %.3g GB at %.0f bits",
              g->bytes / 1e9, g->map->n, g->bytes / 1e9, f->possible / 1e9, g->t->bits);
    if (g->t->bits < 32)
        text_addf(&f->why, "; fp32 sends %.3g times that", 32 / g->t->bits);
}

static void why_pair(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why,
              "in a direct exchange each pair moves 2/S x %.3g = %.3g GB per direction, in two "
              "phases; a ring sends %.3g GB to one neighbour",
              g->bytes / 1e9, f->possible / 1e9, g->physics.bytes / 1e9);
}

static void why_sync(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g GB each way at %.4g Mbit/s take %.3g s, whatever the algorithm",
              g->physics.bytes / 1e9, wan_map_rate(g->map) * 8e-6, f->possible);
    if (f->verdict == WAN_UNREACHED)
        text_addf(&f->why, "; %s with this plan's streams takes %.3g s",
                  wan_strategy_names[g->plan.strategy], f->reached);
}

/* ---- the plan ---- */

static void why_efficiency(const struct wan_ground *g, struct wan_finding *f)
{
    struct wan_need need = wan_need_for(&g->plan, f->low);
    char pair[160] = " per site";
    if (need.of_pair || need.pair_too)
        snprintf(pair, sizeof pair, "%s %s-%s", need.of_pair ? " for" : " per site and for",
                 g->map->sites[need.from].name, g->map->sites[need.to].name);
    text_addf(&f->why,
              "%.3g s of compute in a step of %.3g s are %.3g%%; %.0f%% needs %.3g Gbit/s%s, or "
              "a synchronisation every %.0f steps",
              g->reached.compute_s, g->reached.step_s, 100 * f->reached, 100 * f->low,
              need.rate_Bps * 8e-9, pair, wan_every_for(&g->plan, f->low));
}

static void why_slowdown(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.3g s of every %.3g s step are waiting for the network: %.3g%% are lost",
              g->reached.step_s - g->reached.compute_s, g->reached.step_s, 100 * f->reached);
}

static void why_rate(const struct wan_ground *g, struct wan_finding *f)
{
    text_addf(&f->why, "%.0f tokens in a step of %.3g s are %.3gK tokens/s", g->t->tokens,
              g->reached.step_s, f->reached / 1e3);
    text_addf(&f->why, "; at most %.3gK with %s and all overlapped", f->possible / 1e3,
              g->t->compute_s > 0 ? "the measured compute time" : "the GPUs at their peak");
}

static void why_time(const struct wan_ground *g, struct wan_finding *f)
{
    char claimed[32], real[32];
    text_addf(&f->why, "%.4g tokens at %.3gK tokens/s take %s, not %s", g->t->target_tokens,
              g->reached.rate / 1e3, days(real, sizeof real, f->reached),
              days(claimed, sizeof claimed, f->high));
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

static void why_rtt(const struct wan_ground *g, struct wan_finding *f)
{
    (void)f;
    text_addf(&f->why, "the links of this config have %.3g to %.3g ms", 1e3 * g->rtt_low,
              1e3 * g->physics.rtt_s);
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

#define BEST(member) offsetof(struct wan_reach, member)
#define CLAIM(name, type, unit, what)                                                              \
    {                                                                                              \
        name, type, WL_AXIS, 0, unit, NULL, 1e-12, 1e30, NULL, what                                \
    }
/* clang-format off */
/* ends with a NULL name */
static const struct wan_rule wan_rules[] = {
    {CLAIM("gpu_tokens_per_s", WL_REAL, "tokens/s", "one GPU"), true, BEST(gpu_rate), why_gpu},
    {CLAIM("ideal_tokens_per_s", WL_REAL, "tokens/s", "all GPUs in one place"), true, BEST(site_rate), why_site},
    {CLAIM("ideal_time", WL_TIME, "s", "the training in one place"), false, BEST(site_time_s), why_site_time},
    {CLAIM("sync_bytes", WL_REAL, "B", "payload that a site sends per synchronisation"), false, BEST(bytes), why_bytes},
    {CLAIM("pair_bytes", WL_REAL, "B", "payload from one site to another"), false, BEST(pair_bytes), why_pair},
    {CLAIM("sync_time", WL_TIME, "s", "one synchronisation"), false, BEST(sync_s), why_sync},
    {CLAIM("efficiency", WL_REAL, "", "fraction of compute in a step"), true, BEST(efficiency), why_efficiency},
    {CLAIM("slowdown", WL_REAL, "", "fraction of time lost to the network"), false, BEST(slowdown), why_slowdown},
    {CLAIM("tokens_per_s", WL_REAL, "tokens/s", "the training"), true, BEST(rate), why_rate},
    {CLAIM("worst_tokens_per_s", WL_REAL, "tokens/s", "the training at worst"), true, BEST(rate), why_rate},
    {CLAIM("step_time", WL_TIME, "s", "one step"), false, BEST(step_s), why_step},
    {CLAIM("time", WL_TIME, "s", "the training"), false, BEST(time_s), why_time},
    {CLAIM("worst_time", WL_TIME, "s", "the training at worst"), false, BEST(time_s), why_time},
    {CLAIM("rtt", WL_TIME, "s", "RTT between two sites"), false, BEST(rtt_s), why_rtt},
    {CLAIM("nccl_buffsize", WL_REAL, "B", "buffer size set to hide latency"), true, BEST(buffer_B), why_buffer},
    {.claim = {.name = NULL}}};
/* clang-format on */

/* ---- reading ---- */

static int unknown_claim(const struct config_entry *e)
{
    AUTO_WORDS struct words names = {0};
    AUTO_TEXT struct text all = {0};
    for (const struct wan_rule *r = wan_rules; r->claim.name; r++)
        words_add(&names, r->claim.name);
    const char *near =
        text_nearest(e->key + strlen("claim."), (const char *const *)names.v, names.n);
    for (size_t i = 0; i < names.n; i++)
        text_addf(&all, "%s%s", i ? ", " : "", names.v[i]);
    return near ? config_error(e, "unknown claim%s", DID_YOU_MEAN_IN("'claim.", near, "'"))
                : config_error(e, "unknown claim; use claim. and one of %s", all.s);
}

/* "20s..30s" or "30s". */
static int read_range(const struct config_entry *e, const struct wan_rule *r, struct wan_finding *f)
{
    const char *dots = strstr(e->value, "..");
    char why[512];
    AUTO_FREE char *low = xstrfmt("%.*s", dots ? (int)(dots - e->value) : 1000, e->value);
    bool ok = wan_param_parse(&r->claim, low, &f->low, why, sizeof why) &&
              wan_param_parse(&r->claim, dots ? dots + 2 : low, &f->high, why, sizeof why);
    if (ok && f->low > f->high)
        return config_error(e, "%s: write the lower value first", e->value);
    return ok ? GS_OK : config_error(e, "%s", why);
}

static bool beyond(const struct wan_finding *f, double best)
{
    return f->high_is_good ? f->low > best * (1 + WAN_CLAIM_TOLERANCE)
                           : f->high < best * (1 - WAN_CLAIM_TOLERANCE);
}

static int judge(const struct wan_ground *g, const struct config_entry *e, struct wan_finding *f)
{
    const struct wan_rule *r = wan_rules;
    while (r->claim.name && strcmp(r->claim.name, e->key + strlen("claim.")))
        r++;
    if (!r->claim.name)
        return unknown_claim(e);
    *f = (struct wan_finding){.entry = e,
                              .name = r->claim.name,
                              .unit = r->claim.unit,
                              .what = r->claim.help,
                              .high_is_good = r->high_is_good};
    CHECK(read_range(e, r, f));
    f->possible = *(const double *)(const void *)((const char *)&g->physics + r->best);
    f->reached = *(const double *)(const void *)((const char *)&g->reached + r->best);
    f->verdict = beyond(f, f->possible)  ? WAN_IMPOSSIBLE
                 : beyond(f, f->reached) ? WAN_UNREACHED
                                         : WAN_POSSIBLE;
    r->why(g, f);
    return GS_OK;
}

/* A compute time that was measured is a fact. One that was computed rests on the plan's mfu; the
 * GPUs' peak is the limit then, and any share of compute in a step is possible. */
static struct wan_reach physics_of(const struct wan_map *m, const struct wan_training *t,
                                   double bytes)
{
    struct wan_reach p = {.compute_s = t->compute_s, .sync_s = wan_map_bound_s(m, bytes)};
    if (p.compute_s <= 0)
        p.compute_s = wan_training_compute_s(t) * t->mfu;
    p.step_s = fmax(p.compute_s, p.sync_s / t->every);
    p.efficiency = t->compute_s > 0 ? p.compute_s / p.step_s : 1;
    return p;
}

/* What follows from the times of a step. */
static void complete(struct wan_reach *r, const struct wan_ground *g)
{
    r->site_rate = g->t->tokens / r->compute_s;
    r->gpu_rate = r->site_rate / g->t->gpus;
    r->site_time_s = g->t->target_tokens / r->site_rate;
    r->bytes = wan_wire_bytes(WAN_RING, g->map->n, g->bytes);
    r->pair_bytes = 2 * g->bytes / (double)g->map->n;
    r->slowdown = 1 - r->efficiency;
    r->rate = g->t->tokens / r->step_s;
    r->time_s = g->t->target_tokens / r->rate;
    r->buffer_B = NCCL_BUFFSIZE_DEFAULT;
}

static struct wan_ground ground_of(const struct config *c, const struct wan_map *m,
                                   const struct wan_training *t)
{
    struct wan_ground g = {.config = c, .map = m, .t = t, .plan = wan_case_of(m, t)};
    struct wan_view v;
    struct wan_outcome o = wan_evaluate(&g.plan);
    g.reached = (struct wan_reach){.compute_s = wan_training_compute_s(t),
                                   .sync_s = o.sync_s,
                                   .step_s = o.step_s,
                                   .efficiency = o.efficiency};
    g.bytes = wan_training_bytes(t, t->bits);
    g.physics = physics_of(m, t, g.bytes);
    wan_view_make(&v, m, WAN_DIRECT, 1);
    g.rtt_low = v.nearest_rtt_s;
    g.physics.rtt_s = g.reached.rtt_s = v.farthest_rtt_s;
    wan_view_free(&v);
    complete(&g.physics, &g);
    complete(&g.reached, &g);
    return g;
}

/* claim.NAME.source of a claim that is there; of any other the name is judged, and unknown. */
static bool is_source_of(const struct config *c, const struct config_entry *e)
{
    const char *dot = strrchr(e->key, '.');
    AUTO_FREE char *claim = xstrfmt("%.*s", (int)(dot - e->key), e->key);
    return !strcmp(dot, ".source") && config_find(c, "model", claim);
}

struct wan_finding *wan_audit(const struct config *c, const struct wan_map *m,
                              const struct wan_training *t, size_t *n)
{
    struct wan_finding *f = xcalloc(c->n + 1, sizeof *f);
    struct wan_ground g = ground_of(c, m, t);
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
    AUTO(wan_map_free) struct wan_map m = {0};
    CHECK(wan_map_read(&m, c));
    return model ? check_training(c, &m) : GS_OK;
}

/* ---- for help ----
 *
 * The keys of [sites], [links] and [model] for `gradsync help`: the same tables read
 * the config.
 */

#define WORDS(table) table, sizeof(struct wl_param)

const struct wan_words wan_words[] = {
    {"sites", "NAME = gpus=2 up=1Gbit/s …", WORDS(wan_site_words)},
    {"links", NULL, WORDS(wan_link_words)},
    {"links", NULL, WORDS(wan_links_words)},
    {"links",
     "A-B = rate=… rtt=… … sets one link in both directions, A>B = … in one direction, with the "
     "keys above. shared.NAME = rate=… links=A-B,C-D is a line that several links share:",
     WORDS(wan_line_words)},
    {"model", NULL, WORDS(wan_training_words)},
    {"model", "alt.NAME = gpus=8 nodes=2 … is alternative hardware:", WORDS(wan_alternative_words)},
    {"model",
     "claim.NAME = VALUE or LOW..HIGH is a published claim, which check and model compare with "
     "what is possible. claim.NAME.source, or source for all, names the publication. NAME:",
     &wan_rules[0].claim, sizeof(struct wan_rule)},
    {0}};

const struct wl_param *wan_words_next(const struct wan_words *w, const struct wl_param *p)
{
    return (const void *)((const char *)p + w->stride);
}
