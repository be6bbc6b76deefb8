/* SPDX-License-Identifier: Apache-2.0 */
#include "limits.h"

#include "settings.h"
#include "text.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const limits_verdicts[LIMITS_VERDICTS] = {
    [LIMIT_POSSIBLE] = "possible",      [LIMIT_AT] = "at the limit",
    [LIMIT_IMPOSSIBLE] = "impossible",  [LIMIT_NO_COLLECTIVE] = "not a collective",
    [LIMIT_NONE] = "no limit",          [DATA_SUPPORTED] = "supported",
    [DATA_IN_PART] = "in part",         [DATA_CONTRADICTED] = "contradicted",
    [DATA_UNSUPPORTED] = "unsupported",
};

/* ---- judging ---- */

void limits_judge(struct limits_row *row, double value, double limit)
{
    row->value = value;
    row->limit = limit;
    row->fraction = value / limit;
    row->verdict = isnan(row->fraction)                  ? LIMIT_NONE
                   : row->fraction > 1 + LIMITS_ROUNDING ? LIMIT_IMPOSSIBLE
                   : row->fraction >= LIMITS_NEAR        ? LIMIT_AT
                                                         : LIMIT_POSSIBLE;
}

void limits_judge_equal(struct limits_row *row, double value, double limit)
{
    limits_judge(row, value, limit);
    row->verdict = fabs(row->fraction - 1) > LIMITS_APART ? LIMIT_IMPOSSIBLE : LIMIT_POSSIBLE;
}

#define SAY(row, ...) snprintf((row)->physics, sizeof(row)->physics, __VA_ARGS__)
#define FROM(row, ...) snprintf((row)->limit_source, sizeof(row)->limit_source, __VA_ARGS__)

static double ring_factor(double ranks)
{
    return 2 * (ranks - 1) / ranks;
}

static double limit_of(const struct config *c, const char *key)
{
    return c ? settings_limit(c, key) : (double)NAN;
}

/* "KEY.source", else "source". */
static const char *source_of(const struct config *c, const char *key)
{
    char *name = xstrfmt("%s.source", key);
    const struct config_entry *e = c ? config_find(c, "limits", name) : NULL;
    if (!e && c)
        e = config_find(c, "limits", "source");
    free(name);
    return e ? e->value : "";
}

/* flops.PRECISION; without it flops, for fp32 and tf32. *from: the source. */
static double flops_limit(const struct config *c, const char *precision, const char **from)
{
    char *key = xstrfmt("flops.%s", precision);
    double limit = limit_of(c, key);
    *from = source_of(c, key);
    free(key);
    if (isnan(limit) && (!strcasecmp(precision, "fp32") || !strcasecmp(precision, "tf32"))) {
        limit = limit_of(c, "flops");
        *from = source_of(c, "flops");
    }
    return limit;
}

static double busbw_limit(const struct config *c)
{
    double limit = limit_of(c, "busbw");
    return isnan(limit) ? limit_of(c, "link") : limit;
}

/* ---- bandwidth ---- */

static void not_a_collective(struct limits_row *row, double rate, double memory)
{
    char moved[32], peak[32], one[32];
    row->quantity = "ranks";
    row->unit = "1";
    row->value = 1;
    row->limit = 2;
    row->fraction = NAN;
    row->verdict = LIMIT_NO_COLLECTIVE;
    FROM(row, "an all-reduce has at least two ranks");
    if (isnan(memory) || isnan(rate))
        SAY(row, "one rank has nobody to reduce with: it copies memory, and its bandwidth says "
                 "nothing of a link");
    else
        SAY(row,
            "one rank has nobody to reduce with: it copies memory, reading and writing %s, %s "
            "together, which is %.0f%% of the memory's %s",
            units_human_rate(one, sizeof one, rate),
            units_human_rate(moved, sizeof moved, 2 * rate), 100 * 2 * rate / memory,
            units_human_rate(peak, sizeof peak, memory));
}

static void check_ranks(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    double memory = c->q[Q_MEMORY];
    double rate = isnan(c->q[Q_ALGBW]) ? c->q[Q_BUSBW] : c->q[Q_ALGBW];
    if (c->q[Q_RANKS_RECORDED] < 2)
        not_a_collective(row, rate, isnan(memory) ? limit_of(a->config, "memory") : memory);
}

static void check_busbw(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    double network = limit_of(a->config, "network");
    row->quantity = "busbw";
    row->unit = "B/s";
    limits_judge(row, c->q[Q_BUSBW], busbw_limit(a->config));
    FROM(row, "%s", source_of(a->config, "busbw"));
    if (c->q[Q_BUSBW] > network)
        SAY(row,
            "a rank passes 2(n-1)/n of the payload each way; a flat ring between the nodes could "
            "not exceed its %.4g GB/s, so this is no flat ring",
            network / 1e9);
    else
        SAY(row, "without reduction in the switch a rank passes 2(n-1)/n of the payload each way, "
                 "which is what busbw counts");
}

static void check_ratio(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    double expected = ring_factor(c->q[Q_RANKS]);
    row->quantity = "busbw/algbw";
    row->unit = "1";
    limits_judge_equal(row, c->q[Q_BUSBW] / c->q[Q_ALGBW], expected);
    FROM(row, "2(n-1)/n, n = %.0f", c->q[Q_RANKS]);
    SAY(row, "busbw is algbw times 2(n-1)/n by definition: the two numbers %s",
        row->verdict == LIMIT_POSSIBLE ? "agree" : "are not of that many ranks");
}

static void check_time(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    row->quantity = "algbw";
    row->unit = "B/s";
    limits_judge_equal(row, c->q[Q_ALGBW], c->q[Q_SIZE] / c->q[Q_TIME]);
    FROM(row, "size / time");
    SAY(row, "algbw is size over time by definition");
}

static void check_peak(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    double link = limit_of(a->config, "link");
    row->quantity = "peak implied";
    row->unit = "B/s";
    limits_judge(row, c->q[Q_BUSBW] / c->q[Q_OF_PEAK], link);
    FROM(row, "%s", source_of(a->config, "link"));
    SAY(row,
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
    FROM(row, "hops: 2(n-1) of a ring, 2 ceil(log2 n) of a tree, n = %.0f", n);
    SAY(row,
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
    FROM(row, "two launches of each are the least from which anything can be claimed");
    SAY(row, "one launch of each: its iterations are not independent, so what differs between "
             "launches cannot be told from what differs between configs");
}

/* ---- training ---- */

static void check_flops(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    const char *from, *precision = c->word[W_PRECISION] ? c->word[W_PRECISION] : "bf16";
    double peak = flops_limit(a->config, precision, &from);
    row->quantity = "FLOP rate of a GPU";
    row->unit = "FLOP/s";
    limits_judge(row, 6 * c->q[Q_PARAMETERS] * c->q[Q_TOKENS_PER_S] / c->q[Q_GPUS], peak);
    FROM(row, "%s", from);
    SAY(row,
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
    FROM(row, "tokens of a step / time of a step, as claimed");
    SAY(row, "%.0f tokens in %.3g s are %.3gK tokens/s", c->q[Q_STEP_TOKENS], c->q[Q_STEP_TIME],
        row->limit / 1e3);
}

static void check_duration(const struct audit *a, const struct claim *c, struct limits_row *row)
{
    (void)a;
    row->quantity = "duration";
    row->unit = "s";
    limits_judge_equal(row, c->q[Q_DURATION], c->q[Q_TOKENS] / c->q[Q_TOKENS_PER_S]);
    FROM(row, "tokens / (tokens/s), as claimed");
    SAY(row, "%.3g billion tokens at %.3gK tokens/s take %.3g h%s", c->q[Q_TOKENS] / 1e9,
        c->q[Q_TOKENS_PER_S] / 1e3, row->limit / 3600,
        row->verdict == LIMIT_POSSIBLE ? ": consistent, whether or not the rate is possible" : "");
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

/* ---- measured ---- */

static bool param(const struct measured_cell *cell, const char *key, char *buf, size_t size)
{
    struct words w;
    bool found = false;
    size_t n = strlen(key);
    words_split(&w, cell->params, ' ');
    for (size_t i = 0; i < w.n && !found; i++) {
        found = !strncmp(w.v[i], key, n) && w.v[i][n] == '=';
        if (found)
            snprintf(buf, size, "%s", w.v[i] + n + 1);
    }
    words_free(&w);
    return found;
}

static void cell_busbw(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    bool in_switch = strcasestr(cell->params, "nvls") != NULL;
    double limit = isnan(cell->limit) ? busbw_limit(config) : cell->limit;
    row->quantity = "busbw";
    row->unit = "B/s";
    limits_judge(row, cell->busbw, in_switch ? limit * ring_factor((double)cell->ranks) : limit);
    FROM(row, "%s", source_of(config, "busbw"));
    SAY(row, "%s",
        row->verdict == LIMIT_NONE ? "[limits] of the platform has no busbw"
        : in_switch ? "reduced in the switch: a rank sends the payload once, and busbw counts it "
                      "2(n-1)/n times"
                    : "a rank passes 2(n-1)/n of the payload each way, which is what busbw counts");
}

static void cell_flops(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    char gemm[32], gemms[32], precision[32];
    const char *from;
    int64_t n, count;
    if (!param(cell, "gemm", gemm, sizeof gemm) || !param(cell, "gemms", gemms, sizeof gemms) ||
        !param(cell, "precision", precision, sizeof precision) || !units_parse_int(gemm, &n) ||
        !units_parse_int(gemms, &count))
        return;
    double limit = flops_limit(config, precision, &from);
    row->quantity = "FLOP rate";
    row->unit = "FLOP/s";
    limits_judge(row, 2 * pow((double)n, 3) * (double)count / cell->time_s, limit);
    FROM(row, "%s", from);
    SAY(row, "2 x %lld^3 x %lld GEMMs of %s in the time of the computation alone", (long long)n,
        (long long)count, precision);
}

/* What the number of ranks makes of algbw; of workloads that say they are an all-reduce. */
static void cell_ratio(const struct measured_cell *cell, struct limits_row *row)
{
    double ratio = cell->busbw / cell->algbw, factor = ring_factor((double)cell->ranks);
    if (!strstr(cell->workload, "allreduce") || fabs(ratio / factor - 1) <= LIMITS_ROUNDING)
        return;
    row->quantity = "busbw/algbw";
    row->unit = "1";
    limits_judge_equal(row, ratio, factor);
    row->verdict = LIMIT_IMPOSSIBLE;
    FROM(row, "2(n-1)/n, n = %lld", (long long)cell->ranks);
    SAY(row, "busbw is algbw times 2(n-1)/n by definition");
}

size_t limits_of_cell(const struct config *config, const struct measured_cell *cell,
                      struct limits_row rows[LIMITS_ROWS])
{
    size_t n = 0;
    memset(rows, 0, 3 * sizeof *rows);
    if (cell->busbw > 0 && cell->ranks < 2) {
        not_a_collective(&rows[n++], cell->algbw, limit_of(config, "memory"));
    } else if (cell->busbw > 0) {
        cell_busbw(config, cell, &rows[n++]);
        cell_ratio(cell, &rows[n]);
        n += rows[n].quantity != NULL;
    }
    if (!strcmp(cell->mode, "compute")) {
        cell_flops(config, cell, &rows[n]);
        n += rows[n].quantity != NULL;
    }
    return n;
}
