/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/dry_run.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what the ranks say ---- */

static void hear(struct heard *v, size_t *n, unsigned ranks, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(v[i].text, text)) {
            v[i].ranks |= ranks;
            return;
        }
    if (*n < DRY_RUN_HEARD)
        v[(*n)++] = (struct heard){.text = xstrdup(text), .ranks = ranks};
}

static void take_line(struct dry_run *d, const char *line)
{
    const char *s = strstr(line, CONFORMANCE_MARK);
    int rank, used = 0;
    char kind[8];
    if (!s || sscanf(s + strlen(CONFORMANCE_MARK), "%d %7s %n", &rank, kind, &used) < 2 ||
        rank < 0 || rank >= DRY_RUN_RANKS)
        return;
    const char *text = s + strlen(CONFORMANCE_MARK) + used;
    if (!strcmp(kind, "at"))
        snprintf(d->at[rank], sizeof d->at[rank], "%s", text);
    else if (!strcmp(kind, "fault"))
        hear(d->faults, &d->n_faults, 1u << rank, text);
    else if (!strcmp(kind, "note"))
        hear(d->notes, &d->n_notes, 1u << rank, text);
    else if (!strcmp(kind, "end"))
        d->ended[rank] = atoi(text);
}

/* Reads the available output; false at its end. */
static bool take(struct dry_run *d, int fd)
{
    char buf[4096];
    ssize_t n = read(fd, buf, sizeof buf);
    for (ssize_t i = 0; i < n; i++)
        if (buf[i] == '\n') {
            take_line(d, d->line.s ? d->line.s : "");
            text_clear(&d->line);
        } else {
            text_addn(&d->line, &buf[i], 1);
        }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void follow(struct dry_run *d, struct family *f, struct interrupts *i)
{
    time_t heard = time(NULL);
    struct pollfd fds[] = {{.fd = f->out, .events = POLLIN}, {.fd = i->fd, .events = POLLIN}};
    while (!d->hangs && !d->interrupted) {
        poll(fds, 2, 1000);
        if (fds[1].revents)
            interrupts_read(i);
        if (fds[0].revents) {
            heard = time(NULL);
            if (!take(d, f->out))
                return;
        }
        d->interrupted = i->count > 0;
        d->hangs = time(NULL) - heard > DRY_RUN_SILENCE_S;
    }
}

/* ---- the folder that the ranks run in ---- */

static void look_at_folder(struct dry_run *d, const char *dir)
{
    AUTO_WORDS struct words names = {0};
    files_list(dir, NULL, &names);
    for (size_t i = 0; i < names.n; i++) {
        AUTO_FREE char *text = xstrfmt("writes files: '%s' in the working folder", names.v[i]);
        hear(d->faults, &d->n_faults, DRY_RUN_ALL, text);
    }
    files_remove_tree(dir);
}

/* ---- the launch ---- */

static int command(const char *plugin, char ***argv)
{
    struct plan plan = {
        .set.launch = {.ranks = DRY_RUN_RANKS, .nodes = 1, .oversubscribe = true, .bind = "none"}};
    const char *const args[] = {"--check", plugin, NULL};
    return launcher_command(&plan, args, argv);
}

/* Runs argv in `dir` to its end, and kills all processes that it leaves. */
static int run_in(struct dry_run *d, char **argv, const char *dir, int log)
{
    struct interrupts interrupts;
    struct family family = {.out = -1};
    int code = interrupts_catch(&interrupts);
    if (code)
        return code;
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    code = chdir(dir) ? fail(GS_FAILED, "%s: %s", dir, strerror(errno))
                      : family_start(&family, argv, log, &interrupts);
    if (here >= 0 && fchdir(here))
        code = code ? code : fail(GS_FAILED, "cannot return from %s: %s", dir, strerror(errno));
    if (!code) {
        follow(d, &family, &interrupts);
        code = family_end(&family);
    }
    close(here);
    interrupts_release(&interrupts);
    return code;
}

int dry_run(struct dry_run *d, const char *plugin, int log)
{
    const char *tmp = getenv("TMPDIR");
    AUTO_FREE char *dir = xstrfmt("%s/gradsync-check.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    AUTO(launcher_free_of) char **argv = NULL;
    int code = command(plugin, &argv);
    if (!code && !mkdtemp(dir))
        code = fail(GS_CANNOT, "%s cannot be created: %s; set TMPDIR to a writable folder", dir,
                    strerror(errno));
    else if (!code) {
        code = run_in(d, argv, dir, log);
        look_at_folder(d, dir);
    }
    return code;
}

void dry_run_free(struct dry_run *d)
{
    for (size_t i = 0; i < d->n_faults; i++)
        free(d->faults[i].text);
    for (size_t i = 0; i < d->n_notes; i++)
        free(d->notes[i].text);
    text_free(&d->line);
}
