/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/page.h"

#include "base/err.h"
#include "base/files.h"
#include "base/version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The folders of figures that are of no platform alone: of the method, of all networks together. */
#define METHOD "method"
#define SITES "wan"
#define SITES_WORKLOAD "wan_sync" /* whose platforms have their figures there */
#define NAMED_IN_TITLE 4          /* platforms; more are counted */
#define FIGURES_ROOM 1200000u     /* bytes: a page below 3 MB loads at once */
#define ROWS_OF_A_TABLE 240       /* of one platform; of several, fewer */
#define ROWS_OF_SEVERAL 30

/* ---- which platforms ---- */

static int choose(struct words *chosen, const struct page_source *s, const struct page_run *runs,
                  size_t n)
{
    AUTO_WORDS struct words all = {0};
    int code = GS_OK;
    *chosen = (struct words){0};
    for (size_t i = 0; i < n; i++)
        words_add_once(&all, page_fact(&runs[i], FACT_PLATFORM));
    for (size_t i = 0; s->platforms[i] && !code; i++) {
        const char *near = text_nearest(s->platforms[i], (const char *const *)all.v, all.n);
        if (words_has(&all, s->platforms[i]))
            words_add(chosen, s->platforms[i]);
        else
            code = fail(GS_USAGE,
                        "report: no recording of platform '%s' below %s%s; 'gradsync "
                        "list measured' names them, 'gradsync run' makes one",
                        s->platforms[i], s->raw, DID_YOU_MEAN(near));
    }
    for (size_t i = 0; !s->platforms[0] && i < all.n; i++)
        words_add(chosen, all.v[i]);
    if (!code && !chosen->n)
        code = fail(GS_USAGE, "report: no recording below %s; 'gradsync run CONFIG' makes one",
                    s->raw);
    return code;
}

/* ---- the page ---- */

static void put_names(FILE *f, const struct words *w)
{
    if (w->n > NAMED_IN_TITLE)
        fprintf(f, "%zu platforms", w->n);
    for (size_t i = 0; i < w->n && w->n <= NAMED_IN_TITLE; i++)
        page_put(f, "%s%s", i ? ", " : "", w->v[i]);
}

static void put_nav(FILE *f, const struct words *platforms, bool sites)
{
    fputs("<nav>", f);
    for (size_t i = 0; i < platforms->n; i++)
        page_put(f, "<a href=\"#p%zu\">%s</a> ", i, platforms->v[i]);
    fprintf(f, "%s<a href=\"#method\">method</a></nav>\n",
            sites ? "<a href=\"#sites\">between sites</a> " : "");
}

static int put_begin(FILE *f, const struct page_source *source, struct paper_tables *tables,
                     const struct words *platforms, bool sites, int *serial)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>gradsync: ",
          f);
    put_names(f, platforms);
    fprintf(f, "</title>\n<style>\n%s</style></head><body>\n<h1>gradsync: ", page_style);
    put_names(f, platforms);
    fputs("</h1>\n", f);
    int code = page_put_answer(f, source, platforms, serial);
    put_nav(f, platforms, sites);
    fputs(
        "<details><summary>How to read this page</summary>\n<p>The question: does the config with "
        "the highest bandwidth of a collective also give the shortest training step? Every time is "
        "a median over blocks. Its 95% interval comes from a bootstrap over launches, then blocks. "
        "A verdict compares a config with its baseline in the same blocks. A negative change is a "
        "shorter time. A difference below the A/A floor, the difference between two copies of the "
        "baseline, is not called. <em>Same operation</em>: both configs ran the same algorithm, "
        "protocol and number of CTAs, so no difference is claimed. <em>Converged: no</em>: the "
        "interval is wider than the precision in the config. One launch has no "
        "interval.</p></details>\n<details><summary>Verdicts, counted</summary>\n",
        f);
    TRY(code, page_put_overview(f, tables, platforms));
    fputs("</details>\n", f);
    return code;
}

/* Whether some run of the platforms is between sites, or is not. */
static bool has_run(const struct page_run *runs, size_t n, const struct words *platforms,
                    bool of_sites)
{
    for (size_t i = 0; i < n; i++)
        if (words_has(platforms, page_fact(&runs[i], FACT_PLATFORM)) &&
            !strcmp(page_fact(&runs[i], FACT_WORKLOAD), SITES_WORKLOAD) == of_sites)
            return true;
    return false;
}

/* What the parts of a page share. */
struct page {
    FILE *f;
    const struct page_source *source;
    struct paper_tables tables;
    const struct words *platforms;
    const struct page_run *runs;
    size_t n_runs, room, rows; /* room: for the figures of a folder */
    int serial;
};

static void put_heading(FILE *f, const char *id, const char *text)
{
    page_put(f,
             "<section id=\"%s\"><h2>%s <a href=\"#%s\" aria-label=\"link to this section\">#</a>"
             "</h2>\n",
             id, text, id);
}

static int put_platform(struct page *p, size_t place)
{
    const char *platform = p->platforms->v[place], *figures = p->source->figures;
    AUTO_FREE char *id = xstrfmt("p%zu", place);
    put_heading(p->f, id, platform);
    int code = page_put_counts(p->f, &p->tables, platform);
    if (!code)
        code = page_put_figures(p->f, &(struct page_place){figures, platform, id, p->room},
                                &p->serial);
    if (!code && !page_count_figures(figures, platform) &&
        has_run(p->runs, p->n_runs, &(struct words){&p->platforms->v[place], 1}, false))
        say("report: no figure in %s/%s; to draw them: make figures PLATFORM=%s", figures, platform,
            platform);
    TRY(code, page_put_tables(p->f, &p->tables, platform, p->rows));
    page_put_runs(p->f, p->runs, p->n_runs, platform);
    fputs("</section>\n", p->f);
    return code;
}

/* A section of the figures of a folder that belongs to no platform alone. */
static int put_folder(struct page *p, const char *id, const char *title, const char *folder)
{
    put_heading(p->f, id, title);
    int code = page_put_figures(p->f, &(struct page_place){p->source->figures, folder, id, p->room},
                                &p->serial);
    fputs("</section>\n", p->f);
    return code;
}

static size_t platforms_with_figures(const struct page *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->platforms->n; i++)
        n += page_count_figures(p->source->figures, p->platforms->v[i]) > 0;
    return n ? n : 1;
}

static int put_page(FILE *f, const struct page_source *s, const struct words *platforms,
                    const struct page_run *runs, size_t n)
{
    bool sites = has_run(runs, n, platforms, true);
    struct page p = {.f = f,
                     .source = s,
                     .tables = {.csv = s->csv, .raw = s->raw},
                     .platforms = platforms,
                     .runs = runs,
                     .n_runs = n,
                     .rows = platforms->n > 1 ? ROWS_OF_SEVERAL : ROWS_OF_A_TABLE,
                     .serial = 1};
    p.room = FIGURES_ROOM / platforms_with_figures(&p);
    int code = put_begin(f, s, &p.tables, platforms, sites, &p.serial);
    for (size_t i = 0; i < platforms->n && !code; i++)
        code = put_platform(&p, i);
    if (sites && !code)
        code = put_folder(&p, "sites", "Between sites", SITES);
    TRY(code, put_folder(&p, "method", "Method", METHOD));
    fprintf(f,
            "<footer class=\"soft\"><p>Made by gradsync %s (%s) from the recordings "
            "above.</p></footer>\n<script>%s</script>\n</body></html>\n",
            GRADSYNC_VERSION, gradsync_commit, page_script);
    paper_tables_free(&p.tables);
    return code;
}

static int write_whole(const char *path, const struct page_source *s, const struct words *platforms,
                       const struct page_run *runs, size_t n)
{
    AUTO_FREE char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int code = f ? put_page(f, s, platforms, runs, n) : GS_OK;
    bool whole = f && fclose(f) == 0;
    if (!code && (!whole || !files_replace(path, text, 0644)))
        code = fail_file(path, "written", errno);
    return code;
}

int page_write(const char *path, const struct page_source *source)
{
    struct page_run *runs;
    AUTO_WORDS struct words platforms = {0};
    size_t n;
    int code = page_runs_read(&runs, &n, source->raw);
    TRY(code, choose(&platforms, source, runs, n));
    TRY(code, write_whole(path, source, &platforms, runs, n));
    page_runs_free(runs, n);
    return code;
}
