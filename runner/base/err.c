/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CAPTURES_MAX 4

struct capture {
    char *buf;
    size_t size;
};

static int quiet_;
static const char *program = "gradsync", *verbs = "";
static struct capture captures[CAPTURES_MAX];
static int n_captures;

void say_quiet(int quiet)
{
    quiet_ = quiet;
}

void err_capture(char *buf, size_t size)
{
    if (!buf) {
        n_captures -= n_captures > 0;
        return;
    }
    /* The same buffer again only empties it. */
    bool again = n_captures && captures[n_captures - 1].buf == buf;
    if (!again && n_captures < CAPTURES_MAX)
        n_captures++;
    captures[n_captures - 1] = (struct capture){buf, size};
    if (size)
        buf[0] = '\0';
}

void err_called(const char *as, const char *names)
{
    program = as;
    verbs = names;
}

char *err_as_called(const char *text)
{
    static const char name[] = "gradsync ";
    struct text out = {0};
    for (const char *at; (at = strstr(text, name)); text = at + strlen(name) - 1) {
        const char *verb = at + strlen(name);
        AUTO_FREE char *word =
            xstrfmt(" %.*s ", (int)strspn(verb, "abcdefghijklmnopqrstuvwxyz"), verb);
        bool command = strstr(verbs, word) && (at == text || strchr(" '\"(", at[-1]));
        text_addf(&out, "%.*s%s", (int)(at - text), text, command ? program : "gradsync");
    }
    text_add(&out, text);
    return out.s;
}

/* One write a line: the lines of several processes on one terminal do not mix. Names of files and texts
 * of recordings may be anybody's: they reach the terminal only as printable characters. */
static void put_line(const char *where, int line, const char *fmt, va_list args)
{
    AUTO_FREE char *what = line ? xstrfmt("%s:%d", where, line) : xstrdup(where);
    AUTO_FREE char *message = xvstrfmt(fmt, args), *named = err_as_called(message);
    AUTO_FREE char *text = xstrfmt("%s: %s", what, named);
    printable_make(text, "");
    if (n_captures)
        snprintf(captures[n_captures - 1].buf, captures[n_captures - 1].size, "%s", text);
    else
        fprintf(stderr, "%s\n", text);
}

int fail(enum gs_exit code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_line("gradsync", 0, fmt, args);
    va_end(args);
    return code;
}

int fail_at(enum gs_exit code, const char *file, int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_line(file, line, fmt, args);
    va_end(args);
    return code;
}

int fail_file(const char *path, const char *what, int error)
{
    const char *remedy = error == ENOSPC    ? " (the disk is full: free some space)"
                         : error == EDQUOT  ? " (your quota is used up: free some of it)"
                         : error == ENOTDIR ? " (a file has the name of a folder)"
                                            : "";
    return fail_at(GS_FAILED, path, 0, "cannot be %s: %s%s", what, strerror(error), remedy);
}

int err_worse(int a, int b)
{
    return a == GS_USAGE || !b ? a : b;
}

void say(const char *fmt, ...)
{
    if (quiet_)
        return;
    va_list args;
    va_start(args, fmt);
    AUTO_FREE char *message = xvstrfmt(fmt, args), *text = err_as_called(message);
    va_end(args);
    fflush(stdout); /* both may go to one file or terminal */
    fprintf(stderr, "%s\n", printable_make(text, "\n"));
}
