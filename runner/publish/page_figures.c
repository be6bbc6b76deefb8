/* SPDX-License-Identifier: Apache-2.0
 *
 * gnuplot's SVG files, put into a page: the prologue of a file of its own goes, titles go (browsers
 * show them as tips, and they hold gnuplot's own names), and identifiers get a prefix, since those
 * of all figures are in one document now.
 */
#include "base/err.h"
#include "publish/page.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".svg"

/* Where an identifier begins, after one of these; what a quote follows stands before the quote. */
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

/* The length of a <title> at s; 0: none. */
static size_t title_at(const char *s)
{
    const char *end = strncmp(s, "<title>", 7) ? NULL : strstr(s, "</title>");
    return end ? (size_t)(end - s) + strlen("</title>") : 0;
}

/* The table that a figure is drawn from, by how its name ends; "": none of these. */
static const char *table_of(const char *name)
{
    static const struct {
        const char *end, *table;
    } drawn_from[] = {
        {"-bandwidth", "summary"},
        {"-latency", "summary"},
        {"-by-contention", "summary"},
        {"-by-ctas", "summary"},
        {"-decomposition", "iteration"},
        {"-ranks", "iteration"},
        {"-ecdf", "samples"},
        {"-forest", "compare"},
        {"-verdict_map", "compare"},
        {"sync_size", "wan"},
        {"sync_size_slow", "wan"},
        {"sync_rtt", "wan"},
        {"sync_rtt_small", "wan"},
        {"modelled", "wan"},
        {"every", "wan"},
        {"claims", "limits"},
        {"wan_needed", "wan/needed"},
        {"error_rates", "error_rates"},
    };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof drawn_from / sizeof *drawn_from; i++) {
        size_t end = strlen(drawn_from[i].end);
        if (n >= end && !strcmp(name + n - end, drawn_from[i].end))
            return drawn_from[i].table;
    }
    return "";
}

static void put_svg(FILE *f, const char *svg, const char *label, int serial)
{
    fputs("<svg role=\"img\" aria-label=\"", f);
    page_text(f, label);
    fputc('"', f);
    for (const char *s = svg + strlen("<svg"); *s;) {
        size_t title = title_at(s), n = identifier_follows(s);
        if (n)
            fprintf(f, "%.*sf%d-", (int)n, s, serial);
        else if (!title)
            fputc(*s, f);
        s += title ? title : n ? n : 1;
    }
}

static int put_figure(FILE *f, const char *path, const char *file, int serial)
{
    struct text svg = {0};
    char *label = xstrfmt("%.*s", (int)(strlen(file) - strlen(SUFFIX)), file);
    const char *begin = text_read_file(path, &svg) ? strstr(svg.s, "<svg") : NULL;
    if (begin) {
        fputs("<figure>\n", f);
        put_svg(f, begin, label, serial);
        fputs("<figcaption>", f);
        page_text(f, label);
        const char *table = table_of(label);
        if (*table)
            fprintf(f, ", of %s.csv", table);
        fputs("</figcaption></figure>\n", f);
    }
    free(label);
    text_free(&svg);
    return begin ? GS_OK
                 : fail_at(GS_FAILED, path, 0, "is not an SVG file; 'make figures' draws it again");
}

static int is_svg(const struct dirent *e)
{
    size_t n = strlen(e->d_name), s = strlen(SUFFIX);
    return e->d_name[0] != '.' && n > s && !strcmp(e->d_name + n - s, SUFFIX);
}

int page_put_figures(FILE *f, const char *figures, const char *platform, int *serial, size_t *n)
{
    struct dirent **files;
    char *dir = xstrfmt("%s/%s", figures, platform);
    int code = GS_OK, found = scandir(dir, &files, is_svg, alphasort);
    *n = found > 0 ? (size_t)found : 0;
    if (*n)
        fputs("<div class=\"figures\">\n", f);
    for (int i = 0; i < found; i++) {
        char *path = xstrfmt("%s/%s", dir, files[i]->d_name);
        int one = put_figure(f, path, files[i]->d_name, (*serial)++);
        code = code ? code : one;
        free(path);
        free(files[i]);
    }
    if (*n)
        fputs("</div>\n", f);
    if (found >= 0)
        free(files);
    free(dir);
    return code;
}
