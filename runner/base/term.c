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
