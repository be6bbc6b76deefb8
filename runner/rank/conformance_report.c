/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/conformance_report.h"

#include "base/err.h"
#include "launch/dry_run.h"
#include "rank/stdout_capture.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For the signal handler, which takes no argument. */
static const struct conformance *under_test;

void conformance_put(const struct conformance *c, const char *kind, const char *text)
{
    char line[1024];
    int n = snprintf(line, sizeof line, CONFORMANCE_MARK "%d %s %s", c->host.rank, kind, text);
    size_t len = n < (int)sizeof line - 1 ? (size_t)n : sizeof line - 2;
    for (size_t i = 1; i < len; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[len] = '\n';
    if (write(c->out, line, len + 1) < 0)
        _exit(GS_FAILED);
}

static void vput(const struct conformance *c, const char *kind, const char *fmt, va_list args)
{
    char text[900];
    vsnprintf(text, sizeof text, fmt, args);
    conformance_put(c, kind, text);
}

void conformance_note(struct conformance *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vput(c, "note", fmt, args);
    va_end(args);
}

void conformance_fault(struct conformance *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vput(c, "fault", fmt, args);
    va_end(args);
    c->faults++;
}

static void crashed(int signal)
{
    char heard[200] = "", line[800];
    stdout_capture_line(heard, sizeof heard, false);
    int n =
        snprintf(line, sizeof line, "\n" CONFORMANCE_MARK "%d fault crashes in %s (SIG%s)%s%s\n",
                 under_test->host.rank, under_test->at, sigabbrev_np(signal),
                 *heard ? ", after printing: " : "", heard);
    if (write(under_test->out, line, (size_t)n) < 0)
        _exit(GS_USAGE);
    _exit(GS_FAILED);
}

void conformance_catch_crashes(const struct conformance *c)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    static char stack[1 << 16];
    under_test = c;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &(struct sigaction){.sa_handler = crashed, .sa_flags = SA_ONSTACK},
                  NULL);
}

void conformance_enter(struct conformance *c, const char *call)
{
    snprintf(c->at, sizeof c->at, "%s()%s%s", call, *c->cell ? ", cell " : "", c->cell);
    conformance_put(c, "at", c->at);
    c->why[0] = '\0';
}
