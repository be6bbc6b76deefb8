/* SPDX-License-Identifier: Apache-2.0 */
#include "store/limits.h"

#include "base/err.h"
#include "base/units.h"
#include "common/collective.h"
#include "config/locate.h"
#include "config/settings.h"
#include "wan/wan_audit.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- a claim and its rows ---- */

struct claim {
    const char *says, *source;
    double ranks, ranks_recorded, busbw, algbw, of_peak, memory, speedup,
        launches;                /* NaN: not given */
    char faster[32], slower[32]; /* "": not given */
};

struct platform {
    char name[WL_TEXT_MAX];
    double ranks;
    const struct config *config;
    struct csv *rows;
};

#define NEAR 0.95
#define ROUNDING 0.005
#define APART 0.02

static const char *verdict_of(double fraction)
{
    return isnan(fraction)           ? "no limit"
           : fraction > 1 + ROUNDING ? "impossible"
           : fraction >= NEAR        ? "at the limit"
                                     : "possible";
}

/* Verdicts of rows whose limit is no bandwidth to take a fraction of. */
static const char one_rank[] = "not a collective", one_launch[] = "unsupported";

/* Both must be the same number, apart from rounding. */
static const char *agreement_of(double fraction)
{
    return fabs(fraction - 1) > APART ? "impossible" : "possible";
}

/* verdict NULL: that of value / limit. */
__attribute__((format(printf, 9, 10))) static void
put_row(const struct platform *p, const struct claim *c, const char *quantity, const char *unit,
        double value, double limit, const char *limit_source, const char *verdict, const char *why,
        ...)
{
    struct csv *out = p->rows;
    AUTO_FREE char *physics = NULL;
    va_list args;
    va_start(args, why);
    if (vasprintf(&physics, why, args) < 0)
        abort();
    va_end(args);
    CSV_TEXTS(out, p->name, "published", c->says, c->source, quantity);
    csv_real(out, value);
    csv_text(out, unit);
    csv_real(out, limit);
    csv_text(out, limit_source);
    csv_real(out, verdict == one_rank || verdict == one_launch ? (double)NAN : value / limit);
    csv_text(out, physics);
    csv_text(out, verdict ? verdict : verdict_of(value / limit));
    csv_end(out);
}

static bool without_nvls(const struct config *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (strstr(c->entries[i].value, "NCCL_NVLS_ENABLE=0"))
            return true;
    return false;
}

static void check_busbw(const struct platform *p, const struct claim *c)
{
    double limit = settings_limit(p->config, "busbw"),
           network = settings_limit(p->config, "network"),
           ranks = isnan(c->ranks) ? c->ranks_recorded : c->ranks,
           factor = ranks > 2 ? collective_busbw_factor(COLLECTIVE_ALLREDUCE, ranks) : 0;
    const char *from = config_source(p->config, "limits", "busbw");
    limit = isnan(limit) ? settings_limit(p->config, "link") : limit;
    if (c->busbw / limit > 1 + ROUNDING && c->busbw <= limit * factor * (1 + ROUNDING) &&
        !without_nvls(p->config))
        put_row(p, c, "busbw", "B/s", c->busbw, limit, from,
                "above the link: only with reduction in the switch",
                "no algorithm is stated: with reduction in the switch (NVLS) up to %s",
                HUMAN_RATE(limit * factor));
    else if (c->busbw > network)
        put_row(
            p, c, "busbw", "B/s", c->busbw, limit, from, NULL,
            "a rank passes 2(n-1)/n of the payload each way; a flat ring between the nodes could "
            "not exceed its %.4g GB/s, so this is not a flat ring",
            network / 1e9);
    else
        put_row(p, c, "busbw", "B/s", c->busbw, limit, from, NULL,
                "without reduction in the switch a rank passes 2(n-1)/n of the payload each way, "
                "which is what busbw counts");
}

/* One rank reads and writes its own memory. */
static void check_one_rank(const struct platform *p, const struct claim *c)
{
    double memory = isnan(c->memory) ? settings_limit(p->config, "memory") : c->memory,
           rate = isnan(c->algbw) ? c->busbw : c->algbw;
    AUTO_FREE char *copies =
        isnan(memory) || isnan(rate)
            ? xstrdup("memory, and its bandwidth says nothing of a link")
            : xstrfmt(
                  "memory, reading and writing %s, %s together, which is %.0f%% of the memory's "
                  "%s",
                  HUMAN_RATE(rate), HUMAN_RATE(2 * rate), 100 * 2 * rate / memory,
                  HUMAN_RATE(memory));
    put_row(p, c, "ranks", "1", 1, 2, "an all-reduce has at least two ranks", one_rank,
            "one rank has nobody to reduce with: it copies %s", copies);
}

/* The checks that its quantities allow: a comparison with NaN is false. */
static void put_claim(const struct platform *p, const struct claim *c)
{
    if (c->ranks_recorded < 2)
        check_one_rank(p, c);
    if (c->busbw > 0)
        check_busbw(p, c);
    if (c->busbw > 0 && c->algbw > 0 && c->ranks > 0) {
        double factor = collective_busbw_factor(COLLECTIVE_ALLREDUCE, c->ranks),
               ratio = c->busbw / c->algbw;
        const char *verdict = agreement_of(ratio / factor);
        AUTO_FREE char *from = xstrfmt("2(n-1)/n, n = %.0f", c->ranks);
        put_row(p, c, "busbw/algbw", "1", ratio, factor, from, verdict,
                "busbw is algbw times 2(n-1)/n by definition: the two numbers %s",
                *verdict == 'p' ? "agree" : "do not fit this number of ranks");
    }
    if (c->busbw > 0 && c->of_peak > 0) {
        double link = settings_limit(p->config, "link"), peak = c->busbw / c->of_peak;
        put_row(
            p, c, "peak implied", "B/s", peak, link, config_source(p->config, "limits", "link"),
            NULL,
            "%.4g GB/s as %.3g%% of the peak makes the peak %.4g GB/s; the link has %.4g GB/s one "
            "way",
            c->busbw / 1e9, 100 * c->of_peak, peak / 1e9, link / 1e9);
    }
    if (c->speedup > 0 && c->ranks > 0 && !strcasecmp(c->faster, "tree") &&
        !strcasecmp(c->slower, "ring")) {
        double hops = (c->ranks - 1) / ceil(log2(c->ranks));
        AUTO_FREE char *from =
            xstrfmt("hops: 2(n-1) of a ring, 2 ceil(log2 n) of a tree, n = %.0f", c->ranks);
        put_row(p, c, "speedup", "1", c->speedup, hops, from, NULL,
                "at small sizes at most the ratio of hops, %.3g; at large sizes both move the same "
                "bytes and it is at most 1",
                hops);
    }
    if (c->launches < 2 && *c->faster)
        put_row(p, c, "launches", "1", c->launches, 2,
                "a claim needs two launches of each config or more", one_launch,
                "one launch of each: its iterations are not independent, so a difference between "
                "configs may be a difference between launches");
}

/* ---- [reference] ---- */

static bool parse_count(const char *text, double *value)
{
    int64_t count;
    bool good = units_parse_int(text, &count);
    *value = good ? (double)count : (double)NAN;
    return good;
}

static const struct {
    const char *name;
    bool (*parse)(const char *text, double *value); /* NULL: a word */
    size_t offset;
} quantities[] = {
    {"ranks", parse_count, offsetof(struct claim, ranks)},
    {"ranks_recorded", parse_count, offsetof(struct claim, ranks_recorded)},
    {"busbw", units_parse_rate, offsetof(struct claim, busbw)},
    {"algbw", units_parse_rate, offsetof(struct claim, algbw)},
    {"of_peak", units_parse_real, offsetof(struct claim, of_peak)},
    {"memory", units_parse_rate, offsetof(struct claim, memory)},
    {"speedup", units_parse_real, offsetof(struct claim, speedup)},
    {"launches", parse_count, offsetof(struct claim, launches)},
    {"faster", NULL, offsetof(struct claim, faster)},
    {"slower", NULL, offsetof(struct claim, slower)},
};

static struct claim claim_of(const char *says, const char *source)
{
    return (struct claim){.says = says,
                          .source = source,
                          .ranks = NAN,
                          .ranks_recorded = NAN,
                          .busbw = NAN,
                          .algbw = NAN,
                          .of_peak = NAN,
                          .memory = NAN,
                          .speedup = NAN,
                          .launches = NAN};
}

/* "speedup 3" */
static int take_given(struct claim *c, const struct config_entry *e, char *part)
{
    char *value = part, *name = strsep(&value, " ");
    size_t q = 0;
    while (q < COUNT(quantities) && strcmp(name, quantities[q].name))
        q++;
    if (q == COUNT(quantities) || !value)
        return config_error(e,
                            "'%s' is not QUANTITY VALUE; the quantities are ranks, ranks_recorded, "
                            "busbw, algbw, of_peak, memory, speedup, launches, faster and slower",
                            name);
    char *at = (char *)c + quantities[q].offset;
    value += strspn(value, " ");
    if (!quantities[q].parse)
        snprintf(at, sizeof c->faster, "%s", value);
    else if (!quantities[q].parse(value, (double *)(void *)at) || !(*(double *)(void *)at > 0))
        return config_error(e, "'%s' is not a valid value of %s", value, name);
    return GS_OK;
}

/* The rate at the start of "355GB/s ± 3% at PLACE". */
static bool rate_of(const char *text, double *rate)
{
    static const char *const ends[] = {" at ", "±", "+-", "+/-"};
    size_t n = strlen(text);
    for (size_t i = 0; i < COUNT(ends); i++) {
        const char *end = strstr(text, ends[i]);
        n = end && (size_t)(end - text) < n ? (size_t)(end - text) : n;
    }
    while (n && text[n - 1] == ' ')
        n--;
    AUTO_FREE char *head = xstrfmt("%.*s", (int)n, text);
    return units_parse_rate(head, rate) && *rate > 0;
}

/* "claim.NAME"; its parts have one dot more. */
static bool is_claim(const struct config_entry *e)
{
    return !strcmp(e->section, "reference") && !strncmp(e->key, "claim.", 6) &&
           !strchr(e->key + 6, '.');
}

static int read_claim(struct claim *claim, const struct config *c, const struct config_entry *e)
{
    AUTO_FREE char *key = xstrfmt("%s.given", e->key);
    const struct config_entry *given = config_find(c, "reference", key);
    AUTO_WORDS struct words parts = {0};
    if (!given)
        return config_error(e, "no %s; add it, e.g. %s = ranks 8, busbw 168GB/s", key, key);
    *claim = claim_of(e->value, config_source(c, "reference", e->key));
    words_split(&parts, given->value, ',');
    for (size_t k = 0; k < parts.n; k++)
        CHECK(take_given(claim, given, parts.v[k]));
    return GS_OK;
}

int limits_claims_check(const struct config *c)
{
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        struct claim claim;
        int one = is_claim(&c->entries[i]) ? read_claim(&claim, c, &c->entries[i]) : GS_OK;
        code = code ? code : one;
    }
    return code;
}

/* Rates first, then claim.NAME, both in the order of the config. */
static int put_reference(const struct platform *p)
{
    const struct config *c = p->config;
    struct claim claim;
    double rate;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        if (strcmp(e->section, "reference") || !strncmp(e->key, "claim.", 6) ||
            !rate_of(e->value, &rate))
            continue;
        AUTO_FREE char *says = xstrfmt("%s = %s", e->key, e->value);
        claim = claim_of(says, config_source(c, "reference", e->key));
        claim.ranks_recorded = p->ranks;
        claim.busbw = strcmp(e->key, "algbw") ? rate : rate * 2 * (p->ranks - 1) / p->ranks;
        put_claim(p, &claim);
    }
    for (size_t i = 0; i < c->n; i++)
        if (is_claim(&c->entries[i])) {
            CHECK(read_claim(&claim, c, &c->entries[i]));
            put_claim(p, &claim);
        }
    return GS_OK;
}

/* ---- [model] ---- */

/* By the side of its range that is the easier to reach. */
static void put_finding(const struct platform *p, const struct wan_finding *f)
{
    static const char *const verdicts[] = {[WAN_POSSIBLE] = "possible",
                                           [WAN_UNREACHED] = "unreached",
                                           [WAN_IMPOSSIBLE] = "impossible",
                                           [WAN_CONTRADICTED] = "contradicted"};
    struct csv *out = p->rows;
    double value = f->high_is_good ? f->low : f->high,
           limit = f->verdict == WAN_IMPOSSIBLE ? f->possible : f->reached;
    AUTO_FREE char *claim = xstrfmt("%s = %s", f->name, f->entry->value);
    CSV_TEXTS(out, p->name, "published", claim, config_source(p->config, "model", f->entry->key),
              f->what);
    csv_real(out, value);
    csv_text(out, *f->unit ? f->unit : "1");
    csv_real(out, limit);
    csv_text(out, "the model of a WAN, [model] and [links]");
    csv_real(out, f->high_is_good ? value / limit : limit / value);
    csv_text(out, f->why.s);
    csv_text(out, verdicts[f->verdict]);
    csv_end(out);
}

static int put_model(const struct platform *p)
{
    AUTO(wan_map_free) struct wan_map m = {0};
    struct wan_training t;
    size_t n = 0;
    if (!config_section(p->config, "model"))
        return GS_OK;
    CHECK(wan_map_read(&m, p->config));
    CHECK(wan_training_read(&t, p->config, &m));
    struct wan_finding *f = wan_audit(p->config, &m, &t, &n);
    for (size_t i = 0; f && i < n; i++)
        put_finding(p, &f[i]);
    wan_findings_free(f, n);
    return f ? GS_OK : GS_USAGE;
}

/* ---- all ---- */

static int put_config(struct csv *rows, const char *path)
{
    AUTO(config_free_of) struct config *c = NULL;
    struct settings set;
    CHECK(config_load(&c, path, NULL));
    CHECK(settings_read(c, &set));
    struct platform p = {.ranks = (double)set.launch.ranks, .config = c, .rows = rows};
    memcpy(p.name, set.platform.name, sizeof p.name);
    CHECK(put_reference(&p));
    return put_model(&p);
}

/* clang-format off */

/* busbw over algbw is 2(n-1)/n of an all-reduce, by which a switch that reduces exceeds the link. */
static const char measured[] =
    "INSERT INTO limits"
    " SELECT platform, 'measured', workload || iif(label = '', '', ' ' || label) || ' ' || config"
    "     || iif(mode = '', '', ' ' || mode) || ' ' || size_B || ' B: ' || params,"
    "   run_id, 'busbw', busbw_Bps, 'B/s', limit_Bps, '[limits] of the config', limit_fraction, '',"
    "   CASE WHEN limit_fraction > 1.005 * max(1, busbw_Bps / algbw_Bps) THEN 'impossible'"
    "     WHEN limit_fraction > 1.005 THEN 'above the link: only with reduction in the switch'"
    "     WHEN limit_fraction >= 0.95 THEN 'at the limit' ELSE 'possible' END"
    " FROM main.summary AS m JOIN main.stamp USING (run) WHERE limit_fraction > 0"
    " ORDER BY sort, m.rowid";

/* clang-format on */

int limits_make(struct store *s)
{
    AUTO_WORDS struct words configs = {0};
    struct csv csv;
    int fault = GS_OK;
    AUTO_FREE char *folder = locate_installed_configs();
    locate_configs(&configs);
    struct store_rows *rows = store_rows_begin(s, "limits", limits_columns, false, &csv);
    for (size_t i = 0; i < configs.n; i++) {
        AUTO_FREE char *here = xstrfmt("configs/%s.ini", configs.v[i]),
                       *installed = xstrfmt("%s/%s.ini", folder, configs.v[i]);
        int one = put_config(&csv, access(here, F_OK) ? installed : here);
        fault = fault ? fault : one;
    }
    CHECK(store_rows_end(rows));
    CHECK(store_execute(s, measured));
    return fault;
}
