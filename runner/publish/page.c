/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/page.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "base/version.h"
#include "compare/contrast.h"
#include "compare/origin.h"
#include "publish/tables.h"
#include "record/host_load.h"
#include "record/manifest.h"
#include "record/record.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folders of figures that are of no platform alone: of the method, of all networks together. */
#define METHOD_FOLDER "method"
#define SITES_FOLDER "wan"
#define SITES_WORKLOAD "wan_sync" /* whose platforms have their figures there */
#define NAMED_IN_TITLE 4          /* platforms; more are counted */
#define FIGURES_ROOM 1200000u     /* bytes: a page below 3 MB loads at once */
#define ROWS_OF_A_TABLE 240       /* of one platform; of several, fewer */
#define ROWS_OF_SEVERAL 30

struct page {
    FILE *f;
    const struct page_source *source;
    struct paper_tables tables;
    struct grid *runs; /* grid_runs: all of them */
    struct words platforms;
    size_t room; /* bytes for the figures of a folder */
    int serial;  /* of the next figure, whose identifiers begin with it */
    /* the table or platform that is being written */
    const struct table *table;
    size_t place, rows;
};

/* ---- text ---- */

/* A file beside this one, as a text. Global within the program: -flto may put its users elsewhere. */
#define EMBEDDED(name, file)                                                                       \
    extern const char name[];                                                                      \
    __asm__(".section .rodata\n.globl " #name "\n.hidden " #name "\n" #name                        \
            ":\n.incbin \"runner/publish/" file "\"\n.byte 0\n.previous")
EMBEDDED(page_style, "page.css");
EMBEDDED(page_script, "page.js");

/* Escapes the characters that HTML reserves. */
static void put_text(FILE *f, const char *s)
{
    static const char reserved[] = "&<>\"'";
    static const char *const written[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (const char *c; *s; s++)
        if ((c = strchr(reserved, *s)))
            fputs(written[c - reserved], f);
        else
            fputc(*s, f);
}

/* Writes HTML. The characters of each %s that HTML reserves are escaped; %d and %zu are numbers. */
__attribute__((format(printf, 2, 3))) static void put(FILE *f, const char *html, ...)
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

static void put_heading(FILE *f, const char *id, const char *text)
{
    put(f,
        "<section id=\"%s\"><h2>%s <a href=\"#%s\" aria-label=\"link to this section\">#</a>"
        "</h2>\n",
        id, text, id);
}

/* ---- tables ---- */

#define COLUMNS_MAX 21

enum kind { TEXT, PARAMS, LONG, RUN, VERDICT, WHOLE, SIZE, TIME, RATE, SHARE, CHANGE, FLOOR };

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
        {"floor", "A/A floor", FLOOR}, {"launches", "launches", WHOLE}, {"run_id", "run", RUN},    \
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
      {"overlap_ci_high", "to", SHARE}, {"launches", "launches", WHOLE}, {"run_id", "run", RUN},
      {"note", "note", LONG}, {"params", "parameters", PARAMS}, {0}}},
    {"compare", "Every verdict", NULL, false, {COMPARED}},
    {"summary", "Every cell", NULL, false,
     {{"platform", NULL, TEXT}, {"workload", "workload", TEXT}, {"mode", "mode", TEXT},
      {"size_B", "size", SIZE}, {"config", "config", TEXT}, {"median_s", "median", TIME},
      {"ci_low_s", "from", TIME}, {"ci_high_s", "to", TIME}, {"p99_s", "p99", TIME},
      {"busbw_Bps", "busbw", RATE}, {"limit_fraction", "of the limit", SHARE},
      {"launches", "launches", WHOLE}, {"ran", "ran", TEXT}, {"status", "status", TEXT},
      {"converged", "converged", TEXT}, {"note", "note", LONG}, {"run_id", "run", RUN},
      {"params", "parameters", PARAMS}, {0}}},
    {"wan", "Between sites", NULL, false,
     {{"platform", NULL, TEXT}, {"config", "config", TEXT}, {"size_B", "size", SIZE},
      {"every", "every", WHOLE}, {"rate_Bps", "rate", RATE}, {"rtt_s", "RTT", TIME},
      {"loss", "loss", SHARE}, {"sync_s", "synchronisation", TIME},
      {"sync_ci_low_s", "from", TIME}, {"sync_ci_high_s", "to", TIME}, {"bound_s", "bound", TIME},
      {"model_sync_s", "modelled", TIME}, {"step_s", "step", TIME},
      {"efficiency", "compute", SHARE}, {"launches", "launches", WHOLE}, {"run_id", "run", RUN},
      {0}}},
    {"transitions", "What stands out in the curves", NULL, false,
     {{"platform", NULL, TEXT}, {"verdict", "verdict", TEXT}, {"kind", "kind", TEXT},
      {"workload", "workload", TEXT}, {"mode", "mode", TEXT}, {"config", "config", TEXT},
      {"size_B", "size", SIZE}, {"change", "change", SHARE}, {"agree", "agree", WHOLE},
      {"replicates", "of launches", WHOLE}, {"reason", "reason", LONG},
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
    CHECK(paper_tables_find(s, t->file, &g));
    for (const struct column *c = t->columns; c->name; c++)
        if (!grid_has(g, c->name))
            return fail_at(GS_USAGE, g->path, 1,
                           "no column '%s'; 'make tables' writes the tables of this version",
                           c->name);
    return GS_OK;
}

/* Calls row() with each row of the platform that is being written. Rows of runs that were replaced by
 * another run are left out. */
static int each_row(struct page *p, const char *columns, const char *table, const char *which,
                    void (*row)(void *p, sqlite3_stmt *st))
{
    int code = paper_tables_find(&p->tables, table, &p->tables.reading);
    char *query = sqlite3_mprintf("SELECT %s FROM \"%w\" WHERE platform = %Q AND %s", columns,
                                  table, p->platforms.v[p->place], which);
    p->tables.refused = true;
    TRY(code, store_each(&p->tables.store, query, row, p));
    sqlite3_free(query);
    return code;
}

static bool is_number(enum kind k)
{
    return k >= WHOLE;
}

static const char *number(char *buf, size_t n, enum kind kind, double x)
{
    switch (kind) {
    case SIZE:
        return units_short_size(buf, n, (uint64_t)x);
    case TIME:
        return units_human_time(buf, n, x);
    case RATE:
        return units_human_rate(buf, n, x);
    case SHARE:
        snprintf(buf, n, "%.3g %%", 100 * x);
        break;
    case CHANGE: /* of a ratio */
        snprintf(buf, n, "%+.2f %%", 100 * (x - 1));
        break;
    case FLOOR: /* how much longer the slower copy took: a ratio, so its two ends differ */
        snprintf(buf, n, "%+.2f … %+.2f %%", -100 * x / (1 + x), 100 * x);
        break;
    default:
        snprintf(buf, n, "%.0f", x);
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
    if (is_number(kind))
        fprintf(f, "<td class=n>%s", isfinite(x) ? number(buf, sizeof buf, kind, x) : "");
    else if (kind == VERDICT)
        fprintf(f, "<td class=\"%s\">%s", s, s);
    else if (kind == RUN)
        put(f, "<td><a href=\"#run-%s\">%s</a>", s, s);
    else
        put(f,
            kind == LONG     ? "<td class=\"long\">%s"
            : kind == PARAMS ? "<td class=\"soft\">%s"
                             : "<td>%s",
            s);
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

static size_t most_rows(const struct page *p)
{
    return p->platforms.n > 1 ? ROWS_OF_SEVERAL : ROWS_OF_A_TABLE;
}

/* The line, then the columns that have a title. */
static void put_row(void *page, sqlite3_stmt *st)
{
    struct page *p = page;
    int column = 0;
    if (!p->rows++)
        put_head(p->f, p->table);
    if (p->rows > most_rows(p))
        return;
    fprintf(p->f, "<tr><td class=\"n soft\">%s", store_text(st, column));
    for (const struct column *c = p->table->columns; c->name; c++)
        if (c->title)
            put_cell(p->f, st, ++column, c->kind);
    fputs("</tr>\n", p->f);
}

/* Most rows of limits.csv are measurements for which the config has no limit: they would be a third of
 * a page. */
static int put_table(struct page *p, const struct table *t)
{
    AUTO_TEXT struct text columns = {0};
    text_add(&columns, "CAST(line AS INTEGER)");
    for (const struct column *c = t->columns; c->name; c++)
        if (c->title)
            text_addf(&columns, ", %s", c->name);
    AUTO_FREE char *which = xstrfmt("%s %s '%s' ORDER BY rowid", t->columns[1].name,
                                    t->only ? "=" : "IS NOT", t->only ? t->only : "no limit");
    p->table = t;
    p->rows = 0;
    CHECK(find_table(&p->tables, t));
    CHECK(each_row(p, columns.s, t->file, which, put_row));
    if (!p->rows)
        return GS_OK;
    fputs("</tbody></table></div>\n<p class=\"soft\">", p->f);
    if (p->rows > most_rows(p))
        fprintf(p->f, "%zu of ", most_rows(p));
    fprintf(p->f,
            "%zu row%s of <code>%s.csv</code>; <code>gradsync why %s:LINE</code> prints the "
            "lines of the recordings behind one</p></details>\n",
            p->rows, p->rows == 1 ? "" : "s", t->file, t->file);
    return GS_OK;
}

/* ---- verdicts, counted ---- */

static void put_count(void *page, sqlite3_stmt *st)
{
    FILE *f = ((struct page *)page)->f;
    const char *mode = store_text(st, 0);
    put(f, "<p>Of %s contrasts of a config with its baseline%s%s", store_text(st, 1),
        *mode ? " in mode " : "", mode);
    for (int i = 0; i < VERDICTS; i++)
        fprintf(f, ", %s %s", store_text(st, 2 + i), verdict_names[i]);
    fputs(".</p>\n", f);
}

/* Modes are different questions: a step's time and an operation's are never in one count. */
static int put_counts(struct page *p)
{
    AUTO_TEXT struct text columns = {0}, which = {0};
    text_add(&columns, "ifnull(mode, ''), count(*)");
    text_add(&which, "verdict IN (''");
    for (size_t i = 0; i < VERDICTS; i++) {
        text_addf(&columns, ", sum(verdict = '%s')", verdict_names[i]);
        text_addf(&which, ", '%s'", verdict_names[i]);
    }
    text_add(&which, ") GROUP BY mode ORDER BY min(rowid)");
    return each_row(p, columns.s, "compare", which.s, put_count);
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

/* By how the name of a figure ends. */
struct figure_kind {
    const char *end, *table;
    enum question question;
    const char *caption;
};
static const struct figure_kind kinds[] = {
    {ANSWER, "chosen", SHORTEST,
     "Loss of each step when the config with the highest bandwidth is set instead of the best "
     "other one. Where no bandwidth was measured, the loss is that of the baseline. Arrow: the "
     "interval goes on."},
    {"-ranks", "iteration", SHORTEST,
     "Configs in the order of their medians: bandwidth alone (left) and time of the step (right). "
     "Only verdicts tell whether two configs differ."},
    {"-decomposition", "iteration", WHY,
     "Compute, and the communication that overlap hides or leaves exposed. Each part and the time "
     "(the dot) is a median of its own, so the parts need not end at the dot. Arrow: the interval "
     "goes on."},
    {"-by-ctas", "iteration", WHY,
     "Time of the step over compute alone, from the same blocks, against the number of CTAs."},
    {"-ecdf", "samples", WHY,
     "Distribution of the times of all iterations. Its median is that of all samples, so it can "
     "differ from that of the other tables and figures."},
    {"-verdict_map", "compare", DIFFER,
     "Verdict on each config at each size, against the baseline."},
    {"-forest", "compare", DIFFER,
     "Time of each config against the baseline, with its 95% interval and the A/A floor. Arrow: "
     "the interval goes on."},
    {"-bandwidth", "compare", ALONE,
     "Bus bandwidth of each config over that of the baseline, against size: ratios within blocks, "
     "so not the quotients of the medians. Without a config auto, the medians of summary.csv. "
     "Arrow: the interval or the curve goes on."},
    {"-latency", "compare", ALONE,
     "Time of each config over that of the baseline, against size: ratios within blocks, so not "
     "the quotients of the medians. Without a config auto, the medians of summary.csv. Arrow: the "
     "interval or the curve goes on."},
    {"-by-contention", "summary", ALONE, "Time of one operation while other work uses the GPU."},
    {"sync_size", "wan", SITES, "Time of a synchronisation against its size."},
    {"sync_size_slow", "wan", SITES, "Time of a synchronisation against its size, on slow links."},
    {"sync_rtt", "wan", SITES, "Time of a synchronisation against the round-trip time."},
    {"sync_rtt_small", "wan", SITES,
     "Time of a small synchronisation against the round-trip time."},
    {"modelled", "wan", SITES, "Measured over modelled time of each synchronisation, by network."},
    {"every", "wan", SITES,
     "Compute as a share of the time, against the steps between synchronisations: points are "
     "measured, lines modelled."},
    {"wan_every", "wan", SITES,
     "Compute as a share of the time, as modelled, against the steps between synchronisations."},
    {"wan_claims", "wan", SITES,
     "Claims of a plan for training between sites, over what the plan reaches."},
    {"claims", "limits", CLAIMS,
     "Published claims and measured values, as a share of the physical limit."},
    {"wan_needed", "wan/needed", CLAIMS,
     "Bandwidth that a utilisation needs, by schedule of the synchronisations: lines are the "
     "model, points published."},
    {"error_rates", "error_rates", CLAIMS,
     "How often a difference is found, against its size, by simulation."},
};
static const struct figure_kind other = {"", "", CLAIMS, ""};

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);
    return n >= e && !strcmp(name + n - e, end) && (n == e || *end == '-');
}

static const struct figure_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (ends(name, kinds[i].end))
            return &kinds[i];
    return &other;
}

/* Where an identifier begins: after one of these. */
static const char *const before_id[] = {" id=\"",   " id='", "href='#",
                                        "href=\"#", "url(#", "url('#"};

/* The length of the text at s that an identifier follows; 0: none. */
static size_t identifier_follows(const char *s)
{
    for (size_t i = 0; i < COUNT(before_id); i++)
        if (!strncmp(s, before_id[i], strlen(before_id[i])))
            return strlen(before_id[i]);
    return 0;
}

static void put_svg(FILE *f, const char *svg, const char *label, int serial)
{
    put(f, "<svg role=\"img\" aria-label=\"%s\"", label);
    for (const char *s = svg + strlen("<svg"); *s;) {
        /* Browsers show a <title> as a tip. */
        const char *title = strncmp(s, "<title>", 7) ? NULL : strstr(s, "</title>");
        size_t n = identifier_follows(s);
        if (n)
            fprintf(f, "%.*sf%d-", (int)n, s, serial);
        else if (!title)
            fputc(*s, f);
        s = title ? title + strlen("</title>") : s + (n ? n : 1);
    }
}

static void put_caption(FILE *f, const char *name, const struct figure_kind *k)
{
    put(f, "<figcaption>%s", *k->caption ? k->caption : name);
    if (*k->table)
        fprintf(f, " From <code>%s.csv</code>.", k->table);
    fputs("</figcaption>", f);
}

/* A figure that needs more than the room that is left is counted in *left_out. */
static int put_figure(struct page *p, const char *folder, const char *name, size_t *room,
                      size_t *left_out)
{
    AUTO_TEXT struct text svg = {0};
    AUTO_FREE char *path = xstrfmt("%s/%s/%s" SUFFIX, p->source->figures, folder, name);
    const char *begin =
        files_read(path, FILES_ANY, FILES_WHOLE_MAX, &svg) ? strstr(svg.s, "<svg") : NULL;
    if (!begin)
        return fail_at(GS_FAILED, path, 0, "is not an SVG file: make figures draws it again");
    *left_out += svg.len > *room;
    if (svg.len > *room)
        return GS_OK;
    *room -= svg.len;
    fprintf(p->f, "<figure id=\"fig%d\">\n", p->serial);
    put_svg(p->f, begin, name, p->serial);
    put_caption(p->f, name, kind_of(name));
    fputs("</figure>\n", p->f);
    p->serial++;
    return GS_OK;
}

/* Names without the suffix, sorted. */
static void find_figures(const struct page *p, struct words *names, const char *folder)
{
    AUTO_FREE char *dir = xstrfmt("%s/%s", p->source->figures, folder);
    files_list(dir, "*" SUFFIX, names);
    for (size_t i = 0; i < names->n; i++)
        names->v[i][strlen(names->v[i]) - strlen(SUFFIX)] = '\0';
}

static size_t count_figures(const struct page *p, const char *folder)
{
    AUTO_WORDS struct words names = {0};
    find_figures(p, &names, folder);
    return names.n;
}

/* All figures of a folder but that of the answer, folded, grouped by question. id: of the section. */
static int put_figures(struct page *p, const char *folder, const char *id)
{
    AUTO_WORDS struct words names = {0};
    size_t room = 0, left_out = 0;
    find_figures(p, &names, folder);
    for (int q = 0; q < QUESTIONS; q++) {
        size_t n = 0;
        room += p->room / (q < SITES ? SITES : 1);
        for (size_t i = 0; i < names.n; i++) {
            if (kind_of(names.v[i])->question != (enum question)q || !strcmp(names.v[i], ANSWER))
                continue;
            if (!n++)
                put(p->f, "<details id=\"%s-%d\"><summary>%s</summary>\n<div class=\"figures\">\n",
                    id, q, questions[q]);
            CHECK(put_figure(p, folder, names.v[i], &room, &left_out));
        }
        fputs(n ? "</div></details>\n" : "", p->f);
    }
    if (left_out)
        put(p->f, "<p class=\"soft\">%zu more figure%s in <code>%s/%s</code></p>\n", left_out,
            left_out == 1 ? "" : "s", p->source->figures, folder);
    return GS_OK;
}

/* ---- the answer ----
 *
 * The first screen of the page: the figure of the answer.
 */

static int put_answer(struct page *p)
{
    size_t room = SIZE_MAX, left_out = 0;
    fputs("<section id=\"answer\">\n", p->f);
    for (size_t i = 0; i < p->platforms.n; i++) {
        AUTO_FREE char *figure =
            xstrfmt("%s/%s/" ANSWER SUFFIX, p->source->figures, p->platforms.v[i]);
        if (!access(figure, F_OK))
            CHECK(put_figure(p, p->platforms.v[i], ANSWER, &room, &left_out));
    }
    fputs("</section>\n", p->f);
    return GS_OK;
}

/* ---- runs and machines ---- */

static bool is_complete(const struct page *p, size_t run)
{
    return !strcmp(grid_text(p->runs, run, "finished"), "yes");
}

static bool is_of(const struct page *p, size_t run, const char *platform)
{
    return !strcmp(grid_text(p->runs, run, "platform"), platform);
}

static void put_run(struct page *p, size_t run)
{
    const char *id = grid_text(p->runs, run, "run_id"), *label = grid_text(p->runs, run, "label"),
               *dir = grid_text(p->runs, run, "path");
    AUTO_FREE char *load = host_load_text(dir);
    put(p->f,
        "<tr id=\"run-%s\"><td><code>gradsync show %s</code></td><td>%s%s%s</td>"
        "<td class=\"n\">%s</td><td>%s%s%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
        id, id, grid_text(p->runs, run, "workload"), *label ? " " : "", label,
        grid_text(p->runs, run, "launches"),
        is_complete(p, run) ? "complete, checksums hold" : "not complete", load ? "; " : "",
        load ? load : "", grid_text(p->runs, run, "started"), grid_text(p->runs, run, "commit"),
        dir);
}

/* "KEY VALUE" lines as rows. */
static void put_origin(FILE *f, const char *origin)
{
    fputs("<div class=\"wide\"><table><tbody>\n", f);
    for (const char *s = origin; *s;) {
        size_t n = strcspn(s, "\n"), key = strcspn(s, " \n");
        AUTO_FREE char *name = xstrfmt("%.*s", (int)key, s);
        AUTO_FREE char *value = xstrfmt("%.*s", (int)(n - key), s + key);
        put(f, "<tr><th>%s</th><td class=\"long\">%s</td></tr>\n", name, value);
        s += n + (s[n] == '\n');
    }
    fputs("</tbody></table></div>\n", f);
}

/* Of the first recording that has one; the caller frees it. */
static int origin_of(char **origin, const char *dir)
{
    AUTO_WORDS struct words paths = {0};
    *origin = xstrdup("");
    record_list(dir, &paths);
    for (size_t i = 0; i < paths.n && !**origin; i++) {
        free(*origin);
        *origin = NULL;
        CHECK(origin_read(origin, paths.v[i]));
    }
    return GS_OK;
}

/* The runs of a platform and the machines that they were measured on. */
static int put_runs(struct page *p, const char *platform)
{
    AUTO_WORDS struct words told = {0};
    fputs("<h3>Recordings</h3>\n<div class=\"wide\"><table><thead><tr><th>run</th><th>workload</th>"
          "<th class=\"n\">launches</th><th>state</th><th>started</th><th>commit</th><th>folder"
          "</th></tr></thead><tbody>\n",
          p->f);
    for (size_t i = 0; i < p->runs->n; i++)
        if (is_of(p, i, platform))
            put_run(p, i);
    fputs("</tbody></table></div>\n<h3>Machine</h3>\n", p->f);
    for (size_t i = 0; i < p->runs->n; i++) {
        AUTO_FREE char *origin = NULL;
        if (!is_of(p, i, platform))
            continue;
        CHECK(origin_of(&origin, grid_text(p->runs, i, "path")));
        if (words_has(&told, origin))
            continue;
        words_add(&told, origin);
        put(p->f, "<p class=\"soft\">as of run %s</p>\n", grid_text(p->runs, i, "run_id"));
        put_origin(p->f, origin);
    }
    return GS_OK;
}

/* Whether some run of the platform (NULL: of any on the page) is between sites, or is not. */
static bool has_run(const struct page *p, const char *platform, bool of_sites)
{
    for (size_t i = 0; i < p->runs->n; i++)
        if ((platform ? is_of(p, i, platform)
                      : words_has(&p->platforms, grid_text(p->runs, i, "platform"))) &&
            !strcmp(grid_text(p->runs, i, "workload"), SITES_WORKLOAD) == of_sites)
            return true;
    return false;
}

/* ---- the page ---- */

static int choose(struct page *p)
{
    const struct page_source *s = p->source;
    AUTO_WORDS struct words all = {0};
    for (size_t i = 0; i < p->runs->n; i++)
        words_add_once(&all, grid_text(p->runs, i, "platform"));
    for (size_t i = 0; s->platforms[i]; i++) {
        const char *near = text_nearest(s->platforms[i], (const char *const *)all.v, all.n);
        if (!words_has(&all, s->platforms[i]))
            return fail(GS_USAGE,
                        "report: no recording of platform '%s' below %s%s; 'gradsync "
                        "list measured' names them, 'gradsync run' makes one",
                        s->platforms[i], s->raw, DID_YOU_MEAN(near));
        words_add(&p->platforms, s->platforms[i]);
    }
    for (size_t i = 0; !s->platforms[0] && i < all.n; i++)
        words_add(&p->platforms, all.v[i]);
    return p->platforms.n
               ? GS_OK
               : fail(GS_USAGE, "report: no recording below %s; 'gradsync run CONFIG' makes one",
                      s->raw);
}

static void put_names(const struct page *p)
{
    const struct words *w = &p->platforms;
    if (w->n > NAMED_IN_TITLE)
        fprintf(p->f, "%zu platforms", w->n);
    for (size_t i = 0; i < w->n && w->n <= NAMED_IN_TITLE; i++)
        put(p->f, "%s%s", i ? ", " : "", w->v[i]);
}

static int put_begin(struct page *p, bool sites)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>gradsync: ",
          p->f);
    put_names(p);
    fprintf(p->f, "</title>\n<style>\n%s</style></head><body>\n<h1>gradsync: ", page_style);
    put_names(p);
    fputs("</h1>\n", p->f);
    CHECK(put_answer(p));
    fputs("<nav>", p->f);
    for (size_t i = 0; i < p->platforms.n; i++)
        put(p->f, "<a href=\"#p%zu\">%s</a> ", i, p->platforms.v[i]);
    fprintf(p->f, "%s<a href=\"#method\">method</a></nav>\n",
            sites ? "<a href=\"#sites\">between sites</a> " : "");
    fputs(
        "<details><summary>How to read this page</summary>\n<p>The question: does the config with "
        "the highest bandwidth of a collective also give the shortest training step? Every time is "
        "a median over blocks. Its 95% interval comes from a bootstrap over launches, then blocks. "
        "A verdict compares a config with its baseline in the same blocks. A negative change is a "
        "shorter time. A difference below the A/A floor, the difference between two copies of the "
        "baseline, is not called. <em>Same operation</em>: both configs ran the same algorithm, "
        "protocol and number of CTAs, so no difference is claimed. <em>Converged: no</em>: the "
        "interval is wider than the precision in the config. One launch has no "
        "interval.</p></details>\n",
        p->f);
    return GS_OK;
}

static int put_platform(struct page *p, size_t place)
{
    const char *platform = p->platforms.v[place], *figures = p->source->figures;
    AUTO_FREE char *id = xstrfmt("p%zu", place);
    p->place = place;
    put_heading(p->f, id, platform);
    CHECK(put_counts(p));
    CHECK(put_figures(p, platform, id));
    if (!count_figures(p, platform) && has_run(p, platform, false))
        say("report: no figure in %s/%s; to draw them: make figures PLATFORM=%s", figures, platform,
            platform);
    for (size_t i = 0; i < COUNT(shown_tables); i++)
        CHECK(put_table(p, &shown_tables[i]));
    CHECK(put_runs(p, platform));
    fputs("</section>\n", p->f);
    return GS_OK;
}

/* A section of the figures of a folder that belongs to no platform alone. */
static int put_folder(struct page *p, const char *id, const char *title, const char *folder)
{
    put_heading(p->f, id, title);
    CHECK(put_figures(p, folder, id));
    fputs("</section>\n", p->f);
    return GS_OK;
}

static int put_page(struct page *p)
{
    bool sites = has_run(p, NULL, true);
    size_t drawn = 0; /* platforms with figures */
    for (size_t i = 0; i < p->platforms.n; i++)
        drawn += count_figures(p, p->platforms.v[i]) > 0;
    p->room = FIGURES_ROOM / (drawn ? drawn : 1);
    CHECK(put_begin(p, sites));
    for (size_t i = 0; i < p->platforms.n; i++)
        CHECK(put_platform(p, i));
    if (sites)
        CHECK(put_folder(p, "sites", "Between sites", SITES_FOLDER));
    CHECK(put_folder(p, "method", "Method", METHOD_FOLDER));
    fprintf(p->f,
            "<footer class=\"soft\"><p>Made by gradsync %s (%s) from the recordings "
            "above.</p></footer>\n<script>%s</script>\n</body></html>\n",
            GRADSYNC_VERSION, gradsync_commit, page_script);
    return GS_OK;
}

/* All runs below `raw`, and that those which are complete are as they were written. */
static int read_runs(struct page *p)
{
    CHECK(grid_runs(&p->runs, p->source->raw, true));
    for (size_t i = 0; i < p->runs->n; i++)
        if (is_complete(p, i))
            CHECK(manifest_verify(grid_text(p->runs, i, "path")));
    return GS_OK;
}

static void page_free(struct page *p)
{
    paper_tables_free(&p->tables);
    grid_free(p->runs);
    words_free(&p->platforms);
}

int page_write(const char *path, const struct page_source *source)
{
    AUTO(page_free)
    struct page p = {
        .source = source, .tables = {.csv = source->csv, .raw = source->raw}, .serial = 1};
    AUTO_FREE char *text = NULL;
    size_t size = 0;
    CHECK(read_runs(&p));
    CHECK(choose(&p));
    if (!(p.f = open_memstream(&text, &size)))
        return fail_file(path, "written", errno);
    int code = put_page(&p);
    bool whole = fclose(p.f) == 0;
    if (code)
        return code;
    return whole && files_replace(path, text, 0644) ? GS_OK : fail_file(path, "written", errno);
}
