/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_table.h"

#include "base/screen.h"
#include "base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A last cell that has too little room is left to the terminal. */
#define ROOM_MIN 16

static void put_last(size_t indent, const char *s)
{
    size_t columns = screen_columns(stdout);
    if (isatty(fileno(stdout)) && indent + ROOM_MIN <= columns)
        screen_wrap(indent, indent, columns, s);
    else
        puts(s);
}

void text_table_print(const struct words *cells, size_t columns, bool (*fine)(const char *last))
{
    size_t *width = xcalloc(columns, sizeof *width), indent = 0;
    for (size_t i = 0; i < cells->n; i++) {
        size_t n = text_width(cells->v[i]);
        width[i % columns] = n > width[i % columns] ? n : width[i % columns];
    }
    for (size_t k = 0; k + 1 < columns; k++)
        indent += width[k] + 2;
    for (size_t i = 0; i < cells->n; i++) {
        const char *s = cells->v[i];
        bool heading = i < columns, last = i % columns == columns - 1;
        if (i == 0)
            printf("%s", term_bold(stdout));
        if (last) {
            printf("%s", !heading && fine && !fine(s) ? term_warn(stdout) : "");
            put_last(indent, s);
            printf("%s", term_end(stdout));
        } else
            printf("%s%*s  ", s, (int)(width[i % columns] - text_width(s)), "");
    }
    free(width);
}
