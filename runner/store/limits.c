/* SPDX-License-Identifier: Apache-2.0 */
#include "store/limits.h"

#include "base/err.h"
#include "base/units.h"
#include "config/locate.h"
#include "config/settings.h"
#include "store/printer.h"
#include "wan/wan_audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a claim and its rows ---- */

enum { RANKS_RECORDED = 1, BUSBW, NUMBERS = 8 }; /* places in quantities[] */

struct claim {
    const char *says, *source;
    double given[NUMBERS];       /* NaN: not given */
    char faster[32], slower[32]; /* "": not given */
};

struct platform {
    char name[WL_TEXT_MAX];
    double ranks;
    const struct config *config;
    struct csv *claims; /* of temp.given; NULL: they are checked only */
    struct csv *rows;   /* of temp.modelled */
};

/* A claim, and what the config says of its platform. */
static const char given_columns[] =
    "platform,says,claim_source,ranks,ranks_recorded,busbw,algbw,of_peak,memory,speedup,launches,"
    "faster,slower,nvls,limit_busbw,limit_link,limit_network,limit_memory,busbw_source,link_source";

static void put_claim(const struct platform *p, const struct claim *c)
{
    static const char *const limits[] = {"busbw", "link", "network", "memory"};
    bool nvls = true;
    if (!p->claims)
        return;
    for (size_t i = 0; i < p->config->n; i++)
        nvls = nvls && !strstr(p->config->entries[i].value, "NCCL_NVLS_ENABLE=0");
    CSV_TEXTS(p->claims, p->name, c->says, c->source);
    for (size_t i = 0; i < NUMBERS; i++)
        csv_real(p->claims, c->given[i]);
    CSV_TEXTS(p->claims, c->faster, c->slower);
    csv_integer(p->claims, nvls);
    for (size_t i = 0; i < COUNT(limits); i++)
        csv_real(p->claims, settings_limit(p->config, limits[i]));
    CSV_TEXTS(p->claims, config_source(p->config, "limits", "busbw"),
              config_source(p->config, "limits", "link"));
    csv_end(p->claims);
}

/* clang-format off */

/* The checks that the quantities of each claim allow. Two numbers that must agree may differ by rounding;
 * a row without a verdict has that of value / limit. */
static const char published[] =
    "WITH c AS (SELECT *, rowid AS at, coalesce(limit_busbw, limit_link) AS most,"
    "   coalesce(memory, limit_memory) AS own, coalesce(algbw, busbw) AS rate,"
    "   2.0 * (coalesce(ranks, ranks_recorded) - 1) / coalesce(ranks, ranks_recorded) AS share"
    " FROM temp.given),"
    " above AS (SELECT *, busbw / most > 1.005 AND busbw <= most * share * 1.005 AND nvls AS above"
    "   FROM c),"
    " checked AS ("
    " SELECT *, 1 AS nth, 'ranks' AS quantity, 1.0 AS value, '1' AS unit, 2.0 AS bound,"
    "   'an all-reduce has at least two ranks' AS bound_source, 'not a collective' AS word,"
    "   'one rank has nobody to reduce with: it copies memory, ' || coalesce("
    "     'reading and writing ' || human_rate(rate) || ', ' || human_rate(2 * rate)"
    "     || ' together, which is ' || printf('%.0f', 200 * rate / own) || '% of the memory''s '"
    "     || human_rate(own), 'and its bandwidth says nothing of a link') AS physics"
    " FROM above WHERE ranks_recorded < 2"
    " UNION ALL"
    " SELECT *, 2, 'busbw', busbw, 'B/s', most, busbw_source,"
    "   iif(above, 'above the link: only with reduction in the switch', NULL),"
    "   CASE WHEN above THEN 'no algorithm is stated: with reduction in the switch (NVLS) up to '"
    "     || human_rate(most * share)"
    "   WHEN busbw > limit_network THEN printf('a rank passes 2(n-1)/n of the payload each way; a'"
    "     || ' flat ring between the nodes could not exceed its %.4g GB/s, so this is not a flat ring',"
    "     limit_network / 1e9)"
    "   ELSE 'without reduction in the switch a rank passes 2(n-1)/n of the payload each way, which'"
    "     || ' is what busbw counts' END"
    " FROM above WHERE busbw > 0"
    " UNION ALL"
    " SELECT *, 3, 'busbw/algbw', busbw / algbw, '1', share, printf('2(n-1)/n, n = %.0f', ranks),"
    "   iif(abs(busbw / algbw / share - 1) > 0.02, 'impossible', 'possible'),"
    "   'busbw is algbw times 2(n-1)/n by definition: the two numbers '"
    "     || iif(abs(busbw / algbw / share - 1) > 0.02, 'do not fit this number of ranks', 'agree')"
    " FROM above WHERE busbw > 0 AND algbw > 0 AND ranks > 0"
    " UNION ALL"
    " SELECT *, 4, 'peak implied', busbw / of_peak, 'B/s', limit_link, link_source, NULL,"
    "   printf('%.4g GB/s as %.3g%% of the peak makes the peak %.4g GB/s; the link has %.4g GB/s one'"
    "     || ' way', busbw / 1e9, 100 * of_peak, busbw / of_peak / 1e9, limit_link / 1e9)"
    " FROM above WHERE busbw > 0 AND of_peak > 0"
    " UNION ALL"
    " SELECT *, 5, 'speedup', speedup, '1', (ranks - 1) / ceil(log2(ranks)),"
    "   printf('hops: 2(n-1) of a ring, 2 ceil(log2 n) of a tree, n = %.0f', ranks), NULL,"
    "   printf('at small sizes at most the ratio of hops, %.3g; at large sizes both move the same'"
    "     || ' bytes and it is at most 1', (ranks - 1) / ceil(log2(ranks)))"
    " FROM above WHERE speedup > 0 AND ranks > 0 AND lower(faster) = 'tree'"
    "   AND lower(slower) = 'ring'"
    " UNION ALL"
    " SELECT *, 6, 'launches', launches, '1', 2.0,"
    "   'a claim needs two launches of each config or more', 'unsupported',"
    "   'one launch of each: its iterations are not independent, so a difference between configs'"
    "     || ' may be a difference between launches'"
    " FROM above WHERE launches < 2 AND faster <> '')"
    " INSERT INTO limits SELECT platform, 'published', says, claim_source, quantity, value, unit, bound,"
    "   bound_source, iif(word IN ('not a collective', 'unsupported'), NULL, value / bound), physics,"
    "   coalesce(word, CASE WHEN value / bound > 1.005 THEN 'impossible'"
    "     WHEN value / bound >= 0.95 THEN 'at the limit'"
    "     WHEN bound IS NULL THEN 'no limit' ELSE 'possible' END)"
    " FROM checked ORDER BY at, nth";

/* clang-format on */

/* ---- [reference] ---- */

static const struct {
    const char *name;
    bool (*parse)(const char *text, double *value);
} quantities[NUMBERS] = {{"ranks", units_parse_real},   {"ranks_recorded", units_parse_real},
                         {"busbw", units_parse_rate},   {"algbw", units_parse_rate},
                         {"of_peak", units_parse_real}, {"memory", units_parse_rate},
                         {"speedup", units_parse_real}, {"launches", units_parse_real}};

static struct claim claim_of(const char *says, const char *source)
{
    struct claim c = {.says = says, .source = source};
    for (size_t i = 0; i < NUMBERS; i++)
        c.given[i] = NAN;
    return c;
}

/* "speedup 3" */
static int take_given(struct claim *c, const struct config_entry *e, char *part)
{
    char *value = part, *name = strsep(&value, " ");
    size_t q = 0;
    while (q < NUMBERS && strcmp(name, quantities[q].name))
        q++;
    char *word = !strcmp(name, "faster") ? c->faster : !strcmp(name, "slower") ? c->slower : NULL;
    if ((q == NUMBERS && !word) || !value)
        return config_error(e,
                            "'%s' is not QUANTITY VALUE; the quantities are ranks, ranks_recorded, "
                            "busbw, algbw, of_peak, memory, speedup, launches, faster and slower",
                            name);
    value += strspn(value, " ");
    if (word)
        snprintf(word, sizeof c->faster, "%s", value);
    else if (!quantities[q].parse(value, &c->given[q]) || !(c->given[q] > 0))
        return config_error(e, "'%s' is not a valid value of %s", value, name);
    return GS_OK;
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

/* Rates first, then claim.NAME, both in the order of the config. Reports every fault. */
static int put_reference(const struct platform *p)
{
    const struct config *c = p->config;
    struct claim claim;
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct config_entry *e = &c->entries[i];
        AUTO_FREE char *says = xstrfmt("%s = %s", e->key, e->value);
        claim = claim_of(says, config_source(c, "reference", e->key));
        claim.given[RANKS_RECORDED] = p->ranks;
        if (!strcmp(e->section, "reference") && strncmp(e->key, "claim.", 6) &&
            units_parse_rate(e->value, &claim.given[BUSBW]) && claim.given[BUSBW] > 0)
            put_claim(p, &claim);
    }
    for (size_t i = 0; i < c->n; i++)
        /* "claim.NAME"; its parts have one dot more. */
        if (!strcmp(c->entries[i].section, "reference") &&
            !strncmp(c->entries[i].key, "claim.", 6) && !strchr(c->entries[i].key + 6, '.')) {
            int one = read_claim(&claim, c, &c->entries[i]);
            if (!one)
                put_claim(p, &claim);
            code = code ? code : one;
        }
    return code;
}

int limits_claims_check(const struct config *c)
{
    return put_reference(&(struct platform){.config = c});
}

/* ---- [model] ---- */

static int put_model(const struct platform *p)
{
    static const char *const verdicts[] = {[WAN_POSSIBLE] = "possible",
                                           [WAN_UNREACHED] = "unreached",
                                           [WAN_IMPOSSIBLE] = "impossible",
                                           [WAN_CONTRADICTED] = "contradicted"};
    AUTO(wan_map_free) struct wan_map m = {0};
    struct wan_training t;
    size_t n = 0;
    if (!config_section(p->config, "model"))
        return GS_OK;
    CHECK(wan_map_read(&m, p->config));
    CHECK(wan_training_read(&t, p->config, &m));
    struct wan_finding *found = wan_audit(p->config, &m, &t, &n);
    for (size_t i = 0; found && i < n; i++) {
        const struct wan_finding *f = &found[i];
        /* By the side of its range that is the easier to reach. */
        double value = f->high_is_good ? f->low : f->high,
               limit = f->verdict == WAN_IMPOSSIBLE ? f->possible : f->reached;
        AUTO_FREE char *claim = xstrfmt("%s = %s", f->name, f->entry->value);
        CSV_TEXTS(p->rows, p->name, "published", claim,
                  config_source(p->config, "model", f->entry->key), f->what);
        csv_real(p->rows, value);
        csv_text(p->rows, *f->unit ? f->unit : "1");
        csv_real(p->rows, limit);
        csv_text(p->rows, "the model of a WAN, [model] and [links]");
        csv_real(p->rows, f->high_is_good ? value / limit : limit / value);
        CSV_TEXTS(p->rows, f->why.s, verdicts[f->verdict]);
        csv_end(p->rows);
    }
    wan_findings_free(found, n);
    return found ? GS_OK : GS_USAGE;
}

/* ---- all ---- */

static int put_config(struct csv *claims, struct csv *rows, const char *path)
{
    AUTO(config_free_of) struct config *c = NULL;
    struct settings set;
    CHECK(config_load(&c, path, NULL));
    CHECK(settings_read(c, &set));
    struct platform p = {
        .ranks = (double)set.launch.ranks, .config = c, .claims = claims, .rows = rows};
    memcpy(p.name, set.platform.name, sizeof p.name);
    int code = put_reference(&p);
    return code ? code : put_model(&p);
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
    struct csv csv, claims;
    int fault = GS_OK;
    AUTO_FREE char *folder = locate_installed_configs();
    locate_configs(&configs);
    CHECK(print_functions(s));
    CHECK(store_make(s, "given", given_columns));
    struct store_rows *given = store_rows_begin(s, "given", given_columns, false, &claims);
    CHECK(store_make(s, "modelled", limits_columns));
    struct store_rows *rows = store_rows_begin(s, "modelled", limits_columns, false, &csv);
    for (size_t i = 0; i < configs.n; i++) {
        AUTO_FREE char *here = xstrfmt("configs/%s.ini", configs.v[i]),
                       *installed = xstrfmt("%s/%s.ini", folder, configs.v[i]);
        int one = put_config(&claims, &csv, access(here, F_OK) ? installed : here);
        fault = fault ? fault : one;
    }
    CHECK(store_rows_end(given));
    CHECK(store_rows_end(rows));
    CHECK(store_execute(s, published));
    CHECK(store_execute(s, "INSERT INTO limits SELECT * FROM temp.modelled"));
    CHECK(store_execute(s, measured));
    return fault;
}
