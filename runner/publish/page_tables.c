/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/judgement.h"
#include "publish/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 21

enum kind { TEXT, PARAMS, LONG, RUN, VERDICT, COUNT, SIZE, TIME, RATE, SHARE, CHANGE, FLOOR };

struct column {
    const char *name, *title; /* in the CSV, in the page; a column of no title is not shown */
    enum kind kind;
};

/* Column 0 is the platform, 1 what `only` is compared with. */
struct table {
    const char *file, *title, *only; /* only: NULL, or the rows whose column 1 is this */
    bool open;
    struct column columns[COLUMNS_MAX + 1];
};

#define COMPARED                                                                                   \
    {"platform", NULL, TEXT}, {"verdict", "verdict", VERDICT}, {"level", "level", TEXT},           \
        {"workload", "workload", TEXT}, {"mode", "mode", TEXT}, {"size_B", "size", SIZE},          \
        {"config", "config", TEXT}, {"baseline", "against", TEXT}, {"ratio", "time", CHANGE},      \
        {"ratio_low", "from", CHANGE}, {"ratio_high", "to", CHANGE},                               \
        {"floor", "A/A floor", FLOOR}, {"launches", "launches", COUNT}, {"run_id", "run", RUN},    \
        {"reason", "reason", LONG}, {"ran", "ran", TEXT}, {"baseline_ran", "against, ran", TEXT},  \
        {"params", "parameters", PARAMS},                                                          \
    {                                                                                              \
        0                                                                                          \
    }

/* clang-format off */
static const struct table shown_tables[] = {
    {"compare", "Faster than the baseline", "faster", true, {COMPARED}},
    {"iteration", "Training steps", NULL, false,
     {{"platform", NULL, TEXT}, {"workload", "workload", TEXT}, {"size_B", "size", SIZE},
      {"config", "config", TEXT}, {"overlapped_s", "step", TIME},
      {"overlapped_ci_low_s", "from", TIME}, {"overlapped_ci_high_s", "to", TIME},
      {"compute_s", "compute", TIME}, {"comm_s", "communication", TIME},
      {"exposed_s", "exposed", TIME}, {"hidden_s", "hidden", TIME},
      {"overlap", "overlap", SHARE}, {"overlap_ci_low", "from", SHARE},
      {"overlap_ci_high", "to", SHARE}, {"launches", "launches", COUNT}, {"run_id", "run", RUN},
      {"note", "note", LONG}, {"params", "parameters", PARAMS}, {0}}},
    {"compare", "Every verdict", NULL, false, {COMPARED}},
    {"summary", "Every cell", NULL, false,
     {{"platform", NULL, TEXT}, {"workload", "workload", TEXT}, {"mode", "mode", TEXT},
      {"size_B", "size", SIZE}, {"config", "config", TEXT}, {"median_s", "median", TIME},
      {"ci_low_s", "from", TIME}, {"ci_high_s", "to", TIME}, {"p99_s", "p99", TIME},
      {"busbw_Bps", "busbw", RATE}, {"limit_fraction", "of the limit", SHARE},
      {"launches", "launches", COUNT}, {"ran", "ran", TEXT}, {"status", "status", TEXT},
      {"converged", "converged", TEXT}, {"note", "note", LONG}, {"run_id", "run", RUN},
      {"params", "parameters", PARAMS}, {0}}},
    {"wan", "Between sites", NULL, false,
     {{"platform", NULL, TEXT}, {"config", "config", TEXT}, {"size_B", "size", SIZE},
      {"every", "every", COUNT}, {"rate_Bps", "rate", RATE}, {"rtt_s", "RTT", TIME},
      {"loss", "loss", SHARE}, {"sync_s", "synchronisation", TIME},
      {"sync_ci_low_s", "from", TIME}, {"sync_ci_high_s", "to", TIME}, {"bound_s", "bound", TIME},
      {"model_sync_s", "modelled", TIME}, {"step_s", "step", TIME},
      {"efficiency", "compute", SHARE}, {"launches", "launches", COUNT}, {"run_id", "run", RUN},
      {0}}},
    {"transitions", "What stands out in the curves", NULL, false,
     {{"platform", NULL, TEXT}, {"verdict", "verdict", TEXT}, {"kind", "kind", TEXT},
      {"workload", "workload", TEXT}, {"mode", "mode", TEXT}, {"config", "config", TEXT},
      {"size_B", "size", SIZE}, {"change", "change", SHARE}, {"agree", "agree", COUNT},
      {"replicates", "of launches", COUNT}, {"reason", "reason", LONG},
      {"params", "parameters", PARAMS}, {0}}},
    {"limits", "Claims and measurements against limits", NULL, false,
     {{"platform", NULL, TEXT}, {"verdict", "verdict", TEXT}, {"kind", "kind", TEXT},
      {"claim", "claim", LONG}, {"fraction", "of the limit", SHARE}, {"source", "source", LONG},
      {"physics", "why", LONG}, {"limit_source", "source of the limit", LONG}, {0}}},
};
/* clang-format on */

/* GS_OK, or GS_USAGE, reported: no such table, or without a column that is shown. */
static int find_table(struct paper_tables *s, const struct table *t, const struct grid **out)
{
    int code = paper_tables_find(s, t->file, out);
    for (const struct column *c = t->columns; c->name && !code; c++)
        if (!grid_has(*out, c->name))
            code =
                fail_at(GS_USAGE, (*out)->path, 1,
                        "no column '%s'; 'make tables' writes the tables of this version", c->name);
    return code;
}

/* ---- cells ---- */

static bool is_number(enum kind k)
{
    return k >= COUNT;
}

static const char *number(char *buf, size_t n, enum kind kind, double x)
{
    switch (kind) {
    case COUNT:
        snprintf(buf, n, "%.0f", x);
        break;
    case SIZE:
        return units_short_size(buf, n, (uint64_t)x);
    case TIME:
        return units_human_time(buf, n, x);
    case RATE:
        return units_human_rate(buf, n, x);
    case SHARE:
        snprintf(buf, n, "%.3g %%", 100 * x);
        break;
    case FLOOR: /* how much longer the slower copy took: a ratio, so its two ends differ */
        snprintf(buf, n, "%+.2f … %+.2f %%", -100 * x / (1 + x), 100 * x);
        break;
    default: /* CHANGE: of a ratio */
        snprintf(buf, n, "%+.2f %%", 100 * (x - 1));
        break;
    }
    return buf;
}

/* Without </td>, which HTML does not need: a page has tens of thousands of cells. */
static void put_cell(FILE *f, const struct grid *g, size_t row, const char *column, enum kind kind)
{
    const char *s = grid_text(g, row, column);
    double x = is_number(kind) ? grid_real(g, row, column) : NAN;
    char buf[64];
    if (is_number(kind)) {
        fprintf(f, "<td class=n>%s", isfinite(x) ? number(buf, sizeof buf, kind, x) : "");
    } else if (kind == VERDICT) {
        fprintf(f, "<td class=\"%s\">%s", s, s);
    } else if (kind == RUN) {
        page_put(f, "<td><a href=\"#run-%s\">%s</a>", s, s);
    } else {
        page_put(f,
                 kind == LONG     ? "<td class=\"long\">%s"
                 : kind == PARAMS ? "<td class=\"soft\">%s"
                                  : "<td>%s",
                 s);
    }
}

/* ---- tables ---- */

static void put_head(FILE *f, const struct table *t)
{
    fprintf(f,
            "<details%s><summary>%s</summary>\n<div class=\"wide\"><table><thead><tr>"
            "<th class=\"n\">line</th>",
            t->open ? " open" : "", t->title);
    for (const struct column *c = t->columns; c->name; c++)
        if (c->title)
            fprintf(f, "<th%s>%s</th>", is_number(c->kind) ? " class=\"n\"" : "", c->title);
    fputs("</tr></thead><tbody>\n", f);
}

static void put_row(FILE *f, const struct table *t, const struct grid *g, size_t row)
{
    fprintf(f, "<tr><td class=\"n soft\">%ld", g->rows[row].line);
    for (const struct column *c = t->columns; c->name; c++)
        if (c->title)
            put_cell(f, g, row, c->name, c->kind);
    fputs("</tr>\n", f);
}

/* Most rows of limits.csv are measurements for which the config has no limit: they would be a third of
 * a page. */
static bool wanted(const struct table *t, const struct grid *g, size_t row, const char *platform)
{
    const char *kind = grid_text(g, row, t->columns[1].name);
    return !strcmp(grid_text(g, row, t->columns[0].name), platform) &&
           (t->only ? !strcmp(kind, t->only) : strcmp(kind, "no limit") != 0);
}

static int put_table(FILE *f, const struct table *t, struct paper_tables *tables,
                     const char *platform, size_t most)
{
    const struct grid *g;
    size_t rows = 0;
    int code = find_table(tables, t, &g);
    for (size_t i = 0; !code && i < g->n; i++)
        if (wanted(t, g, i, platform)) {
            if (!rows++)
                put_head(f, t);
            if (rows <= most)
                put_row(f, t, g, i);
        }
    if (rows) {
        fputs("</tbody></table></div>\n<p class=\"soft\">", f);
        if (rows > most)
            fprintf(f, "%zu of ", most);
        fprintf(f,
                "%zu row%s of <code>%s.csv</code>; <code>gradsync why %s:LINE</code> prints the "
                "lines of the recordings behind one</p></details>\n",
                rows, rows == 1 ? "" : "s", t->file, t->file);
    }
    return code;
}

/* ---- verdicts, counted ---- */

/* The verdicts of one mode of a platform. Modes are different questions: a step's time and an
 * operation's are never in one count. */
struct tally {
    const char *mode;
    size_t counts[VERDICTS], all;
};

static struct tally *tally_of(struct tally **v, size_t *n, const char *mode)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp((*v)[i].mode, mode))
            return &(*v)[i];
    APPEND(*v, *n) = (struct tally){.mode = mode};
    return &(*v)[*n - 1];
}

/* In the order of compare.csv; free(*v) in both cases. */
static int count_verdicts(struct paper_tables *s, const char *platform, struct tally **v, size_t *n)
{
    const struct grid *g;
    int code = paper_tables_find(s, "compare", &g);
    *v = NULL;
    *n = 0;
    for (size_t row = 0; !code && row < g->n; row++)
        for (size_t i = 0; i < VERDICTS; i++)
            if (!strcmp(grid_text(g, row, "platform"), platform) &&
                !strcmp(grid_text(g, row, "verdict"), verdict_names[i])) {
                struct tally *t = tally_of(v, n, grid_text(g, row, "mode"));
                t->counts[i]++;
                t->all++;
            }
    return code;
}

int page_put_counts(FILE *f, struct paper_tables *tables, const char *platform)
{
    AUTO_FREE struct tally *v = NULL;
    size_t n;
    int code = count_verdicts(tables, platform, &v, &n);
    for (size_t k = 0; !code && k < n; k++) {
        page_put(f, "<p>Of %zu contrasts of a config with its baseline%s%s", v[k].all,
                 *v[k].mode ? " in mode " : "", v[k].mode);
        for (size_t i = 0; i < VERDICTS; i++)
            fprintf(f, ", %zu %s", v[k].counts[i], verdict_names[i]);
        fputs(".</p>\n", f);
    }
    return code;
}

static void put_overview_row(FILE *f, size_t place, const char *platform, const struct tally *t)
{
    page_put(f, "<tr><td><a href=\"#p%zu\">%s</a></td><td>%s</td><td class=\"n\">%zu</td>", place,
             platform, *t->mode ? t->mode : "alone", t->all);
    for (size_t i = 0; i < VERDICTS; i++)
        fprintf(f, "<td class=\"n %s\">%zu</td>", t->counts[i] ? verdict_names[i] : "soft",
                t->counts[i]);
    fputs("</tr>\n", f);
}

int page_put_overview(FILE *f, struct paper_tables *tables, const struct words *platforms)
{
    int code = GS_OK;
    fputs("<div class=\"wide\"><table><thead><tr><th>platform</th><th>mode</th>"
          "<th class=\"n\">contrasts</th>",
          f);
    for (size_t i = 0; i < VERDICTS; i++)
        fprintf(f, "<th class=\"n\">%s</th>", verdict_names[i]);
    fputs("</tr></thead><tbody>\n", f);
    for (size_t p = 0; p < platforms->n && !code; p++) {
        static const struct tally none = {.mode = ""};
        AUTO_FREE struct tally *v = NULL;
        size_t n;
        code = count_verdicts(tables, platforms->v[p], &v, &n);
        for (size_t k = 0; k < n || (k == 0 && !n); k++)
            put_overview_row(f, p, platforms->v[p], n ? &v[k] : &none);
    }
    fputs("</tbody></table></div>\n", f);
    return code;
}

int page_put_tables(FILE *f, struct paper_tables *tables, const char *platform, size_t most)
{
    int code = GS_OK;
    for (size_t i = 0; !code && i < sizeof shown_tables / sizeof *shown_tables; i++)
        code = put_table(f, &shown_tables[i], tables, platform, most);
    return code;
}
