/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_table.h"

#include "base/screen.h"
#include "base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

size_t text_table_before_last(const struct words *cells, size_t columns)
{
    struct table t = {.cells = cells, .columns = columns};
    measure(&t);
    free(t.width);
    return indent_of(&t);
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
