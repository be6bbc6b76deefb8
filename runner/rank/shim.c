/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/shim.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/text.h"
#include "launch/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- where this rank runs ---- */

/* Open MPI's variables first: under srun its ranks have Slurm's variables too. */
static const struct {
    const char *rank, *ranks, *local_rank;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

void place_find(struct rank_place *p)
{
    *p = (struct rank_place){.rank = 0, .ranks = 1, .local_rank = 0};
    for (size_t i = 0; i < COUNT(launchers); i++)
        if (getenv(launchers[i].rank)) {
            p->rank = number(launchers[i].rank, 0);
            p->ranks = number(launchers[i].ranks, number("SLURM_NTASKS", 1));
            p->local_rank = number(launchers[i].local_rank, number("SLURM_LOCALID", 0));
            break;
        }
    if (gethostname(p->host, sizeof p->host - 1))
        p->host[0] = '\0';
}

/* ---- the page ---- */

void beat_step(struct beat *b, const char *phase, double seconds)
{
    uint64_t now = clock_now_ns();
    snprintf(b->phase, sizeof b->phase, "%s", phase);
    atomic_store(&b->step_ns, now);
    atomic_store(&b->deadline_ns, now + (uint64_t)(seconds * 1e9));
}

void beat_cell(struct beat *b, const struct cell *cell, int copy)
{
    atomic_store(&b->copy, (uint32_t)copy);
    snprintf(b->cell, sizeof b->cell, "%s", cell ? cell->id : "");
    b->said[0] = '\0'; /* of the cell before */
}

/* ---- the shim ---- */

#define MS UINT64_C(1000000)
#define POLL_NS (100 * MS)
#define BEAT_NS (250 * MS)
#define STOPPED_NS (150 * MS)
#define LEAVE_NS (500 * MS)    /* time for a child that was told to exit */
#define CULPRIT_NS (1000 * MS) /* grace period that a waiting rank gives the rank it waits for */

/* In the kernel's order of delivery: a kill arrives before the SIGCHLD that it causes. */
static const int watched[] = {SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGCHLD};

struct shim {
    const struct rank_place *place;
    struct beat *beat;
    pid_t child;
    sigset_t signals, before;
    uint64_t beat_ns;    /* time of the last beat */
    uint64_t stopped_ns; /* since when the child is stopped; 0: it runs */
    uint32_t lost_B;     /* of the beat's lost hosts, sent */
};

static void send(const struct control *c)
{
    char line[CONTROL_LINE_MAX];
    size_t n = control_encode(c, line);
    while (write(STDOUT_FILENO, line, n) < 0 && errno == EINTR)
        continue;
}

static void send_beat(struct shim *s)
{
    const struct beat *b = s->beat;
    struct control c = {.event = CONTROL_BEAT,
                        .rank = s->place->rank,
                        .groups_done = (int)b->groups_done,
                        .groups = (int)b->groups};
    snprintf(c.phase, sizeof c.phase, "%s", b->phase);
    snprintf(c.cell, sizeof c.cell, "%s", b->cell);
    send(&c);
    s->beat_ns = clock_now_ns();
}

static int died(const struct shim *s, const char *kind, const char *why)
{
    const struct beat *b = s->beat;
    struct control c = {.event = CONTROL_DEAD, .rank = s->place->rank, .copy = (int)b->copy};
    snprintf(c.phase, sizeof c.phase, "%s", b->phase);
    snprintf(c.cell, sizeof c.cell, "%s", b->cell);
    snprintf(c.kind, sizeof c.kind, "%s", kind);
    snprintf(c.host, sizeof c.host, "%s", s->place->host);
    snprintf(c.why, sizeof c.why, "%s", why);
    send(&c);
    return GS_FAILED;
}

static int refused(const struct shim *s, int code)
{
    struct control c = {.event = CONTROL_ERROR, .rank = s->place->rank, .code = code};
    snprintf(c.why, sizeof c.why, "%s", s->beat->error);
    send(&c);
    return code;
}

/* What the ranks cannot tell each other any more. */
static void send_lost(struct shim *s)
{
    uint32_t n = s->beat->lost_B;
    if (n == s->lost_B)
        return;
    struct control c = {.event = CONTROL_LOST, .rank = s->place->rank};
    snprintf(c.host, sizeof c.host, "%s", s->place->host);
    snprintf(c.why, sizeof c.why, "%.*s", (int)n, s->beat->lost);
    send(&c);
    s->lost_B = n;
}

/* The child exited; the beat shows whether it had finished. */
static int ended(const struct shim *s, int status)
{
    const struct beat *b = s->beat;
    if (WIFSIGNALED(status)) {
        char why[64];
        const char *name = sigabbrev_np(WTERMSIG(status));
        snprintf(why, sizeof why, "killed by SIG%s", name ? name : "?");
        return died(s, "crash", why);
    }
    int code = WEXITSTATUS(status);
    if (!strcmp(b->status, "lost"))
        return died(s, "lost", b->error);
    if (!strcmp(b->status, "hang"))
        return *b->error ? died(s, "hang", b->error) : GS_OK;
    if (code && *b->error)
        return refused(s, code);
    if (code || !*b->status) {
        char why[128];
        snprintf(why, sizeof why, "exited with code %d before it was done", code);
        return died(s, "lost", why);
    }
    if (s->place->rank == 0) {
        struct control c = {.event = CONTROL_DONE};
        snprintf(c.status, sizeof c.status, "%s", b->status);
        send(&c);
    }
    return GS_OK;
}

static int hung(const struct shim *s)
{
    pid_t parent;
    char why[512], state = family_state(s->child, &parent);
    const char *reason = state == 'T'       ? ": stopped by a signal (state T)"
                         : state == 't'     ? ": held by a debugger (state t)"
                         : s->beat->waiting ? ": waiting for another rank"
                         : state == 'D'     ? ": blocked in the kernel (state D)"
                                            : "";
    double seconds = (double)(clock_now_ns() - s->beat->step_ns) * 1e-9;
    /* If the network is cut, a rank's error reaches only its own shim. */
    const char *said = s->beat->waiting ? s->beat->said : "";
    snprintf(why, sizeof why, "no progress for %.1f s in %s%s%s%s", seconds, s->beat->phase, reason,
             *said ? ", having failed: " : "", said);
    kill(s->child, SIGKILL);
    return died(s, "hang", why);
}

/* The next watched signal; 0: none in time. */
static int next_signal(const struct shim *s, uint64_t ns)
{
    struct timespec timeout = {.tv_nsec = (long)ns};
    int signal = sigtimedwait(&s->signals, NULL, &timeout);
    return signal > 0 ? signal : 0;
}

/* The launcher ends this rank: a child that can still finish its block may; others are killed. */
static int told_to_end(const struct shim *s)
{
    s->beat->stop = 1;
    for (uint64_t end = clock_now_ns() + LEAVE_NS; clock_now_ns() < end;) {
        if (waitpid(s->child, NULL, WNOHANG))
            return GS_FAILED;
        next_signal(s, POLL_NS / 10);
    }
    kill(s->child, SIGKILL);
    return GS_FAILED;
}

static int watch(struct shim *s)
{
    for (int signal = 0;; signal = next_signal(s, POLL_NS)) {
        int status;
        if (signal == SIGUSR1)
            s->beat->stop = 1;
        else if (signal && signal != SIGCHLD)
            return told_to_end(s);
        send_lost(s);
        if (waitpid(s->child, &status, WNOHANG | WUNTRACED) == s->child) {
            if (!WIFSTOPPED(status))
                return ended(s, status);
            s->stopped_ns = clock_now_ns();
        }
        /* The other ranks of a stopped one wait, and would be taken for the ones that hang: so it is
         * reported at once. A job that was suspended goes on within STOPPED_NS. */
        const struct beat *b = s->beat;
        uint64_t now = clock_now_ns(), deadline = b->deadline_ns;
        pid_t parent;
        bool stopped = s->stopped_ns && now - s->stopped_ns > STOPPED_NS &&
                       family_state(s->child, &parent) == 'T';
        /* The hung rank reports first; waiting ranks give it a grace period, longer without an own error. */
        uint64_t more = !b->waiting ? 0 : *b->said ? CULPRIT_NS : 2 * CULPRIT_NS;
        if (stopped || (deadline && now > deadline + more))
            return hung(s);
        if (s->place->rank == 0 && clock_now_ns() - s->beat_ns > BEAT_NS)
            send_beat(s);
    }
}

/* The launcher signals all processes of a rank; only the shim answers. */
static int be_child(const struct shim *s, pid_t parent, int (*child)(void *arg), void *arg)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above */
        return GS_FAILED;
    signal(SIGUSR1, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    err_capture(s->beat->error, sizeof s->beat->error);
    return child(arg);
}

int shim(const struct rank_place *place, struct beat *beat, int (*child)(void *arg), void *arg)
{
    struct shim s = {.place = place, .beat = beat};
    pid_t parent = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN); /* if the supervisor is gone, the launcher ends this process */
    sigemptyset(&s.signals);
    for (size_t i = 0; i < COUNT(watched); i++)
        sigaddset(&s.signals, watched[i]);
    sigprocmask(SIG_BLOCK, &s.signals, &s.before);
    s.child = fork();
    if (s.child == 0)
        exit(be_child(&s, parent, child, arg));
    if (s.child > 0)
        return watch(&s);
    snprintf(beat->error, sizeof beat->error, "gradsync: cannot fork: %s", strerror(errno));
    return refused(&s, GS_CANNOT);
}
