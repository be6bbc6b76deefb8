/* SPDX-License-Identifier: Apache-2.0
 *
 * `gradsync check X.so`: the tables in a process of their own, since reading them may crash; then a
 * dry run on two ranks (rank/conformance.h), from whose lines the verdict is made here.
 */
#include "check.h"

#include "err.h"
#include "family.h"
#include "launcher.h"
#include "params.h"
#include "plugin.h"
#include "rank/conformance.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 2
#define ALL ((1u << RANKS) - 1)
#define SILENCE_S 20 /* a call that lasts longer hangs */
#define HEARD_MAX 64

struct heard {
    char *text;
    unsigned ranks; /* bit r: rank r said it */
};

struct dry_run {
    const char *path;
    struct text line;
    char at[RANKS][256];
    int ended[RANKS]; /* exit code, or -1: not ended */
    bool hangs, interrupted;
    struct heard faults[HEARD_MAX], notes[HEARD_MAX];
    size_t n_faults, n_notes;
};

/* ---- the tables ---- */

static void report_fault(void *ctx, const char *line)
{
    const char *const *path = ctx;
    fail_at(GS_USAGE, *path, 0, "%s", line);
}

static int read_tables(const char *path)
{
    struct plugin *p;
    alarm(SILENCE_S);
    int code = plugin_open(&p, path);
    if (code)
        return code;
    if (plugin_lint(p, report_fault, &path)) {
        say("%s: its calls are tried when its tables are good", path);
        return GS_USAGE;
    }
    size_t metrics = 0;
    while (p->wl.metrics[metrics].name)
        metrics++;
    size_t params = params_count(p->wl.params);
    say("%s: %s %s, %zu parameter%s, %zu metric%s: the tables are good", path, p->wl.name,
        p->wl.version, params, params == 1 ? "" : "s", metrics, metrics == 1 ? "" : "s");
    return GS_OK;
}

static int check_tables(const char *path)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int code = read_tables(path);
        fflush(NULL);
        _exit(code);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        return fail(GS_FAILED, "no process to read %s in: %s", path, strerror(errno));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return fail_at(GS_FAILED, path, 0, "does not return from being loaded within %d s",
                       SILENCE_S);
    if (WIFSIGNALED(status))
        return fail_at(GS_FAILED, path, 0,
                       "crashes while it is loaded or its tables are read (SIG%s)",
                       sigabbrev_np(WTERMSIG(status)));
    return WEXITSTATUS(status);
}

/* ---- what the ranks say ---- */

static void hear(struct heard *v, size_t *n, unsigned ranks, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(v[i].text, text)) {
            v[i].ranks |= ranks;
            return;
        }
    if (*n < HEARD_MAX)
        v[(*n)++] = (struct heard){.text = xstrdup(text), .ranks = ranks};
}

static void take_line(struct dry_run *d, const char *line)
{
    const char *s = strstr(line, CONFORMANCE_MARK);
    int rank, used = 0;
    char kind[8];
    if (!s || sscanf(s + strlen(CONFORMANCE_MARK), "%d %7s %n", &rank, kind, &used) < 2 ||
        rank < 0 || rank >= RANKS)
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

/* Reads what there is; false at the end. */
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
        d->hangs = time(NULL) - heard > SILENCE_S;
    }
}

/* ---- the folder that the ranks run in ---- */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void look_at_folder(struct dry_run *d, const char *dir)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, "..")) {
            char *text = xstrfmt("writes files: '%s' in the working folder", entries[i]->d_name);
            hear(d->faults, &d->n_faults, ALL, text);
            free(text);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- the launch ---- */

static int command(const char *absolute, char ***argv)
{
    struct plan plan = {
        .set.launch = {.ranks = RANKS, .nodes = 1, .oversubscribe = true, .bind = "none"}};
    const char *const args[] = {"--check", absolute, NULL};
    return launcher_command(&plan, args, argv);
}

static void first_line_of(int log, char *line, size_t n)
{
    char buf[4096];
    ssize_t got = pread(log, buf, sizeof buf - 1, 0);
    buf[got > 0 ? got : 0] = '\0';
    char *s = buf + strspn(buf, "- \n\t");
    snprintf(line, n, "%.*s", (int)strcspn(s, "\n"), s);
}

/* Runs argv inside `dir` to its end, which no process of it survives. */
static int run_in(struct dry_run *d, char **argv, const char *dir, int log)
{
    struct interrupts interrupts;
    struct family family = {.out = -1};
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = interrupts_catch(&interrupts);
    if (code)
        return code;
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

static int launch(struct dry_run *d, const char *absolute, int log)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = xstrfmt("%s/gradsync-check.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    char **argv = NULL;
    int code = command(absolute, &argv);
    if (!code && !mkdtemp(dir))
        code = fail(GS_CANNOT, "%s cannot be made: %s; set TMPDIR", dir, strerror(errno));
    else if (!code) {
        code = run_in(d, argv, dir, log);
        look_at_folder(d, dir);
    }
    launcher_free(argv);
    free(dir);
    return code;
}

/* ---- the verdict ---- */

static int put_faults(const struct dry_run *d)
{
    for (size_t i = 0; i < d->n_faults; i++) {
        const struct heard *h = &d->faults[i];
        if (h->ranks == ALL)
            fail_at(GS_FAILED, d->path, 0, "%s", h->text);
        else
            fail_at(GS_FAILED, d->path, 0, "%s (rank %d)", h->text, h->ranks == 1u ? 0 : 1);
    }
    return d->n_faults ? GS_FAILED : GS_OK;
}

static void put_notes(const struct dry_run *d)
{
    for (size_t i = 0; i < d->n_notes; i++)
        say("  %s", d->notes[i].text);
}

/* The rank that did not come to its end; -1: all did. */
static int unfinished(const struct dry_run *d)
{
    for (int r = 0; r < RANKS; r++)
        if (d->ended[r] < 0)
            return r;
    return -1;
}

static int verdict(const struct dry_run *d, int log)
{
    int r = unfinished(d);
    char why[512];
    if (d->interrupted)
        return fail_at(GS_FAILED, d->path, 0, "the dry run was interrupted");
    if (d->n_faults)
        return put_faults(d);
    if (d->hangs)
        return fail_at(GS_FAILED, d->path, 0, "%s does not return within %d s (rank %d)",
                       d->at[r < 0 ? 0 : r], SILENCE_S, r < 0 ? 0 : r);
    if (r >= 0 && d->at[r][0])
        return fail_at(GS_FAILED, d->path, 0, "ends the process in %s (rank %d)", d->at[r], r);
    if (r >= 0) {
        first_line_of(log, why, sizeof why);
        return fail(GS_CANNOT, "the ranks of the dry run cannot be started: %s", why);
    }
    for (r = 0; r < RANKS; r++)
        if (d->ended[r]) {
            put_notes(d);
            say("%s: the dry run is left out", d->path);
            return d->ended[r];
        }
    say("%s: dry run on %d ranks: the calls are good, %d cycles leak nothing", d->path, RANKS,
        CONFORMANCE_CYCLES);
    put_notes(d);
    return GS_OK;
}

static int dry_run(const char *path)
{
    struct dry_run d = {.path = path, .ended = {-1, -1}};
    char *absolute = realpath(path, NULL);
    int log = memfd_create("log", MFD_CLOEXEC);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int code = !absolute || log < 0 ? fail(GS_FAILED, "%s: %s", path, strerror(errno))
                                    : launch(&d, absolute, log);
    if (!code)
        code = verdict(&d, log);
    for (size_t i = 0; i < d.n_faults; i++)
        free(d.faults[i].text);
    for (size_t i = 0; i < d.n_notes; i++)
        free(d.notes[i].text);
    text_free(&d.line);
    free(absolute);
    close(log);
    return code;
}

int check_plugin(const char *path)
{
    int code = check_tables(path);
    return code ? code : dry_run(path);
}
