/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_child.h"

#include "base/err.h"
#include "base/family.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVERY_MS 2000
#define GRACE_MS 5000 /* from SIGTERM to SIGKILL */

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static void watched(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(set, passed_on[i]);
}

/* The command is in our process group: Ctrl-C and a closing terminal reach it without us. */
static void pass_on(int fd, pid_t child)
{
    struct signalfd_siginfo s;
    while (read(fd, &s, sizeof s) == (ssize_t)sizeof s)
        if (s.ssi_signo != SIGCHLD && s.ssi_code <= 0)
            kill(child, (int)s.ssi_signo);
}

static void become(const struct trial_child *t, const sigset_t *before)
{
    int log = t->log ? open(t->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    sigprocmask(SIG_SETMASK, before, NULL);
    err_capture(NULL, 0);
    if (t->prepare)
        t->prepare(t->ctx);
    if (t->log && (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)) {
        fail_file(t->log, "written", errno);
        _exit(126);
    }
    execvp(t->command[0], t->command);
    int error = errno;
    fail(GS_USAGE, "trial: %s: %s", t->command[0], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

static int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Launchers end their ranks when they get SIGTERM; what is left after some seconds is killed. */
static int end(pid_t child)
{
    struct family f = {.launcher = child, .out = -1};
    kill(child, SIGTERM);
    for (int ms = 0; ms < GRACE_MS && !f.ended; ms += 50) {
        poll(NULL, 0, 50);
        family_reap(&f);
    }
    return family_kill(&f);
}

int trial_child(const struct trial_child *t, int *status)
{
    sigset_t set, before;
    int code = GS_OK, ended = 0, now = GS_OK;
    watched(&set);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, &before);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fd < 0 ? -1 : fork();
    if (child == 0)
        become(t, &before);
    if (child < 0)
        code = fail(GS_FAILED, "trial: the command cannot be started: %s", strerror(errno));
    while (child > 0 && now != TRIAL_CHILD_END && waitpid(child, &ended, WNOHANG) == 0) {
        struct pollfd p = {fd, POLLIN, 0};
        if (poll(&p, 1, EVERY_MS) == 0 && !code)
            now = t->meanwhile(t->ctx);
        code = code || now == TRIAL_CHILD_END ? code : now;
        pass_on(fd, child);
    }
    if (now == TRIAL_CHILD_END)
        code = end(child);
    *status = now == TRIAL_CHILD_END ? 0 : child > 0 ? exit_code(ended) : 1;
    if (fd >= 0)
        close(fd);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}
