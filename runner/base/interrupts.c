/* SPDX-License-Identifier: Apache-2.0 */
#include "base/interrupts.h"

#include "base/err.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int asked_to_end[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

int interrupts_catch(struct interrupts *i)
{
    *i = (struct interrupts){.fd = -1};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t s = 0; s < sizeof asked_to_end / sizeof *asked_to_end; s++) {
        struct sigaction now;
        sigaction(asked_to_end[s], NULL, &now);
        if (now.sa_handler != SIG_IGN)
            sigaddset(&set, asked_to_end[s]);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, &i->before);
    i->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (i->fd < 0) {
        sigprocmask(SIG_SETMASK, &i->before, NULL);
        return fail(GS_FAILED, "signals cannot be watched: signalfd: %s", strerror(errno));
    }
    return GS_OK;
}

void interrupts_read(struct interrupts *i)
{
    struct signalfd_siginfo s;
    while (read(i->fd, &s, sizeof s) == (ssize_t)sizeof s)
        if (s.ssi_signo != SIGCHLD) {
            i->count++;
            i->last = (int)s.ssi_signo;
        }
}

void interrupts_child(const struct interrupts *i)
{
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &i->before, NULL);
}

void interrupts_release(struct interrupts *i)
{
    close(i->fd);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &i->before, NULL);
}
