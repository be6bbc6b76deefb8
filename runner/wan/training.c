/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/training.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SCALE_BITS 16
#define FIELD(key, type, m) key, type, WL_AXIS, WL_FIELD(struct wan_training, m, double)

static const char *const strategies[] = {WAN_EACH_STRATEGY(WAN_STRATEGY_NAME) "best", NULL};

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

/* clang-format on */

double wan_training_flops(const struct wan_training *t)
{
    return 6 * t->parameters + 12 * t->layers * t->width * t->sequence;
}

double wan_training_compute_s(const struct wan_training *t)
{
    return t->compute_s > 0
               ? t->compute_s
               : t->tokens * wan_training_flops(t) / (t->gpus * t->peak_flops * t->mfu);
}

double wan_training_bytes(const struct wan_training *t, double bits)
{
    double scales = bits < 16 && t->group > 0 ? SCALE_BITS / t->group : 0;
    return t->parameters * (bits + scales) / 8;
}

/* ---- reading ---- */

static int read_keys(struct wan_training *t, const struct config *c)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        const struct wl_param *p =
            strcmp(e->section, "model") ? NULL : params_find(wan_training_words, e->key);
        if (p && wan_value_read(e, p, t))
            code = GS_USAGE;
        else if (!p && !strcmp(e->section, "model") && strncmp(e->key, "claim.", 6) != 0 &&
                 strcmp(e->key, "source") != 0)
            code = config_error(e, "unknown key in [model]%s",
                                DID_YOU_MEAN(params_nearest(wan_training_words, e->key)));
    }
    return code;
}

static int read_targets(struct wan_training *t, const struct config *c)
{
    static const struct wl_param share = {"targets", WL_REAL, WL_AXIS, 0,    NULL,
                                          NULL,      0.01,    0.999,   NULL, NULL};
    const struct config_entry *e = config_find(c, "model", "targets");
    AUTO_WORDS struct words w = {0};
    char why[512] = "";
    bool ok = true;
    words_split(&w, t->targets_text, ',');
    for (size_t i = 0; i < w.n && ok && t->n_targets < WAN_TARGETS_MAX; i++)
        ok = param_parse(&share, w.v[i], &t->targets[t->n_targets++], why, sizeof why);
    if (ok && w.n <= WAN_TARGETS_MAX)
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

/* Reports everything that is missing or impossible, with the arithmetic. */
static int check(const struct wan_training *t, const struct config *c, double at_sites)
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
    if (t->gpus <= 0)
        code = impossible(c, "gpus", "no GPU; set gpus=… for each site or here");
    else if (at_sites > 0 && t->gpus != at_sites)
        code =
            impossible(c, "gpus", "%.0f GPUs, but the sites have %.0f in total", t->gpus, at_sites);
    for (size_t i = 0; i < COUNT(needs); i++)
        if (needs[i].needed && needs[i].value <= 0)
            code = impossible(c, needs[i].key, "must be set and above 0");
    double flops = t->tokens * wan_training_flops(t), tera = t->peak_flops / 1e12;
    double least_s = t->gpus > 0 ? flops / (t->gpus * t->peak_flops) : 0;
    if (t->mfu > 1)
        code = impossible(c, "mfu",
                          "%.4g%% of the peak is impossible: %.4g TFLOP/s per GPU, the peak is "
                          "%.4g; 40 to 50%% is usual",
                          100 * t->mfu, t->mfu * tera, tera);
    else if (t->compute_s > 0 && t->peak_flops > 0 && t->compute_s < least_s)
        code = impossible(c, "compute",
                          "a step of %.4g s is impossible: %.4g FLOP on %.0f GPUs of %.4g TFLOP/s "
                          "take %.4g s at 100%% of the peak",
                          t->compute_s, flops, t->gpus, tera, least_s);
    if (t->fragments > t->every && t->fragments > 1)
        code = impossible(c, "fragments",
                          "%.0f fragments in %.0f steps; use at most one fragment per step",
                          t->fragments, t->every);
    else if (t->overlap > t->every)
        code = impossible(
            c, "overlap",
            "%.0f steps of overlap, but the next synchronisation comes after %.0f; lower it",
            t->overlap, t->every);
    return code;
}

int wan_training_read(struct wan_training *t, const struct config *c, const struct wan_map *m)
{
    char why[512];
    double at_sites = 0;
    for (size_t i = 0; i < m->n; i++)
        at_sites += (double)m->sites[i].gpus;
    *t = (struct wan_training){0};
    if (!params_default(wan_training_words, t, why, sizeof why))
        return fail_at(GS_USAGE, c->path, 0, "[model] %s", why);
    CHECK(read_keys(t, c));
    CHECK(read_targets(t, c));
    if (t->gpus <= 0)
        t->gpus = at_sites;
    return check(t, c, at_sites);
}

/* ---- the lower bound ----
 *
 * A lower bound of the time of an all-reduce, for any algorithm.
 *
 * The whole vector of a site leaves it and reaches all others, and each site receives as much: D at
 * the rate of its end, and the way to the site that is farthest from it. All sites together send
 * and receive 2D(S-1) at least (the bound of a ring if sites are equal: each 2D(S-1)/S); the last
 * of these bytes has to reach any other site, so only the shortest delay is certain.
 */

static double ends_bound(const double *rate_Bps, size_t n, double bytes, const double *far_s,
                         double nearest_s)
{
    double slowest_s = 0, sum_Bps = 0;
    for (size_t i = 0; i < n; i++) {
        slowest_s = fmax(slowest_s, bytes / rate_Bps[i] + far_s[i]);
        sum_Bps += rate_Bps[i];
    }
    return fmax(slowest_s, 2 * (double)(n - 1) * bytes / sum_Bps + nearest_s);
}

double wan_bound_s(const struct wan_net *net, double bytes, const double *far_s, double nearest_s)
{
    if (net->n < 2)
        return 0;
    return fmax(ends_bound(net->up_Bps, net->n, bytes, far_s, nearest_s),
                ends_bound(net->down_Bps, net->n, bytes, far_s, nearest_s));
}

/* ---- of a map ---- */

/* All that a row's links carry in one direction. */
static double links_Bps(const struct wan_map *m, size_t row, bool out)
{
    double sum = 0;
    for (size_t k = 0; k < m->n; k++) {
        struct wan_link l = out ? wan_map_link(m, row, k) : wan_map_link(m, k, row);
        sum += k == row ? 0 : wan_link_Bps(&l, 1);
    }
    return sum;
}

/* By row; of two directions, the faster one. The caller frees it. */
static double *farthest(const struct wan_map *m, double nearest_s)
{
    size_t n = m->n;
    double *far_s = xcalloc(n + 1, sizeof *far_s);
    AUTO_FREE double *way_s = xcalloc(n * n + 1, sizeof *way_s);
    /* The fastest ways from row to row (Floyd and Warshall). */
    for (size_t i = 0; i < n * n; i++)
        way_s[i] = i / n == i % n ? INFINITY : wan_map_link(m, i / n, i % n).rtt_s / 2;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n * n; i++)
            way_s[i] = fmin(way_s[i], way_s[i / n * n + k] + way_s[k * n + i % n]);
    for (size_t i = 0; i < n; i++) {
        far_s[i] = nearest_s;
        for (size_t k = 0; k < n; k++)
            if (k != i)
                far_s[i] = fmax(far_s[i], fmin(way_s[i * n + k], way_s[k * n + i]));
    }
    return far_s;
}

double wan_map_bound_s(const struct wan_map *m, double bytes)
{
    struct wan_map any = *m;
    struct wan_view v;
    double payload = m->common.mtu_B > 0 ? wan_goodput(m->common.mtu_B) : 1;
    any.any_transport = true;
    wan_view_make(&v, &any, WAN_DIRECT, 1);
    double nearest_s = m->n > 1 ? v.nearest_rtt_s / 2 : 0;
    AUTO_FREE double *far_s = farthest(m, nearest_s);
    for (size_t r = 0; r < m->n; r++) {
        v.up[r] = fmin(m->sites[r].up_Bps * payload, links_Bps(&any, r, true));
        v.down[r] = fmin(m->sites[r].down_Bps * payload, links_Bps(&any, r, false));
    }
    double s = wan_bound_s(&v.net, bytes, far_s, nearest_s);
    wan_view_free(&v);
    return s;
}

/* ---- predictions ----
 *
 * Predictions for a training on a map: the outcome of a plan and the best strategy;
 * also the steps between synchronisations, or the bandwidth, that a given efficiency needs.
 */

void wan_case_strategy(struct wan_case *c, enum wan_strategy strategy)
{
    c->strategy = strategy;
    c->flat = 1;
    for (size_t i = 0; i < c->map->n && strategy != WAN_HIERARCHICAL; i++) {
        const struct wan_site *s = &c->map->sites[i];
        c->flat = fmax(c->flat, (double)(s->ranks ? s->ranks : s->gpus));
    }
}

struct wan_case wan_case_of(const struct wan_map *m, const struct wan_training *t)
{
    struct wan_case c = {.map = m, .training = t, .bits = t->bits, .every = t->every, .factor = 1};
    wan_case_strategy(&c, t->strategy == WAN_STRATEGIES ? wan_best_strategy(m, t)
                                                        : (enum wan_strategy)t->strategy);
    return c;
}

static struct wan_outcome outcome(const struct wan_training *t, const struct wan_schedule *sch,
                                  double compute_s, double fragment_s, double sent)
{
    struct wan_outcome o = {.sync_s = sch->fragments * fragment_s, .bytes = sent, .seconds = NAN};
    o.exposed_s = wan_exposed_s(sch, compute_s, fragment_s);
    o.efficiency = wan_efficiency(sch, compute_s, fragment_s);
    o.step_s = compute_s / o.efficiency;
    o.tokens_per_s = t->tokens / o.step_s;
    if (t->target_tokens > 0)
        o.seconds = t->target_tokens / o.tokens_per_s;
    return o;
}

#define RTO_S 0.2 /* Linux: a pause of this and a round trip empties a stream's window */

/* The mean over the fragments of a period. Only the first follows a pause that is long enough. */
static double fragment_s(const struct wan_case *c, const struct wan_net *net,
                         const struct wan_schedule *sch, double compute_s, double bytes)
{
    double cold_s = wan_sync_s(c->strategy, net, bytes);
    if (!net->carrier || sch->fragments <= 1)
        return cold_s;
    struct wan_carrier carrier = *net->carrier;
    struct wan_net warm = *net;
    carrier.window = 0;
    warm.carrier = &carrier;
    double warm_s = wan_sync_s(c->strategy, &warm, bytes);
    double pause_s = sch->every / sch->fragments * compute_s - warm_s;
    return pause_s > RTO_S + 2 * net->farthest_s
               ? cold_s
               : (cold_s + (sch->fragments - 1) * warm_s) / sch->fragments;
}

/* On a view that is there already: searches ask many times. */
static struct wan_outcome on_view(const struct wan_case *c, const struct wan_net *net)
{
    const struct wan_training *t = c->training;
    struct wan_schedule sch = {.every = c->every,
                               .fragments = fmin(t->fragments, c->every),
                               .hidden = t->backward + t->overlap,
                               .outer_s = t->outer_s,
                               .straggle_s = t->straggle_s};
    size_t members = (size_t)((double)net->n * fmax(1, net->flat));
    double bytes = wan_training_bytes(t, c->bits), part = 1 / sch.fragments;
    double compute_s = wan_training_compute_s(t);
    double sent = wan_wire_bytes(c->strategy, members, bytes);
    double measured_s = t->sync_s * bytes / wan_training_bytes(t, t->bits) / c->factor;
    double each_s =
        measured_s > 0 ? measured_s * part : fragment_s(c, net, &sch, compute_s, bytes * part);
    if (measured_s <= 0)
        sch.wire_s = wan_busy_s(c->strategy, net, bytes * part);
    return outcome(t, &sch, compute_s, each_s, sent);
}

static void make_view(struct wan_view *v, const struct wan_case *c)
{
    wan_view_make(v, c->map, c->strategy, c->factor);
    v->net.equal_shares = c->equal_shares;
    v->net.carrier = c->carrier;
    v->net.flat = c->flat;
    if (c->end_shares)
        v->net.pair_Bps = NULL;
}

struct wan_outcome wan_evaluate(const struct wan_case *c)
{
    struct wan_view v;
    make_view(&v, c);
    struct wan_outcome o = on_view(c, &v.net);
    wan_view_free(&v);
    return o;
}

enum wan_strategy wan_best_strategy(const struct wan_map *m, const struct wan_training *t)
{
    struct wan_case c = {.map = m, .training = t, .bits = t->bits, .every = t->every, .factor = 1};
    enum wan_strategy best = WAN_RING;
    double least = INFINITY;
    for (int s = 0; s < WAN_STRATEGIES; s++) {
        wan_case_strategy(&c, (enum wan_strategy)s);
        double step = wan_evaluate(&c).sync_s;
        if (step < least * (1 - 1e-9)) {
            least = step;
            best = c.strategy;
        }
    }
    return best;
}

double wan_every_for(const struct wan_case *c, double efficiency)
{
    struct wan_case k = *c;
    struct wan_view v;
    double lo = 0, hi = 1; /* lo fails, hi may do */
    make_view(&v, c);
    for (k.every = hi; on_view(&k, &v.net).efficiency < efficiency && hi < 1e12; k.every = hi) {
        lo = hi;
        hi *= 2;
    }
    while (hi - lo > 1 && hi < 1e12) {
        k.every = floor((lo + hi) / 2);
        *(on_view(&k, &v.net).efficiency >= efficiency * (1 - 1e-12) ? &hi : &lo) = k.every;
    }
    wan_view_free(&v);
    return hi < 1e12 ? hi : INFINITY;
}

double wan_factor_for(const struct wan_case *c, double efficiency)
{
    struct wan_case k = *c;
    double lo = 1e-6, hi = 1e6;
    k.factor = hi;
    if (wan_evaluate(&k).efficiency < efficiency)
        return INFINITY;
    for (int i = 0; i < 60; i++) {
        k.factor = sqrt(lo * hi);
        *(wan_evaluate(&k).efficiency >= efficiency ? &hi : &lo) = k.factor;
    }
    return hi;
}

/* ---- a slow site ---- */

/* Times the tokens per second, for a site to be worth leaving out; beside what fewer equal sites
 * gain by sending less. */
#define LEAVE_GAIN 1.1

bool wan_slow_site(const struct wan_case *c, struct wan_left_out *out)
{
    const struct wan_map *m = c->map;
    double n = (double)m->n, fewer = (n - 1) * (n - 1) / n / (n - 2);
    double most = LEAVE_GAIN * fewer * wan_evaluate(c).tokens_per_s;
    bool found = false;
    for (size_t row = 0; m->n > 2 && m->n <= WAN_SHARES_MOST && row < m->n; row++) {
        struct wan_map others = wan_map_without(m, row);
        struct wan_training t = *c->training;
        struct wan_case k = *c;
        double gpus = (double)m->sites[row].gpus;
        k.map = &others;
        k.training = &t;
        t.gpus -= gpus;
        t.compute_s *= c->training->gpus / t.gpus;
        t.sync_s = 0;
        wan_case_strategy(&k, c->training->strategy == WAN_STRATEGIES
                                  ? wan_best_strategy(&others, &t)
                                  : c->strategy);
        struct wan_outcome o = wan_evaluate(&k);
        if (t.gpus > 0 && o.tokens_per_s > most) {
            *out = (struct wan_left_out){row, k.strategy, o};
            most = o.tokens_per_s;
            found = true;
        }
        wan_map_free(&others);
    }
    return found;
}
