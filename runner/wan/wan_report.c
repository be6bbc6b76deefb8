/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_report.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "common/wan_model.h"
#include "wan/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY 86400.0
#define LOSSES_MATTER 0.95
#define STREAMS_MOST 64 /* of wan_sync */

/* ---- numbers for people ---- */

struct word {
    char s[32];
};

static struct word seconds(double s)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{3 * DAY, DAY, "days"}, {2 * 3600, 3600, "h"}, {600, 60, "min"}, {1, 1, "s"},
                 {1e-3, 1e-3, "ms"},     {0, 1e-6, "us"}};
    struct word w;
    size_t i = 0;
    while (s < units[i].from)
        i++;
    if (!isfinite(s))
        snprintf(w.s, sizeof w.s, "never");
    else if (s <= 0)
        snprintf(w.s, sizeof w.s, "none");
    else
        snprintf(w.s, sizeof w.s, s >= 999.5 * units[i].unit ? "%.0f %s" : "%.3g %s",
                 s / units[i].unit, units[i].name);
    return w;
}

static struct word scaled(double x, const char *unit)
{
    struct word w;
    if (!isfinite(x) || x <= 0)
        snprintf(w.s, sizeof w.s, "none");
    else
        units_human_si(w.s, sizeof w.s, x, unit);
    return w;
}

static struct word percent(double share)
{
    struct word w;
    snprintf(w.s, sizeof w.s, share >= 0.9995 ? "100%%" : "%.3g%%", 100 * share);
    return w;
}

/* ---- the parts ---- */

static void print_training(const struct wan_report *r)
{
    const struct wan_training *t = r->training;
    double compute = wan_training_compute_s(t);
    printf("%s: %.4g parameters, %.0f tokens per step, %.0f %s on %zu %s\n", r->name, t->parameters,
           t->tokens, t->gpus, t->gpus == 1 ? "GPU" : "GPUs", r->map->n,
           r->map->n == 1 ? "site" : "sites");
    printf("  compute    %s per step: %s per GPU, %s in total", seconds(compute).s,
           scaled(t->tokens / compute / t->gpus, "tokens/s").s,
           scaled(t->tokens / compute, "tokens/s").s);
    if (t->compute_s <= 0)
        printf(" (%s of %s per GPU)", percent(t->mfu).s, scaled(t->peak_flops, "FLOP/s").s);
    printf("\n  gradient   %s (%g bits per element)\n",
           scaled(wan_training_bytes(t, t->bits), "B").s, t->bits);
}

static void print_network(const struct wan_report *r)
{
    const struct wan_map *m = r->map;
    struct wan_view v;
    size_t from, to;
    if (m->n < 2)
        return;
    wan_view_make(&v, m, WAN_DIRECT, 1);
    printf("  network    at least %s per site, RTT %s to %s\n",
           scaled(wan_map_rate(m) * 8, "bit/s").s, seconds(v.nearest_rtt_s).s,
           seconds(v.farthest_rtt_s).s);
    if (wan_map_slowest(m, &from, &to))
        printf("  slowest    %s-%s, %s\n", m->sites[from].name, m->sites[to].name,
               scaled(wan_map_link(m, from, to).rate_Bps * 8, "bit/s").s);
    printf("  bound      no all-reduce takes less than %s\n",
           seconds(wan_map_bound_s(m, wan_training_bytes(r->training, r->training->bits))).s);
    wan_view_free(&v);
}

/* Prints the link whose losses take most from its streams, and what would not lose it. Nothing, if
 * losses take little. */
static void print_losses(const struct wan_map *m)
{
    size_t from = 0, to = 0;
    double least = 1;
    for (size_t i = 0; i < m->n * m->n; i++) {
        struct wan_link l = wan_map_link(m, i / m->n, i % m->n), clean = l;
        clean.congestion = WAN_BBR;
        double share = wan_link_Bps(&l, 1) / wan_link_Bps(&clean, 1);
        if (l.loss > 0 && i / m->n != i % m->n && share < least) {
            least = share;
            from = i / m->n, to = i % m->n;
        }
    }
    if (least > LOSSES_MATTER)
        return;
    struct wan_link l = wan_map_link(m, from, to);
    printf("  losses     %.2g%% of the packets leave %s of the rate of %s-%s to %.0f %s of %s; "
           "set congestion = bbr\n",
           100 * l.loss, percent(least).s, m->sites[from].name, m->sites[to].name,
           fmax(1, (double)l.streams), l.streams > 1 ? "streams" : "stream",
           wan_congestions[l.congestion]);
}

static void print_strategies(const struct wan_report *r, const struct wan_case *plan)
{
    const struct wan_training *t = r->training;
    const char *best = wan_strategy_names[wan_best_strategy(r->map, t)];
    AUTO_FREE char *heading =
        t->every > 1 ? xstrfmt("every %.0f steps", t->every) : xstrdup("every step");
    AUTO_FREE char *target =
        t->target_tokens > 0 ? xstrfmt("%.3g tokens", t->target_tokens) : xstrdup("");
    printf("\n  %-20s %10s %10s %10s %9s %18s %11s\n", heading, "sync", "sent", "step", "compute",
           "rate", target);
    for (int s = 0; s < WAN_STRATEGIES; s++) {
        struct wan_case c = *plan;
        wan_case_strategy(&c, (enum wan_strategy)s);
        struct wan_outcome o = wan_evaluate(&c);
        AUTO_FREE char *name =
            xstrfmt("%s%s", wan_strategy_names[s], c.strategy == plan->strategy ? " *" : "");
        printf("  %-20s %10s %10s %10s %9s %18s %11s\n", name, seconds(o.sync_s).s,
               scaled(o.bytes, "B").s, seconds(o.step_s).s, percent(o.efficiency).s,
               scaled(o.tokens_per_s, "tokens/s").s, isnan(o.seconds) ? "" : seconds(o.seconds).s);
    }
    printf("  * this plan; %s has the shortest synchronisation\n", best);
}

/* The rate that each target needs, or how seldom to synchronise instead. */
static void print_needed(const struct wan_report *r, const struct wan_case *plan)
{
    static const double bits[] = {16, 8, 4};
    size_t from, to;
    printf("\n  %-20s %14s %12s %8s %8s %8s\n", "target compute", "rate per site", "or every at",
           "16 bits", "8 bits", "4 bits");
    for (size_t i = 0; i < r->training->n_targets; i++) {
        double target = r->training->targets[i];
        double rate_Bps = wan_factor_for(plan, target) * wan_map_rate(r->map);
        printf("  %-20s %14s %12s", percent(target).s, scaled(rate_Bps * 8, "bit/s").s, "");
        for (size_t b = 0; b < COUNT(bits); b++) {
            struct wan_case c = *plan;
            c.bits = bits[b];
            double every = wan_every_for(&c, target);
            AUTO_FREE char *text = isfinite(every) ? xstrfmt("%.0f", every) : xstrdup("none");
            printf(" %8s", text);
        }
        printf("\n");
    }
    if (wan_map_slowest(r->map, &from, &to))
        printf("  with %s-%s, and every other link, faster by as much\n", r->map->sites[from].name,
               r->map->sites[to].name);
}

/* One sentence if training without one of the sites is faster. */
static void print_slow_site(const struct wan_case *plan)
{
    struct wan_left_out out;
    struct wan_outcome with = wan_evaluate(plan);
    if (!wan_slow_site(plan, &out))
        return;
    const char *name = plan->map->sites[out.row].name;
    printf("leave out %s: without it a synchronisation takes %s in place of %s, and a step %s in "
           "place\nof %s, with fewer GPUs (%s)\n",
           name, seconds(out.o.sync_s).s, seconds(with.sync_s).s, seconds(out.o.step_s).s,
           seconds(with.step_s).s, wan_strategy_names[out.strategy]);
}

static double highest_target(const struct wan_training *t)
{
    double most = 0;
    for (size_t i = 0; i < t->n_targets; i++)
        most = fmax(most, t->targets[i]);
    return most;
}

static const char *const verdicts[] = {[WAN_POSSIBLE] = "possible",
                                       [WAN_UNREACHED] = "unreached",
                                       [WAN_IMPOSSIBLE] = "impossible",
                                       [WAN_CONTRADICTED] = "contradicted"};

void wan_report_print(const struct wan_report *r)
{
    print_training(r);
    print_network(r);
    print_losses(r->map);
    if (r->map->n > 1) {
        struct wan_case plan = wan_case_of(r->map, r->training);
        print_strategies(r, &plan);
        print_needed(r, &plan);
        printf("\nwhat to set: gradsync model --plan; whether training learns as well with fewer "
               "synchronisations is not modelled\n");
        print_slow_site(&plan);
    }
    if (r->n_findings)
        printf("\n  claims\n");
    for (size_t i = 0; i < r->n_findings; i++)
        printf("  %-20s %-12s %s\n", r->findings[i].name, verdicts[r->findings[i].verdict],
               r->findings[i].why.s);
}

/* ---- tables ---- */

/* H and factors on the rate: three a decade. */
static const double periods[] = {1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000};
static const double factors[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
static const double widths[] = {32, 16, 8, 4};

static void put_case(struct csv *f, const char *name, const char *sweep, const struct wan_case *c)
{
    const struct wan_training *t = c->training;
    struct wan_outcome o = wan_evaluate(c);
    CSV_TEXTS(f, name, sweep, wan_strategy_names[c->strategy]);
    csv_integer(f, (int64_t)c->map->n);
    CSV_REALS(f, c->bits, c->every, fmin(t->fragments, c->every), t->overlap,
              wan_map_rate(c->map) * c->factor, wan_training_bytes(t, c->bits), o.sync_s, o.bytes,
              o.exposed_s, o.step_s, o.efficiency, o.tokens_per_s, o.seconds);
    csv_end(f);
}

const char model_columns[] = "platform,sweep,strategy,sites,bits,every,fragments,overlap,rate_Bps,"
                             "size_B,sync_s,wire_B,exposed_s,step_s,efficiency,tokens_per_s,"
                             "target_s";

int wan_report_csv(const struct wan_report *r, const char *path)
{
    struct csv f;
    struct wan_case plan = wan_case_of(r->map, r->training);
    CHECK(csv_open(&f, path));
    csv_header(&f, model_columns);
    for (int s = 0; s < WAN_STRATEGIES; s++) {
        struct wan_case c = plan;
        wan_case_strategy(&c, (enum wan_strategy)s);
        put_case(&f, r->name, "strategy", &c);
    }
    for (size_t b = 0; b < COUNT(widths); b++) {
        struct wan_case c = plan;
        c.bits = widths[b];
        for (size_t i = 0; i < COUNT(periods); i++) {
            c.every = periods[i];
            put_case(&f, r->name, "every", &c);
        }
        c.every = plan.every;
        for (size_t i = 0; i < COUNT(factors); i++) {
            c.factor = factors[i];
            put_case(&f, r->name, "rate", &c);
        }
    }
    for (size_t i = 0; i < r->training->n_targets; i++) {
        struct wan_case c = plan;
        c.factor = wan_factor_for(&plan, r->training->targets[i]);
        if (isfinite(c.factor))
            put_case(&f, r->name, "target", &c);
    }
    return csv_close(&f, true);
}

const char claims_columns[] = "platform,claim,what,unit,low,high,possible,reached,verdict,why";

int wan_report_claims_csv(const struct wan_report *r, const char *path)
{
    struct csv f;
    CHECK(csv_open(&f, path));
    csv_header(&f, claims_columns);
    for (size_t i = 0; i < r->n_findings; i++) {
        const struct wan_finding *x = &r->findings[i];
        CSV_TEXTS(&f, r->name, x->name, x->what, x->unit);
        CSV_REALS(&f, x->low, x->high, x->possible, x->reached);
        CSV_TEXTS(&f, verdicts[x->verdict], x->why.s);
        csv_end(&f);
    }
    return csv_close(&f, true);
}

/* ---- the plan ----
 *
 * What to set for a training on a map: the strategy, the wire, H, P and tau of [wan_sync].
 */

#define FRAGMENTS 8.0
#define EVERY_MOST 100.0
#define STREAMS 8 /* where no measurement says another number */

struct choice {
    struct wan_training training; /* with fragments and overlap as chosen */
    struct wan_case plan;
    struct wan_outcome outcome; /* efficiency below the target: nothing reaches it */
    double target;              /* share of compute to reach: the highest of targets */
};

static void try_schedule(struct choice *c, double bits, double fragments, double overlap)
{
    c->training.bits = c->plan.bits = bits;
    c->training.fragments = fragments;
    c->training.overlap = overlap;
    c->training.every = 1;
    wan_case_strategy(&c->plan, wan_best_strategy(c->plan.map, &c->training));
    /* Each fragment has a place of its own among the steps. */
    c->plan.every =
        fragments > 1 ? fragments * ceil(wan_every_for(&c->plan, c->target) / fragments) : 1;
    c->training.every = c->plan.every;
    c->outcome = wan_evaluate(&c->plan);
}

static void print_wan_sync(const struct choice *c)
{
    const struct wan_map *m = c->plan.map;
    double given = m->common.streams > 0 ? (double)m->common.streams : STREAMS;
    enum wan_strategy s = c->plan.strategy;
    double bits = c->plan.bits;
    printf("  [wan_sync] strategy = %s,%s streams = %.0f, congestion = %s,\n"
           "             wire = %s, every = %.0f, fragments = %.0f, overlap = %.0f\n",
           wan_strategy_names[s], s == WAN_DIRECT ? " shares = lp," : "", fmin(given, STREAMS_MOST),
           wan_congestions[m->common.congestion],
           bits <= 4   ? "int4"
           : bits <= 8 ? "int8"
                       : "bf16",
           c->plan.every, fmin(c->training.fragments, c->plan.every), c->training.overlap);
    printf("             %.3g%% of the time is compute%s\n", 100 * c->outcome.efficiency,
           c->outcome.efficiency < c->target * (1 - 1e-9) ? ", below the target" : "");
}

void wan_report_plan(const struct wan_map *m, const struct wan_training *t)
{
    static const double bits[] = {16, 8, 4};
    struct choice c = {.training = *t, .target = highest_target(t)};
    c.plan = (struct wan_case){.map = m, .training = &c.training, .factor = 1};
    try_schedule(&c, bits[0], 1, 0);
    for (size_t i = 0; i < COUNT(bits); i++)
        if (c.outcome.efficiency < c.target || c.plan.every > EVERY_MOST)
            try_schedule(&c, bits[i], FRAGMENTS, 1);
    if (!isfinite(c.plan.every)) {
        double compute_s = wan_training_compute_s(t);
        printf("no value of every reaches %.3g%% compute: [model] straggle leaves %.3g%%; lower "
               "it, or [model] targets\n",
               100 * c.target, 100 * compute_s / (compute_s + t->straggle_s));
        return;
    }
    printf("plan for %.3g%% compute (every strategy without fragments and overlap: gradsync model "
           "without --plan)\n",
           100 * c.target);
    print_losses(m);
    print_wan_sync(&c);
    print_slow_site(&c.plan);
}
