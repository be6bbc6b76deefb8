/* SPDX-License-Identifier: Apache-2.0 */
#include "advise/advice.h"
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/contrast.h"
#include "compare/origin.h"
#include "publish/page.h"
#include "record/host_load.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- style and script ----
 *
 * Figures are drawn for white paper, and stay on it in the dark: turned round, the deepest cell of a
 * map would be the brightest.
 */

const char page_style[] =
    ":root{color-scheme:light dark;--ink:#1a1a1a;--soft:#5a5a5a;--paper:#fff;--line:#d8d8d8;"
    "--code:#f2f2f2;--faster:#00694d;--slower:#a34700}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--soft:#a6a6a6;--paper:#000;"
    "--line:#3a3a3a;--code:#1c1c1c;--faster:#4fd0a5;--slower:#ff9a57}svg{filter:brightness(.85)}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:80rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif;"
    "color:var(--ink);background:var(--paper);overflow-wrap:anywhere}\n"
    "h1{font-size:1.1rem;margin:0;color:var(--soft)}h2{font-size:1.25rem;margin-top:2.5rem;"
    "border-bottom:1px solid var(--line)}h3{font-size:1rem}\n"
    ".advice{font-size:1.35rem;line-height:1.3;margin:.6rem 0}\n"
    "a{color:inherit}h2 a{text-decoration:none;color:var(--soft)}nav a{margin-right:1rem}"
    ".soft{color:var(--soft)}\n"
    ".answer{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}"
    ".answer .wide{flex:3 1 30rem;min-width:0}.answer figure{flex:1 1 20rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));"
    "gap:1rem}\n"
    "figure{margin:0;min-width:0}svg{width:100%;height:auto;display:block;background:#fff}\n"
    "figcaption{font-size:.8rem;color:var(--soft)}figcaption details{display:inline}\n"
    ".wide{overflow-x:auto;max-width:100%}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top;white-space:nowrap}.sort th{cursor:pointer}\n"
    "td.n,th.n{text-align:right}td.long{white-space:normal;min-width:14rem;color:var(--soft)}\n"
    "td.say{white-space:normal;min-width:11rem}.sort{width:100%}nav{margin:.6rem "
    "0}td.faster{color:var(--faster);font-weight:600}td.slower{color:var(--slower)}\n"
    "details{margin:.6rem 0}summary{cursor:pointer}code{font-size:.9em}\n"
    ".cmd{background:var(--code);padding:.1rem .3rem;border-radius:.2rem}"
    "button{margin-left:.3rem;font-size:.75rem}\n"
    "@media(max-width:40rem){.answer th,.answer td{white-space:normal;overflow-wrap:normal;"
    "font-size:.75rem;padding-right:.4rem}.answer td.say{min-width:5rem}}\n"
    "@media print{details>*{display:block}button{display:none}svg{filter:none}}\n";

/* Copies a command, and sorts a table by the column whose heading is clicked: the first one as it was,
 * numbers as numbers. */
const char page_script[] =
    "document.querySelectorAll('.cmd').forEach(c=>{const b=document.createElement('button');"
    "b.textContent='copy';b.onclick=()=>{getSelection().selectAllChildren(c);"
    "document.execCommand('copy')};c.after(b)});\n"
    "document.querySelectorAll('.sort').forEach(t=>{const rows=[...t.tBodies[0].rows];"
    "t.querySelectorAll('th').forEach((h,i)=>{let up=1;h.onclick=()=>{up=-up;"
    "const v=r=>i?r.cells[i].textContent:''+rows.indexOf(r),n=r=>parseFloat(v(r));"
    "[...rows].sort((a,b)=>-up*(isNaN(n(a)-n(b))?v(a).localeCompare(v(b)):n(a)-n(b)))"
    ".forEach(r=>t.tBodies[0].append(r))}})});\n";

/* ---- text ---- */

/* Escapes the characters that HTML reserves. */
static void put_text(FILE *f, const char *s)
{
    static const struct {
        char c;
        const char *written;
    } markup[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (; *s; s++) {
        const char *written = NULL;
        for (size_t i = 0; i < sizeof markup / sizeof *markup; i++)
            if (*s == markup[i].c)
                written = markup[i].written;
        if (written)
            fputs(written, f);
        else
            fputc(*s, f);
    }
}

void page_put(FILE *f, const char *html, ...)
{
    va_list args;
    va_start(args, html);
    for (const char *s = html; *s; s++)
        if (*s != '%')
            fputc(*s, f);
        else if (*++s == 's')
            put_text(f, va_arg(args, const char *));
        else if (*s == 'd')
            fprintf(f, "%d", va_arg(args, int));
        else if (*s++ == 'z')
            fprintf(f, "%zu", va_arg(args, size_t));
    va_end(args);
}

/* ---- tables ---- */

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
static int find_table(struct paper_tables *s, const struct table *t)
{
    const struct grid *g;
    int code = paper_tables_find(s, t->file, &g);
    for (const struct column *c = t->columns; c->name && !code; c++)
        if (!grid_has(g, c->name))
            code =
                fail_at(GS_USAGE, g->path, 1,
                        "no column '%s'; 'make tables' writes the tables of this version", c->name);
    return code;
}

/* The rows of a platform that stand for their cells. */
static int each_row(struct paper_tables *s, const char *columns, const char *table,
                    const char *platform, const char *which,
                    void (*row)(void *ctx, sqlite3_stmt *st), void *ctx)
{
    int code = paper_tables_find(s, table, &s->reading);
    char *query = sqlite3_mprintf("SELECT %s FROM \"%w\" WHERE platform = %Q AND %s", columns,
                                  table, platform, which);
    s->refused = true;
    TRY(code, store_each(&s->store, query, row, ctx));
    sqlite3_free(query);
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
static void put_cell(FILE *f, sqlite3_stmt *st, int column, enum kind kind)
{
    const char *s = store_text(st, column);
    double x = is_number(kind) ? store_real(st, column) : NAN;
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

struct shown_rows {
    FILE *f;
    const struct table *t;
    size_t n, most;
};

/* The line, then the columns that have a title. */
static void put_row(void *ctx, sqlite3_stmt *st)
{
    struct shown_rows *r = ctx;
    int column = 0;
    if (!r->n++)
        put_head(r->f, r->t);
    if (r->n > r->most)
        return;
    fprintf(r->f, "<tr><td class=\"n soft\">%s", store_text(st, column));
    for (const struct column *c = r->t->columns; c->name; c++)
        if (c->title)
            put_cell(r->f, st, ++column, c->kind);
    fputs("</tr>\n", r->f);
}

/* Most rows of limits.csv are measurements for which the config has no limit: they would be a third of
 * a page. */
static int page_tables_put_table(FILE *f, const struct table *t, struct paper_tables *tables,
                                 const char *platform, size_t most)
{
    struct shown_rows r = {f, t, 0, most};
    AUTO_TEXT struct text columns = {0};
    text_add(&columns, "CAST(line AS INTEGER)");
    for (const struct column *c = t->columns; c->name; c++)
        if (c->title)
            text_addf(&columns, ", %s", c->name);
    AUTO_FREE char *which = xstrfmt("%s %s '%s' ORDER BY rowid", t->columns[1].name,
                                    t->only ? "=" : "IS NOT", t->only ? t->only : "no limit");
    int code = find_table(tables, t);
    TRY(code, each_row(tables, columns.s, t->file, platform, which, put_row, &r));
    if (r.n) {
        fputs("</tbody></table></div>\n<p class=\"soft\">", f);
        if (r.n > most)
            fprintf(f, "%zu of ", most);
        fprintf(f,
                "%zu row%s of <code>%s.csv</code>; <code>gradsync why %s:LINE</code> prints the "
                "lines of the recordings behind one</p></details>\n",
                r.n, r.n == 1 ? "" : "s", t->file, t->file);
    }
    return code;
}

/* ---- verdicts, counted ---- */

/* Calls row() for each mode of a platform with its contrasts and how many of them have which verdict.
 * Modes are different questions: a step's time and an operation's are never in one count. */
static int each_count(struct paper_tables *s, const char *platform,
                      void (*row)(void *ctx, sqlite3_stmt *st), void *ctx)
{
    AUTO_TEXT struct text columns = {0}, which = {0};
    text_add(&columns, "ifnull(mode, ''), count(*)");
    text_add(&which, "verdict IN (''");
    for (size_t i = 0; i < VERDICTS; i++) {
        text_addf(&columns, ", sum(verdict = '%s')", verdict_names[i]);
        text_addf(&which, ", '%s'", verdict_names[i]);
    }
    text_add(&which, ") GROUP BY mode ORDER BY min(rowid)");
    return each_row(s, columns.s, "compare", platform, which.s, row, ctx);
}

static void put_count(void *f, sqlite3_stmt *st)
{
    const char *mode = store_text(st, 0);
    page_put(f, "<p>Of %s contrasts of a config with its baseline%s%s", store_text(st, 1),
             *mode ? " in mode " : "", mode);
    for (int i = 0; i < VERDICTS; i++)
        fprintf(f, ", %s %s", store_text(st, 2 + i), verdict_names[i]);
    fputs(".</p>\n", f);
}

int page_put_counts(FILE *f, struct paper_tables *tables, const char *platform)
{
    return each_count(tables, platform, put_count, f);
}

struct overview {
    FILE *f;
    const char *platform;
    size_t place;
    bool any;
};

/* st NULL: nothing was compared. */
static void put_overview_row(void *ctx, sqlite3_stmt *st)
{
    struct overview *o = ctx;
    const char *mode = st ? store_text(st, 0) : "";
    o->any = true;
    page_put(o->f, "<tr><td><a href=\"#p%zu\">%s</a></td><td>%s</td><td class=\"n\">%s</td>",
             o->place, o->platform, *mode ? mode : "alone", st ? store_text(st, 1) : "0");
    for (int i = 0; i < VERDICTS; i++) {
        const char *count = st ? store_text(st, 2 + i) : "0";
        fprintf(o->f, "<td class=\"n %s\">%s</td>", strcmp(count, "0") ? verdict_names[i] : "soft",
                count);
    }
    fputs("</tr>\n", o->f);
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
        struct overview o = {f, platforms->v[p], p, false};
        code = each_count(tables, o.platform, put_overview_row, &o);
        if (!o.any)
            put_overview_row(&o, NULL);
    }
    fputs("</tbody></table></div>\n", f);
    return code;
}

int page_put_tables(FILE *f, struct paper_tables *tables, const char *platform, size_t most)
{
    int code = GS_OK;
    for (size_t i = 0; !code && i < sizeof shown_tables / sizeof *shown_tables; i++)
        code = page_tables_put_table(f, &shown_tables[i], tables, platform, most);
    return code;
}

/* ---- figures ----
 *
 * gnuplot's SVG files as parts of a page: without the XML prologue, and with a prefix before each
 * identifier, since those of all figures are in one document now. They are grouped by the question
 * that they answer. A page has room for some: the others are counted, with where they are.
 */

#define SUFFIX ".svg"
#define ANSWER "answer"

enum question { SHORTEST, WHY, DIFFER, ALONE, SITES, CLAIMS, QUESTIONS };
static const char *const questions[QUESTIONS] = {
    [SHORTEST] = "Which config makes the step shortest?",
    [WHY] = "Where does the time of a step go?",
    [DIFFER] = "Which configs differ, and at which size?",
    [ALONE] = "How fast is the operation alone?",
    [SITES] = "What does a link between sites allow?",
    [CLAIMS] = "Can the verdicts and the claims be right?",
};

/* By how the name of a figure ends. `script` draws it, from a table. */
struct figure_kind {
    const char *end, *script, *table;
    bool whole; /* drawn from the whole table: its panel is in no folder of a workload */
    enum question question;
    const char *caption;
};
static const struct figure_kind kinds[] = {
    {ANSWER, ANSWER, "chosen", true, SHORTEST,
     "Loss of each step when the config with the highest bandwidth is set instead of the best "
     "other one. Where no bandwidth was measured, the loss is that of the baseline. Arrow: the "
     "interval goes on."},
    {"-ranks", "ranks", "iteration", false, SHORTEST,
     "Configs in the order of their medians: bandwidth alone (left) and time of the step (right). "
     "Only verdicts tell whether two configs differ."},
    {"-decomposition", "decomposition", "iteration", false, WHY,
     "Compute, and the communication that overlap hides or leaves exposed. Each part and the time "
     "(the dot) is a median of its own, so the parts need not end at the dot. Arrow: the interval "
     "goes on."},
    {"-by-ctas", "ctas", "iteration", false, WHY,
     "Time of the step over compute alone, from the same blocks, against the number of CTAs."},
    {"-ecdf", "ecdf", "samples", false, WHY,
     "Distribution of the times of all iterations. Its median is that of all samples, so it can "
     "differ from that of the other tables and figures."},
    {"-verdict_map", "verdict_map", "compare", false, DIFFER,
     "Verdict on each config at each size, against the baseline."},
    {"-forest", "forest", "compare", false, DIFFER,
     "Time of each config against the baseline, with its 95% interval and the A/A floor. Arrow: "
     "the "
     "interval goes on."},
    {"-bandwidth", "bandwidth", "compare", false, ALONE,
     "Bus bandwidth of each config over that of the baseline, against size: ratios within blocks, "
     "so not the quotients of the medians. Without a config auto, the medians of summary.csv. "
     "Arrow: the interval or the curve goes on."},
    {"-latency", "latency", "compare", false, ALONE,
     "Time of each config over that of the baseline, against size: ratios within blocks, so not "
     "the quotients of the medians. Without a config auto, the medians of summary.csv. Arrow: the "
     "interval or the curve goes on."},
    {"-by-contention", "contention", "summary", false, ALONE,
     "Time of one operation while other work uses the GPU."},
    {"sync_size", "wan_sync", "wan", true, SITES, "Time of a synchronisation against its size."},
    {"sync_size_slow", "wan_sync", "wan", true, SITES,
     "Time of a synchronisation against its size, on slow links."},
    {"sync_rtt", "wan_sync", "wan", true, SITES,
     "Time of a synchronisation against the round-trip time."},
    {"sync_rtt_small", "wan_sync", "wan", true, SITES,
     "Time of a small synchronisation against the round-trip time."},
    {"modelled", "wan_modelled", "wan", true, SITES,
     "Measured over modelled time of each synchronisation, by network."},
    {"every", "wan_trained", "wan", true, SITES,
     "Compute as a share of the time, against the steps between synchronisations: points are "
     "measured, lines modelled."},
    {"wan_every", "wan_every", "wan", true, SITES,
     "Compute as a share of the time, as modelled, against the steps between synchronisations."},
    {"wan_claims", "wan_claims", "wan", true, SITES,
     "Claims of a plan for training between sites, over what the plan reaches."},
    {"claims", "claims", "limits", true, CLAIMS,
     "Published claims and measured values, as a share of the physical limit."},
    {"wan_needed", "wan_needed", "wan/needed", true, CLAIMS,
     "Bandwidth that a utilisation needs, by schedule of the synchronisations: lines are the "
     "model, points published."},
    {"error_rates", "error_rates", "error_rates", true, CLAIMS,
     "How often a difference is found, against its size, by simulation."},
};
static const struct figure_kind other = {"", "", "", true, CLAIMS, ""};

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);
    return n >= e && !strcmp(name + n - e, end) && (n == e || *end == '-');
}

static const struct figure_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends(name, kinds[i].end))
            return &kinds[i];
    return &other;
}

/* ---- one figure ---- */

/* Where an identifier begins: after one of these. */
static const char *const before_id[] = {" id=\"",   " id='", "href='#",
                                        "href=\"#", "url(#", "url('#"};

/* The length of the text at s that an identifier follows; 0: none. */
static size_t identifier_follows(const char *s)
{
    for (size_t i = 0; i < sizeof before_id / sizeof *before_id; i++)
        if (!strncmp(s, before_id[i], strlen(before_id[i])))
            return strlen(before_id[i]);
    return 0;
}

/* Browsers show a <title> as a tip. Returns its length at s; 0: none. */
static size_t title_at(const char *s)
{
    const char *end = strncmp(s, "<title>", 7) ? NULL : strstr(s, "</title>");
    return end ? (size_t)(end - s) + strlen("</title>") : 0;
}

static void put_svg(FILE *f, const char *svg, const char *label, int serial)
{
    page_put(f, "<svg role=\"img\" aria-label=\"%s\"", label);
    for (const char *s = svg + strlen("<svg"); *s;) {
        size_t title = title_at(s), n = identifier_follows(s);
        if (n)
            fprintf(f, "%.*sf%d-", (int)n, s, serial);
        else if (!title)
            fputc(*s, f);
        s += title ? title : n ? n : 1;
    }
}

static void put_caption(FILE *f, const char *folder, const char *name, const struct figure_kind *k)
{
    page_put(f, "<figcaption>%s", *k->caption ? k->caption : name);
    if (*k->table)
        fprintf(f, " From <code>%s.csv</code>.", k->table);
    if (*k->script) {
        size_t n = strlen(name) - (k->whole ? 0 : strlen(k->script) + 1);
        const char *dash = strchr(name, '-');
        size_t workload = k->whole || !dash ? 0 : (size_t)(dash - name);
        AUTO_FREE char *command = xstrfmt(
            "figures/draw %s data/csv/panels/%s/%.*s%s%.*s.plot figures/out/%s/%s", k->script,
            folder, (int)workload, name, workload ? "/" : "", (int)n, name, folder, name);
        fputs("<details><summary>command</summary>", f);
        page_command(f, command);
        fputs("</details>", f);
    }
    fputs("</figcaption>", f);
}

/* *room: bytes that are left; a figure that needs more is left out, and *put says so. */
static int put_figure(FILE *f, const char *figures, const char *folder, const char *name,
                      int *serial, size_t *room, bool *put)
{
    AUTO_TEXT struct text svg = {0};
    AUTO_FREE char *path = xstrfmt("%s/%s/%s" SUFFIX, figures, folder, name);
    const char *begin =
        files_read(path, FILES_ANY, FILES_WHOLE_MAX, &svg) ? strstr(svg.s, "<svg") : NULL;
    int code = begin
                   ? GS_OK
                   : fail_at(GS_FAILED, path, 0, "is not an SVG file: make figures draws it again");
    *put = begin && svg.len <= *room;
    if (*put) {
        *room -= svg.len;
        fprintf(f, "<figure id=\"fig%d\">\n", *serial);
        put_svg(f, begin, name, *serial);
        put_caption(f, folder, name, kind_of(name));
        fputs("</figure>\n", f);
        *serial += 1;
    }
    return code;
}

/* ---- the figures of a folder ---- */

/* Names without the suffix, sorted. */
static void find_figures(struct words *names, const char *figures, const char *folder)
{
    AUTO_FREE char *dir = xstrfmt("%s/%s", figures, folder);
    files_list(dir, "*" SUFFIX, names);
    for (size_t i = 0; i < names->n; i++)
        names->v[i][strlen(names->v[i]) - strlen(SUFFIX)] = '\0';
}

size_t page_count_figures(const char *figures, const char *folder)
{
    AUTO_WORDS struct words names = {0};
    find_figures(&names, figures, folder);
    return names.n;
}

int page_put_answer_figure(FILE *f, const char *figures, const char *platform, int *serial)
{
    AUTO_WORDS struct words names = {0};
    size_t room = SIZE_MAX;
    int code = GS_OK;
    bool put;
    find_figures(&names, figures, platform);
    for (size_t i = 0; i < names.n && !code; i++)
        if (!strcmp(names.v[i], ANSWER))
            code = put_figure(f, figures, platform, ANSWER, serial, &room, &put);
    return code;
}

static int put_question(FILE *f, const struct page_place *at, const struct words *names,
                        enum question q, int *serial, size_t *room, size_t *left_out)
{
    int code = GS_OK;
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++) {
        bool put = false;
        if (kind_of(names->v[i])->question != q || !strcmp(names->v[i], ANSWER))
            continue;
        if (!n++)
            fprintf(f, "<details id=\"%s-%d\"><summary>%s</summary>\n<div class=\"figures\">\n",
                    at->id, (int)q, questions[q]);
        int one = put_figure(f, at->figures, at->folder, names->v[i], serial, room, &put);
        code = code ? code : one;
        *left_out += !put;
    }
    fputs(n ? "</div></details>\n" : "", f);
    return code;
}

int page_put_figures(FILE *f, const struct page_place *at, int *serial)
{
    AUTO_WORDS struct words names = {0};
    size_t room = 0, left_out = 0;
    int code = GS_OK;
    find_figures(&names, at->figures, at->folder);
    for (int q = 0; q < QUESTIONS; q++) {
        room += at->room / (q < SITES ? SITES : 1);
        int one = put_question(f, at, &names, (enum question)q, serial, &room, &left_out);
        code = code ? code : one;
    }
    if (left_out)
        page_put(f, "<p class=\"soft\">%zu more figure%s in <code>%s/%s</code></p>\n", left_out,
                 left_out == 1 ? "" : "s", at->figures, at->folder);
    return code;
}

/* ---- the answer ----
 *
 * The first screen of the page: what `gradsync advise` says, its table, and the figure of the answer.
 */

#define ADVISED "advised"

/* Columns of advice_headings on the page, which has no room for what ran; a class for each. */
static const struct {
    int column;
    const char *class;
} shown[] = {{ADVICE_STEP, ""},  {ADVICE_SETTING, ""},  {ADVICE_GAIN, "n"},
             {ADVICE_OPEN, "n"}, {ADVICE_WORDS, "say"}, {ADVICE_LEVEL, ""}};
enum { SHOWN = sizeof shown / sizeof *shown };

void page_command(FILE *f, const char *command)
{
    page_put(f, "<code class=\"cmd\">%s</code>", command);
}

static void put_sentence(FILE *f, const struct steps_evidence *s, size_t shape)
{
    AUTO_FREE char *text = advice_sentence(s, shape);
    page_put(f, "<p class=\"advice\">%s</p>\n", text);
}

static void put_commands(FILE *f, const struct steps_evidence *s, size_t shape)
{
    AUTO_WORDS struct words commands = {0};
    advice_commands(&commands, s, shape);
    for (size_t i = 0; i < commands.n; i++) {
        fputs(i ? " " : "<p>Next: ", f);
        page_command(f, commands.v[i]);
    }
    fputs(commands.n ? "</p>\n" : "", f);
}

static void page_answer_put_table(FILE *f, const struct steps_evidence *s, size_t shape)
{
    AUTO_WORDS struct words cells = {0};
    advice_rows(&cells, s, shape);
    fputs("<div class=\"wide\"><table class=\"sort\"><thead><tr>", f);
    for (int i = 0; i < SHOWN; i++)
        fprintf(f, "<th class=\"%s\">%s</th>", shown[i].class, advice_headings[shown[i].column]);
    fputs("</tr></thead><tbody>\n", f);
    for (size_t row = 0; row < cells.n; row += ADVICE_COLUMNS) {
        fputs("<tr>", f);
        for (int i = 0; i < SHOWN; i++) {
            const char *cell = cells.v[row + (size_t)shown[i].column];
            page_put(f, "<td class=\"%s%s\">%s</td>", shown[i].class,
                     strcmp(cell, ADVISED) ? "" : " faster", cell);
        }
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

/* The figure has all shapes of a platform: it stands below the first one. */
static bool first_of_platform(const struct steps_evidence *s, size_t shape)
{
    for (size_t i = 0; i < shape; i++)
        if (advice_has_steps(s, i) && !strcmp(s->shapes[i].platform, s->shapes[shape].platform))
            return false;
    return true;
}

static int put_shape(FILE *f, const struct page_source *source, const struct steps_evidence *s,
                     size_t shape, int *serial)
{
    int code = GS_OK;
    const char *platform = s->shapes[shape].platform;
    put_sentence(f, s, shape);
    put_commands(f, s, shape);
    fputs("<div class=\"answer\">\n", f);
    page_answer_put_table(f, s, shape);
    if (first_of_platform(s, shape))
        code = page_put_answer_figure(f, source->figures, platform, serial);
    fputs("</div>\n", f);
    return code;
}

int page_put_answer(FILE *f, const struct page_source *source, const struct words *platforms,
                    int *serial)
{
    AUTO_WORDS struct words roots = {0};
    AUTO(evidence_free) struct steps_evidence s = {0};
    bool any = false;
    for (size_t i = 0; i < platforms->n; i++)
        words_addf(&roots, "%s/%s", source->raw, platforms->v[i]);
    int code = evidence_read(&s, roots.v, roots.n);
    fputs("<section id=\"answer\">\n", f);
    for (size_t i = 0; i < s.n_shapes && !code; i++)
        if (advice_has_steps(&s, i)) {
            any = true;
            code = put_shape(f, source, &s, i, serial);
        }
    if (!any)
        fputs("<p class=\"advice\">No advice: no training step was compared here, and a collective "
              "alone does not tell whether a step gets shorter.</p>\n",
              f);
    fputs("</section>\n", f);
    return code;
}

/* ---- runs and machines ----
 *
 * The runs behind a page, and the machines that they were measured on.
 */

/* ---- reading ---- */

const char *page_fact(const struct page_run *r, enum machine_fact fact)
{
    return r->machine.facts[fact] ? r->machine.facts[fact] : "";
}

static int read_run(struct page_run *run, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    *run = (struct page_run){
        .dir = xstrdup(dir), .load = host_load_text(dir), .finished = run_is_final(dir)};
    int code = machine_of_run(&run->machine, dir);
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !code && !(run->origin && *run->origin); i++) {
        free(run->origin);
        run->origin = NULL;
        code = origin_read(&run->origin, paths.v[i]);
    }
    if (!code && run->finished)
        code = manifest_verify(dir);
    return code ? code : ledger_check_run(dir);
}

int page_runs_read(struct page_run **runs, size_t *n, const char *raw)
{
    AUTO(runs_free) struct runs found = {0};
    int code = runs_find(&found, raw);
    TRY(code, runs_sort(&found));
    *runs = xcalloc(found.n, sizeof **runs);
    *n = 0;
    for (size_t i = 0; i < found.n && !code; i++)
        code = read_run(&(*runs)[(*n)++], found.v[i].dir);
    return code;
}

void page_runs_free(struct page_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        machine_free(&runs[i].machine);
        free(runs[i].dir);
        free(runs[i].origin);
        free(runs[i].load);
    }
    free(runs);
}

/* ---- writing ---- */

static void put_run(FILE *f, const struct page_run *r)
{
    const char *id = page_fact(r, FACT_RUN), *label = page_fact(r, FACT_LABEL);
    page_put(f,
             "<tr id=\"run-%s\"><td><code>gradsync show %s</code></td><td>%s%s%s</td>"
             "<td class=\"n\">%d</td><td>%s%s%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
             id, id, page_fact(r, FACT_WORKLOAD), *label ? " " : "", label, r->machine.launches,
             r->finished ? "complete, checksums hold" : "not complete", r->load ? "; " : "",
             r->load ? r->load : "", page_fact(r, FACT_STARTED), page_fact(r, FACT_COMMIT), r->dir);
}

/* "KEY VALUE" lines as rows. */
static void put_origin(FILE *f, const char *origin)
{
    fputs("<div class=\"wide\"><table><tbody>\n", f);
    for (const char *s = origin; *s;) {
        size_t n = strcspn(s, "\n"), key = strcspn(s, " \n");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)key, s);
        AUTO_FREE char *value = xstrfmt("%.*s", (int)(n - key), s + key);
        page_put(f, "<tr><th>%s</th><td class=\"long\">%s</td></tr>\n", name, value);
        s += n + (s[n] == '\n');
    }
    fputs("</tbody></table></div>\n", f);
}

static bool is_of(const struct page_run *r, const char *platform)
{
    return !strcmp(page_fact(r, FACT_PLATFORM), platform);
}

static bool told_before(const struct page_run *runs, size_t i, const char *platform)
{
    for (size_t k = 0; k < i; k++)
        if (is_of(&runs[k], platform) && !strcmp(runs[k].origin, runs[i].origin))
            return true;
    return false;
}

void page_put_runs(FILE *f, const struct page_run *runs, size_t n, const char *platform)
{
    fputs("<h3>Recordings</h3>\n<div class=\"wide\"><table><thead><tr><th>run</th><th>workload</th>"
          "<th class=\"n\">launches</th><th>state</th><th>started</th><th>commit</th><th>folder"
          "</th></tr></thead><tbody>\n",
          f);
    for (size_t i = 0; i < n; i++)
        if (is_of(&runs[i], platform))
            put_run(f, &runs[i]);
    fputs("</tbody></table></div>\n<h3>Machine</h3>\n", f);
    for (size_t i = 0; i < n; i++)
        if (is_of(&runs[i], platform) && !told_before(runs, i, platform)) {
            page_put(f, "<p class=\"soft\">as of run %s</p>\n", page_fact(&runs[i], FACT_RUN));
            put_origin(f, runs[i].origin);
        }
}
