/* SPDX-License-Identifier: Apache-2.0 */
#include "publish/page.h"

#include "base/err.h"
#include "base/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folders of figures that are of no platform alone: of the method, of all networks together. */
#define METHOD "method"
#define SITES "wan"
#define SITES_WORKLOAD "wan_sync" /* whose platforms have their figures there */
#define NAMED_IN_TITLE 4          /* platforms; more are counted */

void page_text(FILE *f, const char *s)
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

/* ---- which platforms ---- */

static bool holds(const struct words *w, const char *word)
{
    for (size_t i = 0; i < w->n; i++)
        if (!strcmp(w->v[i], word))
            return true;
    return false;
}

static int choose(struct words *chosen, const struct page_source *s, const struct page_run *runs,
                  size_t n)
{
    struct words all = {0};
    int code = GS_OK;
    *chosen = (struct words){0};
    for (size_t i = 0; i < n; i++)
        if (!holds(&all, runs[i].platform))
            words_add(&all, runs[i].platform);
    for (size_t i = 0; s->platforms[i] && !code; i++) {
        const char *near = text_nearest(s->platforms[i], (const char *const *)all.v, all.n);
        if (holds(&all, s->platforms[i]))
            words_add(chosen, s->platforms[i]);
        else
            code = fail(GS_USAGE,
                        "report: no recording of platform '%s' below %s%s; 'gradsync "
                        "list runs' names them, 'gradsync run' makes one",
                        s->platforms[i], s->raw, DID_YOU_MEAN(near));
    }
    for (size_t i = 0; !s->platforms[0] && i < all.n; i++)
        words_add(chosen, all.v[i]);
    if (!code && !chosen->n)
        code = fail(GS_USAGE, "report: no recording below %s; 'gradsync run CONFIG' makes one",
                    s->raw);
    words_free(&all);
    return code;
}

/* ---- the page ---- */

static void put_names(FILE *f, const struct words *w)
{
    if (w->n > NAMED_IN_TITLE)
        fprintf(f, "%zu platforms", w->n);
    for (size_t i = 0; i < w->n && w->n <= NAMED_IN_TITLE; i++) {
        fputs(i ? ", " : "", f);
        page_text(f, w->v[i]);
    }
}

static int put_begin(FILE *f, struct paper_tables *tables, const struct words *platforms,
                     bool sites)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>gradsync: ",
          f);
    put_names(f, platforms);
    fprintf(f, "</title>\n<style>\n%s</style></head><body>\n<h1>gradsync: ", page_style);
    put_names(f, platforms);
    fputs(
        "</h1>\n<p>Is the config with the best bandwidth of an all-reduce also the one with the "
        "shortest training step? Every time here is a median over blocks with its 95% interval, "
        "by a bootstrap over launches, then blocks. A verdict holds a config against its "
        "baseline in the same blocks; a negative change is a shorter time. Nothing is claimed "
        "below the A/A floor: what the baseline differs from its own second copy. <em>Same "
        "operation</em>: the recording says that both configs ran the same algorithm, protocol and "
        "number of CTAs, so no difference is claimed, whatever their times. "
        "<em>Converged</em> no: the interval is wider than the config's precision. One launch has "
        "no interval.</p>\n",
        f);
    int code = page_put_overview(f, tables, platforms);
    bool any = false;
    for (size_t i = 0; i < platforms->n && !code; i++)
        code = page_put_steps(f, tables, platforms->v[i], &any);
    fputs(any ? "</ul>\n" : "", f);
    fprintf(f, "<nav>%s<a href=\"#method\">method</a></nav>\n",
            sites ? "<a href=\"#sites\">between sites</a> " : "");
    return code;
}

/* Whether some run of the platform (NULL: of any of the words) is of the workload, or of another.
 */
static bool has_run(const struct page_run *runs, size_t n, const char *platform,
                    const struct words *platforms, bool of_sites)
{
    for (size_t i = 0; i < n; i++)
        if ((platform ? !strcmp(runs[i].platform, platform) : holds(platforms, runs[i].platform)) &&
            !strcmp(runs[i].workload, SITES_WORKLOAD) == of_sites)
            return true;
    return false;
}

static int put_platform(FILE *f, const struct page_source *s, struct paper_tables *tables,
                        const char *platform, size_t place, const struct page_run *runs, size_t n,
                        int *serial)
{
    size_t figures;
    fprintf(f, "<section id=\"p%zu\"><h2>", place);
    page_text(f, platform);
    fputs("</h2>\n", f);
    int code = page_put_counts(f, tables, platform);
    if (!code)
        code = page_put_figures(f, s->figures, platform, serial, &figures);
    if (!code && !figures && has_run(runs, n, platform, NULL, false))
        say("report: no figure in %s/%s; 'make figures' draws them", s->figures, platform);
    if (!code)
        code = page_put_tables(f, tables, platform);
    page_put_runs(f, runs, n, platform);
    fputs("</section>\n", f);
    return code;
}

static int put_page(FILE *f, const struct page_source *s, const struct words *platforms,
                    const struct page_run *runs, size_t n)
{
    int serial = 1;
    size_t figures;
    bool sites = has_run(runs, n, NULL, platforms, true);
    struct paper_tables tables = {.csv = s->csv, .raw = s->raw};
    int code = put_begin(f, &tables, platforms, sites);
    for (size_t i = 0; i < platforms->n && !code; i++)
        code = put_platform(f, s, &tables, platforms->v[i], i, runs, n, &serial);
    if (sites) {
        fputs("<section id=\"sites\"><h2>Between sites</h2>\n", f);
        if (!code)
            code = page_put_figures(f, s->figures, SITES, &serial, &figures);
        fputs("</section>\n", f);
    }
    fputs("<section id=\"method\"><h2>Method</h2>\n", f);
    if (!code)
        code = page_put_figures(f, s->figures, METHOD, &serial, &figures);
    fprintf(f,
            "</section>\n<footer class=\"soft\"><p>Made by gradsync %s (%s) from the recordings "
            "above.</p></footer>\n</body></html>\n",
            GRADSYNC_VERSION, gradsync_commit);
    paper_tables_free(&tables);
    return code;
}

static int write_whole(const char *path, const struct page_source *s, const struct words *platforms,
                       const struct page_run *runs, size_t n)
{
    char *new = xstrfmt("%s.new", path);
    FILE *f = fopen(new, "we");
    int code = f ? put_page(f, s, platforms, runs, n)
                 : fail_at(GS_FAILED, new, 0, "cannot be written: %s", strerror(errno));
    bool bad = f && ferror(f);
    if (f && (fclose(f) || bad) && !code)
        code = fail_at(GS_FAILED, new, 0, "cannot be written: %s", strerror(errno));
    if (!code && rename(new, path))
        code = fail_at(GS_FAILED, path, 0, "cannot be written: %s", strerror(errno));
    if (code && f)
        unlink(new);
    free(new);
    return code;
}

int page_write(const char *path, const struct page_source *source)
{
    struct page_run *runs;
    struct words platforms = {0};
    size_t n;
    int code = page_runs_read(&runs, &n, source->raw);
    if (!code)
        code = choose(&platforms, source, runs, n);
    if (!code)
        code = write_whole(path, source, &platforms, runs, n);
    words_free(&platforms);
    page_runs_free(runs, n);
    return code;
}
