/* SPDX-License-Identifier: Apache-2.0 */
#include "base/screen.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
