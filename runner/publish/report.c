/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/report.h"

#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/version.h"
#include "config/locate.h"
#include "store/printer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIGURES_ROOM 1000000u /* bytes of the figures of a page, which then loads at once */
#define ROWS 200              /* of a table */

__asm__(".section .rodata\n.globl report_html\n.hidden report_html\nreport_html:\n"
        ".incbin \"runner/publish/report.html\"\n.byte 0\n.previous");
extern const char report_html[];

/* The tables of a platform: titles are the names of the columns. ?1 is the platform. */
static const struct {
    const char *title, *sql;
} tables[] = {
    {"Training steps",
     "SELECT workload, label, short_size(size_B) AS size, config, human(overlapped_s, 's') AS step,"
     " human(compute_s, 's') AS compute, human(comm_s, 's') AS communication,"
     " human(exposed_s, 's') AS exposed, human(hidden_s, 's') AS hidden, launches,"
     " params AS parameters"
     " FROM iteration JOIN standing USING (run) WHERE platform = ?1 ORDER BY iteration.rowid"},
    {"Every verdict",
     "SELECT workload, label, mode, short_size(size_B) AS size, config, baseline AS against, "
     "verdict,"
     " iif(launches > 1, printf('%+.2f%% [%+.2f, %+.2f]', 100 * ratio - 100, 100 * ratio_low - 100,"
     "  100 * ratio_high - 100), '-') AS change, reason"
     " FROM compare JOIN standing USING (run) WHERE platform = ?1 ORDER BY compare.rowid"},
    {"Every cell",
     "SELECT workload, label, mode, short_size(size_B) AS size, config, human(median_s, 's') AS "
     "median,"
     " human(ci_low_s, 's') AS low, human(ci_high_s, 's') AS high, human(busbw_Bps, 'B/s') AS "
     "busbw,"
     " status, coalesce(nullif(reason, ''), note) AS note"
     " FROM summary JOIN standing USING (run) WHERE platform = ?1 ORDER BY summary.rowid"},
    {"Between sites",
     "SELECT config, short_size(size_B) AS size, every, human(rtt_s, 's') AS RTT, loss,"
     " human(sync_s, 's') AS synchronisation, human(bound_s, 's') AS bound,"
     " human(model_sync_s, 's') AS modelled, human(step_s, 's') AS step, launches"
     " FROM wan JOIN standing USING (run) WHERE platform = ?1 ORDER BY wan.rowid"},
    {"Runs and machines",
     "SELECT run.run_id AS run, workload, label, ranks, run.launches,"
     " iif(complete, 'complete', 'not complete') AS state, started,"
     " (SELECT group_concat(DISTINCT coalesce(nullif(gpu, ''), cpu)) FROM host"
     "  WHERE host.run = run.run) AS machine, git_commit AS \"commit\", dir AS folder"
     " FROM run JOIN standing USING (run) WHERE platform = ?1 ORDER BY workload, label, run_id"},
};

struct page {
    FILE *f;
    struct store store;
    const struct report_source *source;
    struct words platforms;
    size_t room; /* for the figures of one platform */
};

static void put_text(FILE *f, const char *s)
{
    static const char reserved[] = "&<>\"";
    static const char *const written[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (const char *c; *s; s++)
        if ((c = strchr(reserved, *s)))
            fputs(written[c - reserved], f);
        else
            fputc(*s, f);
}

/* What `gradsync compare` prints, in a process of its own. */
static int put_compare(struct page *p, const char *platform)
{
    bool all = !strcmp(p->source->raw, LOCATE_DATA);
    AUTO_FREE char *folder = all ? xstrdup(platform) : xstrfmt("%s/%s", p->source->raw, platform);
    AUTO_FREE char *command = xstrfmt("COLUMNS=100 %s/gradsync compare %s 2>&1",
                                      SHELL_WORD(program_dir()), SHELL_WORD(folder));
    FILE *out = popen(command, "r");
    char line[512];
    if (!out)
        return fail_file(command, "run", errno);
    fputs("<pre>", p->f);
    while (fgets(line, sizeof line, out))
        put_text(p->f, line);
    fputs("</pre>\n", p->f);
    pclose(out); /* a platform without two configs has nothing to compare, which it says */
    return GS_OK;
}

/* As an image, which keeps the identifiers of a figure apart from those of others. */
static void put_figure(FILE *f, const char *svg, const char *name)
{
    fprintf(f, "<figure><img alt=\"%s\" src=\"data:image/svg+xml,", name);
    for (; *svg; svg++)
        if (strchr("%#\"<>&\n", *svg))
            fprintf(f, "%%%02x", (unsigned)*svg);
        else
            fputc(*svg, f);
    fprintf(f, "\"><figcaption>%s</figcaption></figure>\n", name);
}

/* Which kinds of figures come first: by the ends of their names. */
static size_t place_of(const char *name)
{
    static const char *const ends[] = {"answer",      "ranks", "forest",  "decomposition",
                                       "verdict_map", "ctas",  "latency", "bandwidth",
                                       "contention",  "ecdf"};
    size_t i = 0;
    while (i < COUNT(ends) && !text_ends(name, ends[i]))
        i++;
    return i;
}

static int by_place(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t i = place_of(x), j = place_of(y);
    return i != j ? (i > j) - (i < j) : strcmp(x, y);
}

static int put_figures(struct page *p, const char *folder)
{
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *dir = xstrfmt("%s/%s", p->source->figures, folder);
    size_t left = p->room, left_out = 0;
    files_list(dir, "*.svg", &names);
    for (size_t i = 0; i < names.n; i++)
        names.v[i][strlen(names.v[i]) - strlen(".svg")] = '\0';
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, by_place);
    fputs("<div class=\"figures\">\n", p->f);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s.svg", dir, names.v[i]);
        AUTO_TEXT struct text svg = {0};
        if (!files_read(path, FILES_ANY, FILES_WHOLE_MAX, &svg))
            return fail_at(GS_FAILED, path, 0, "%s; make figures draws it again", files_why(errno));
        left_out += svg.len > left;
        if (svg.len > left)
            continue;
        left -= svg.len;
        put_figure(p->f, svg.s, names.v[i]);
    }
    fputs("</div>\n", p->f);
    if (left_out)
        fprintf(p->f, "<p class=\"soft\">%zu more figures are in %s.</p>\n", left_out, dir);
    return GS_OK;
}

static int put_table(struct page *p, const char *platform, const char *title, const char *sql)
{
    sqlite3_stmt *st = store_prepare(&p->store, sql);
    int step, rows = 0;
    if (!st)
        return GS_FAILED;
    sqlite3_bind_text(st, 1, platform, -1, SQLITE_STATIC);
    for (; (step = sqlite3_step(st)) == SQLITE_ROW; rows++) {
        if (!rows) {
            fprintf(p->f, "<details><summary>%s</summary>\n<table><tr>", title);
            for (int i = 0; i < sqlite3_column_count(st); i++)
                fprintf(p->f, "<th>%s", sqlite3_column_name(st, i));
        }
        fputs(rows < ROWS ? "<tr>" : "", p->f);
        for (int i = 0; rows < ROWS && i < sqlite3_column_count(st); i++) {
            fputs("<td>", p->f);
            put_text(p->f, store_text(st, i));
        }
        fputs(rows < ROWS ? "\n" : "", p->f);
    }
    int code = step == SQLITE_DONE ? GS_OK : store_failed(&p->store);
    sqlite3_finalize(st);
    fputs(rows ? "</table>\n" : "", p->f);
    if (rows > ROWS)
        fprintf(p->f,
                "<p class=\"soft\">%d of %d rows; <code>gradsync query</code> prints all.</p>\n",
                ROWS, rows);
    fputs(rows ? "</details>\n" : "", p->f);
    return code;
}

static int put_platform(struct page *p, const char *platform)
{
    fprintf(p->f, "<section id=\"%s\"><h2>%s</h2>\n", platform, platform);
    CHECK(put_compare(p, platform));
    CHECK(put_figures(p, platform));
    for (size_t i = 0; i < COUNT(tables); i++)
        CHECK(put_table(p, platform, tables[i].title, tables[i].sql));
    fputs("</section>\n", p->f);
    return GS_OK;
}

/* The frame, with the names of the platforms for %n, the version for %v and the platforms for %p. */
static int put_page(struct page *p)
{
    AUTO_TEXT struct text names = {0};
    for (size_t i = 0; i < p->platforms.n; i++)
        text_addf(&names, "%s%s", i ? ", " : "", p->platforms.v[i]);
    for (const char *s = report_html; *s; s++)
        if (*s != '%' || !strchr("nvp", s[1]))
            fputc(*s, p->f);
        else if (*++s != 'p')
            put_text(p->f, *s == 'n' ? names.s : GRADSYNC_VERSION);
        else
            for (size_t i = 0; i < p->platforms.n; i++)
                CHECK(put_platform(p, p->platforms.v[i]));
    return GS_OK;
}

static int choose(struct page *p)
{
    AUTO_WORDS struct words all = {0};
    CHECK(store_texts(&p->store, "SELECT DISTINCT platform FROM run ORDER BY 1", &all));
    for (const char *const *name = p->source->platforms; *name; name++) {
        const char *near = text_nearest(*name, (const char *const *)all.v, all.n);
        if (!words_has(&all, *name) && p->store.damaged.n)
            return GS_FAILED; /* reported */
        if (!words_has(&all, *name))
            return fail(GS_USAGE, "report: no recording of '%s' below %s%s", *name, p->source->raw,
                        DID_YOU_MEAN(near));
        words_add_once(&p->platforms, *name);
    }
    for (size_t i = 0; !p->source->platforms[0] && i < all.n; i++)
        words_add(&p->platforms, all.v[i]);
    if (!p->platforms.n)
        return fail(GS_USAGE,
                    "report: no recording below %s; gradsync tune measures your job, make figures "
                    "this machine",
                    p->source->raw);
    p->room = FIGURES_ROOM / p->platforms.n;
    return GS_OK;
}

int report_write(const char *path, const struct report_source *source)
{
    const char *roots[] = {source->raw};
    struct page p = {.source = source};
    AUTO_FREE char *text = NULL;
    size_t size = 0;
    int code = store_open_roots(&p.store, roots, strcmp(source->raw, LOCATE_DATA) ? 1 : 0);
    TRY(code, print_functions(&p.store));
    TRY(code, choose(&p));
    if (!code && !(p.f = open_memstream(&text, &size)))
        code = fail_file(path, "written", errno);
    TRY(code, put_page(&p));
    if (p.f && fclose(p.f) && !code)
        code = fail_file(path, "written", errno);
    if (!code && !files_replace(path, text, 0644))
        code = fail_file(path, "written", errno);
    words_free(&p.platforms);
    return store_finish(&p.store, code);
}
