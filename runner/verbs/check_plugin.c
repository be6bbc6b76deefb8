/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync check X.so`: reads the plugin's tables in a child process, because they may crash it.
 * Then it measures one block of the default cell on two ranks, as `run` does. Built with ASan, it
 * finds wrong addresses too.
 */
#include "verbs/check.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"
#include "config/params.h"
#include "launch/run.h"
#include "plugin/plugin.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENCE_S 20 /* a call that takes longer hangs */

/* ---- the tables ---- */

static void report_fault(void *ctx, const char *line)
{
    const char *const *path = ctx;
    fail_at(GS_USAGE, *path, 0, "%s", line);
}

static int read_tables(const char *path, const char *data)
{
    (void)data;
    struct plugin *p;
    alarm(SILENCE_S);
    int code = plugin_open(&p, path);
    if (code)
        return code;
    if (plugin_lint(p, report_fault, &path)) {
        say("%s: correct the tables first; then check measures a block", path);
        return GS_USAGE;
    }
    size_t metrics = 0;
    while (p->wl.metrics[metrics].name)
        metrics++;
    size_t params = params_count(p->wl.params);
    say("%s: %s %s, %zu parameter%s, %zu metric%s: the tables are correct", path, p->wl.name,
        p->wl.version, params, params == 1 ? "" : "s", metrics, metrics == 1 ? "" : "s");
    return GS_OK;
}

/* The exit code of check(path, data) in a process of its own, which the plugin may crash `when`. */
static int in_child(int (*check)(const char *path, const char *data), const char *path,
                    const char *data, const char *when)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int code = check(path, data);
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
        return fail_at(GS_FAILED, path, 0, "does not finish loading within %d s", SILENCE_S);
    if (WIFSIGNALED(status))
        return fail_at(GS_FAILED, path, 0, "crashes %s (SIG%s)", when,
                       sigabbrev_np(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

/* ---- one block ---- */

/* The plugin's default cell, on the normal path. */
static const char config[] = "[platform]\n"
                             "name = check\n"
                             "[launch]\n"
                             "ranks = 2\n"
                             "oversubscribe = yes\n"
                             "bind = none\n"
                             "[measure]\n"
                             "launches = 1\n"
                             "blocks = 1\n"
                             "max_blocks = 1\n"
                             "warmup = 0\n"
                             "retries = 0\n"
                             "deadline = %d\n"
                             "[%s]\n";

/* In this process, which the plugin may end. */
static int measure_block(const char *path, const char *data)
{
    AUTO_FREE char *absolute = realpath(path, NULL), *dir = xstrdup(absolute ? absolute : path);
    AUTO_TEXT struct text text = {0};
    const char *file = path_name(path);
    AUTO_FREE char *name = xstrfmt("%.*s", (int)strlen(file) - 3, file);
    const struct run_options options = {.data = data, .quiet = true};
    dir[strlen(dir) - strlen(path_name(dir))] = '\0';
    setenv("GRADSYNC_PLUGIN_PATH", dir, 1);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    say_quiet(1);
    text_addf(&text, config, SILENCE_S, name);
    return run_config_text(path, &text, &options);
}

static int check_block(const char *path)
{
    const char *tmp = getenv("TMPDIR");
    AUTO_FREE char *data = xstrfmt("%s/gradsync-check.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(data))
        return fail(GS_CANNOT, "%s cannot be created: %s; set TMPDIR to a writable folder", data,
                    strerror(errno));
    int code = in_child(measure_block, path, data, "while a block of it is planned");
    if (code == GS_FAILED) {
        say("%s: the recording and the output of the ranks are below %s", path, data);
        return code;
    }
    files_remove_tree(data);
    if (code == GS_OK)
        say("%s: a block on 2 ranks was measured and is right", path);
    return code;
}

int check_plugin(const char *path)
{
    int code = in_child(read_tables, path, NULL, "while it is loaded or its tables are read");
    return code ? code : check_block(path);
}
