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

struct table {
    const struct words *cells;
    size_t columns, *width, first; /* columns before `first` stand above the rows */
};

/* Where the last column begins. */
static size_t indent_of(const struct table *t)
{
    size_t indent = 0;
    for (size_t k = t->first; k + 1 < t->columns; k++)
        indent += t->width[k] + 2;
    return indent;
}

/* "size 16MiB, collective allgather:" where it differs from the row before. */
static void put_keys(const struct table *t, size_t row)
{
    char *const *now = t->cells->v + row * t->columns, *const *before = now - t->columns;
    bool same = row > 1;
    for (size_t k = 0; k < t->first && same; k++)
        same = !strcmp(now[k], before[k]);
    for (size_t k = 0; k < t->first && !same; k++)
        printf("%s %s%s", t->cells->v[k], now[k], k + 1 < t->first ? ", " : ":\n");
}

static void put_row(const struct table *t, size_t row, bool (*fine)(const char *last))
{
    char *const *cells = t->cells->v + row * t->columns;
    const char *last = cells[t->columns - 1];
    if (row)
        put_keys(t, row);
    else
        printf("%s", term_bold(stdout));
    for (size_t k = t->first; k + 1 < t->columns; k++)
        printf("%s%*s  ", cells[k], (int)(t->width[k] - text_width(cells[k])), "");
    printf("%s", row && fine && !fine(last) ? sequence(stdout, "\033[31m") : "");
    size_t indent = indent_of(t), width = screen_columns(stdout);
    if (isatty(fileno(stdout)) && indent + ROOM_MIN <= width)
        screen_wrap(indent, indent, width, last);
    else
        puts(last);
    printf("%s", term_end(stdout));
}

void text_table_print(const struct words *cells, size_t columns, size_t keys,
                      bool (*fine)(const char *last))
{
    struct table t = {.cells = cells, .columns = columns};
    t.width = xcalloc(columns, sizeof *t.width);
    for (size_t i = 0; i < cells->n; i++) {
        size_t n = text_width(cells->v[i]), *width = &t.width[i % columns];
        *width = n > *width ? n : *width;
    }
    size_t last = t.width[columns - 1] < ROOM_MIN ? t.width[columns - 1] : ROOM_MIN;
    if (isatty(fileno(stdout)) && indent_of(&t) + last > screen_columns(stdout))
        t.first = keys;
    for (size_t row = 0; row < cells->n / columns; row++)
        put_row(&t, row, fine);
    free(t.width);
}
