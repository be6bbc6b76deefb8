/* SPDX-License-Identifier: Apache-2.0
 *
 * Configs and cells of the store to the table `limits`.
 */
#include "base/csv.h"
#include "base/err.h"
#include "base/text.h"
#include "config/config.h"
#include "config/settings.h"
#include "limits/bounds.h"
#include "limits/evidence.h"
#include "wan/wan_audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
