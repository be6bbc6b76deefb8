/* SPDX-License-Identifier: Apache-2.0 */
#include "limits/audit.h"

#include "base/csv.h"
#include "base/err.h"
#include "base/text.h"
#include "compare/origin.h"
#include "config/config.h"
#include "config/settings.h"
#include "store/printer.h"
#include "wan/wan_audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- evidence ---- */

static bool is_of(const char *config, const char *word)
{
    AUTO_WORDS struct words parts = {0};
    bool found = false;
    words_split(&parts, config, '/');
    for (size_t i = 0; i < parts.n; i++)
        found = found || !strcasecmp(parts.v[i], word);
    return found;
}

static void sql_has_word(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_int(
        c, is_of((const char *)sqlite3_value_text(v[0]), (const char *)sqlite3_value_text(v[1])));
}

/* apart(PARAMS): without those of the config. */
static void sql_apart(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_text(c, alike_without((const char *)sqlite3_value_text(v[0]), alike_config), -1,
                        free);
}

/* clang-format off */

/* The ratio of a family, in which all but the config is equal: the fastest of the slower configs to the
 * fastest of the faster ones. same: it is the platform of the claim, or has its GPU. */
static const char ratios[] =
    "SELECT platform, max(ranks), min(ratio), max(ratio), count(*), sum(ratio >= :speedup),"
    "   platform = :platform"
    "     OR (:device <> '' AND :device = (SELECT max(device) FROM asked_platform AS o"
    "                                      WHERE o.platform = r.platform))"
    " FROM (SELECT platform, ranks, min(rowid) AS at,"
    "         min(iif(NOT has_word(config, :faster)"
    "                   AND (:slower LIKE 'others' OR has_word(config, :slower)), median_s, NULL))"
    "           / min(iif(has_word(config, :faster), median_s, NULL)) AS ratio"
    "       FROM summary"
    "       WHERE median_s > 0 AND size_B > 0"
    "         AND iif(:mode IS NULL, mode IN ('', 'comm'), mode = :mode COLLATE NOCASE)"
    "         AND (:workload IS NULL OR workload = :workload COLLATE NOCASE)"
    "       GROUP BY platform, run_id, workload, label, mode, size_B, ranks, apart(params)) AS r"
    " WHERE ratio IS NOT NULL GROUP BY platform ORDER BY min(at)";

/* clang-format on */

static void fill(struct limits_row *row, const struct claim *c, double speedup, sqlite3_stmt *st)
{
    sqlite3_int64 ranks = sqlite3_column_int64(st, 1), n = sqlite3_column_int64(st, 4),
                  enough = sqlite3_column_int64(st, 5);
    bool counts =
        sqlite3_column_int(st, 6) && (isnan(c->q[Q_RANKS]) || (double)ranks == c->q[Q_RANKS]);
    *row = (struct limits_row){.quantity = "speedup", .unit = "1"};
    limits_judge(row, speedup, sqlite3_column_double(st, 3));
    row->verdict = !counts       ? DATA_ELSEWHERE
                   : enough == n ? DATA_SUPPORTED
                   : enough      ? DATA_IN_PART
                                 : DATA_CONTRADICTED;
    LIMITS_FROM(row, "measured on %s, %lld ranks", store_text(st, 0), ranks);
    LIMITS_SAY(row,
               "time of %s over time of the best of %s: %.3g to %.3g; %.3g or more in %lld of %lld "
               "conditions",
               c->word[W_SLOWER], c->word[W_FASTER], sqlite3_column_double(st, 2),
               sqlite3_column_double(st, 3), speedup, enough, n);
}

static void bind(sqlite3_stmt *st, const char *name, const char *text)
{
    sqlite3_bind_text(st, sqlite3_bind_parameter_index(st, name), text, -1, SQLITE_STATIC);
}

int limits_of_data(struct store *s, const struct config *config, const char *platform,
                   const struct claim *c, struct limits_row *rows, size_t most, size_t *n)
{
    double speedup = isnan(c->q[Q_SPEEDUP]) ? 1 : c->q[Q_SPEEDUP];
    int step = SQLITE_DONE;
    *n = 0;
    if (!c->word[W_FASTER] || !c->word[W_SLOWER])
        return GS_OK;
    if (sqlite3_create_function(s->db, "has_word", 2, SQLITE_UTF8, NULL, sql_has_word, NULL,
                                NULL) ||
        sqlite3_create_function(s->db, "apart", 1, SQLITE_UTF8, NULL, sql_apart, NULL, NULL))
        return store_failed(s);
    sqlite3_stmt *st = store_prepare(s, ratios);
    if (!st)
        return GS_FAILED;
    sqlite3_bind_double(st, sqlite3_bind_parameter_index(st, ":speedup"), speedup);
    bind(st, ":platform", platform);
    bind(st, ":device", bounds_device(config));
    bind(st, ":faster", c->word[W_FASTER]);
    bind(st, ":slower", c->word[W_SLOWER]);
    bind(st, ":mode", c->word[W_MODE]);
    bind(st, ":workload", c->word[W_WORKLOAD]);
    while (*n < most && (step = sqlite3_step(st)) == SQLITE_ROW)
        fill(&rows[(*n)++], c, speedup, st);
    int code = step == SQLITE_ROW || step == SQLITE_DONE ? GS_OK : store_failed(s);
    sqlite3_finalize(st);
    return code;
}

/* ---- audit ----
 *
 * Configs and cells of the store to the table `limits`.
 */

struct platform {
    char name[WL_TEXT_MAX];
    double ranks;
    struct config *config;
    struct claims claims;
};

struct writer {
    struct store *store;
    struct csv csv; /* the table `limits` */
    const struct platform *platforms;
    size_t n;
};

/* ---- configs ---- */

static int platform_read(struct platform *p, const char *path)
{
    struct settings set;
    *p = (struct platform){0};
    CHECK(config_load(&p->config, path, NULL));
    CHECK(settings_read(p->config, &set));
    memcpy(p->name, set.platform.name, sizeof p->name);
    p->ranks = (double)set.launch.ranks;
    return claims_read(&p->claims, p->config);
}

static void platforms_free(struct platform *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        claims_free(&v[i].claims);
        config_free(v[i].config);
    }
    free(v);
}

static const struct config *config_of(const struct platform *v, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(v[i].name, name))
            return v[i].config;
    return NULL;
}

/* ---- measured ---- */

const char limits_reads[] = "run_id,platform,workload,label,config,mode,params,ran,ranks,size_B,"
                            "median_s,algbw_Bps,busbw_Bps,limit_Bps";

/* ---- rows ---- */

const char limits_columns[] =
    "platform,kind,claim,source,quantity,value,unit,limit,limit_source,fraction,physics,verdict";
static const char *const kinds[] = {"published", "measured"};

static void write_row(struct writer *w, const char *platform, int kind, const char *claim,
                      const char *source, const struct limits_row *row)
{
    struct csv *c = &w->csv;
    CSV_TEXTS(c, platform, kinds[kind], claim, source, row->quantity);
    csv_real(c, row->value);
    csv_text(c, row->unit);
    csv_real(c, row->limit);
    csv_text(c, row->limit_source);
    csv_real(c, row->fraction);
    csv_text(c, row->physics);
    csv_text(c, limits_verdicts[row->verdict]);
    csv_end(c);
}

static int write_claim(struct writer *w, const struct platform *p, const struct claim *c)
{
    AUTO_FREE struct limits_row *rows = xcalloc(2 * LIMITS_ROWS, sizeof *rows);
    size_t n = limits_of_claim(p->config, c, rows), more;
    int code = limits_of_data(w->store, p->config, p->name, c, rows + n, LIMITS_ROWS, &more);
    n += more;
    for (size_t i = 0; i < n; i++)
        write_row(w, p->name, 0, c->says, c->source, &rows[i]);
    if (!n)
        say("%s:%d: claim '%s' cannot be checked: give more of its facts in claim.%s.given",
            c->entry->file, c->entry->line, c->name, c->name);
    return code;
}

/* A plain rate of [reference] is a claim of bus bandwidth, algbw too by its ranks. */
static int write_plain(struct writer *w, const struct platform *p, const struct config_entry *e)
{
    double rate;
    struct claim c = {.entry = e, .name = e->key, .says = e->key};
    if (strcmp(e->section, "reference") || !strncmp(e->key, "claim.", 6) ||
        !claim_rate(e->value, &rate))
        return GS_OK;
    for (size_t i = 0; i < QUANTITIES; i++)
        c.q[i] = NAN;
    c.q[Q_RANKS_RECORDED] = p->ranks;
    c.q[Q_BUSBW] = strcmp(e->key, "algbw") ? rate : rate * 2 * (p->ranks - 1) / p->ranks;
    c.source = config_source(p->config, "reference", e->key);
    AUTO_FREE char *says = xstrfmt("%s = %s", e->key, e->value);
    c.says = says;
    return write_claim(w, p, &c);
}

static int write_published(struct writer *w, const struct platform *p)
{
    for (size_t i = 0; i < p->config->n; i++)
        CHECK(write_plain(w, p, &p->config->entries[i]));
    for (size_t i = 0; i < p->claims.n; i++)
        CHECK(write_claim(w, p, &p->claims.v[i]));
    return GS_OK;
}

/* One claim of a training over a WAN, by the side of its range that is the easier to reach. */
static void write_finding(struct writer *w, const struct platform *p, const struct wan_finding *f)
{
    struct limits_row row = {.quantity = f->what, .unit = *f->unit ? f->unit : "1"};
    double value = f->high_is_good ? f->low : f->high;
    limits_judge(&row, value, f->verdict == WAN_IMPOSSIBLE ? f->possible : f->reached);
    if (!f->high_is_good)
        row.fraction = 1 / row.fraction;
    static const enum limits_verdict verdicts[] = {[WAN_POSSIBLE] = LIMIT_POSSIBLE,
                                                   [WAN_UNREACHED] = DATA_UNREACHED,
                                                   [WAN_IMPOSSIBLE] = LIMIT_IMPOSSIBLE,
                                                   [WAN_CONTRADICTED] = DATA_CONTRADICTED};
    row.verdict = verdicts[f->verdict];
    snprintf(row.limit_source, sizeof row.limit_source, "the model of a WAN, [model] and [links]");
    snprintf(row.physics, sizeof row.physics, "%s", f->why.s);
    AUTO_FREE char *claim = xstrfmt("%s = %s", f->name, f->entry->value);
    write_row(w, p->name, 0, claim, config_source(p->config, "model", f->entry->key), &row);
}

static int write_wan(struct writer *w, const struct platform *p)
{
    AUTO(wan_map_free) struct wan_map m = {0};
    struct wan_training t;
    size_t n;
    if (!config_section(p->config, "model"))
        return GS_OK;
    CHECK(wan_map_read(&m, p->config));
    CHECK(wan_training_read(&t, p->config, &m));
    struct wan_finding *f = wan_audit(p->config, &m, &t, &n);
    for (size_t i = 0; f && i < n; i++)
        write_finding(w, p, &f[i]);
    wan_findings_free(f, n);
    return f ? GS_OK : GS_USAGE;
}

static void write_measured(void *ctx, sqlite3_stmt *st)
{
    struct writer *w = ctx;
    AUTO_FREE struct limits_row *rows = xcalloc(LIMITS_ROWS, sizeof *rows);
    const char *run_id = store_text(st, 0), *label = store_text(st, 3);
    const struct measured_cell cell = {.platform = store_text(st, 1),
                                       .workload = store_text(st, 2),
                                       .config = store_text(st, 4),
                                       .mode = store_text(st, 5),
                                       .params = store_text(st, 6),
                                       .ran = store_text(st, 7),
                                       .ranks = sqlite3_column_int64(st, 8),
                                       .size_B = sqlite3_column_int64(st, 9),
                                       .time_s = store_real(st, 10),
                                       .algbw = store_real(st, 11),
                                       .busbw = store_real(st, 12),
                                       .limit = store_real(st, 13)};
    size_t n = limits_of_cell(config_of(w->platforms, w->n, cell.platform), &cell, rows);
    AUTO_FREE char *claim =
        xstrfmt("%s%s%s %s%s%s %lld B: %s", cell.workload, *label ? " " : "", label, cell.config,
                *cell.mode ? " " : "", cell.mode, (long long)cell.size_B, cell.params);
    for (size_t i = 0; i < n; i++)
        write_row(w, cell.platform, 1, claim, run_id, &rows[i]);
}

static int write_all(struct store *s, const struct platform *platforms, size_t n)
{
    struct writer w = {.store = s, .platforms = platforms, .n = n};
    AUTO_FREE char *measured =
        xstrfmt("SELECT %s FROM summary WHERE median_s IS NOT NULL ORDER BY rowid", limits_reads);
    CHECK(store_make(s, "limits", limits_columns));
    int code = GS_OK;
    struct store_rows *rows = store_rows_begin(s, "limits", limits_columns, false, &w.csv);
    for (size_t i = 0; i < n && !code; i++) {
        code = write_published(&w, &platforms[i]);
        code = code ? code : write_wan(&w, &platforms[i]);
    }
    if (!code)
        code = store_each(s, measured, write_measured, &w);
    int ended = store_rows_end(rows);
    return code ? code : ended;
}

static int write_names(struct store *s, const struct platform *platforms, size_t n)
{
    static const char columns[] = "platform,device";
    struct csv csv;
    CHECK(store_make(s, "asked_platform", columns));
    struct store_rows *rows = store_rows_begin(s, "asked_platform", columns, false, &csv);
    for (size_t i = 0; i < n; i++) {
        CSV_TEXTS(&csv, platforms[i].name, bounds_device(platforms[i].config));
        csv_end(&csv);
    }
    return store_rows_end(rows);
}

int limits_check(struct store *s, const char *const *configs, size_t n)
{
    struct platform *platforms = xcalloc(n + 1, sizeof *platforms);
    int code = GS_OK;
    for (size_t i = 0; i < n; i++) { /* past a faulty one, so that all are named */
        int one = platform_read(&platforms[i], configs[i]);
        code = code ? code : one;
    }
    if (!code)
        code = write_names(s, platforms, n);
    if (!code)
        code = write_all(s, platforms, n);
    platforms_free(platforms, n);
    return code;
}

/* ---- limits table ----
 *
 * The table `limits` in the terminal.
 */

/* The worst first. */
static const enum limits_verdict worst[] = {
    LIMIT_IMPOSSIBLE, LIMIT_NO_COLLECTIVE, DATA_CONTRADICTED, DATA_UNREACHED,
    DATA_UNSUPPORTED, LIMIT_SWITCH,        DATA_IN_PART,      LIMIT_AT,
    DATA_ELSEWHERE,   DATA_SUPPORTED,      LIMIT_POSSIBLE};
#define FINE 8 /* the first of `worst` that needs no attention */

static size_t severity_of(const char *verdict)
{
    size_t i = 0;
    while (i < COUNT(worst) && strcmp(verdict, limits_verdicts[worst[i]]))
        i++;
    return i;
}

static bool is_fine(const char *verdict)
{
    return severity_of(verdict) >= FINE;
}

static void sql_severity(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_int(c, (int)severity_of((const char *)sqlite3_value_text(v[0])));
}

/* clang-format off */

/* Measurements are one line for each platform, quantity and verdict: the first with the largest
 * fraction, and how many it stands for, without its parameters, which are not those of the others.
 * Where data decide, the quantity says on which platform. */
static const char lines[] =
    "CREATE TEMP VIEW line AS"
    " SELECT *, dense_rank() OVER (ORDER BY first_of_source) AS number"
    " FROM (SELECT *, iif(source = '', NULL, min(place) OVER (PARTITION BY source))"
    "         AS first_of_source"
    "       FROM (SELECT *, row_number() OVER (ORDER BY kind = 'measured', severity(verdict),"
    "                                          coalesce(fraction, 0) DESC, at) AS place"
    "             FROM (SELECT *, rowid AS at, count(*) OVER same AS n,"
    "                     row_number() OVER (same ORDER BY coalesce(fraction, 0) DESC, rowid) AS nth"
    "                   FROM limits WHERE platform IN (SELECT platform FROM asked_platform)"
    "                   WINDOW same AS (PARTITION BY kind, platform, quantity, verdict,"
    "                                   iif(kind = 'measured', 0, rowid)))"
    "             WHERE nth = 1))";

static const char shown[] =
    "SELECT platform,"
    "   iif(n > 1 AND instr(claim, ' B: '),"
    "       substr(claim, 1, instr(claim, ' B: ') + 1) || ' (of ' || n || ')',"
    "       shorten(claim, 46)) AS claim,"
    "   iif(source = '', '-',"
    "       '[' || (number - (SELECT count(DISTINCT 1) FROM line WHERE source = '')) || ']')"
    "     AS source,"
    "   quantity"
    "     || iif(limit_source LIKE 'measured on %',"
    "            ' ' || substr(limit_source, 10, instr(limit_source, ',') - 10), '') AS \"of\","
    "   human(value, unit) AS claimed, human(\"limit\", unit) AS possible,"
    "   human(fraction, '') AS fraction, verdict"
    " FROM line ORDER BY place";

/* clang-format on */

static void print_source(void *ctx, sqlite3_stmt *st)
{
    size_t *n = ctx;
    printf("%s[%zu] %s\n", *n ? "" : "\n", *n + 1, store_text(st, 0));
    ++*n;
}

int limits_print(struct store *s, const char *path)
{
    struct printing how = {.format = PRINT_TEXT, .fine = is_fine};
    size_t sources = 0;
    CHECK(print_functions(s));
    if (sqlite3_create_function(s->db, "severity", 1, SQLITE_UTF8, NULL, sql_severity, NULL, NULL))
        return store_failed(s);
    CHECK(store_execute(s, lines));
    CHECK(print_query(s, shown, &how));
    if (!how.rows)
        return GS_OK;
    int code = store_each(s,
                          "SELECT source FROM line WHERE source <> '' GROUP BY source "
                          "ORDER BY min(place)",
                          print_source, &sources);
    if (path)
        printf("\nthe reason of every row: %s, column physics\n", path);
    else
        printf("\nthe reason of every row: column physics of " LIMITS_CSV
               ", which -o FOLDER writes\n");
    return code;
}

/* ---- counts ---- */

struct counting {
    char kind[16];
    struct text line;
};

static void say_line(struct counting *c)
{
    if (c->line.len)
        say("%s:%s", c->kind, c->line.s);
    text_clear(&c->line);
}

static void take_count(void *ctx, sqlite3_stmt *st)
{
    struct counting *c = ctx;
    if (strcmp(c->kind, store_text(st, 0)) != 0)
        say_line(c);
    snprintf(c->kind, sizeof c->kind, "%s", store_text(st, 0));
    text_addf(&c->line, "%s %s %s", c->line.len ? "," : "", store_text(st, 1), store_text(st, 2));
}

/* In the order of limits_verdicts. */
static void sql_order(sqlite3_context *c, int n, sqlite3_value **v)
{
    int i = 0;
    (void)n;
    while (i < LIMITS_VERDICTS &&
           strcmp((const char *)sqlite3_value_text(v[0]), limits_verdicts[i]))
        i++;
    sqlite3_result_int(c, i);
}

int limits_say(struct store *s, bool *any)
{
    struct counting c = {0};
    if (sqlite3_create_function(s->db, "verdict_order", 1, SQLITE_UTF8, NULL, sql_order, NULL,
                                NULL))
        return store_failed(s);
    int code = store_each(s,
                          "SELECT kind, count(*), verdict FROM limits WHERE platform IN "
                          "(SELECT platform FROM asked_platform) GROUP BY kind, verdict "
                          "ORDER BY kind = 'measured', verdict_order(verdict)",
                          take_count, &c);
    say_line(&c);
    *any = *c.kind;
    text_free(&c.line);
    return code;
}
