/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of the page: what `gradsync advise` says, its table, and the figure of the answer.
 */
#include "advise/advice.h"
#include "base/err.h"
#include "base/text.h"
#include "publish/page.h"

#include <string.h>

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

static void put_table(FILE *f, const struct steps_evidence *s, size_t shape)
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
    put_table(f, s, shape);
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
