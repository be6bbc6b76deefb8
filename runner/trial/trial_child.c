/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/trial_child.h"

#include "base/err.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVERY_MS 2000

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

static pid_t start(char **command, const sigset_t *before)
{
    pid_t child = fork();
    if (child)
        return child;
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(command[0], command);
    int error = errno;
    fail(GS_USAGE, "trial: %s: %s", command[0], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

static int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int trial_child(char **command, int (*meanwhile)(void *), void *ctx, int *status)
{
    sigset_t set, before;
    int code = GS_OK, ended = 0;
    watched(&set);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, &before);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    pid_t child = fd < 0 ? -1 : start(command, &before);
    if (child < 0)
        code = fail(GS_FAILED, "trial: the command cannot be started: %s", strerror(errno));
    while (child > 0 && waitpid(child, &ended, WNOHANG) == 0) {
        struct pollfd p = {fd, POLLIN, 0};
        if (poll(&p, 1, EVERY_MS) == 0 && !code)
            code = meanwhile(ctx);
        pass_on(fd, child);
    }
    *status = child > 0 ? exit_code(ended) : 1;
    if (fd >= 0)
        close(fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}
