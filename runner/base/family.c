/* SPDX-License-Identifier: Apache-2.0 */
#include "base/family.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- signals that end this program ---- */

static const int asked_to_end[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

int interrupts_catch(struct interrupts *i)
{
    *i = (struct interrupts){.fd = -1};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t s = 0; s < COUNT(asked_to_end); s++) {
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
    if (i->fd < 0)
        return;
    close(i->fd);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &i->before, NULL);
}

/* ---- a process of its own ---- */

int family_apart(int (*run)(void *ctx), void *ctx)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int code = run(ctx);
        fflush(NULL);
        _exit(code);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid < 0 ? -1 : status;
}

/* ---- temporary folders ---- */

/* Root may open a folder of another user all the same. */
int scratch_lock(const char *path)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &s) || s.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void scratch_sweep(const char *root, const char *prefix)
{
    AUTO_WORDS struct words names = {0};
    AUTO_FREE char *pattern = xstrfmt("%s*", prefix);
    files_list(root, pattern, &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *path = xstrfmt("%s/%s", root, names.v[i]);
        AUTO_CLOSE int lock = scratch_lock(path);
        if (lock >= 0)
            files_remove_tree(path);
    }
}

#define SHARED_MEMORY "/dev/shm"

/* Waits for the end of the process that holds the other end of the pipe; then removes the folder until
 * the ranks, which are dying too, make no more files in it. In a session of its own, because the
 * signals of a terminal would end it first. */
static void keep(const char *path, int alive)
{
    char byte;
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    setsid();
    for (int s = SIGHUP; s <= SIGTERM; s++)
        signal(s, SIG_IGN);
    dup2(alive, 0);
    close_range(1, ~0u, 0);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    for (int tries = 0; tries < 100 && !access(path, F_OK); tries++) {
        files_remove_tree(path);
        nanosleep(&pause, NULL);
    }
    _exit(0);
}

void scratch_make(struct scratch *s)
{
    int ends[2];
    *s = (struct scratch){.alive = -1, .keeper = -1};
    AUTO_FREE char *path = xstrfmt(SHARED_MEMORY "/gradsync-%ld-XXXXXX", (long)geteuid());
    if (!mkdtemp(path))
        return;
    s->dir = xstrdup(path);
    if (pipe2(ends, O_CLOEXEC))
        return;
    s->keeper = fork();
    if (s->keeper == 0)
        keep(s->dir, ends[0]);
    close(ends[0]);
    s->alive = ends[1];
}

void scratch_remove(struct scratch *s)
{
    if (!s->dir)
        return;
    files_remove_tree(s->dir);
    if (s->alive >= 0)
        close(s->alive);
    if (s->keeper > 0)
        waitpid(s->keeper, NULL, 0);
    free(s->dir);
    *s = (struct scratch){.alive = -1, .keeper = -1};
}

/* ---- the processes ---- */

#define KILL_PATIENCE_S 10

/* Its stat has "PID (any text) S PPID …". */
char family_state(pid_t pid, pid_t *parent)
{
    char path[64], stat[1024], state;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
    stat[n > 0 ? n : 0] = '\0';
    const char *s = strrchr(stat, ')');
    int found;
    if (!s || sscanf(s + 1, " %c %d", &state, &found) != 2)
        return *parent = 0, '?';
    *parent = found;
    return state;
}

pid_t family_parent(pid_t pid)
{
    pid_t parent;
    family_state(pid, &parent);
    return parent;
}

/* All processes, and the parent of each. The caller frees both. */
static size_t processes(pid_t **pids, pid_t **parents)
{
    size_t n = 0, had = 0;
    DIR *d = opendir("/proc");
    *pids = *parents = NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0])) {
            APPEND(*pids, n) = (pid_t)atoi(e->d_name);
            APPEND(*parents, had) = family_parent((*pids)[n - 1]);
        }
    if (d)
        closedir(d);
    return n;
}

/* Children of this process, including dead ones: a process that died while /proc was read may have
 * left us a child. The caller frees *pids. */
static size_t children(pid_t **pids)
{
    AUTO_FREE pid_t *parents = NULL;
    size_t all = processes(pids, &parents), n = 0;
    for (size_t i = 0; i < all; i++)
        if (parents[i] == getpid())
            (*pids)[n++] = (*pids)[i];
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

void family_adopt(struct process_family *f)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    f->n_before = children(&f->before);
}

size_t family_descendants(pid_t **pids)
{
    AUTO_FREE pid_t *all = NULL, *parents = NULL;
    size_t n_all = processes(&all, &parents), n = 0, had, k = 0;
    *pids = NULL;
    do { /* a generation after the other */
        had = n;
        for (size_t i = 0; i < n_all; i++) {
            bool ours = parents[i] == getpid();
            for (k = 0; k < had && !ours; k++)
                ours = (*pids)[k] == parents[i];
            if (ours) {
                APPEND(*pids, n) = all[i];
                parents[i] = 0;
            }
        }
    } while (n > had);
    return n;
}

int family_start(struct process_family *f, char *const argv[], int log, const struct interrupts *i)
{
    *f = (struct process_family){.out = -1};
    int out[2], said[2];
    if (pipe2(out, O_CLOEXEC))
        return fail(GS_FAILED, "no pipe for %s: %s", argv[0], strerror(errno));
    if (pipe2(said, O_CLOEXEC)) {
        int why = errno;
        close(out[0]);
        close(out[1]);
        return fail(GS_FAILED, "no pipe for %s: %s", argv[0], strerror(why));
    }
    family_adopt(f);
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

#define READS 64 /* 16 KiB each: more than a pipe holds */

void family_read(int *out, void (*take)(void *ctx, const char *bytes, size_t n), void *ctx)
{
    char buf[16384];
    for (int i = 0; i < READS && *out >= 0; i++) {
        ssize_t n = read(*out, buf, sizeof buf);
        if (n < 0)
            return;
        if (n > 0) {
            take(ctx, buf, (size_t)n);
        } else {
            close(*out);
            *out = -1;
        }
    }
}

void family_reap(struct process_family *f)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == f->launcher) {
            f->ended = true;
            f->status = status;
        }
}

/* Kills every child; their children then become ours. Returns the number of children. */
static size_t kill_children(const struct process_family *f, pid_t *example)
{
    AUTO_FREE pid_t *pids = NULL;
    size_t n = children(&pids), killed = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < f->n_before && f->before[k] != pids[i])
            k++;
        if (k < f->n_before)
            continue;
        kill(pids[i], SIGKILL);
        *example = pids[i];
        killed++;
    }
    return killed;
}

int family_kill(struct process_family *f)
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

int family_end(struct process_family *f)
{
    int code = family_kill(f);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (f->out >= 0)
        close(f->out);
    free(f->before);
    *f = (struct process_family){.out = -1};
    return code;
}
