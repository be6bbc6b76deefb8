/* SPDX-License-Identifier: Apache-2.0 */
#include "wan/advice.h"

#include <math.h>

double wan_flat(const struct wan_map *m, enum wan_strategy strategy)
{
    double ranks = 1;
    for (size_t i = 0; i < m->n && strategy != WAN_HIERARCHICAL; i++)
        ranks = fmax(ranks, (double)(m->sites[i].ranks ? m->sites[i].ranks : m->sites[i].gpus));
    return ranks;
}

struct wan_case wan_case_of(const struct wan_map *m, const struct wan_training *t)
{
    enum wan_strategy strategy =
        t->strategy == WAN_STRATEGIES ? wan_best_strategy(m, t) : (enum wan_strategy)t->strategy;
    return (struct wan_case){.map = m,
                             .training = t,
                             .strategy = strategy,
                             .flat = wan_flat(m, strategy),
                             .bits = t->bits,
                             .every = t->every,
                             .factor = 1};
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
    struct wan_schedule sch = wan_training_schedule(t);
    sch.every = c->every;
    sch.fragments = fmin(sch.fragments, sch.every);
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
        c.strategy = (enum wan_strategy)s;
        c.flat = wan_flat(m, c.strategy);
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

struct wan_outcome wan_alternative_outcome(const struct wan_training *t,
                                           const struct wan_alternative *a)
{
    struct wan_schedule each = {.every = 1, .fragments = 1, .hidden = t->backward};
    double n = a->nodes, bytes = wan_training_bytes(t, t->bits), sync = 0;
    double compute = wan_training_compute_s(t) * t->gpus / a->gpus;
    double sent = n > 1 ? 2 * (n - 1) / n * bytes : 0;
    if (a->rate_Bps > 0)
        sync = sent / a->rate_Bps + (n > 1 ? 2 * (n - 1) * a->rtt_s / 2 : 0);
    return outcome(t, &each, compute, sync, sent);
}

/* ---- a slow pair, a slow site ---- */

static double pair_rate_for(const struct wan_case *c, double efficiency, size_t from, size_t to)
{
    struct wan_link now = wan_map_link(c->map, from, to);
    double lo = now.rate_Bps, hi = fmin(c->map->sites[from].up_Bps, c->map->sites[to].down_Bps);
    for (int i = -1; i < 40; i++) {
        double rate = i < 0 ? hi : sqrt(lo * hi);
        struct wan_map m = wan_map_copy(c->map, c->map->n, from, to, rate);
        struct wan_case k = *c;
        k.map = &m;
        bool reaches = wan_evaluate(&k).efficiency >= efficiency;
        wan_map_free(&m);
        if (i < 0 && !reaches)
            return INFINITY;
        *(reaches ? &hi : &lo) = rate;
    }
    return hi;
}

struct wan_need wan_need_for(const struct wan_case *c, double efficiency)
{
    struct wan_need need = {.of_pair = wan_map_slowest(c->map, &need.from, &need.to)};
    struct wan_case k = *c;
    if (wan_evaluate(c).efficiency >= efficiency)
        need.of_pair = false;
    if (!need.of_pair) {
        need.rate_Bps = wan_factor_for(c, efficiency) * wan_map_rate(c->map);
        return need;
    }
    need.rate_Bps = pair_rate_for(c, efficiency, need.from, need.to);
    if (isfinite(need.rate_Bps))
        return need;
    struct wan_map m = wan_map_copy(c->map, c->map->n, need.from, need.to, wan_map_rate(c->map));
    k.map = &m;
    need.of_pair = false;
    need.pair_too = true;
    need.rate_Bps = wan_factor_for(&k, efficiency) * wan_map_rate(&m);
    wan_map_free(&m);
    return need;
}

/* Times the tokens per second, for a site to be worth leaving out; beside what fewer equal sites gain by
 * sending less. */
#define LEAVE_GAIN 1.1

bool wan_slow_site(const struct wan_case *c, struct wan_left_out *out)
{
    const struct wan_map *m = c->map;
    double n = (double)m->n, fewer = (n - 1) * (n - 1) / n / (n - 2);
    double most = LEAVE_GAIN * fewer * wan_evaluate(c).tokens_per_s;
    bool found = false;
    for (size_t row = 0; m->n > 2 && m->n <= WAN_SHARES_MOST && row < m->n; row++) {
        struct wan_map others = wan_map_copy(m, row, 0, 0, 0);
        struct wan_training t = *c->training;
        struct wan_case k = *c;
        double gpus = (double)m->sites[row].gpus;
        k.map = &others;
        k.training = &t;
        t.gpus -= gpus;
        t.compute_s *= c->training->gpus / t.gpus;
        t.sync_s = 0;
        if (c->training->strategy == WAN_STRATEGIES)
            k.strategy = wan_best_strategy(&others, &t);
        k.flat = wan_flat(&others, k.strategy);
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
