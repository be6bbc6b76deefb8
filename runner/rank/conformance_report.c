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

/* For the handler of crashes alone, which can be given nothing. */
static const struct trial *on_trial;

void trial_put(const struct trial *t, const char *kind, const char *text)
{
    char line[1024];
    int n = snprintf(line, sizeof line, CONFORMANCE_MARK "%d %s %s", t->host.rank, kind, text);
    size_t len = n < (int)sizeof line - 1 ? (size_t)n : sizeof line - 2;
    for (size_t i = 1; i < len; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' ';
    line[len] = '\n';
    if (write(t->out, line, len + 1) < 0)
        _exit(GS_FAILED);
}

static void vput(const struct trial *t, const char *kind, const char *fmt, va_list args)
{
    char text[900];
    vsnprintf(text, sizeof text, fmt, args);
    trial_put(t, kind, text);
}

void trial_note(struct trial *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vput(t, "note", fmt, args);
    va_end(args);
}

void trial_fault(struct trial *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vput(t, "fault", fmt, args);
    va_end(args);
    t->faults++;
}

static void crashed(int signal)
{
    char heard[200] = "", line[800];
    witness_heard(heard, sizeof heard, false);
    int n = snprintf(
        line, sizeof line, "\n" CONFORMANCE_MARK "%d fault crashes in %s (SIG%s)%s%s\n",
        on_trial->host.rank, on_trial->at, sigabbrev_np(signal), *heard ? ", saying: " : "", heard);
    if (write(on_trial->out, line, (size_t)n) < 0)
        _exit(GS_USAGE);
    _exit(GS_FAILED);
}

void trial_catch_crashes(const struct trial *t)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    static char stack[1 << 16];
    on_trial = t;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &(struct sigaction){.sa_handler = crashed, .sa_flags = SA_ONSTACK},
                  NULL);
}

void trial_at(struct trial *t, const char *call)
{
    snprintf(t->at, sizeof t->at, "%s()%s%s", call, *t->cell ? ", cell " : "", t->cell);
    trial_put(t, "at", t->at);
    t->why[0] = '\0';
}
