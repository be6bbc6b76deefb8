/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of a claim: which of them apply follows from the quantities that it gives.
 */
#include "base/units.h"
#include "common/collective.h"
#include "limits/bounds.h"
#include "limits/limits.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

/* ---- bandwidth ---- */

static void check_ranks(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    double memory = c->q[Q_MEMORY];
    double rate = isnan(c->q[Q_ALGBW]) ? c->q[Q_BUSBW] : c->q[Q_ALGBW];
    if (c->q[Q_RANKS_RECORDED] < 2)
        limits_not_a_collective(row, rate, isnan(memory) ? bounds_of(a->config, "memory") : memory);
}

static void check_busbw(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    double network = bounds_of(a->config, "network");
    row->quantity = "busbw";
    row->unit = "B/s";
    double ranks = isnan(c->q[Q_RANKS]) ? c->q[Q_RANKS_RECORDED] : c->q[Q_RANKS];
    double limit = bounds_busbw(a->config);
    double factor = ranks > 2 ? collective_busbw_factor(COLLECTIVE_ALLREDUCE, ranks) : 0;
    limits_judge_busbw(row, c->q[Q_BUSBW], limit, factor, limits_without_nvls(a->config));
    LIMITS_FROM(row, "%s", bounds_source(a->config, "busbw"));
    if (row->verdict == LIMIT_SWITCH)
        LIMITS_SAY(row, "no algorithm is stated: with reduction in the switch (NVLS) up to %s",
                   HUMAN_RATE(limit * factor));
    else if (c->q[Q_BUSBW] > network)
        LIMITS_SAY(
            row,
            "a rank passes 2(n-1)/n of the payload each way; a flat ring between the nodes could "
            "not exceed its %.4g GB/s, so this is not a flat ring",
            network / 1e9);
    else
        LIMITS_SAY(
            row, "without reduction in the switch a rank passes 2(n-1)/n of the payload each way, "
                 "which is what busbw counts");
}

static void check_ratio(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    double expected = collective_busbw_factor(COLLECTIVE_ALLREDUCE, c->q[Q_RANKS]);
    row->quantity = "busbw/algbw";
    row->unit = "1";
    limits_judge_equal(row, c->q[Q_BUSBW] / c->q[Q_ALGBW], expected);
    LIMITS_FROM(row, "2(n-1)/n, n = %.0f", c->q[Q_RANKS]);
    LIMITS_SAY(row, "busbw is algbw times 2(n-1)/n by definition: the two numbers %s",
               row->verdict == LIMIT_POSSIBLE ? "agree" : "do not fit this number of ranks");
}

static void check_time(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    row->quantity = "algbw";
    row->unit = "B/s";
    limits_judge_equal(row, c->q[Q_ALGBW], c->q[Q_SIZE] / c->q[Q_TIME]);
    LIMITS_FROM(row, "size / time");
    LIMITS_SAY(row, "algbw is size over time by definition");
}

static void check_peak(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    double link = bounds_of(a->config, "link");
    row->quantity = "peak implied";
    row->unit = "B/s";
    limits_judge(row, c->q[Q_BUSBW] / c->q[Q_OF_PEAK], link);
    LIMITS_FROM(row, "%s", bounds_source(a->config, "link"));
    LIMITS_SAY(
        row,
        "%.4g GB/s as %.3g%% of the peak makes the peak %.4g GB/s; the link has %.4g GB/s one way",
        c->q[Q_BUSBW] / 1e9, 100 * c->q[Q_OF_PEAK], c->q[Q_BUSBW] / c->q[Q_OF_PEAK] / 1e9,
        link / 1e9);
}

/* ---- speed-ups and data ---- */

static bool same_word(const char *a, const char *b)
{
    return a && !strcasecmp(a, b);
}

/* Both move 2(n-1)/n of the payload at best, so where bandwidth decides the tree gains nothing;
 * where latency does, it takes 2 ceil(log2 n) hops and the ring 2(n-1). */
static void check_tree(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    double n = c->q[Q_RANKS];
    if (!same_word(c->word[W_FASTER], "tree") || !same_word(c->word[W_SLOWER], "ring"))
        return;
    row->quantity = "speedup";
    row->unit = "1";
    limits_judge(row, c->q[Q_SPEEDUP], (n - 1) / ceil(log2(n)));
    LIMITS_FROM(row, "hops: 2(n-1) of a ring, 2 ceil(log2 n) of a tree, n = %.0f", n);
    LIMITS_SAY(
        row,
        "at small sizes at most the ratio of hops, %.3g; at large sizes both move the same bytes "
        "and it is at most 1",
        (n - 1) / ceil(log2(n)));
}

static void check_launches(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    if (c->q[Q_LAUNCHES] >= 2 || !c->word[W_FASTER])
        return;
    row->quantity = "launches";
    row->unit = "1";
    row->value = c->q[Q_LAUNCHES];
    row->limit = 2;
    row->fraction = NAN;
    row->verdict = DATA_UNSUPPORTED;
    LIMITS_FROM(row, "a claim needs two launches of each config or more");
    LIMITS_SAY(row,
               "one launch of each: its iterations are not independent, so a difference between "
               "configs may be a difference between launches");
}

/* ---- training ---- */

static void check_flops(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    const char *from, *precision = c->word[W_PRECISION] ? c->word[W_PRECISION] : "bf16";
    double peak = bounds_flops(a->config, precision, &from);
    row->quantity = "FLOP rate of a GPU";
    row->unit = "FLOP/s";
    limits_judge(row, 6 * c->q[Q_PARAMETERS] * c->q[Q_TOKENS_PER_S] / c->q[Q_GPUS], peak);
    LIMITS_FROM(row, "%s", from);
    LIMITS_SAY(
        row,
        "6 x %.3g billion parameters x %.4gK tokens/s over %.0f GPU%s: %.3g PFLOP/s each; at half "
        "of "
        "the peak all together reach %.3gK tokens/s",
        c->q[Q_PARAMETERS] / 1e9, c->q[Q_TOKENS_PER_S] / 1e3, c->q[Q_GPUS],
        c->q[Q_GPUS] > 1 ? "s" : "", row->value / 1e15,
        0.5e-3 * peak * c->q[Q_GPUS] / (6 * c->q[Q_PARAMETERS]));
}

static void check_step(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    row->quantity = "tokens/s";
    row->unit = "1/s";
    limits_judge(row, c->q[Q_TOKENS_PER_S], c->q[Q_STEP_TOKENS] / c->q[Q_STEP_TIME]);
    LIMITS_FROM(row, "tokens of a step / time of a step, as claimed");
    LIMITS_SAY(row, "%.0f tokens in %.3g s are %.3gK tokens/s", c->q[Q_STEP_TOKENS],
               c->q[Q_STEP_TIME], row->limit / 1e3);
}

static void check_duration(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    row->quantity = "duration";
    row->unit = "s";
    limits_judge_equal(row, c->q[Q_DURATION], c->q[Q_TOKENS] / c->q[Q_TOKENS_PER_S]);
    LIMITS_FROM(row, "tokens / (tokens/s), as claimed");
    LIMITS_SAY(row, "%.3g billion tokens at %.3gK tokens/s take %.3g h%s", c->q[Q_TOKENS] / 1e9,
               c->q[Q_TOKENS_PER_S] / 1e3, row->limit / 3600,
               row->verdict == LIMIT_POSSIBLE ? ": consistent, whether or not the rate is possible"
                                              : "");
}

/* ---- the checks ---- */

#define NEEDS 3

/* What each wants to be given; it may still find that it does not apply, and fill in nothing. */
static const struct {
    void (*check)(const struct audit *, const struct claim *, struct limits_row *);
    int needs, given[NEEDS];
} checks[] = {
    {check_ranks, 1, {Q_RANKS_RECORDED}},
    {check_busbw, 1, {Q_BUSBW}},
    {check_ratio, 3, {Q_BUSBW, Q_ALGBW, Q_RANKS}},
    {check_time, 3, {Q_ALGBW, Q_SIZE, Q_TIME}},
    {check_peak, 2, {Q_BUSBW, Q_OF_PEAK}},
    {check_tree, 2, {Q_SPEEDUP, Q_RANKS}},
    {check_launches, 1, {Q_LAUNCHES}},
    {check_flops, 3, {Q_TOKENS_PER_S, Q_PARAMETERS, Q_GPUS}},
    {check_step, 3, {Q_TOKENS_PER_S, Q_STEP_TOKENS, Q_STEP_TIME}},
    {check_duration, 3, {Q_TOKENS, Q_TOKENS_PER_S, Q_DURATION}},
};

static bool applies(const struct claim *c, size_t i)
{
    for (int k = 0; k < checks[i].needs; k++)
        if (isnan(c->q[checks[i].given[k]]))
            return false;
    return true;
}

size_t limits_of_claim(const struct audit *a, const struct claim *c,
                       struct limits_row rows[LIMITS_ROWS])
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        rows[n] = (struct limits_row){0};
        if (applies(c, i))
            checks[i].check(a, c, &rows[n]);
        n += rows[n].quantity != NULL;
    }
    return n;
}
