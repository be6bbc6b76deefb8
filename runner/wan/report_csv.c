/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "wan/wan_report.h"

#include "base/csv.h"
#include "base/err.h"

#include <math.h>

/* H and factors on the rate: three a decade. */
static const double steps[] = {1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000};
static const double factors[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
static const double widths[] = {32, 16, 8, 4};

static void put_case(struct csv *f, const char *name, const char *sweep, const struct wan_case *c)
{
    const struct wan_training *t = c->training;
    struct wan_outcome o = wan_evaluate(c);
    csv_text(f, name);
    csv_text(f, sweep);
    csv_text(f, wan_strategy_names[c->strategy]);
    csv_integer(f, (int64_t)c->map->n);
    const double numbers[] = {c->bits,
                              c->every,
                              fmin(t->fragments, c->every),
                              t->overlap,
                              wan_map_rate(c->map) * c->factor,
                              wan_training_bytes(t, c->bits),
                              o.sync_s,
                              o.bytes,
                              o.exposed_s,
                              o.step_s,
                              o.efficiency,
                              o.tokens_per_s,
                              o.seconds};
    for (size_t i = 0; i < COUNT(numbers); i++)
        csv_real(f, numbers[i]);
    csv_end(f);
}

static void put_strategies(struct csv *f, const struct wan_report *r, const struct wan_case *plan)
{
    for (int s = 0; s < WAN_STRATEGIES; s++) {
        struct wan_case c = *plan;
        c.strategy = (enum wan_strategy)s;
        c.flat = wan_flat(c.map, c.strategy);
        put_case(f, r->name, "strategy", &c);
    }
}

static void put_sweeps(struct csv *f, const struct wan_report *r, const struct wan_case *plan)
{
    for (size_t b = 0; b < COUNT(widths); b++) {
        struct wan_case c = *plan;
        c.bits = widths[b];
        for (size_t i = 0; i < COUNT(steps); i++) {
            c.every = steps[i];
            put_case(f, r->name, "every", &c);
        }
        c.every = plan->every;
        for (size_t i = 0; i < COUNT(factors); i++) {
            c.factor = factors[i];
            put_case(f, r->name, "rate", &c);
        }
    }
}

/* The rate that each target needs. */
static void put_targets(struct csv *f, const struct wan_report *r, const struct wan_case *plan)
{
    struct wan_case c = *plan;
    for (size_t i = 0; i < r->training->n_targets; i++) {
        c.factor = wan_factor_for(plan, r->training->targets[i]);
        if (isfinite(c.factor))
            put_case(f, r->name, "target", &c);
    }
}

const char model_columns[] = "platform,sweep,strategy,sites,bits,every,fragments,overlap,rate_Bps,"
                             "size_B,sync_s,wire_B,exposed_s,step_s,efficiency,tokens_per_s,"
                             "target_s";

int wan_report_csv(const struct wan_report *r, const char *path)
{
    struct csv f;
    struct wan_case plan = wan_case_of(r->map, r->training);
    int code = csv_open(&f, path);
    if (code)
        return code;
    csv_header(&f, model_columns);
    put_strategies(&f, r, &plan);
    put_sweeps(&f, r, &plan);
    put_targets(&f, r, &plan);
    return csv_close(&f, true);
}

const char claims_columns[] = "platform,claim,what,unit,low,high,possible,reached,verdict,why";

int wan_report_claims_csv(const struct wan_report *r, const char *path)
{
    static const char *const verdicts[] = {[WAN_POSSIBLE] = "possible",
                                           [WAN_UNREACHED] = "unreached",
                                           [WAN_IMPOSSIBLE] = "impossible",
                                           [WAN_CONTRADICTED] = "contradicted"};
    struct csv f;
    int code = csv_open(&f, path);
    if (code)
        return code;
    csv_header(&f, claims_columns);
    for (size_t i = 0; i < r->n_findings; i++) {
        const struct wan_finding *x = &r->findings[i];
        csv_text(&f, r->name);
        csv_text(&f, x->name);
        csv_text(&f, x->what);
        csv_text(&f, x->unit);
        csv_real(&f, x->low);
        csv_real(&f, x->high);
        csv_real(&f, x->possible);
        csv_real(&f, x->reached);
        csv_text(&f, verdicts[x->verdict]);
        csv_text(&f, x->why.s);
        csv_end(&f);
    }
    return csv_close(&f, true);
}
