/* SPDX-License-Identifier: Apache-2.0
 *
 * How often `gradsync advise` is wrong: campaigns with a known truth, through the functions that it
 * uses (advise/advice.h).
 *   advice_rates [CAMPAIGNS [SEED]]      1000 1 unless given
 * Prints a CSV of rates with their 95% intervals, and ends with 1 if one is outside its bounds.
 *
 * A campaign compares two settings with auto in two steps, in five launches of four blocks. The
 * log-ratio of a block is the sum of the truth, the launch N(0, 0.3%) and noise N(0, 0.5%). The two
 * copies of auto differ by the same without the truth.
 *
 * An advised setting is wrong if its gain, in the step where it wins, is truly below GAIN_LEAST: the
 * lower bound of the gain said more. The bound itself may be too high in half of what the intervals
 * may miss (error_rates.c: 3 to 7%).
 */
#include "advise/advice.h"
#include "rates.h"

#include "base/err.h"
#include "base/text.h"
#include "common/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2, SETTINGS = 2, BLOCKS = 4, FIVE = 5 };
#define OWN 0.003
#define NOISE 0.005

static const char *const settings[SETTINGS] = {"ctas=8", "ctas=16"};

enum rate {
    NOTHING,
    BARELY,
    BARELY_SHOWN,
    FOUND,
    MIXED,
    ONE_LAUNCH,
    ONE_LAUNCH_NOTHING,
    OPEN,
    RATES
};
static const struct scenario {
    struct rate_bounds bounds;
    double gain[STEPS][SETTINGS];
    int launches;
} scenarios[RATES] = {
    [NOTHING] = {{"nothing there but a setting advised", "advise", 0, 0.025}, {{0}}, FIVE},
    [BARELY] = {{"0.4% there but advised", "advise", 0, 0.025}, {{0.004, 0}, {0, 0}}, FIVE},
    [BARELY_SHOWN] = {{"2% there and a larger lower bound printed", "advise", 0, 0.04},
                      {{0.02, 0}, {0, 0}},
                      FIVE},
    [FOUND] = {{"3% there and advised", "advise", 0.8, 1}, {{0.03, 0}, {0.03, 0}}, FIVE},
    [MIXED] = {{"3% there but -3% in the other step; advised", "advise", 0, 0.025},
               {{0.03, 0}, {-0.03, 0}},
               FIVE},
    [ONE_LAUNCH] = {{"10% there; advised from one launch", "advise", 0, 0},
                    {{0.1, 0.1}, {0.1, 0.1}},
                    1},
    [ONE_LAUNCH_NOTHING] = {{"nothing there; advised from one launch", "advise", 0, 0}, {{0}}, 1},
    /* in the first step, for either setting */
    [OPEN] = {{"0.3% there and a smaller gain left open", "advise", 0, 0.04},
              {{0.003, 0.003}, {0, 0}},
              FIVE},
};

static void draw(struct values *x, int launches, double truth, struct rng *rng)
{
    for (int k = 0; k < launches; k++) {
        double own = OWN * rng_normal(rng);
        for (int b = 0; b < BLOCKS; b++)
            values_add(
                x, (struct nested){.launch = k, .value = truth + own + NOISE * rng_normal(rng)});
    }
}

static void add_contrast(struct steps_evidence *s, size_t step, size_t setting,
                         const struct scenario *of, const struct values *aa, struct rng *rng)
{
    struct contrast *c = comparison_append(&s->comparison);
    c->platform = xstrdup("sim");
    c->workload = xstrdup("iter_proxy");
    c->label = xstrdup(step ? "other" : "");
    c->run_id = xstrdup(step ? "2" : "1");
    c->mode = xstrdup("overlapped");
    c->params = xstrdup("backend=cuda step=a");
    c->baseline = xstrdup("auto");
    c->config = xstrdup(settings[setting]);
    c->ran = xstrdup("");
    c->baseline_ran = xstrdup("");
    c->size_B = (int64_t)(step + 1) << 20;
    c->family = step;
    c->bound = 0.001; /* of equivalence */
    c->seed = rng_next(rng);
    c->stream = rng_next(rng);
    draw(&c->x, of->launches, log1p(-of->gain[step][setting]), rng);
    c->aa = values_copy(aa);
}

static void make_evidence(struct steps_evidence *s, const struct scenario *of, struct rng *rng)
{
    *s = (struct steps_evidence){.n_runs = 1, .n_shapes = 1};
    s->runs = xcalloc(1, sizeof *s->runs);
    s->shapes = xcalloc(1, sizeof *s->shapes);
    s->shapes[0] = (struct shape){"sim", "2", "1"};
    for (size_t step = 0; step < STEPS; step++) {
        struct values aa = {0};
        draw(&aa, of->launches, 0, rng);
        for (size_t i = 0; i < SETTINGS; i++)
            add_contrast(s, step, i, of, &aa, rng);
        free(aa.v);
    }
    s->comparison.families = STEPS;
    evidence_judge(s);
}

/* The true gain of the setting in the step where it wins. */
static double truth_of(const struct evidence *e, const struct scenario *of)
{
    size_t i = strcmp(e->c->config, settings[0]) != 0;
    return of->gain[e->c->size_B > 1 << 20][i];
}

static bool hit(enum rate rate, const struct steps_evidence *s)
{
    struct candidate c;
    if (rate == OPEN)
        return evidence_left_open(s, &s->v[0]) < scenarios[OPEN].gain[0][0];
    if (!advice_find(s, 0, &c))
        return false;
    double truth = truth_of(c.best, &scenarios[rate]);
    if (rate == BARELY)
        return truth <= GAIN_LEAST;
    if (rate == BARELY_SHOWN)
        return evidence_gain_low(c.best) > truth;
    return rate != FOUND || truth > GAIN_LEAST;
}

int main(int argc, char **argv)
{
    size_t campaigns = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    struct rng rng;
    size_t hits[RATES] = {0}, trials[RATES];
    struct rate_bounds bounds[RATES];
    if (!campaigns)
        return fail(GS_USAGE, "advice_rates [CAMPAIGNS [SEED]]");
    rng_stream(&rng, argc > 2 ? strtoull(argv[2], NULL, 10) : 1, 0);
    for (size_t r = 0; r < RATES; r++) {
        for (size_t i = 0; i < campaigns; i++) {
            struct steps_evidence s;
            make_evidence(&s, &scenarios[r], &rng);
            hits[r] += hit((enum rate)r, &s);
            evidence_free(&s);
        }
        trials[r] = campaigns;
        bounds[r] = scenarios[r].bounds;
    }
    return rates_report(bounds, hits, trials, RATES);
}
