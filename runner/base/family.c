/* SPDX-License-Identifier: Apache-2.0 */
#include "base/family.h"

#include "base/err.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL_PATIENCE_S 10

/* Its stat has "PID (any text) S PPID …". */
pid_t family_parent(pid_t pid)
{
    char path[64], stat[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return 0;
    stat[n] = '\0';
    const char *s = strrchr(stat, ')');
    int parent;
    return s && sscanf(s + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Children of this process, including dead ones: a process that died while /proc was read may have
 * left us a child. The caller frees *pids. */
static size_t children(pid_t **pids)
{
    size_t n = 0;
    *pids = NULL;
    DIR *d = opendir("/proc");
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        pid_t pid = (pid_t)atoi(e->d_name);
        if (family_parent(pid) == getpid())
            APPEND(*pids, n) = pid;
    }
    closedir(d);
    return n;
}

static void become_launcher(char *const argv[], int out, int log, int sayer, pid_t parent,
                            const struct interrupts *i)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above */
        _exit(1);
    interrupts_child(i);
    int nothing = open("/dev/null", O_RDONLY);
    if (dup2(nothing, 0) == 0 && dup2(out, 1) == 1 && dup2(log, 2) == 2)
        execv(argv[0], argv);
    int why = errno;
    if (write(sayer, &why, sizeof why) < 0)
        _exit(1);
    _exit(1);
}

int family_start(struct family *f, char *const argv[], int log, const struct interrupts *i)
{
    *f = (struct family){.out = -1};
    int out[2], said[2];
    if (pipe2(out, O_CLOEXEC))
        return fail(GS_FAILED, "no pipe for %s: %s", argv[0], strerror(errno));
    if (pipe2(said, O_CLOEXEC)) {
        int why = errno;
        close(out[0]);
        close(out[1]);
        return fail(GS_FAILED, "no pipe for %s: %s", argv[0], strerror(why));
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    f->n_before = children(&f->before);
    pid_t parent = getpid();
    f->launcher = fork();
    if (f->launcher == 0)
        become_launcher(argv, out[1], log, said[1], parent, i);
    int why = f->launcher < 0 ? errno : 0;
    close(out[1]);
    close(said[1]);
    f->out = out[0];
    fcntl(f->out, F_SETFL, O_NONBLOCK);
    if (!why && read(said[0], &why, sizeof why) <= 0)
        why = 0;
    close(said[0]);
    if (!why)
        return GS_OK;
    family_end(f);
    return fail(GS_CANNOT, "%s cannot be started: %s", argv[0], strerror(why));
}

void family_reap(struct family *f)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == f->launcher) {
            f->ended = true;
            f->status = status;
        }
}

static bool one_of(const pid_t *pids, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

/* Kills every child; their children then become ours. Returns the number of children. */
static size_t kill_children(const struct family *f, pid_t *example)
{
    AUTO_FREE pid_t *pids = NULL;
    size_t n = children(&pids), killed = 0;
    for (size_t i = 0; i < n; i++)
        if (!one_of(f->before, f->n_before, pids[i])) {
            kill(pids[i], SIGKILL);
            *example = pids[i];
            killed++;
        }
    return killed;
}

int family_kill(struct family *f)
{
    pid_t example = 0;
    for (long ms = 0;; ms += 5) {
        family_reap(f);
        if (!kill_children(f, &example))
            return GS_OK;
        if (ms >= KILL_PATIENCE_S * 1000L)
            return fail(GS_FAILED, "process %d cannot be killed: it hangs inside the kernel",
                        (int)example);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

int family_end(struct family *f)
{
    int code = family_kill(f);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (f->out >= 0)
        close(f->out);
    free(f->before);
    *f = (struct family){.out = -1};
    return code;
}
