/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/attempt_verdict.h"

#include "base/err.h"
#include "base/files.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
        const char *line = lines.v[i];
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

/* An error that a rank reported would occur again: the attempt is not repeated. */
static void judge_error(struct attempt *a, const struct control *error)
{
    char why[sizeof a->why];
    const char *text = error->why + (strncmp(error->why, "gradsync: ", 10) ? 0 : 10);
    snprintf(why, sizeof why, "rank %d: %.400s", error->rank, text);
    refuse(a, error->code ? error->code : GS_FAILED, why);
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

/* No cell is to blame, so none is given up. A death may be a consequence. */
static void judge_cut(struct attempt *a, struct attempt_evidence *e)
{
    AUTO_TEXT struct text t = {0};
    const char *host = cut_judge(&e->cut, &t);
    presume_death(e, "lost", t.s);
    snprintf(e->dead.host, sizeof e->dead.host, "%s", host);
    e->dead.cell[0] = '\0';
    a->cut = true;
}

static void judge_death(struct attempt *a, const struct control *d)
{
    a->end = ATTEMPT_DIED;
    snprintf(a->kind, sizeof a->kind, "%s", d->kind);
    snprintf(a->cell, sizeof a->cell, "%s", d->cell);
    if (d->rank < 0)
        snprintf(a->why, sizeof a->why, "%s", d->why);
    else
        snprintf(a->why, sizeof a->why, "%.400s (rank %d on %s)", d->why, d->rank, d->host);
}

static bool closed_as(const struct attempt_evidence *e, const char *status)
{
    return e->has_done && !strcmp(e->done.status, status);
}

void attempt_verdict(struct attempt *a, struct attempt_evidence *e)
{
    /* Rank 0 closed the recording, so a later failure of a rank loses no cell. */
    if (closed_as(e, "complete") || closed_as(e, "interrupted")) {
        a->end = closed_as(e, "complete") ? ATTEMPT_COMPLETE : ATTEMPT_INTERRUPTED;
        return;
    }
    if (e->cut.n)
        judge_cut(a, e);
    if (!e->has_dead) {
        a->end = ATTEMPT_INTERRUPTED;
        if (e->has_error)
            judge_error(a, &e->error);
        else if (!e->interrupted)
            judge_launcher(a, e);
    }
    if (e->has_dead)
        judge_death(a, &e->dead);
}
