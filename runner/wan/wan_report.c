/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/wan_report.h"

#include "base/err.h"
#include "base/units.h"
#include "wan/bound.h"
#include "wan/net_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DAY 86400.0
#define LOSSES_MATTER 0.95

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

static struct word steps(double every)
{
    struct word w;
    snprintf(w.s, sizeof w.s, isfinite(every) ? "%.0f" : "none", every);
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
    printf("\n  gradient   %s (%g bits per element)", scaled(wan_training_bytes(t, t->bits), "B").s,
           t->bits);
    if (t->micro_batch > 0 && t->sequence > 0)
        printf("; %.0f micro-batches per GPU and step",
               ceil(t->tokens / (t->gpus * t->micro_batch * t->sequence) - 1e-9));
    printf("\n");
}

/* A link between two sites that is slower than every site. */
static void print_slowest(const struct wan_map *m)
{
    size_t from, to;
    if (wan_map_slowest(m, &from, &to))
        printf("  slowest    %s-%s, %s\n", m->sites[from].name, m->sites[to].name,
               scaled(wan_map_link(m, from, to).rate_Bps * 8, "bit/s").s);
}

static void print_network(const struct wan_report *r)
{
    struct wan_view v;
    if (r->map->n < 2)
        return;
    wan_view_make(&v, r->map, WAN_RECURSIVE_DOUBLING, 1);
    printf("  network    at least %s per site, RTT %s to %s\n",
           scaled(wan_map_rate(r->map) * 8, "bit/s").s, seconds(v.nearest_rtt_s).s,
           seconds(v.farthest_rtt_s).s);
    print_slowest(r->map);
    printf("  bound      no all-reduce takes less than %s\n",
           seconds(wan_map_bound_s(r->map, wan_training_bytes(r->training, r->training->bits))).s);
    wan_view_free(&v);
}

void wan_report_losses(const struct wan_map *m)
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
           "set congestion = bbr or streams = %.0f\n",
           100 * l.loss, percent(least).s, m->sites[from].name, m->sites[to].name,
           fmax(1, (double)l.streams), l.streams > 1 ? "streams" : "stream",
           wan_congestions[l.congestion], ceil(fmax(1, (double)l.streams) / least));
}

static void print_outcome(const char *name, const struct wan_outcome *o)
{
    printf("  %-20s %10s %10s %10s %9s %18s %11s\n", name, seconds(o->sync_s).s,
           scaled(o->bytes, "B").s, seconds(o->step_s).s, percent(o->efficiency).s,
           scaled(o->tokens_per_s, "tokens/s").s, isnan(o->seconds) ? "" : seconds(o->seconds).s);
}

static void print_heading(const char *what, const struct wan_training *t)
{
    char target[40] = "";
    if (t->target_tokens > 0)
        snprintf(target, sizeof target, "%.3g tokens", t->target_tokens);
    printf("\n  %-20s %10s %10s %10s %9s %18s %11s\n", what, "sync", "sent", "step", "compute",
           "rate", target);
}

static void print_strategies(const struct wan_report *r, const struct wan_case *plan)
{
    const struct wan_training *t = r->training;
    enum wan_strategy best = wan_best_strategy(r->map, t);
    char heading[64];
    snprintf(heading, sizeof heading, t->every > 1 ? "every %.0f steps" : "every step", t->every);
    print_heading(heading, t);
    for (int s = 0; s < WAN_STRATEGIES; s++) {
        struct wan_case c = *plan;
        c.strategy = (enum wan_strategy)s;
        c.flat = wan_flat(r->map, c.strategy);
        struct wan_outcome o = wan_evaluate(&c);
        char name[40];
        snprintf(name, sizeof name, "%s%s", wan_strategy_names[s],
                 c.strategy == plan->strategy ? " *" : "");
        print_outcome(name, &o);
    }
    printf("  * this plan; %s has the shortest synchronisation\n", wan_strategy_names[best]);
}

void wan_need_text(const struct wan_map *m, const struct wan_need *need, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s%s", need->of_pair ? m->sites[need->from].name : "",
             need->of_pair ? "-" : "", need->of_pair ? m->sites[need->to].name : "",
             need->of_pair ? " " : "", scaled(need->rate_Bps * 8, "bit/s").s);
    if (need->pair_too && strlen(text) + 2 < size)
        strcat(text, "*");
}

static void print_needed(const struct wan_report *r, const struct wan_case *plan)
{
    static const double bits[] = {16, 8, 4};
    const struct wan_site *sites = r->map->sites;
    struct wan_need need = {0};
    bool both = false;
    printf("\n  %-20s %14s %12s %8s %8s %8s\n", "target compute", "rate per site", "or every at",
           "16 bits", "8 bits", "4 bits");
    for (size_t i = 0; i < r->training->n_targets; i++) {
        double target = r->training->targets[i];
        char rate[160];
        need = wan_need_for(plan, target);
        both |= need.pair_too;
        wan_need_text(r->map, &need, rate, sizeof rate);
        printf("  %-20s %14s %12s", percent(target).s, rate, "");
        for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
            struct wan_case c = *plan;
            c.bits = bits[b];
            printf(" %8s", steps(wan_every_for(&c, target)).s);
        }
        printf("\n");
    }
    if (both)
        printf("  * and %s-%s as fast as its sites\n", sites[need.from].name, sites[need.to].name);
}

void wan_report_slow_site(const struct wan_case *plan)
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

static void print_choice(const struct wan_report *r, const struct wan_case *plan)
{
    struct wan_case c = *plan;
    double target = 0;
    for (size_t i = 0; i < r->training->n_targets; i++)
        target = fmax(target, r->training->targets[i]);
    c.strategy = wan_best_strategy(r->map, r->training);
    c.flat = wan_flat(r->map, c.strategy);
    c.every = wan_every_for(&c, target);
    if (!isfinite(c.every)) {
        printf("\nno value of every reaches %s\n", percent(target).s);
        return;
    }
    struct wan_outcome o = wan_evaluate(&c);
    printf("\nchoose %s and every = %.0f at %g bits: %s of the time is compute, %s",
           wan_strategy_names[c.strategy], c.every, c.bits, percent(o.efficiency).s,
           scaled(o.tokens_per_s, "tokens/s").s);
    if (!isnan(o.seconds))
        printf(", %s", seconds(o.seconds).s);
    printf("\nwithout fragments and overlap (with them: model --plan); whether training learns as "
           "well "
           "with\nfewer synchronisations is not modelled\n");
}

static void print_alternatives(const struct wan_report *r, const struct wan_case *plan)
{
    struct wan_outcome here = wan_evaluate(plan);
    if (!r->n_alternatives)
        return;
    print_heading("instead", r->training);
    for (size_t i = 0; i < r->n_alternatives; i++) {
        struct wan_outcome o = wan_alternative_outcome(r->training, &r->alternatives[i]);
        print_outcome(r->alternatives[i].name, &o);
    }
    for (size_t i = 0; i < r->n_alternatives; i++) {
        struct wan_outcome o = wan_alternative_outcome(r->training, &r->alternatives[i]);
        if (isnan(o.seconds))
            continue;
        if (o.seconds < here.seconds)
            printf("  %s finishes %s before the line *\n", r->alternatives[i].name,
                   seconds(here.seconds - o.seconds).s);
        else
            printf("  the line * finishes %s before %s\n", seconds(o.seconds - here.seconds).s,
                   r->alternatives[i].name);
    }
}

static const char *const verdicts[] = {[WAN_POSSIBLE] = "possible",
                                       [WAN_UNREACHED] = "unreached",
                                       [WAN_IMPOSSIBLE] = "impossible",
                                       [WAN_CONTRADICTED] = "contradicted"};

static void print_findings(const struct wan_report *r)
{
    if (r->n_findings)
        printf("\n  claims\n");
    for (size_t i = 0; i < r->n_findings; i++)
        printf("  %-20s %-12s %s\n", r->findings[i].name, verdicts[r->findings[i].verdict],
               r->findings[i].why.s);
}

void wan_report_print(const struct wan_report *r)
{
    print_training(r);
    print_network(r);
    wan_report_losses(r->map);
    if (r->map->n > 1) {
        struct wan_case plan = wan_case_of(r->map, r->training);
        print_strategies(r, &plan);
        print_needed(r, &plan);
        print_choice(r, &plan);
        wan_report_slow_site(&plan);
        print_alternatives(r, &plan);
    }
    print_findings(r);
}
