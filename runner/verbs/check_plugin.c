/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync check X.so`: reads the plugin's tables in a child process, because they may crash it.
 * Then a dry run on two ranks (rank/conformance.h) tries its calls.
 */
#include "verbs/check.h"

#include "base/err.h"
#include "base/text.h"
#include "config/params.h"
#include "launch/dry_run.h"
#include "plugin/plugin.h"
#include "rank/conformance.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the tables ---- */

static void report_fault(void *ctx, const char *line)
{
    const char *const *path = ctx;
    fail_at(GS_USAGE, *path, 0, "%s", line);
}

static int read_tables(const char *path)
{
    struct plugin *p;
    alarm(DRY_RUN_SILENCE_S);
    int code = plugin_open(&p, path);
    if (code)
        return code;
    if (plugin_lint(p, report_fault, &path)) {
        say("%s: correct the tables first; then check tries the calls", path);
        return GS_USAGE;
    }
    size_t metrics = 0;
    while (p->wl.metrics[metrics].name)
        metrics++;
    size_t params = params_count(p->wl.params);
    say("%s: %s %s, %zu parameter%s, %zu metric%s: the tables are good", path, p->wl.name,
        p->wl.version, params, params == 1 ? "" : "s", metrics, metrics == 1 ? "" : "s");
    return GS_OK;
}

static int check_tables(const char *path)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int code = read_tables(path);
        fflush(NULL);
        _exit(code);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        return fail(GS_FAILED, "%s: no process can be started to read it: %s", path,
                    strerror(errno));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return fail_at(GS_FAILED, path, 0, "does not finish loading within %d s",
                       DRY_RUN_SILENCE_S);
    if (WIFSIGNALED(status))
        return fail_at(GS_FAILED, path, 0,
                       "crashes while it is loaded or its tables are read (SIG%s)",
                       sigabbrev_np(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

/* ---- the verdict ---- */

static int put_faults(const struct dry_run *d, const char *path)
{
    for (size_t i = 0; i < d->n_faults; i++) {
        const struct heard *h = &d->faults[i];
        if (h->ranks == DRY_RUN_ALL)
            fail_at(GS_FAILED, path, 0, "%s", h->text);
        else
            fail_at(GS_FAILED, path, 0, "%s (rank %d)", h->text, h->ranks == 1u ? 0 : 1);
    }
    return d->n_faults ? GS_FAILED : GS_OK;
}

static void put_notes(const struct dry_run *d)
{
    for (size_t i = 0; i < d->n_notes; i++)
        say("  %s", d->notes[i].text);
}

/* A rank that did not finish; -1: all did. */
static int unfinished(const struct dry_run *d)
{
    for (int r = 0; r < DRY_RUN_RANKS; r++)
        if (d->ended[r] < 0)
            return r;
    return -1;
}

static void first_line_of(int log, char *line, size_t n)
{
    char buf[4096];
    ssize_t got = pread(log, buf, sizeof buf - 1, 0);
    buf[got > 0 ? got : 0] = '\0';
    char *s = buf + strspn(buf, "- \n\t");
    snprintf(line, n, "%.*s", (int)strcspn(s, "\n"), s);
}

static int verdict(const struct dry_run *d, const char *path, int log)
{
    int r = unfinished(d);
    char why[512];
    if (d->interrupted)
        return fail_at(GS_FAILED, path, 0, "the dry run was interrupted");
    if (d->n_faults)
        return put_faults(d, path);
    if (d->hangs)
        return fail_at(GS_FAILED, path, 0, "%s does not return within %d s (rank %d)",
                       d->at[r < 0 ? 0 : r], DRY_RUN_SILENCE_S, r < 0 ? 0 : r);
    if (r >= 0 && d->at[r][0])
        return fail_at(GS_FAILED, path, 0, "ends the process in %s (rank %d)", d->at[r], r);
    if (r >= 0) {
        first_line_of(log, why, sizeof why);
        return fail(GS_CANNOT, "the ranks of the dry run cannot be started: %s", why);
    }
    for (r = 0; r < DRY_RUN_RANKS; r++)
        if (d->ended[r]) {
            put_notes(d);
            say("%s: no dry run on this machine", path);
            return d->ended[r];
        }
    say("%s: dry run on %d ranks: all calls work, %d cycles leak nothing", path, DRY_RUN_RANKS,
        CONFORMANCE_CYCLES);
    put_notes(d);
    return GS_OK;
}

static int check_calls(const char *path)
{
    struct dry_run d = {.ended = {-1, -1}};
    AUTO_FREE char *absolute = realpath(path, NULL);
    int log = memfd_create("log", MFD_CLOEXEC);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int code = !absolute || log < 0 ? fail(GS_FAILED, "%s: %s", path, strerror(errno))
                                    : dry_run(&d, absolute, log);
    if (!code)
        code = verdict(&d, path, log);
    dry_run_free(&d);
    close(log);
    return code;
}

int check_plugin(const char *path)
{
    int code = check_tables(path);
    return code ? code : check_calls(path);
}
