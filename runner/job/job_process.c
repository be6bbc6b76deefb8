/* SPDX-License-Identifier: Apache-2.0 */
#include "job/job_process.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_S 10.0 /* from SIGTERM to SIGKILL */
#define LATE_S 15.0  /* after the grace: the guard hangs */

static int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- shared memory ----
 *
 * What a job leaves behind when it is killed: MPI and NCCL keep tens of MiB per rank in /dev/shm, and nobody else removes
 * them. */

#define SHARED_MEMORY "/dev/shm/"

struct memory {
    struct segment {
        char *path;
        ino_t inode;
    } * made;
    size_t n;
    ino_t *before; /* files that were there when the job began */
    size_t n_before;
};

static void note_folder(struct memory *m, const char *path)
{
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        APPEND(m->before, m->n_before) = e->d_ino;
        AUTO_FREE char *below = xstrfmt("%s%s/", path, e->d_name);
        if (e->d_type == DT_DIR)
            note_folder(m, below);
    }
    if (d)
        closedir(d);
}

static void memory_begin(struct memory *m)
{
    *m = (struct memory){0};
    note_folder(m, SHARED_MEMORY);
}

static bool is_known(const struct memory *m, ino_t inode)
{
    for (size_t i = 0; i < m->n_before; i++)
        if (m->before[i] == inode)
            return true;
    for (size_t i = 0; i < m->n; i++)
        if (m->made[i].inode == inode)
            return true;
    return false;
}

/* Calls take(ctx, path, inode) for each file of shared memory that a process has mapped. */
static void each_mapped(pid_t pid, void (*take)(void *, const char *, ino_t), void *ctx)
{
    AUTO_FREE char *maps = xstrfmt("/proc/%d/maps", (int)pid), *line = NULL;
    AUTO_FCLOSE FILE *in = fopen(maps, "re");
    size_t cap = 0;
    while (in && getline(&line, &cap, in) > 0) {
        char *path = strstr(line, " " SHARED_MEMORY);
        unsigned long long inode;
        if (!path || sscanf(line, "%*s %*s %*s %*s %llu", &inode) != 1)
            continue;
        path[strcspn(path, "\n")] = '\0';
        take(ctx, path + 1, (ino_t)inode);
    }
}

static void take_made(void *ctx, const char *path, ino_t inode)
{
    struct memory *m = ctx;
    if (!is_known(m, inode) && !text_ends(path, " (deleted)"))
        APPEND(m->made, m->n) = (struct segment){xstrdup(path), inode};
}

/* Notes the files that one of these processes has mapped and that were not there before. */
static void memory_look(struct memory *m, const pid_t *pids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        each_mapped(pids[i], take_made, m);
}

static void take_used(void *ctx, const char *path, ino_t inode)
{
    struct memory *m = ctx;
    (void)path;
    for (size_t i = 0; i < m->n; i++)
        if (m->made[i].inode == inode)
            m->made[i].inode = 0;
}

static bool is_left(const struct segment *s)
{
    struct stat st;
    return s->inode && !lstat(s->path, &st) && st.st_ino == s->inode && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid();
}

/* When the job has ended: removes what it made, unless another process has it mapped. */
static void memory_end(struct memory *m)
{
    size_t left = 0;
    for (size_t i = 0; i < m->n; i++)
        left += is_left(&m->made[i]);
    DIR *d = left ? opendir("/proc") : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (atoi(e->d_name) > 0)
            each_mapped((pid_t)atoi(e->d_name), take_used, m);
    if (d)
        closedir(d);
    for (size_t i = 0; i < m->n; i++) {
        if (is_left(&m->made[i]))
            unlink(m->made[i].path);
        free(m->made[i].path);
    }
    free(m->made);
    free(m->before);
    *m = (struct memory){0};
}

/* ---- the guard ---- */

static void become_command(const char *script, int out, const struct interrupts *i)
{
    setsid();
    interrupts_child(i);
    int nothing = open("/dev/null", O_RDONLY);
    if (dup2(nothing, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2) {
        close_range(3, ~0u, 0);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
    }
    _exit(127);
}

/* What the job has in shared memory is looked for now and then, and rarely: it costs the job some time. */
struct looks {
    struct memory memory;
    double next_s, pause_s;
};

static void look(struct looks *l)
{
    AUTO_FREE pid_t *pids = NULL;
    size_t n = family_descendants(&pids);
    memory_look(&l->memory, pids, n);
    l->pause_s *= 2;
    l->next_s = clock_now_s() + l->pause_s;
}

/* Lets all processes of the job end by themselves: the end of its launcher or shell is not that of a rank
 * which writes a checkpoint. One that is stopped goes on to end. */
static void end_job(struct process_family *f, struct looks *l, const sigset_t *news)
{
    const struct timespec patience = {.tv_nsec = 20000000};
    AUTO_FREE pid_t *pids = NULL;
    look(l);
    size_t n = family_descendants(&pids);
    for (size_t i = 0; i < n; i++) {
        kill(pids[i], SIGTERM);
        kill(pids[i], SIGCONT);
    }
    for (double kill_by = clock_now_s() + GRACE_S; n && clock_now_s() < kill_by;) {
        sigtimedwait(news, NULL, &patience);
        family_reap(f);
        free(pids);
        n = family_descendants(&pids);
    }
}

static void await(struct process_family *f, struct looks *l, const sigset_t *news)
{
    const struct timespec patience = {.tv_nsec = 100000000};
    while (!f->ended && sigtimedwait(news, NULL, &patience) != SIGTERM) {
        family_reap(f);
        if (clock_now_s() > l->next_s)
            look(l);
    }
    end_job(f, l, news);
    family_kill(f);
    memory_end(&l->memory);
}

__attribute__((noreturn)) static void guard(const char *script, int out, pid_t parent,
                                            const struct interrupts *i)
{
    struct process_family f = {.out = -1};
    struct looks l = {.pause_s = 0.5, .next_s = clock_now_s() + 0.5};
    sigset_t news;
    sigemptyset(&news);
    sigaddset(&news, SIGTERM);
    sigaddset(&news, SIGCHLD);
    sigprocmask(SIG_BLOCK, &news, NULL);
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before the line above */
        _exit(1);
    memory_begin(&l.memory);
    f.launcher = fork();
    if (f.launcher == 0)
        become_command(script, out, i);
    close_range(3, ~0u, 0); /* the locks of the run folder, too */
    if (f.launcher < 0)
        _exit(126);
    await(&f, &l, &news);
    _exit(exit_code(f.status));
}

/* ---- gradsync ---- */

struct watcher {
    pid_t guard;
    struct process_family family; /* of the job, once there is no guard; and what it has in */
    struct memory memory;         /* shared memory */
    int out;
    struct interrupts *interrupts;
    int obeyed;
    const struct job_hooks *hooks;
};

/* The guard was killed or stopped, and cannot end the job. */
static void replace_guard(struct watcher *w, struct job_ended *ended)
{
    AUTO_FREE pid_t *pids = NULL;
    size_t n = family_descendants(&pids);
    memory_look(&w->memory, pids, n);
    kill(w->guard, SIGKILL);
    family_kill(&w->family);
    memory_end(&w->memory);
    *ended = (struct job_ended){.lost = true, .stopped = ended->stopped};
}

/* Is the guard there, and does it do its work? False: it has ended, with this status. */
static bool is_guarded(struct watcher *w, double asked_s, int *status, struct job_ended *ended)
{
    pid_t pid = waitpid(w->guard, status, WNOHANG | WUNTRACED);
    bool late = asked_s > 0 && clock_now_s() > asked_s + GRACE_S + LATE_S;
    if (pid == 0 && !late)
        return true;
    if (late || WIFSTOPPED(*status) || WIFSIGNALED(*status)) {
        *status = SIGKILL;
        replace_guard(w, ended);
    }
    return false;
}

pid_t job_halted(void)
{
    AUTO_FREE pid_t *pids = NULL;
    size_t n = family_descendants(&pids);
    for (size_t i = 0; i < n; i++) {
        pid_t parent;
        if (family_state(pids[i], &parent) == 'T')
            return pids[i];
    }
    return 0;
}

static void watch(struct watcher *w, double timeout_s, struct job_ended *ended)
{
    double began = clock_now_s(), asked_s = 0;
    int status = 0;
    while (is_guarded(w, asked_s, &status, ended)) {
        struct pollfd fds[] = {{.fd = w->out, .events = POLLIN},
                               {.fd = w->interrupts->fd, .events = POLLIN}};
        poll(fds, 2, 50);
        family_read(&w->out, w->hooks->take, w->hooks->ctx);
        interrupts_read(w->interrupts);
        if (w->interrupts->count != w->obeyed) {
            w->obeyed = w->interrupts->count;
            ended->stopped = true;
            kill(w->guard, SIGTERM);
        }
        bool asked = ended->hung || ended->stopped || ended->enough;
        if (!asked) {
            ended->enough = w->hooks->enough(w->hooks->ctx);
            ended->hung = !ended->enough && clock_now_s() > began + timeout_s;
            if (ended->enough || ended->hung) {
                ended->halted = job_halted();
                kill(w->guard, SIGTERM);
            }
        }
        asked_s = asked && !(asked_s > 0) ? clock_now_s() : asked_s;
    }
    while (w->out >= 0) { /* nobody writes any more */
        struct pollfd rest = {.fd = w->out, .events = POLLIN};
        if (poll(&rest, 1, 0) <= 0)
            break;
        family_read(&w->out, w->hooks->take, w->hooks->ctx);
    }
    ended->took_s = clock_now_s() - began;
    ended->status = exit_code(status);
}

int job_guarded(const char *script, double timeout_s, struct interrupts *i,
                const struct job_hooks *hooks, struct job_ended *ended)
{
    int out[2];
    pid_t parent = getpid();
    *ended = (struct job_ended){0};
    if (pipe2(out, O_CLOEXEC))
        return fail(GS_FAILED, "tune: no pipe for the command: %s", strerror(errno));
    struct watcher w = {.out = out[0], .interrupts = i, .obeyed = i->count, .hooks = hooks};
    family_adopt(&w.family);
    memory_begin(&w.memory);
    w.guard = fork();
    if (w.guard == 0)
        guard(script, out[1], parent, i);
    int error = errno;
    close(out[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    if (w.guard > 0)
        watch(&w, timeout_s, ended);
    if (w.out >= 0)
        close(w.out);
    memory_end(&w.memory);
    free(w.family.before);
    return w.guard > 0
               ? GS_OK
               : fail(GS_FAILED, "tune: the command cannot be started: %s", strerror(error));
}

const char *job_ended_kind(const struct job_ended *e, char *why, size_t n)
{
    if (e->lost) {
        snprintf(why, n,
                 "the process that guards the launch was killed or stopped; the launch was ended");
        return "lost";
    }
    if (e->status > 128 && sigabbrev_np(e->status - 128))
        snprintf(why, n, "exit code %d (a shell's code for signal %d, SIG%s)", e->status,
                 e->status - 128, sigabbrev_np(e->status - 128));
    else if (e->status)
        snprintf(why, n, "exit code %d", e->status);
    return e->hung ? "hang" : e->status ? "crash" : NULL;
}

char *job_beside(const char *built, const char *installed)
{
    char *path = xstrfmt("%s/%s", program_dir(), built);
    if (access(path, R_OK)) {
        free(path);
        path = xstrfmt("%s/%s", program_dir(), installed);
    }
    if (access(path, R_OK)) {
        free(path);
        path = NULL;
    }
    return path;
}
