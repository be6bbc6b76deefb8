/* SPDX-License-Identifier: Apache-2.0 */
#include "base/term.h"

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- colours ---- */

static const char *sequence(FILE *f, const char *s)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    bool colours = isatty(fileno(f)) && !(no && *no) && term && *term && strcmp(term, "dumb");
    return colours ? s : "";
}

const char *term_bold(FILE *f)
{
    return sequence(f, "\033[1m");
}

const char *term_end(FILE *f)
{
    return sequence(f, "\033[0m");
}

/* ---- columns ---- */

#define COLUMNS_MIN 60

size_t screen_columns(FILE *f)
{
    struct winsize w = {0};
    if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &w) || !w.ws_col ||
        w.ws_col > SCREEN_COLUMNS)
        return SCREEN_COLUMNS;
    return w.ws_col < COLUMNS_MIN ? COLUMNS_MIN : w.ws_col;
}

void screen_say(const char *s)
{
    if (isatty(fileno(stdout)))
        screen_wrap(0, 2, screen_columns(stdout), s);
    else
        puts(s);
}

void screen_wrap(size_t column, size_t indent, size_t width, const char *s)
{
    bool first = true;
    while (*s) {
        size_t n = strcspn(s, " ");
        if (!first && column + 1 + n > width) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        column += (size_t)printf("%s%.*s", first ? "" : " ", (int)n, s);
        first = false;
        s += n + strspn(s + n, " ");
    }
    putchar('\n');
}

/* ---- tables ---- */

/* A last cell that has too little room is left to the terminal. */
#define ROOM_MIN 12

void text_table_print(const struct words *cells, size_t columns, size_t keys,
                      bool (*fine)(const char *last))
{
    AUTO_FREE size_t *width = xcalloc(columns, sizeof *width);
    const bool terminal = isatty(fileno(stdout));
    size_t screen = screen_columns(stdout), indent = 0, all = 0; /* indent: of the last column */
    for (size_t i = 0; i < cells->n; i++) {
        size_t n = text_width(cells->v[i]), *most = &width[i % columns];
        *most = n > *most ? n : *most;
    }
    for (size_t k = 0; k < columns; k++)
        all += k + 1 < columns ? width[k] + 2 : width[k] < ROOM_MIN ? width[k] : ROOM_MIN;
    const size_t first =
        terminal && all > screen ? keys : 0; /* those before stand above the rows */
    for (size_t k = first; k + 1 < columns; k++)
        indent += width[k] + 2;
    for (size_t row = 0; row < cells->n / columns; row++) {
        char *const *cell = cells->v + row * columns;
        const char *last = cell[columns - 1];
        bool same = row != 1; /* "size 16MiB, collective allgather:" where it differs */
        for (size_t k = 0; k < first && row > 1; k++)
            same = same && !strcmp(cell[k], (cell - columns)[k]);
        for (size_t k = 0; k < first && !same; k++)
            printf("%s %s%s", cells->v[k], cell[k], k + 1 < first ? ", " : ":\n");
        printf("%s", row ? "" : term_bold(stdout));
        for (size_t k = first; k + 1 < columns; k++)
            printf("%s%*s  ", cell[k], (int)(width[k] - text_width(cell[k])), "");
        printf("%s", row && fine && !fine(last) ? sequence(stdout, "\033[31m") : "");
        if (terminal && indent + ROOM_MIN <= screen)
            screen_wrap(indent, indent, screen, last);
        else
            puts(last);
        printf("%s", term_end(stdout));
    }
}
