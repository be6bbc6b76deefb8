/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/supervise.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "launch/control.h"
#include "launch/launcher.h"
#include "record/raw.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- how an attempt ended ---- */

void cut_add(char cut[CUT_MAX], const char *host, const char *lost)
{
    for (size_t n; *lost; lost += n + (lost[n] == ' ')) {
        n = strcspn(lost, " ");
        AUTO_FREE char *other = xstrfmt("%.*s", (int)n, lost);
        bool first = strcmp(host, other) < 0;
        AUTO_FREE char *pair =
            xstrfmt("no answer between %s and %s", first ? host : other, first ? other : host);
        size_t at = strlen(cut);
        if (!text_lists(cut, "; ", pair))
            snprintf(cut + at, CUT_MAX - at, "%s%s", at ? "; " : "", pair);
    }
}

/* The first paragraph of the log as one line, without the dashed frames of launchers. */
static void quote_log(const char *path, char *buf, size_t n)
{
    AUTO_TEXT struct text t = {0};
    AUTO_WORDS struct words lines = {0};
    size_t used = 0;
    snprintf(buf, n, "its log gives no reason");
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t))
        return;
    words_split(&lines, t.s, '\n');
    for (size_t i = 0; i < lines.n && used < n / 2; i++) {
        AUTO_FREE char *line = secrets_hidden_log(lines.v[i]);
        if (!*line && used)
            break;
        if (strspn(line, "-=* ") == strlen(line))
            continue;
        used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? " " : "", line);
    }
}

/* Makes up the report of a death that no rank reported: the launcher ended, or all were silent. */
static void presume_death(struct attempt_evidence *e, const char *kind, const char *why)
{
    struct control *d = &e->dead;
    *d = (struct control){.event = CONTROL_DEAD, .rank = -1};
    snprintf(d->kind, sizeof d->kind, "%s", kind);
    snprintf(d->why, sizeof d->why, "%s", why);
    snprintf(d->cell, sizeof d->cell, "%s", e->beat.cell);
    snprintf(d->phase, sizeof d->phase, "%s", e->beat.phase);
    gethostname(d->host, sizeof d->host - 1);
    e->has_dead = true;
}

static void refuse(struct attempt *a, int code, const char *why)
{
    a->end = ATTEMPT_REFUSED;
    a->code = code;
    snprintf(a->why, sizeof a->why, "%s", why);
}

static void judge_launcher(struct attempt *a, struct attempt_evidence *e)
{
    char why[512], log[256];
    if (*e->given_up) {
        presume_death(e, "hang", e->given_up);
        return;
    }
    if (WIFSIGNALED(e->status)) {
        snprintf(why, sizeof why, "%s was killed by signal %d (%s)", e->launcher,
                 WTERMSIG(e->status), strsignal(WTERMSIG(e->status)));
        presume_death(e, "lost", why);
        return;
    }
    quote_log(e->log_path, log, sizeof log);
    snprintf(why, sizeof why, "%s ended with code %d before the ranks finished: %s", e->launcher,
             WEXITSTATUS(e->status), log);
    if (e->heard)
        presume_death(e, "lost", why);
    else
        refuse(a, GS_CANNOT, why);
}

void attempt_verdict(struct attempt *a, struct attempt_evidence *e)
{
    /* Rank 0 closed the recording, so a later failure of a rank loses no cell. */
    bool complete = e->has_done && !strcmp(e->done.status, "complete"),
         interrupted = e->has_done && !strcmp(e->done.status, "interrupted");
    if (complete || interrupted) {
        a->end = complete ? ATTEMPT_COMPLETE : ATTEMPT_INTERRUPTED;
        return;
    }
    /* No cell is to blame for a cut, so none is given up. A death may be a consequence. */
    if (*e->cut) {
        presume_death(e, "lost", e->cut);
        e->dead.cell[0] = '\0';
        a->cut = true;
    }
    if (!e->has_dead) {
        a->end = ATTEMPT_INTERRUPTED;
        if (e->has_error) {
            /* It would occur again: the attempt is not repeated. */
            char why[sizeof a->why];
            const char *text = e->error.why;
            snprintf(why, sizeof why, "rank %d: %.400s", e->error.rank,
                     text + (strncmp(text, "gradsync: ", 10) ? 0 : 10));
            refuse(a, e->error.code ? e->error.code : GS_FAILED, why);
        } else if (!e->interrupted) {
            judge_launcher(a, e);
        }
    }
    if (!e->has_dead)
        return;
    const struct control *d = &e->dead;
    a->end = ATTEMPT_DIED;
    snprintf(a->kind, sizeof a->kind, "%s", d->kind);
    snprintf(a->cell, sizeof a->cell, "%s", d->cell);
    if (d->rank < 0)
        snprintf(a->why, sizeof a->why, "%s", d->why);
    else
        snprintf(a->why, sizeof a->why, "%.400s (rank %d on %s)", d->why, d->rank, d->host);
}

/* ---- the supervisor ---- */

/* Seconds. The shims enforce the deadlines; these limits are for shims that are stopped or lost. */
#define START_S 60   /* to the first control line */
#define SILENCE_S 30 /* added to a step's deadline */
#define DEAD_S 5     /* from a rank's death or error to the launcher's end */
#define LOST_S 1.25  /* from the first lost host; the other ranks notice it within a second */
#define DONE_S 10    /* from the last control line of rank 0 to the launcher's end */
#define LINE_MAX_B (1 << 16)

struct supervisor {
    const struct plan *plan;
    struct interrupts *interrupts;
    struct progress *progress;
    struct attempt *attempt;
    struct process_family family;
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
        cut_add(w->seen.cut, c->host, c->why);
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

static void take_output(void *ctx, const char *bytes, size_t n)
{
    struct supervisor *w = ctx;
    size_t start = 0;
    text_addn(&w->line, bytes, n);
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

/* Ranks and launchers print environments and command lines. What they wrote to the log themselves is
 * known only now. GS_OK or reported. */
static int hide_secrets(const struct supervisor *w)
{
    AUTO_FREE char *temp = files_temporary(w->log_path), *line = NULL;
    AUTO_FCLOSE FILE *in = files_stream(w->log_path, FILES_OWN);
    AUTO_FCLOSE FILE *out = in ? fopen(temp, "we") : NULL;
    size_t cap = 0;
    bool found = false;
    ssize_t n;
    if (!in && errno == ENOENT)
        return GS_OK; /* the whole run was removed, which the caller reports */
    if (!out)
        return fail_file(in ? temp : w->log_path, in ? "written" : "read", errno);
    while ((n = getline(&line, &cap, in)) > 0)
        for (ssize_t from = 0; from < n; from += (ssize_t)strlen(line + from) + 1) {
            AUTO_FREE char *shown = secrets_hidden_log(line + from);
            found = found || strcmp(shown, line + from) != 0;
            fputs(shown, out);
            if (from + (ssize_t)strlen(line + from) < n)
                fputc('\0', out);
        }
    bool good = fflush(out) == 0 && (!found || !rename(temp, w->log_path));
    int why = errno;
    if (!good || !found)
        unlink(temp);
    return good ? GS_OK : fail_file(w->log_path, "written without its secrets", why);
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
    say("%s: finishing the current block%s", strsignal(w->interrupts->last),
        isatty(STDERR_FILENO) || !getenv("SLURM_JOB_ID") ? "; press Ctrl-C again to stop now" : "");
    kill(w->family.launcher, SIGUSR1);
}

static void keep_deadlines(struct supervisor *w)
{
    double now = clock_now_s();
    double patience = w->heard > w->started ? w->plan->set.measure.deadline + SILENCE_S : START_S;
    if (w->end_by) {
        w->kill |= now > w->end_by;
    } else if (now > w->heard + patience) {
        snprintf(w->seen.given_up, sizeof w->seen.given_up, "no message from the ranks for %.0f s",
                 now - w->heard);
        w->kill = true;
    }
}

static int watch(struct supervisor *w)
{
    while (!w->family.ended && !w->kill) {
        struct pollfd news[] = {{.fd = w->family.out, .events = POLLIN},
                                {.fd = w->interrupts->fd, .events = POLLIN}};
        poll(news, 2, 200);
        family_read(&w->family.out, take_output, w);
        obey_interrupts(w);
        family_reap(&w->family);
        keep_deadlines(w);
    }
    int code = family_kill(&w->family);
    family_read(&w->family.out, take_output, w);
    if (w->line.len)
        (void)files_write_all(w->log, w->line.s, w->line.len);
    TRY(code, hide_secrets(w));
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
        return raw_end_write(w->recording, "interrupted", NULL);
    if (w->attempt->end != ATTEMPT_DIED)
        return GS_OK;
    return raw_end_write(w->recording, dead->kind,
                         &(struct raw_death){.cell = dead->cell,
                                             .kind = dead->kind,
                                             .why = dead->why,
                                             .host = dead->host,
                                             .phase = dead->phase,
                                             .copy = dead->copy,
                                             .rank = dead->rank});
}

static int start(struct supervisor *w, const char *dir)
{
    char launch[16], attempt[16], **argv;
    const char *const args[] = {dir, launch, attempt, NULL};
    snprintf(launch, sizeof launch, "%d", w->attempt->launch);
    snprintf(attempt, sizeof attempt, "%d", w->attempt->attempt);
    int code = launcher_command(w->plan, w->scratch.dir, args, &argv);
    if (code)
        return code;
    w->log = open(w->log_path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (w->log < 0)
        code = fail_file(w->log_path, "written", errno);
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
    close_log(&w);
    text_free(&w.line);
    free(w.recording);
    free(w.log_path);
    return code;
}
