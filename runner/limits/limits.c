/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/limits.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "common/collective.h"
#include "config/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- claims ---- */

static bool parse_bytes(const char *text, double *value)
{
    uint64_t bytes;
    bool good = units_parse_size(text, &bytes);
    *value = good ? (double)bytes : (double)NAN;
    return good;
}

static bool parse_count(const char *text, double *value)
{
    int64_t count;
    bool good = units_parse_int(text, &count);
    *value = good ? (double)count : (double)NAN;
    return good || units_parse_real(text, value);
}

static const struct {
    const char *name;
    bool (*parse)(const char *text, double *value);
} quantities[QUANTITIES] = {
    [Q_RANKS] = {"ranks", parse_count},
    [Q_RANKS_RECORDED] = {"ranks_recorded", parse_count},
    [Q_SIZE] = {"size", parse_bytes},
    [Q_TIME] = {"time", units_parse_time},
    [Q_BUSBW] = {"busbw", units_parse_rate},
    [Q_ALGBW] = {"algbw", units_parse_rate},
    [Q_OF_PEAK] = {"of_peak", units_parse_real},
    [Q_MEMORY] = {"memory", units_parse_rate},
    [Q_SPEEDUP] = {"speedup", units_parse_real},
    [Q_LAUNCHES] = {"launches", parse_count},
    [Q_GPUS] = {"gpus", parse_count},
    [Q_PARAMETERS] = {"parameters", parse_count},
    [Q_TOKENS_PER_S] = {"tokens_per_s", parse_count},
    [Q_TOKENS] = {"tokens", parse_count},
    [Q_STEP_TOKENS] = {"step_tokens", parse_count},
    [Q_STEP_TIME] = {"step_time", units_parse_time},
    [Q_DURATION] = {"duration", units_parse_time},
};

static const char *const claim_words[CLAIM_WORDS] = {
    [W_FASTER] = "faster", [W_SLOWER] = "slower",       [W_WORKLOAD] = "workload",
    [W_MODE] = "mode",     [W_PRECISION] = "precision",
};

/* ---- one claim ---- */

static int unknown_quantity(const struct config_entry *e, const char *word)
{
    const char *names[QUANTITIES + CLAIM_WORDS];
    for (size_t i = 0; i < QUANTITIES; i++)
        names[i] = quantities[i].name;
    for (size_t i = 0; i < CLAIM_WORDS; i++)
        names[QUANTITIES + i] = claim_words[i];
    const char *near = text_nearest(word, names, QUANTITIES + CLAIM_WORDS);
    return config_error(e, "no quantity '%s'%s; QUANTITY VALUE, … e.g. ranks 8, busbw 168GB/s",
                        word, DID_YOU_MEAN(near));
}

static int take_quantity(struct claim *c, const struct config_entry *e, const char *name,
                         const char *value)
{
    for (size_t i = 0; i < CLAIM_WORDS; i++)
        if (!strcmp(name, claim_words[i]))
            return xstrset(&c->word[i], value), GS_OK;
    size_t q = 0;
    while (q < QUANTITIES && strcmp(name, quantities[q].name))
        q++;
    if (q == QUANTITIES)
        return unknown_quantity(e, name);
    if (!quantities[q].parse(value, &c->q[q]) || !(c->q[q] > 0))
        return config_error(e, "'%s' is not a valid value of %s", value, name);
    return GS_OK;
}

static int take_given(struct claim *c, const struct config_entry *e)
{
    AUTO_WORDS struct words parts = {0};
    int code = GS_OK;
    words_split(&parts, e->value, ',');
    for (size_t i = 0; i < parts.n; i++) {
        char *value = parts.v[i], *name = strsep(&value, " ");
        int one = value ? take_quantity(c, e, name, value + strspn(value, " "))
                        : config_error(e, "'%s' is not QUANTITY VALUE, e.g. ranks 8", name);
        code = code ? code : one;
    }
    return code;
}

static int take_claim(struct claims *out, const struct config *c, const struct config_entry *e)
{
    AUTO_FREE char *name = xstrfmt("%s.given", e->key);
    const struct config_entry *given = config_find(c, "reference", name);
    if (!given)
        return config_error(e, "no %s.given; add it, e.g. %s.given = ranks 8, busbw 168GB/s",
                            e->key, e->key);
    struct claim *one = &APPEND(out->v, out->n);
    *one = (struct claim){.entry = e,
                          .name = e->key + strlen("claim."),
                          .says = e->value,
                          .source = config_source(c, "reference", e->key)};
    for (size_t i = 0; i < QUANTITIES; i++)
        one->q[i] = NAN;
    return take_given(one, given);
}

/* "claim.NAME"; its parts have one dot more. */
static bool is_claim(const struct config_entry *e)
{
    static const char prefix[] = "claim.";
    return !strcmp(e->section, "reference") && !strncmp(e->key, prefix, sizeof prefix - 1) &&
           !strchr(e->key + sizeof prefix - 1, '.');
}

/* Parts of a claim that is not there: a typo in its name. */
static int check_orphan(const struct config *c, const struct config_entry *e)
{
    const char *dot = strrchr(e->key, '.');
    if (strcmp(e->section, "reference") || strncmp(e->key, "claim.", 6) || is_claim(e))
        return GS_OK;
    AUTO_FREE char *key = xstrfmt("%.*s", (int)(dot - e->key), e->key);
    bool known =
        config_find(c, "reference", key) && (!strcmp(dot, ".given") || !strcmp(dot, ".source"));
    return known ? GS_OK
                 : config_error(e, "belongs to no claim; write claim.NAME, "
                                   "claim.NAME.source or claim.NAME.given, NAME without dots");
}

int claims_read(struct claims *out, const struct config *c)
{
    int code = GS_OK;
    *out = (struct claims){0};
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        int one = is_claim(e) ? take_claim(out, c, e) : check_orphan(c, e);
        code = code ? code : one;
    }
    return code;
}

void claims_free(struct claims *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t w = 0; w < CLAIM_WORDS; w++)
            free(c->v[i].word[w]);
    free(c->v);
    *c = (struct claims){0};
}

bool claim_rate(const char *text, double *Bps)
{
    size_t n = strlen(text);
    static const char *const ends[] = {" at ", "±", "+-", "+/-"};
    for (size_t i = 0; i < COUNT(ends); i++) {
        const char *end = strstr(text, ends[i]);
        n = end && (size_t)(end - text) < n ? (size_t)(end - text) : n;
    }
    while (n && text[n - 1] == ' ')
        n--;
    AUTO_FREE char *head = xstrfmt("%.*s", (int)n, text);
    return units_parse_rate(head, Bps) && *Bps > 0;
}

/* ---- bounds ---- */

static double bounds_of(const struct config *c, const char *key)
{
    return c ? settings_limit(c, key) : (double)NAN;
}

/* The source of the limit. */
static const char *bounds_source(const struct config *c, const char *key)
{
    return c ? config_source(c, "limits", key) : "";
}

/* The limit flops.PRECISION, else flops (for fp32 and tf32 only). *from: its source. */
static double bounds_flops(const struct config *c, const char *precision, const char **from)
{
    AUTO_FREE char *key = xstrfmt("flops.%s", precision);
    double limit = bounds_of(c, key);
    *from = bounds_source(c, key);
    if (isnan(limit) && (!strcasecmp(precision, "fp32") || !strcasecmp(precision, "tf32"))) {
        limit = bounds_of(c, "flops");
        *from = bounds_source(c, "flops");
    }
    return limit;
}

/* The limit busbw, else link. */
static double bounds_busbw(const struct config *c)
{
    double limit = bounds_of(c, "busbw");
    return isnan(limit) ? bounds_of(c, "link") : limit;
}

const char *bounds_device(const struct config *c)
{
    const struct config_entry *e = c ? config_find(c, "platform", "device") : NULL;
    return e ? e->value : "";
}

/* ---- limits ---- */

const char *const limits_verdicts[LIMITS_VERDICTS] = {
    [LIMIT_POSSIBLE] = "possible",
    [LIMIT_AT] = "at the limit",
    [LIMIT_IMPOSSIBLE] = "impossible",
    [LIMIT_SWITCH] = "above the link: only with reduction in the switch",
    [LIMIT_NO_COLLECTIVE] = "not a collective",
    [LIMIT_NONE] = "no limit",
    [DATA_SUPPORTED] = "supported",
    [DATA_IN_PART] = "in part",
    [DATA_CONTRADICTED] = "contradicted",
    [DATA_UNSUPPORTED] = "unsupported",
    [DATA_UNREACHED] = "unreached",
    [DATA_ELSEWHERE] = "other hardware",
};

/* ---- judging ---- */

static void limits_row_of(struct limits_row *row, const char *quantity, const char *unit)
{
    row->quantity = quantity;
    row->unit = unit;
}

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

/* The same for a bus bandwidth and the limit of the link. switched: the limit times this if a switch
 * reduces; 0: none does. stated: the algorithm is known to be another one. */
static void limits_judge_busbw(struct limits_row *row, double busbw, double limit, double switched,
                               bool stated)
{
    limits_judge(row, busbw, limit);
    if (row->verdict == LIMIT_IMPOSSIBLE && !stated &&
        busbw <= limit * switched * (1 + LIMITS_ROUNDING))
        row->verdict = LIMIT_SWITCH;
}

/* Does the config switch NVLS off? */
static bool limits_without_nvls(const struct config *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        if (strstr(c->entries[i].value, "NCCL_NVLS_ENABLE=0"))
            return true;
    return false;
}

/* Sets the verdict: value must equal limit, apart from rounding. */
static void limits_judge_equal(struct limits_row *row, double value, double limit)
{
    limits_judge(row, value, limit);
    row->verdict = fabs(row->fraction - 1) > LIMITS_APART ? LIMIT_IMPOSSIBLE : LIMIT_POSSIBLE;
}

/* One rank: `rate` is the rate of copies in a memory with bandwidth `memory`; NaN: unknown. */
static void limits_not_a_collective(struct limits_row *row, double rate, double memory)
{
    char moved[32], peak[32], one[32];
    limits_row_of(row, "ranks", "1");
    row->value = 1;
    row->limit = 2;
    row->fraction = NAN;
    row->verdict = LIMIT_NO_COLLECTIVE;
    LIMITS_FROM(row, "an all-reduce has at least two ranks");
    if (isnan(memory) || isnan(rate))
        LIMITS_SAY(row,
                   "one rank has nobody to reduce with: it copies memory, and its bandwidth says "
                   "nothing of a link");
    else
        LIMITS_SAY(
            row,
            "one rank has nobody to reduce with: it copies memory, reading and writing %s, %s "
            "together, which is %.0f%% of the memory's %s",
            units_human_rate(one, sizeof one, rate),
            units_human_rate(moved, sizeof moved, 2 * rate), 100 * 2 * rate / memory,
            units_human_rate(peak, sizeof peak, memory));
}

/* ---- limits cell ----
 *
 * The checks of a measured cell.
 */

static bool param(const struct measured_cell *cell, const char *key, char *buf, size_t size)
{
    AUTO_WORDS struct words w = {0};
    bool found = false;
    size_t n = strlen(key);
    words_split(&w, cell->params, ' ');
    for (size_t i = 0; i < w.n && !found; i++) {
        found = !strncmp(w.v[i], key, n) && w.v[i][n] == '=';
        if (found)
            snprintf(buf, size, "%s", w.v[i] + n + 1);
    }
    return found;
}

static enum collective collective_of(const struct measured_cell *cell)
{
    char name[32];
    return collective_named(param(cell, "collective", name, sizeof name) ? name : "");
}

/* Is it known that no switch reduced? */
static bool states_algorithm(const struct config *config, const struct measured_cell *cell)
{
    char word[64];
    return (param(cell, "algorithm", word, sizeof word) && *word && strcasecmp(word, "auto")) ||
           (cell->ran && *cell->ran) || strcasestr(cell->config, "ring") ||
           strcasestr(cell->config, "tree") || strstr(cell->params, "NCCL_NVLS_ENABLE=0") ||
           limits_without_nvls(config);
}

static void cell_busbw(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    enum collective collective = collective_of(cell);
    bool reduces = collective == COLLECTIVE_ALLREDUCE;
    bool in_switch = reduces && strcasestr(cell->params, "=nvls") != NULL;
    double factor = collective_busbw_factor(collective, (double)cell->ranks);
    double limit = isnan(cell->limit) ? bounds_busbw(config) : cell->limit;
    limits_row_of(row, "busbw", "B/s");
    limits_judge_busbw(row, cell->busbw, in_switch ? limit * factor : limit, reduces ? factor : 0,
                       in_switch || states_algorithm(config, cell));
    LIMITS_FROM(row, "%s", bounds_source(config, "busbw"));
    if (row->verdict == LIMIT_NONE)
        LIMITS_SAY(row, "[limits] of the platform has no busbw");
    else if (in_switch)
        LIMITS_SAY(row, "reduced in the switch: a rank sends the payload once, and busbw counts it "
                        "2(n-1)/n times");
    else if (row->verdict == LIMIT_SWITCH)
        LIMITS_SAY(row, "no algorithm is stated: with reduction in the switch (NVLS) up to %s",
                   HUMAN_RATE(limit * factor));
    else
        LIMITS_SAY(row, "a rank passes %s of the payload each way, which is what busbw counts",
                   collective_busbw_formula(collective));
}

static void cell_flops(const struct config *config, const struct measured_cell *cell,
                       struct limits_row *row)
{
    static const char *const dimensions[] = {"gemm_m", "gemm_n", "gemm_k"};
    char gemm[32], gemms[32], precision[32], word[64];
    const char *from;
    int64_t n, count, own;
    if (!param(cell, "gemm", gemm, sizeof gemm) || !param(cell, "gemms", gemms, sizeof gemms) ||
        !param(cell, "precision", precision, sizeof precision) || !units_parse_int(gemm, &n) ||
        !units_parse_int(gemms, &count))
        return;
    if (param(cell, "step", word, sizeof word) && *word)
        return; /* its GEMMs are in a file */
    double flop = 2 * (double)count;
    for (int i = 0; i < 3; i++)
        flop *= param(cell, dimensions[i], word, sizeof word) && units_parse_int(word, &own) && own
                    ? (double)own
                    : (double)n;
    double limit = bounds_flops(config, precision, &from);
    limits_row_of(row, "FLOP rate", "FLOP/s");
    limits_judge(row, flop / cell->time_s, limit);
    LIMITS_FROM(row, "%s", from);
    LIMITS_SAY(row, "%lld GEMMs of %s, %.3g FLOP, in the time of the computation alone",
               (long long)count, precision, flop);
}

/* What the number of ranks makes of algbw; of workloads that measure operations alone. */
static void cell_ratio(const struct measured_cell *cell, struct limits_row *row)
{
    enum collective collective = collective_of(cell);
    double ratio = cell->busbw / cell->algbw;
    double factor = collective_busbw_factor(collective, (double)cell->ranks);
    if (!strstr(cell->workload, "allreduce") || fabs(ratio / factor - 1) <= LIMITS_ROUNDING)
        return;
    limits_row_of(row, "busbw/algbw", "1");
    limits_judge_equal(row, ratio, factor);
    row->verdict = LIMIT_IMPOSSIBLE;
    LIMITS_FROM(row, "%s, n = %lld", collective_busbw_formula(collective), (long long)cell->ranks);
    LIMITS_SAY(row, "busbw is algbw times %s by definition", collective_busbw_formula(collective));
}

size_t limits_of_cell(const struct config *config, const struct measured_cell *cell,
                      struct limits_row rows[LIMITS_ROWS])
{
    size_t n = 0;
    memset(rows, 0, 3 * sizeof *rows);
    if (cell->busbw > 0 && cell->ranks < 2) {
        limits_not_a_collective(&rows[n++], cell->algbw, bounds_of(config, "memory"));
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

/* ---- limits claim ----
 *
 * The checks of a claim: which of them apply follows from the quantities that it gives.
 */

/* ---- bandwidth ---- */

static void check_ranks(const struct config *config, const struct claim *c, struct limits_row *row)
{
    double memory = c->q[Q_MEMORY];
    double rate = isnan(c->q[Q_ALGBW]) ? c->q[Q_BUSBW] : c->q[Q_ALGBW];
    if (c->q[Q_RANKS_RECORDED] < 2)
        limits_not_a_collective(row, rate, isnan(memory) ? bounds_of(config, "memory") : memory);
}

static void check_busbw(const struct config *config, const struct claim *c, struct limits_row *row)
{
    double network = bounds_of(config, "network");
    limits_row_of(row, "busbw", "B/s");
    double ranks = isnan(c->q[Q_RANKS]) ? c->q[Q_RANKS_RECORDED] : c->q[Q_RANKS];
    double limit = bounds_busbw(config);
    double factor = ranks > 2 ? collective_busbw_factor(COLLECTIVE_ALLREDUCE, ranks) : 0;
    limits_judge_busbw(row, c->q[Q_BUSBW], limit, factor, limits_without_nvls(config));
    LIMITS_FROM(row, "%s", bounds_source(config, "busbw"));
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

static void check_ratio(const struct config *config, const struct claim *c, struct limits_row *row)
{
    (void)config;
    double expected = collective_busbw_factor(COLLECTIVE_ALLREDUCE, c->q[Q_RANKS]);
    limits_row_of(row, "busbw/algbw", "1");
    limits_judge_equal(row, c->q[Q_BUSBW] / c->q[Q_ALGBW], expected);
    LIMITS_FROM(row, "2(n-1)/n, n = %.0f", c->q[Q_RANKS]);
    LIMITS_SAY(row, "busbw is algbw times 2(n-1)/n by definition: the two numbers %s",
               row->verdict == LIMIT_POSSIBLE ? "agree" : "do not fit this number of ranks");
}

static void check_time(const struct config *config, const struct claim *c, struct limits_row *row)
{
    (void)config;
    limits_row_of(row, "algbw", "B/s");
    limits_judge_equal(row, c->q[Q_ALGBW], c->q[Q_SIZE] / c->q[Q_TIME]);
    LIMITS_FROM(row, "size / time");
    LIMITS_SAY(row, "algbw is size over time by definition");
}

static void check_peak(const struct config *config, const struct claim *c, struct limits_row *row)
{
    double link = bounds_of(config, "link");
    limits_row_of(row, "peak implied", "B/s");
    limits_judge(row, c->q[Q_BUSBW] / c->q[Q_OF_PEAK], link);
    LIMITS_FROM(row, "%s", bounds_source(config, "link"));
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
static void check_tree(const struct config *config, const struct claim *c, struct limits_row *row)
{
    (void)config;
    double n = c->q[Q_RANKS];
    if (!same_word(c->word[W_FASTER], "tree") || !same_word(c->word[W_SLOWER], "ring"))
        return;
    limits_row_of(row, "speedup", "1");
    limits_judge(row, c->q[Q_SPEEDUP], (n - 1) / ceil(log2(n)));
    LIMITS_FROM(row, "hops: 2(n-1) of a ring, 2 ceil(log2 n) of a tree, n = %.0f", n);
    LIMITS_SAY(
        row,
        "at small sizes at most the ratio of hops, %.3g; at large sizes both move the same bytes "
        "and it is at most 1",
        (n - 1) / ceil(log2(n)));
}

static void check_launches(const struct config *config, const struct claim *c,
                           struct limits_row *row)
{
    (void)config;
    if (c->q[Q_LAUNCHES] >= 2 || !c->word[W_FASTER])
        return;
    limits_row_of(row, "launches", "1");
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

static void check_flops(const struct config *config, const struct claim *c, struct limits_row *row)
{
    const char *from, *precision = c->word[W_PRECISION] ? c->word[W_PRECISION] : "bf16";
    double peak = bounds_flops(config, precision, &from);
    limits_row_of(row, "FLOP rate of a GPU", "FLOP/s");
    limits_judge(row, 6 * c->q[Q_PARAMETERS] * c->q[Q_TOKENS_PER_S] / c->q[Q_GPUS], peak);
    LIMITS_FROM(row, "%s", from);
    LIMITS_SAY(
        row,
        "6 x %.3g billion parameters x %.4gK tokens/s over %.0f GPU%s: %.3g PFLOP/s each; at half "
        "of the peak all together reach %.3gK tokens/s",
        c->q[Q_PARAMETERS] / 1e9, c->q[Q_TOKENS_PER_S] / 1e3, c->q[Q_GPUS],
        c->q[Q_GPUS] > 1 ? "s" : "", row->value / 1e15,
        0.5e-3 * peak * c->q[Q_GPUS] / (6 * c->q[Q_PARAMETERS]));
}

static void check_step(const struct config *config, const struct claim *c, struct limits_row *row)
{
    (void)config;
    limits_row_of(row, "tokens/s", "1/s");
    limits_judge(row, c->q[Q_TOKENS_PER_S], c->q[Q_STEP_TOKENS] / c->q[Q_STEP_TIME]);
    LIMITS_FROM(row, "tokens of a step / time of a step, as claimed");
    LIMITS_SAY(row, "%.0f tokens in %.3g s are %.3gK tokens/s", c->q[Q_STEP_TOKENS],
               c->q[Q_STEP_TIME], row->limit / 1e3);
}

static void check_duration(const struct config *config, const struct claim *c,
                           struct limits_row *row)
{
    (void)config;
    limits_row_of(row, "duration", "s");
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
    void (*check)(const struct config *, const struct claim *, struct limits_row *);
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

size_t limits_of_claim(const struct config *config, const struct claim *c,
                       struct limits_row rows[LIMITS_ROWS])
{
    size_t n = 0;
    for (size_t i = 0; i < COUNT(checks); i++) {
        rows[n] = (struct limits_row){0};
        if (applies(c, i))
            checks[i].check(config, c, &rows[n]);
        n += rows[n].quantity != NULL;
    }
    return n;
}
