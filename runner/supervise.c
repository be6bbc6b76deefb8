/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise.h"

#include "control.h"
#include "err.h"
#include "family.h"
#include "jsontext.h"
#include "launcher.h"
#include "raw.h"
#include "record.h"
#include "scratch.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds. The shims enforce the deadlines; these are for shims that are stopped or lost. */
#define START_S 60   /* to the first control line */
#define SILENCE_S 30 /* on top of a step's deadline */
#define DEAD_S 5     /* from a rank's death or error to the launcher's end */
#define DONE_S 10    /* from the last word of rank 0 to the launcher's end */
#define LINE_MAX_B (1 << 16)

struct watch {
    const struct plan *plan;
    struct interrupts *interrupts;
    struct progress *progress;
    struct attempt *attempt;
    struct family family;
    struct scratch scratch;
    char *recording, *log_path;
    char *launcher; /* its name, for messages */
    int log;
    struct text line; /* of the launcher's stdout, not yet whole */

    struct control beat, dead, error, done; /* the last beat of rank 0; the first of the others */
    bool has_beat, has_dead, has_error, has_done;
    double started, heard; /* seconds, CLOCK_MONOTONIC */
    double end_by;         /* the launcher must have ended; 0: not yet asked for */
    int obeyed;            /* interrupts that were acted on */
    bool silent, kill;     /* kill: end it now */
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- what the ranks say ---- */

static void heard(struct watch *w, const struct control *c)
{
    w->heard = now_s();
    switch (c->event) {
    case CONTROL_BEAT:
        if (c->rank == 0) {
            w->beat = *c;
            w->has_beat = true;
            progress_beat(w->progress, c);
        }
        return;
    case CONTROL_DEAD:
        if (!w->has_dead)
            w->dead = *c;
        w->has_dead = true;
        break;
    case CONTROL_ERROR:
        if (!w->has_error)
            w->error = *c;
        w->has_error = true;
        break;
    case CONTROL_DONE:
        w->done = *c;
        w->has_done = true;
        break;
    }
    if (!w->end_by)
        w->end_by = w->heard + (w->has_done ? DONE_S : DEAD_S);
}

/* A full disk must not end the watch: what cannot be logged is lost, the recordings are not. */
static void to_log(struct watch *w, const char *bytes, size_t n)
{
    while (n) {
        ssize_t got = write(w->log, bytes, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        bytes += got;
        n -= (size_t)got;
    }
}

static void take_line(struct watch *w, char *line, size_t n)
{
    struct control c;
    line[n - 1] = '\0';
    if (control_decode(line, &c)) {
        heard(w, &c);
        return;
    }
    line[n - 1] = '\n';
    to_log(w, line, n);
}

static void take_lines(struct watch *w)
{
    size_t start = 0;
    for (char *nl; (nl = memchr(w->line.s + start, '\n', w->line.len - start));) {
        size_t end = (size_t)(nl - w->line.s) + 1;
        take_line(w, w->line.s + start, end - start);
        start = end;
    }
    if (!start && w->line.len > LINE_MAX_B) { /* no line of ours */
        to_log(w, w->line.s, w->line.len);
        start = w->line.len;
    }
    memmove(w->line.s, w->line.s + start, w->line.len - start);
    w->line.len -= start;
}

static void read_output(struct watch *w)
{
    char buf[16384];
    ssize_t n;
    while (w->family.out >= 0 && (n = read(w->family.out, buf, sizeof buf)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        text_addn(&w->line, buf, (size_t)n);
        take_lines(w);
    }
    if (w->family.out >= 0) { /* closed: poll must not wake for it again */
        close(w->family.out);
        w->family.out = -1;
    }
}

/* ---- what ends the attempt ---- */

/* The first signal asks the ranks to close their block; there is nothing to close before one ran.
 */
static void obey_interrupts(struct watch *w)
{
    interrupts_read(w->interrupts);
    int count = w->interrupts->count;
    if (count == w->obeyed)
        return;
    w->obeyed = count;
    if (count > 1 || !w->has_beat) {
        w->kill = true;
        return;
    }
    progress_clear(w->progress);
    say("%s: closing the block; once more ends at once", strsignal(w->interrupts->last));
    kill(w->family.launcher, SIGUSR1);
}

static void keep_deadlines(struct watch *w)
{
    double now = now_s();
    double patience = w->heard > w->started ? w->plan->set.measure.deadline + SILENCE_S : START_S;
    w->silent = !w->end_by && now > w->heard + patience;
    if (w->silent || (w->end_by && now > w->end_by))
        w->kill = true;
}

static void wait_for_news(struct watch *w)
{
    struct pollfd fds[] = {{.fd = w->family.out, .events = POLLIN},
                           {.fd = w->interrupts->fd, .events = POLLIN}};
    poll(fds, 2, 200);
}

static int watch(struct watch *w)
{
    while (!w->family.ended && !w->kill) {
        wait_for_news(w);
        read_output(w);
        obey_interrupts(w);
        family_reap(&w->family);
        keep_deadlines(w);
    }
    int code = family_kill(&w->family);
    read_output(w);
    if (w->line.len)
        to_log(w, w->line.s, w->line.len);
    return code;
}

/* ---- how it ended ---- */

/* The first paragraph of the log in one line: launchers frame theirs with dashes. */
static void quote_log(const struct watch *w, char *buf, size_t n)
{
    struct text t = {0};
    size_t used = 0;
    buf[0] = '\0';
    if (!text_read_file(w->log_path, &t))
        return;
    struct words lines;
    words_split(&lines, t.s, '\n');
    for (size_t i = 0; i < lines.n && used < n / 2; i++) {
        const char *line = lines.v[i];
        if (!*line && used)
            break;
        if (strspn(line, "-=* ") == strlen(line))
            continue;
        used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? " " : "", line);
    }
    words_free(&lines);
    text_free(&t);
}

static void died(struct attempt *a, const char *kind, const char *cell, const char *why)
{
    a->end = ATTEMPT_DIED;
    snprintf(a->kind, sizeof a->kind, "%s", kind);
    snprintf(a->cell, sizeof a->cell, "%s", cell);
    snprintf(a->why, sizeof a->why, "%s", why);
}

/* The launcher ended, or was silent, and no rank said why. */
static void judge_launcher(const struct watch *w)
{
    struct attempt *a = w->attempt;
    char why[512], log[256];
    int status = w->family.status;
    if (w->silent) {
        snprintf(why, sizeof why, "no sign of life from the ranks for %.0f s", now_s() - w->heard);
        died(a, "hang", w->beat.cell, why);
        return;
    }
    if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "%s was killed by signal %d (%s)", w->launcher, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        died(a, "lost", w->beat.cell, why);
        return;
    }
    quote_log(w, log, sizeof log);
    snprintf(why, sizeof why, "%s ended with code %d before the ranks were done%s%s", w->launcher,
             WEXITSTATUS(status), *log ? ": " : "", log);
    died(a, "lost", w->beat.cell, why);
    if (w->heard > w->started)
        return;
    a->end = ATTEMPT_REFUSED;
    a->code = GS_CANNOT;
    snprintf(a->why, sizeof a->why, "%s started no rank (exit code %d): %s", w->launcher,
             WEXITSTATUS(status), *log ? log : "it did not say why");
}

static void judge(struct watch *w)
{
    struct attempt *a = w->attempt;
    if (w->has_done) {
        a->end = strcmp(w->done.status, "complete") ? ATTEMPT_INTERRUPTED : ATTEMPT_COMPLETE;
    } else if (w->has_dead) {
        died(a, w->dead.kind, w->dead.cell, w->dead.why);
    } else if (w->has_error) {
        a->end = ATTEMPT_REFUSED;
        a->code = w->error.code ? w->error.code : GS_FAILED;
        snprintf(a->why, sizeof a->why, "%s", w->error.why);
    } else if (w->obeyed) {
        a->end = ATTEMPT_INTERRUPTED;
    } else {
        judge_launcher(w);
    }
}

/* ---- the recording's last lines ---- */

static json_t *fail_line(const struct watch *w)
{
    char here[64] = "";
    gethostname(here, sizeof here - 1);
    const struct attempt *a = w->attempt;
    const struct control *d = w->has_dead ? &w->dead : NULL;
    return json_pack("{ss ss si ss ss si ss ss}", "type", "fail", "cell", a->cell, "copy",
                     d ? d->copy : 0, "kind", a->kind, "why", a->why, "rank", d ? d->rank : -1,
                     "host", d && *d->host ? d->host : here, "phase", d ? d->phase : w->beat.phase);
}

static json_t *end_line(const char *status)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return json_pack("{ss sf ss}", "type", "end", "at", (double)t.tv_sec + (double)t.tv_nsec * 1e-9,
                     "status", status);
}

/* Has rank 0 closed it itself? GS_OK or reported. */
static int has_end(const char *path, bool *closed)
{
    struct raw *r;
    struct raw_line line;
    *closed = false;
    int code = raw_open(&r, path);
    if (code)
        return code;
    int got = raw_next(r, 1u << RAW_END, &line);
    *closed = got == 1;
    raw_close(r);
    return got < 0 ? GS_FAILED : GS_OK;
}

static int close_recording(struct watch *w)
{
    struct record r;
    bool closed;
    int code = record_reopen(&r, w->recording);
    if (code)
        return code;
    if (lseek(r.fd, 0, SEEK_END) == 0) { /* killed before its first line: it records nothing */
        unlink(w->recording);
        return record_close(&r);
    }
    code = has_end(w->recording, &closed);
    if (!code && !closed) {
        bool dead = w->attempt->end == ATTEMPT_DIED;
        if (dead)
            code = record_line(&r, fail_line(w));
        if (!code)
            code = record_line(&r, end_line(dead ? w->attempt->kind : "interrupted"));
        if (!code)
            code = record_sync(&r);
    }
    int at_close = record_close(&r);
    return code ? code : at_close;
}

/* ---- the attempt ---- */

static int open_log(struct watch *w)
{
    w->log = open(w->log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (w->log >= 0)
        return GS_OK;
    return fail_at(GS_FAILED, w->log_path, 0, "cannot be written: %s", strerror(errno));
}

static int start(struct watch *w, const char *dir)
{
    char launch[16], attempt[16], **argv;
    snprintf(launch, sizeof launch, "%d", w->attempt->launch);
    snprintf(attempt, sizeof attempt, "%d", w->attempt->attempt);
    int code = launcher_command_in(w->plan, w->scratch.dir,
                                   (const char *const[]){dir, launch, attempt, NULL}, &argv);
    if (code)
        return code;
    code = open_log(w);
    if (!code) {
        const char *slash = strrchr(argv[0], '/');
        w->launcher = xstrdup(slash ? slash + 1 : argv[0]);
        w->started = w->heard = now_s();
        code = family_start(&w->family, argv, w->log, w->interrupts);
    }
    launcher_free(argv);
    return code;
}

static void close_log(struct watch *w)
{
    struct stat s;
    if (w->log < 0)
        return;
    bool empty = fstat(w->log, &s) == 0 && s.st_size == 0;
    close(w->log);
    if (empty && w->attempt->end == ATTEMPT_COMPLETE)
        unlink(w->log_path);
    else
        snprintf(w->attempt->log, sizeof w->attempt->log, "%s", strrchr(w->log_path, '/') + 1);
}

int supervise(const struct plan *p, const char *dir, struct interrupts *i,
              struct progress *progress, struct attempt *a)
{
    char name[64];
    struct watch w = {.plan = p, .interrupts = i, .progress = progress, .attempt = a, .log = -1};
    w.family.out = -1;
    w.obeyed = i->count;
    w.recording =
        xstrfmt("%s/%s", dir, record_name(name, sizeof name, a->launch, a->attempt, "jsonl"));
    w.log_path =
        xstrfmt("%s/%s", dir, record_name(name, sizeof name, a->launch, a->attempt, "log"));
    scratch_make(&w.scratch);
    int code = start(&w, dir);
    if (!code) {
        code = watch(&w);
        judge(&w);
        int closing =
            a->end == ATTEMPT_COMPLETE || a->end == ATTEMPT_REFUSED || access(w.recording, F_OK)
                ? GS_OK
                : close_recording(&w);
        code = code ? code : closing;
        family_end(&w.family);
    }
    scratch_remove(&w.scratch);
    progress_clear(progress);
    close_log(&w);
    text_free(&w.line);
    free(w.launcher);
    free(w.recording);
    free(w.log_path);
    return code;
}
