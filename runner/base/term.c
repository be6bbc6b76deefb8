/* SPDX-License-Identifier: Apache-2.0 */
#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool term_colours(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(f)) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

static const char *sequence(FILE *f, const char *s)
{
    return term_colours(f) ? s : "";
}

/* Okabe and Ito's eight, as near as the 256 of a terminal come; the first, black, is the
 * terminal's own. */
const char *term_colour(FILE *f, size_t i)
{
    static const char *const colours[] = {"\033[39m",       "\033[38;5;166m", "\033[38;5;32m",
                                          "\033[38;5;36m",  "\033[38;5;214m", "\033[38;5;175m",
                                          "\033[38;5;117m", "\033[38;5;94m"};
    return sequence(f, colours[i % (sizeof colours / sizeof *colours)]);
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
