/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/supervise.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/scratch.h"
#include "base/text.h"
#include "launch/control.h"
#include "launch/launcher.h"
#include "record/record.h"
#include "record/record_end.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds. The shims enforce the deadlines; these limits are for shims that are stopped or lost. */
#define START_S 60   /* to the first control line */
#define SILENCE_S 30 /* added to a step's deadline */
#define DEAD_S 5     /* from a rank's death or error to the launcher's end */
#define LOST_S 1.25  /* from the first lost host; the other ranks notice it within a second */
#define DONE_S 10    /* from the last control line of rank 0 to the launcher's end */
#define LINE_MAX_B (1 << 16)
#define READS 64 /* 16 KiB each: more than a pipe holds */

struct supervisor {
    const struct plan *plan;
    struct interrupts *interrupts;
    struct progress *progress;
    struct attempt *attempt;
    struct family family;
    struct scratch scratch;
    char *recording, *log_path;
    int log;
    struct text line; /* incomplete line of the launcher's stdout */

    struct attempt_evidence seen;
    double started, heard; /* seconds, CLOCK_MONOTONIC */
    double end_by;         /* deadline for the launcher's end; 0: none yet */
    int obeyed;            /* number of interrupts handled */
    bool kill;
};

/* ---- what the ranks say ---- */

static void heard(struct supervisor *w, const struct control *c)
{
    w->heard = clock_now_s();
    switch (c->event) {
    case CONTROL_WARN:
        progress_warn(w->progress, c->why, c->cell);
        return;
    case CONTROL_BEAT:
        if (c->rank == 0) {
            w->seen.beat = *c;
            w->seen.has_beat = true;
            if (*c->cell && !w->attempt->started_s)
                w->attempt->started_s = w->heard - w->started;
            progress_beat(w->progress, c);
        }
        return;
    case CONTROL_DEAD:
        if (!w->seen.has_dead)
            w->seen.dead = *c;
        w->seen.has_dead = true;
        break;
    case CONTROL_ERROR:
        if (!w->seen.has_error)
            w->seen.error = *c;
        w->seen.has_error = true;
        break;
    case CONTROL_DONE:
        w->seen.done = *c;
        w->seen.has_done = true;
        break;
    case CONTROL_LOST:
        cut_add(&w->seen.cut, c->host, c->why);
        if (!w->end_by || w->end_by > w->heard + LOST_S)
            w->end_by = w->heard + LOST_S;
        return;
    }
    if (!w->end_by)
        w->end_by = w->heard + (w->seen.has_done ? DONE_S : DEAD_S);
}

/* A full disk must not stop the supervisor, so output that cannot be logged is dropped. */
static void take_line(struct supervisor *w, char *line, size_t n)
{
    struct control c;
    line[n - 1] = '\0';
    if (control_decode(line, &c)) {
        heard(w, &c);
        return;
    }
    line[n - 1] = '\n';
    (void)files_write_all(w->log, line, n);
}

static void take_lines(struct supervisor *w)
{
    size_t start = 0;
    for (char *nl; (nl = memchr(w->line.s + start, '\n', w->line.len - start));) {
        size_t end = (size_t)(nl - w->line.s) + 1;
        take_line(w, w->line.s + start, end - start);
        start = end;
    }
    if (!start && w->line.len > LINE_MAX_B) { /* too long for a control line */
        (void)files_write_all(w->log, w->line.s, w->line.len);
        start = w->line.len;
    }
    memmove(w->line.s, w->line.s + start, w->line.len - start);
    w->line.len -= start;
}

static void read_output(struct supervisor *w)
{
    char buf[16384];
    ssize_t n;
    /* A limited number of reads: a rank that prints forever must not delay the deadlines. */
    for (int i = 0; i < READS && w->family.out >= 0; i++) {
        n = read(w->family.out, buf, sizeof buf);
        if (n < 0)
            return;
        if (n == 0) { /* closed: stop polling it */
            close(w->family.out);
            w->family.out = -1;
            return;
        }
        text_addn(&w->line, buf, (size_t)n);
        take_lines(w);
    }
}

/* ---- what ends the attempt ---- */

/* The first signal tells the ranks to finish their block. Before the first block it kills them. */
static void obey_interrupts(struct supervisor *w)
{
    interrupts_read(w->interrupts);
    int count = w->interrupts->count;
    if (count == w->obeyed)
        return;
    w->obeyed = count;
    if (count > 1 || !w->seen.has_beat) {
        w->kill = true;
        return;
    }
    progress_clear(w->progress);
    say("%s: finishing the current block%s", strsignal(w->interrupts->last),
        isatty(STDERR_FILENO) || !getenv("SLURM_JOB_ID") ? "; press Ctrl-C again to stop now" : "");
    kill(w->family.launcher, SIGUSR1);
}

static void give_up(struct supervisor *w, const char *what, double seconds)
{
    snprintf(w->seen.given_up, sizeof w->seen.given_up, "%s %.0f s", what, seconds);
    w->kill = true;
}

static void keep_deadlines(struct supervisor *w)
{
    double now = clock_now_s(), start_by_s = w->attempt->started_s ? 0 : w->attempt->start_by_s;
    double patience = w->heard > w->started ? w->plan->set.measure.deadline + SILENCE_S : START_S;
    if (w->end_by) {
        w->kill |= now > w->end_by;
    } else if (now > w->heard + patience) {
        give_up(w, "no message from the ranks for", now - w->heard);
    } else if (start_by_s && now > w->started + start_by_s) {
        give_up(w, "the ranks did not begin within", start_by_s);
    }
}

static int watch(struct supervisor *w)
{
    while (!w->family.ended && !w->kill) {
        struct pollfd news[] = {{.fd = w->family.out, .events = POLLIN},
                                {.fd = w->interrupts->fd, .events = POLLIN}};
        poll(news, 2, 200);
        read_output(w);
        obey_interrupts(w);
        family_reap(&w->family);
        keep_deadlines(w);
    }
    int code = family_kill(&w->family);
    read_output(w);
    if (w->line.len)
        (void)files_write_all(w->log, w->line.s, w->line.len);
    w->seen.heard = w->heard > w->started;
    w->seen.interrupted = w->obeyed > 0;
    w->seen.status = w->family.status;
    return code;
}

/* ---- the attempt ---- */

static int close_recording(const struct supervisor *w)
{
    const struct control *dead = &w->seen.dead;
    if (w->attempt->end == ATTEMPT_INTERRUPTED)
        return record_end_write(w->recording, "interrupted", NULL);
    if (w->attempt->end != ATTEMPT_DIED)
        return GS_OK;
    return record_end_write(w->recording, dead->kind,
                            &(struct record_death){.cell = dead->cell,
                                                   .kind = dead->kind,
                                                   .why = dead->why,
                                                   .host = dead->host,
                                                   .phase = dead->phase,
                                                   .copy = dead->copy,
                                                   .rank = dead->rank});
}

static int open_log(struct supervisor *w)
{
    w->log = open(w->log_path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    return w->log >= 0 ? GS_OK : fail_file(w->log_path, "written", errno);
}

static int start(struct supervisor *w, const char *dir)
{
    char launch[16], attempt[16], **argv;
    const char *const args[] = {dir, launch, attempt, NULL};
    snprintf(launch, sizeof launch, "%d", w->attempt->launch);
    snprintf(attempt, sizeof attempt, "%d", w->attempt->attempt);
    int code = launcher_command_in(w->plan, w->scratch.dir, args, &argv);
    if (code)
        return code;
    code = open_log(w);
    if (!code) {
        snprintf(w->seen.launcher, sizeof w->seen.launcher, "%s", path_name(argv[0]));
        w->started = w->heard = clock_now_s();
        code = family_start(&w->family, argv, w->log, w->interrupts);
    }
    launcher_free(argv);
    return code;
}

static void close_log(struct supervisor *w)
{
    struct stat s;
    if (w->log < 0)
        return;
    bool empty = fstat(w->log, &s) == 0 && s.st_size == 0;
    close(w->log);
    if (empty && w->attempt->end == ATTEMPT_COMPLETE)
        unlink(w->log_path);
    else
        snprintf(w->attempt->log, sizeof w->attempt->log, "%s", path_name(w->log_path));
}

int supervise(const struct plan *p, const char *dir, struct interrupts *i,
              struct progress *progress, struct attempt *a)
{
    struct supervisor w = {
        .plan = p, .interrupts = i, .progress = progress, .attempt = a, .log = -1};
    w.family.out = -1;
    w.obeyed = i->count;
    w.recording = record_path(dir, a->launch, a->attempt, "jsonl");
    w.log_path = record_path(dir, a->launch, a->attempt, "log");
    w.seen.log_path = w.log_path;
    scratch_make(&w.scratch);
    int code = start(&w, dir);
    if (!code) {
        code = watch(&w);
        attempt_verdict(a, &w.seen);
        int closing = close_recording(&w);
        code = code ? code : closing;
        family_end(&w.family);
    }
    scratch_remove(&w.scratch);
    progress_clear(progress);
    close_log(&w);
    text_free(&w.line);
    free(w.recording);
    free(w.log_path);
    return code;
}
