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
    bool first; /* keeps the first line, not the last */
};

static int quiet_;
static struct capture captures[CAPTURES_MAX];
static int n_captures;

void say_quiet(int quiet)
{
    quiet_ = quiet;
}

static void capture(char *buf, size_t size, bool first)
{
    if (!buf) {
        n_captures -= n_captures > 0;
        return;
    }
    /* The same buffer again only empties it. */
    bool again = n_captures && captures[n_captures - 1].buf == buf;
    if (!again && n_captures < CAPTURES_MAX)
        n_captures++;
    captures[n_captures - 1] = (struct capture){buf, size, first};
    if (size)
        buf[0] = '\0';
}

void err_capture(char *buf, size_t size)
{
    capture(buf, size, false);
}

void err_capture_first(char *buf, size_t size)
{
    capture(buf, size, true);
}

/* One write a line: the lines of several processes on one terminal do not mix. Names of files and texts
 * of recordings may be anybody's: they reach the terminal only as printable characters. */
static void put_line(const char *where, int line, const char *fmt, va_list args)
{
    AUTO_FREE char *what = line ? xstrfmt("%s:%d", where, line) : xstrdup(where);
    AUTO_FREE char *message = xvstrfmt(fmt, args), *text = xstrfmt("%s: %s", what, message);
    printable_make(text, "");
    const struct capture *c = n_captures ? &captures[n_captures - 1] : NULL;
    if (!c)
        fprintf(stderr, "%s\n", text);
    else if (!c->first || !*c->buf)
        snprintf(c->buf, c->size, "%s", text);
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

static const char *(*option_of_path)(const char *path);

void fail_file_options(const char *(*option_of)(const char *path))
{
    option_of_path = option_of;
}

int fail_file(const char *path, const char *what, int error)
{
    static const struct {
        int error;
        const char *why, *choose; /* without an option; "", or before the option */
    } remedies[] = {
        {ENOSPC, "the disk is full: free some space", ", or choose another place with "},
        {EDQUOT, "your quota is used up: free some of it", ", or choose another place with "},
        {EROFS, "", "choose a place that can be written with "},
        {EACCES, "", "choose a place that you may write to with "},
        {EPERM, "", "choose a place that you may write to with "},
        {ENOTDIR, "a file has the name of a folder", ": choose another with "},
        {ENOENT, "", "choose another place with "}, /* of a folder to be made, as below /proc */
    };
    const bool made = !strcmp(what, "made");
    const char *option = option_of_path ? option_of_path(path) : NULL;
    for (size_t i = 0; i < COUNT(remedies); i++)
        if (remedies[i].error == error && (option || *remedies[i].why) && (made || error != ENOENT))
            return fail_at(GS_FAILED, path, 0, "cannot be %s: %s (%s%s%s)", what, strerror(error),
                           remedies[i].why, option ? remedies[i].choose : "", option ? option : "");
    return fail_at(GS_FAILED, path, 0, "cannot be %s: %s", what, strerror(error));
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
    AUTO_FREE char *text = xvstrfmt(fmt, args);
    va_end(args);
    fprintf(stderr, "%s\n", printable_make(text, "\n"));
}
