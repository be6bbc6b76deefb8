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

static bool is_slower(const struct claim *c, const char *config)
{
    if (!strcasecmp(c->word[W_SLOWER], "others"))
        return !is_of(config, c->word[W_FASTER]);
    return is_of(config, c->word[W_SLOWER]);
}

static bool wanted(const struct claim *c, const struct measured_cell *m)
{
    const char *mode = c->word[W_MODE];
    bool right_mode = mode ? !strcasecmp(m->mode, mode) : !*m->mode || !strcmp(m->mode, "comm");
    return right_mode && m->size_B > 0 && m->time_s > 0 &&
           (!c->word[W_WORKLOAD] || !strcasecmp(m->workload, c->word[W_WORKLOAD]));
}

static bool same_else(const char *a, const char *b)
{
    AUTO_FREE char *x = alike_without(a, alike_config), *y = alike_without(b, alike_config);
    return !strcmp(x, y);
}

static bool alike(const struct measured_cell *a, const struct measured_cell *b)
{
    return a->size_B == b->size_B && a->ranks == b->ranks && !strcmp(a->run_id, b->run_id) &&
           !strcmp(a->platform, b->platform) && !strcmp(a->workload, b->workload) &&
           !strcmp(a->label, b->label) && !strcmp(a->mode, b->mode) &&
           same_else(a->params, b->params);
}

/* The cells that a claim is about, in the order of the table. */
struct families {
    const struct measured_cell **faster, **slower;
    size_t n_faster, n_slower;
};

static struct families families_of(const struct audit *a, const struct claim *c)
{
    size_t n = a->cells->n + 1;
    struct families f = {xcalloc(n, sizeof *f.faster), xcalloc(n, sizeof *f.slower), 0, 0};
    for (size_t i = 0; i < a->cells->n; i++) {
        const struct measured_cell *m = &a->cells->v[i];
        if (!wanted(c, m))
            continue;
        if (is_of(m->config, c->word[W_FASTER]))
            f.faster[f.n_faster++] = m;
        else if (is_slower(c, m->config))
            f.slower[f.n_slower++] = m;
    }
    return f;
}

struct ratios { /* of the slower's time to the faster's */
    double least, most;
    size_t n, enough;
    int64_t ranks;
};

/* The fastest of its family: the first of equals. */
static bool is_best(const struct families *f, const struct measured_cell *m)
{
    for (size_t i = 0; i < f->n_faster; i++) {
        const struct measured_cell *o = f->faster[i];
        if (o->time_s <= m->time_s && o != m && alike(o, m) && (o->time_s < m->time_s || o < m))
            return false;
    }
    return true;
}

static void add_ratio(const struct families *f, const struct measured_cell *m, double speedup,
                      struct ratios *r)
{
    double other = INFINITY;
    for (size_t i = 0; i < f->n_slower; i++)
        if (f->slower[i]->time_s < other && alike(f->slower[i], m))
            other = f->slower[i]->time_s;
    if (isinf(other))
        return;
    double ratio = other / m->time_s;
    r->least = fmin(r->least, ratio);
    r->most = fmax(r->most, ratio);
    r->enough += ratio >= speedup;
    r->ranks = m->ranks;
    r->n++;
}

static struct ratios ratios_on(const struct families *f, const char *platform, double speedup)
{
    struct ratios r = {.least = INFINITY};
    for (size_t i = 0; i < f->n_faster; i++)
        if (!strcmp(f->faster[i]->platform, platform) && is_best(f, f->faster[i]))
            add_ratio(f, f->faster[i], speedup, &r);
    return r;
}

/* Is the platform what the claim is about: the same, or the same GPU? And as many ranks? */
static bool comparable(const struct audit *a, const struct claim *c, const struct measured_cell *m,
                       int64_t ranks)
{
    const char *device = bounds_device(a->config);
    bool same = (a->platform && !strcmp(a->platform, m->platform)) ||
                (*device && m->device && !strcmp(device, m->device));
    return same && (isnan(c->q[Q_RANKS]) || (double)ranks == c->q[Q_RANKS]);
}

static void fill(struct limits_row *row, const struct claim *c, const char *platform,
                 double speedup, const struct ratios *r, bool counts)
{
    *row = (struct limits_row){.quantity = "speedup", .unit = "1"};
    limits_judge(row, speedup, r->most);
    row->verdict = !counts             ? DATA_ELSEWHERE
                   : r->enough == r->n ? DATA_SUPPORTED
                   : r->enough         ? DATA_IN_PART
                                       : DATA_CONTRADICTED;
    snprintf(row->limit_source, sizeof row->limit_source, "measured on %s, %lld ranks", platform,
             (long long)r->ranks);
    snprintf(row->physics, sizeof row->physics,
             "time of %s over time of the best of %s: %.3g to %.3g; %.3g or more in %zu of %zu "
             "conditions",
             c->word[W_SLOWER], c->word[W_FASTER], r->least, r->most, speedup, r->enough, r->n);
}

size_t limits_of_data(const struct audit *a, const struct claim *c, struct limits_row *rows,
                      size_t most)
{
    double speedup = isnan(c->q[Q_SPEEDUP]) ? 1 : c->q[Q_SPEEDUP];
    const char *last = "";
    size_t n = 0;
    if (!c->word[W_FASTER] || !c->word[W_SLOWER])
        return 0;
    struct families f = families_of(a, c);
    for (size_t i = 0; i < f.n_faster && n < most; i++) { /* in the order of platforms */
        const char *platform = f.faster[i]->platform;
        if (!strcmp(platform, last))
            continue;
        last = platform;
        struct ratios r = ratios_on(&f, platform, speedup);
        if (r.n)
            fill(&rows[n++], c, platform, speedup, &r, comparable(a, c, f.faster[i], r.ranks));
    }
    free(f.faster);
    free(f.slower);
    return n;
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
    struct csv csv; /* the table `limits` */
};

/* ---- configs ---- */

static int platform_read(struct platform *p, const char *path)
{
    struct settings set;
    *p = (struct platform){0};
    int code = config_load(&p->config, path, NULL);
    if (!code)
        code = settings_read(p->config, &set);
    if (!code) {
        memcpy(p->name, set.platform.name, sizeof p->name);
        p->ranks = (double)set.launch.ranks;
        code = claims_read(&p->claims, p->config);
    }
    return code;
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

static void take_cell(void *ctx, sqlite3_stmt *st)
{
    struct measured_cells *all = ctx;
    struct measured_cell *c = &APPEND(all->v, all->n);
    char **const texts[] = {&c->run_id, &c->platform, &c->workload, &c->label,
                            &c->config, &c->mode,     &c->params,   &c->ran};
    int i = 0;
    for (; i < (int)COUNT(texts); i++)
        *texts[i] = xstrdup(store_text(st, i));
    c->ranks = sqlite3_column_int64(st, i++);
    c->size_B = sqlite3_column_int64(st, i++);
    c->time_s = store_real(st, i++);
    c->algbw = store_real(st, i++);
    c->busbw = store_real(st, i++);
    c->limit = store_real(st, i);
}

static int cells_read(struct measured_cells *all, struct store *s)
{
    AUTO_FREE char *sql =
        xstrfmt("SELECT %s FROM summary WHERE median_s IS NOT NULL ORDER BY rowid", limits_reads);
    return store_each(s, sql, take_cell, all);
}

static void cells_free(struct measured_cells *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct measured_cell *c = &all->v[i];
        char *const texts[] = {c->run_id, c->platform, c->workload, c->label,
                               c->config, c->mode,     c->params,   c->ran};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    free(all->v);
}

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

static void write_claim(struct writer *w, const struct platform *p, const struct claim *c,
                        const struct measured_cells *cells)
{
    const struct audit a = {p->config, p->name, cells};
    AUTO_FREE struct limits_row *rows = xcalloc(2 * LIMITS_ROWS, sizeof *rows);
    size_t n = limits_of_claim(&a, c, rows);
    n += limits_of_data(&a, c, rows + n, LIMITS_ROWS);
    for (size_t i = 0; i < n; i++)
        write_row(w, p->name, 0, c->says, c->source, &rows[i]);
    if (!n)
        say("%s:%d: claim '%s' cannot be checked: give more of its facts in claim.%s.given",
            c->entry->file, c->entry->line, c->name, c->name);
}

/* A plain rate of [reference] is a claim of bus bandwidth, algbw too by its ranks. */
static void write_plain(struct writer *w, const struct platform *p, const struct config_entry *e,
                        const struct measured_cells *cells)
{
    double rate;
    struct claim c = {.entry = e, .name = e->key, .says = e->key};
    if (strcmp(e->section, "reference") || !strncmp(e->key, "claim.", 6) ||
        !claim_rate(e->value, &rate))
        return;
    for (size_t i = 0; i < QUANTITIES; i++)
        c.q[i] = NAN;
    c.q[Q_RANKS_RECORDED] = p->ranks;
    c.q[Q_BUSBW] = strcmp(e->key, "algbw") ? rate : rate * 2 * (p->ranks - 1) / p->ranks;
    c.source = config_source(p->config, "reference", e->key);
    AUTO_FREE char *says = xstrfmt("%s = %s", e->key, e->value);
    c.says = says;
    write_claim(w, p, &c, cells);
}

static void write_published(struct writer *w, const struct platform *p,
                            const struct measured_cells *cells)
{
    for (size_t i = 0; i < p->config->n; i++)
        write_plain(w, p, &p->config->entries[i], cells);
    for (size_t i = 0; i < p->claims.n; i++)
        write_claim(w, p, &p->claims.v[i], cells);
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
    int code = wan_map_read(&m, p->config);
    if (!code)
        code = wan_training_read(&t, p->config, &m);
    if (!code) {
        struct wan_finding *f = wan_audit(p->config, &m, &t, &n);
        for (size_t i = 0; f && i < n; i++)
            write_finding(w, p, &f[i]);
        code = f ? GS_OK : GS_USAGE;
        wan_findings_free(f, n);
    }
    return code;
}

static void write_measured(struct writer *w, const struct platform *platforms, size_t n,
                           const struct measured_cell *cell)
{
    AUTO_FREE struct limits_row *rows = xcalloc(LIMITS_ROWS, sizeof *rows);
    const struct config *config = config_of(platforms, n, cell->platform);
    size_t count = limits_of_cell(config, cell, rows);
    AUTO_FREE char *claim = xstrfmt(
        "%s%s%s %s%s%s %lld B: %s", cell->workload, *cell->label ? " " : "", cell->label,
        cell->config, *cell->mode ? " " : "", cell->mode, (long long)cell->size_B, cell->params);
    for (size_t i = 0; i < count; i++)
        write_row(w, cell->platform, 1, claim, cell->run_id, &rows[i]);
}

static int write_all(struct store *s, const struct platform *platforms, size_t n,
                     const struct measured_cells *cells)
{
    struct writer w;
    int code = store_make(s, "limits", limits_columns);
    if (code)
        return code;
    struct store_rows *rows = store_rows_begin(s, "limits", limits_columns, -1, &w.csv);
    for (size_t i = 0; i < n && !code; i++) {
        write_published(&w, &platforms[i], cells);
        code = write_wan(&w, &platforms[i]);
    }
    for (size_t i = 0; i < cells->n; i++)
        write_measured(&w, platforms, n, &cells->v[i]);
    int ended = store_rows_end(rows);
    return code ? code : ended;
}

static int write_names(struct store *s, const struct platform *platforms, size_t n)
{
    struct csv csv;
    int code = store_make(s, "chosen", "platform");
    if (code)
        return code;
    struct store_rows *rows = store_rows_begin(s, "chosen", "platform", -1, &csv);
    for (size_t i = 0; i < n; i++) {
        csv_text(&csv, platforms[i].name);
        csv_end(&csv);
    }
    return store_rows_end(rows);
}

int limits_check(struct store *s, const char *const *configs, size_t n)
{
    struct platform *platforms = xcalloc(n + 1, sizeof *platforms);
    struct measured_cells cells = {0};
    int code = GS_OK;
    for (size_t i = 0; i < n; i++) { /* past a faulty one, so that all are named */
        int one = platform_read(&platforms[i], configs[i]);
        code = code ? code : one;
    }
    if (!code)
        code = cells_read(&cells, s);
    for (size_t i = 0; i < cells.n; i++) {
        const struct config *c = config_of(platforms, n, cells.v[i].platform);
        cells.v[i].device = bounds_device(c);
    }
    if (!code)
        code = write_all(s, platforms, n, &cells);
    if (!code)
        code = write_names(s, platforms, n);
    cells_free(&cells);
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

/* Measurements are one line for each platform, quantity and verdict: the first with the largest
 * fraction, and how many it stands for, without its parameters, which are not those of the others.
 * Where data decide, the quantity says on which platform. */
static const char lines[] =
    "CREATE TEMP VIEW line AS SELECT *, dense_rank() OVER (ORDER BY first_of_source) AS number "
    "FROM (SELECT *, iif(source = '', NULL, min(place) OVER (PARTITION BY source)) AS "
    "first_of_source FROM (SELECT *, row_number() OVER (ORDER BY kind = 'measured', "
    "severity(verdict), coalesce(fraction, 0) DESC, at) AS place FROM ("
    "SELECT *, rowid AS at, count(*) OVER same AS n, row_number() OVER (same ORDER BY "
    "coalesce(fraction, 0) DESC, rowid) AS nth FROM limits WHERE platform IN (SELECT platform "
    "FROM chosen) WINDOW same AS (PARTITION BY kind, platform, quantity, verdict, "
    "iif(kind = 'measured', 0, rowid))) WHERE nth = 1))";

static const char shown[] =
    "SELECT platform, iif(n > 1 AND instr(claim, ' B: '), substr(claim, 1, instr(claim, ' B: ') + "
    "1) || ' (of ' || n || ')', shorten(claim, 46)) AS claim, iif(source = '', '-', '[' || "
    "(number - (SELECT count(DISTINCT 1) FROM line WHERE source = '')) || ']') AS source, quantity "
    "|| iif(limit_source LIKE 'measured on %', ' ' || substr(limit_source, 10, "
    "instr(limit_source, ',') - 10), '') AS \"of\", human(value, unit) AS claimed, "
    "human(\"limit\", unit) AS possible, human(fraction, '') AS fraction, verdict FROM line "
    "ORDER BY place";

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
    int code = print_functions(s);
    if (!code &&
        sqlite3_create_function(s->db, "severity", 1, SQLITE_UTF8, NULL, sql_severity, NULL, NULL))
        code = store_failed(s);
    if (!code)
        code = store_execute(s, lines);
    if (!code)
        code = print_query(s, shown, &how);
    if (code || !how.rows)
        return code;
    code = store_each(s,
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
                          "(SELECT platform FROM chosen) GROUP BY kind, verdict "
                          "ORDER BY kind = 'measured', verdict_order(verdict)",
                          take_count, &c);
    say_line(&c);
    *any = *c.kind;
    text_free(&c.line);
    return code;
}
