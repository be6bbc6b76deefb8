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

static bool term_colours(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(f)) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

static const char *sequence(FILE *f, const char *s)
{
    return term_colours(f) ? s : "";
}

const char *term_bold(FILE *f)
{
    return sequence(f, "\033[1m");
}

const char *term_warn(FILE *f)
{
    return sequence(f, "\033[31m");
}

const char *term_end(FILE *f)
{
    return sequence(f, "\033[0m");
}

/* ---- columns ---- */

#define LINES 24
#define LINES_MIN 10
#define COLUMNS_MIN 60

size_t screen_lines(FILE *f)
{
    struct winsize w = {0};
    if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &w) || !w.ws_row)
        return LINES;
    return w.ws_row < LINES_MIN + 2 ? LINES_MIN : w.ws_row - 2U;
}

size_t screen_columns(FILE *f)
{
    struct winsize w = {0};
    if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &w) || !w.ws_col ||
        w.ws_col > SCREEN_COLUMNS)
        return SCREEN_COLUMNS;
    return w.ws_col < COLUMNS_MIN ? COLUMNS_MIN : w.ws_col;
}

void screen_say_from(size_t column, size_t indent, const char *s)
{
    if (isatty(fileno(stdout)))
        screen_wrap(column, indent, screen_columns(stdout), s);
    else
        puts(s);
}

void screen_say(const char *s)
{
    screen_say_from(0, 2, s);
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

static void measure(struct table *t)
{
    t->width = xcalloc(t->columns, sizeof *t->width);
    for (size_t i = 0; i < t->cells->n; i++) {
        size_t n = text_width(t->cells->v[i]), k = i % t->columns;
        t->width[k] = n > t->width[k] ? n : t->width[k];
    }
}

/* Where the last column begins. */
static size_t indent_of(const struct table *t)
{
    size_t indent = 0;
    for (size_t k = t->first; k + 1 < t->columns; k++)
        indent += t->width[k] + 2;
    return indent;
}

static void put_last(size_t indent, const char *s)
{
    size_t columns = screen_columns(stdout);
    if (isatty(fileno(stdout)) && indent + ROOM_MIN <= columns)
        screen_wrap(indent, indent, columns, s);
    else
        puts(s);
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
    printf("%s", row && fine && !fine(last) ? term_warn(stdout) : "");
    put_last(indent_of(t), last);
    printf("%s", term_end(stdout));
}

void text_table_print(const struct words *cells, size_t columns, size_t keys,
                      bool (*fine)(const char *last))
{
    struct table t = {.cells = cells, .columns = columns};
    measure(&t);
    size_t last = t.width[columns - 1] < ROOM_MIN ? t.width[columns - 1] : ROOM_MIN;
    if (isatty(fileno(stdout)) && indent_of(&t) + last > screen_columns(stdout))
        t.first = keys;
    for (size_t row = 0; row < cells->n / columns; row++)
        put_row(&t, row, fine);
    free(t.width);
}
