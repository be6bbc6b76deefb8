/* SPDX-License-Identifier: Apache-2.0
 *
 * gnuplot's SVG files as parts of a page: without the XML prologue, and with a prefix before each
 * identifier, since those of all figures are in one document now. They are grouped by the question
 * that they answer. A page has room for some: the others are counted, with where they are.
 */
#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "publish/page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
struct kind {
    const char *end, *script, *table;
    bool whole; /* drawn from the whole table: its panel is in no folder of a workload */
    enum question question;
    const char *caption;
};
static const struct kind kinds[] = {
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
static const struct kind other = {"", "", "", true, CLAIMS, ""};

static bool ends(const char *name, const char *end)
{
    size_t n = strlen(name), e = strlen(end);
    return n >= e && !strcmp(name + n - e, end) && (n == e || *end == '-');
}

static const struct kind *kind_of(const char *name)
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

static void put_caption(FILE *f, const char *folder, const char *name, const struct kind *k)
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
