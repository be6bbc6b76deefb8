/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "config/locate.h"
#include "config/settings_tables.h"
#include "launch/run.h"
#include "record/begun.h"
#include "record/ledger.h"
#include "record/record.h"
#include "record/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT "job.sh"

/* ---- the ledger ---- */

static int append_line(const char *dir, json_t *line)
{
    AUTO_FREE char *path = xstrfmt("%s/" RUNS_JOBS, dir), *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    /* The leading line break separates this line from one that a crash cut short. */
    AUTO_FREE char *whole = xstrfmt("\n%s\n", text);
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    ssize_t n = (ssize_t)strlen(whole), wrote = fd < 0 ? -1 : write(fd, whole, (size_t)n);
    if (wrote >= 0 && wrote < n)
        errno = ENOSPC;
    return wrote == n && !fsync(fd) ? GS_OK : fail_file(path, "written", errno);
}

static int ledger_add(const char *dir, long job, const char *indices)
{
    char at[32];
    return append_line(dir, json_pack("{sI ss ss}", "job", (json_int_t)job, "launches", indices,
                                      "at", record_time(at, sizeof at)));
}

/* Is the number in "1-3,7%2"? */
static bool lists_index(const char *indices, long index)
{
    for (const char *s = indices; *s && *s != '%';) {
        char *end;
        long first = strtol(s, &end, 10), last = first;
        if (end == s)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (index >= first && index <= last)
            return true;
        s = *end == ',' ? end + 1 : end;
    }
    return false;
}

/* Takes a line; one that a crash cut short is none. */
static void take_line(struct camp_run *r, const json_t *o)
{
    json_int_t job = json_integer_of(o, "job");
    const char *indices = json_text_of(o, "launches");
    if (job > 0)
        for (size_t i = 0; i < r->n_tasks; i++)
            if (lists_index(indices, (long)i + 1))
                r->tasks[i].last_job = (long)job;
    int64_t launches = json_integer_of(o, "launches");
    if (r->n_tasks || launches < 1 || launches > SET_LAUNCHES_MAX)
        return;
    r->n_tasks = (size_t)launches;
    r->tasks = xcalloc(r->n_tasks, sizeof *r->tasks);
    r->throttle = (int)json_integer_of(o, "throttle");
    r->retries = (int)json_integer_of(o, "retries");
}

static int read_jobs(struct camp_run *r)
{
    AUTO_FREE char *path = xstrfmt("%s/" RUNS_JOBS, r->dir);
    AUTO_TEXT struct text t = {0};
    if (!files_read(path, FILES_OWN, FILES_WHOLE_MAX, &t))
        return fail_at(GS_FAILED, path, 0, "cannot be read: %s", files_why(errno));
    for (size_t at = 0, n; at < t.len; at += n + 1) {
        const char *line = t.s + at, *end = memchr(line, '\n', t.len - at);
        n = end ? (size_t)(end - line) : t.len - at;
        AUTO_JSON json_t *o = json_loadb(line, n, 0, NULL);
        if (o)
            take_line(r, o);
    }
    return r->n_tasks
               ? GS_OK
               : fail_at(GS_FAILED, path, 0, "damaged: no line says how many launches it has");
}

/* ---- what a run lacks ---- */

static int read_recordings(struct camp_run *r)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    CHECK(ledger_read(&l, r->dir));
    if (!l->plan)
        return fail_at(GS_FAILED, r->dir, 0, "has no plan.json; restore the file");
    r->n_cells = l->n_cells;
    for (size_t i = 0; i < r->n_cells; i++) {
        const struct ledger_cell *cell = &l->cells[i];
        bool failed = false;
        for (size_t k = 0; k < r->n_tasks; k++) {
            const struct ledger_fail *f = ledger_given_up(l, (int)k + 1, cell->id, r->retries);
            failed = failed || (f && strcmp(f->kind, "skip"));
            if (!f && !ledger_closed(l, (int)k + 1, cell->group, NULL))
                r->tasks[k].missing = true;
        }
        r->n_failed += failed;
    }
    for (size_t k = 0; k < r->n_tasks; k++)
        r->n_missing += r->tasks[k].missing;
    return GS_OK;
}

/* ---- the runs ---- */

enum { OF_CAMPAIGN = 3, OF_CAMPAIGNS }; /* how deep below a folder its ledgers lie, at most */

static void find_ledgers(struct words *paths, const char *folder, int most)
{
    AUTO_TEXT struct text pattern = {0};
    for (const char *s = folder; *s; s++)
        text_addf(&pattern, "%s%c", strchr("*?[\\", *s) ? "\\" : "", *s);
    for (int depth = 0; depth <= most; depth++) {
        glob_t found;
        AUTO_FREE char *at = xstrfmt("%s/" RUNS_JOBS, pattern.s);
        if (!glob(at, 0, NULL, &found)) {
            for (size_t i = 0; i < found.gl_pathc; i++)
                words_add(paths, found.gl_pathv[i]);
            globfree(&found);
        }
        text_add(&pattern, "/*");
    }
}

bool campaign_is(const char *folder)
{
    AUTO_WORDS struct words paths = {0};
    find_ledgers(&paths, folder, OF_CAMPAIGN);
    return paths.n > 0;
}

/* The folder may be another person's. A link in it could lead to any file, and its names become folders
 * below data/raw. */
static int check_place(const char *dir)
{
    struct stat s;
    AUTO_FREE char *path = xstrdup(dir);
    for (int i = 0; i < 3; i++) {
        if (!lstat(path, &s) && S_ISLNK(s.st_mode))
            return fail_at(GS_FAILED, path, 0, "is a link, which is not followed");
        char *slash = strrchr(path, '/');
        if (!slash || !printable_name(slash + 1))
            return fail_at(GS_FAILED, dir, 0,
                           "is no folder PLATFORM/WORKLOAD/RUN; submit names them");
        *slash = '\0';
    }
    return GS_OK;
}

static int lock_run(struct camp_run *r)
{
    AUTO_FREE char *path = xstrfmt("%s/" RUNS_JOBS, r->dir);
    r->lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW); /* NFS locks only what can be written */
    if (r->lock < 0)
        r->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (r->lock < 0)
        return fail_at(GS_FAILED, path, 0, "cannot be opened: %s", strerror(errno));
    if (flock(r->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return fail_at(GS_CANNOT, r->dir, 0,
                       "another gradsync is submitting or taking this run; try again when it has "
                       "ended");
    return GS_OK;
}

int campaign_read(struct campaign *c, const char *folder, bool locked)
{
    AUTO_WORDS struct words paths = {0};
    *c = (struct campaign){0};
    AUTO_FREE char *absolute = realpath(folder, NULL);
    if (!absolute)
        return locate_failed(GS_USAGE, folder, LOCATE_CAMPAIGN);
    find_ledgers(&paths, absolute, OF_CAMPAIGNS);
    if (!paths.n)
        return fail_at(
            GS_USAGE, folder, 0,
            "holds no run of Slurm jobs; give the folder that 'gradsync submit' printed");
    for (size_t i = 0; i < paths.n; i++) {
        *strrchr(paths.v[i], '/') = '\0';
        struct camp_run *r = &APPEND(c->runs, c->n);
        *r = (struct camp_run){.dir = xstrdup(paths.v[i]), .lock = -1};
        r->name = path_name(r->dir);
        CHECK(check_place(r->dir));
        if (locked)
            CHECK(lock_run(r));
        CHECK(read_jobs(r));
    }
    for (size_t i = 0; i < c->n; i++)
        CHECK(read_recordings(&c->runs[i]));
    return GS_OK;
}

/* A task's job is the one that is alive; else the last one. */
int campaign_ask(struct campaign *c)
{
    CHECK(slurm_queue_read(&c->queue));
    for (size_t i = 0; i < c->queue.n; i++) {
        const struct slurm_job *j = &c->queue.v[i];
        for (size_t k = 0; k < c->n; k++)
            if (!strcmp(c->runs[k].name, j->run) && j->index >= 1 &&
                (size_t)j->index <= c->runs[k].n_tasks) {
                struct camp_task *task = &c->runs[k].tasks[j->index - 1];
                bool alive = slurm_job_alive(j), had = task->job && slurm_job_alive(task->job);
                if (!task->job || alive > had || (alive == had && j->array > task->job->array))
                    task->job = j;
            }
    }
    return GS_OK;
}

void campaign_free(struct campaign *c)
{
    for (size_t i = 0; i < c->n; i++) {
        files_auto_close(&c->runs[i].lock);
        free(c->runs[i].dir);
        free(c->runs[i].tasks);
    }
    free(c->runs);
    for (size_t i = 0; i < c->queue.n; i++)
        free(c->queue.v[i].run);
    free(c->queue.v);
    *c = (struct campaign){0};
}

/* ---- submitting ---- */

void campaign_command(struct words *w, const char *dir, const char *indices)
{
    words_add(w, "sbatch");
    words_add(w, "--parsable");
    words_add(w, "--hold");
    words_addf(w, "--comment=gradsync:%s", path_name(dir));
    words_add(w, "--job-name=gradsync");
    words_add(w, "--export=NONE");
    words_addf(w, "--chdir=%s", dir);
    words_add(w, "--output=slurm-%A_%a.out");
    words_addf(w, "--array=%s", indices);
    words_addf(w, "%s/" SCRIPT, dir);
}

static int release_jobs(const long *jobs, size_t n)
{
    AUTO_TEXT struct text list = {0}, out = {0};
    for (size_t i = 0; i < n; i++)
        text_addf(&list, "%s%ld", i ? "," : "", jobs[i]);
    return n ? slurm_call(&out, "the jobs are submitted, but not released",
                          (const char *const[]){"scontrol", "release", list.s, NULL})
             : GS_OK;
}

/* The launches that lack something and have no job: "1,4-6%2"; NULL: none. The caller frees it. */
static char *wanted_indices(const struct camp_run *r)
{
    struct text t = {0};
    size_t first = 0, last = 0; /* of those that follow each other, counted from 1 */
    for (size_t i = 1; i <= r->n_tasks + 1; i++) {
        const struct camp_task *k = i <= r->n_tasks ? &r->tasks[i - 1] : NULL;
        bool wanted = k && k->missing && !(k->job && slurm_job_alive(k->job));
        if (wanted && !last)
            text_addf(&t, "%s%zu", t.len ? "," : "", first = i);
        if (!wanted && last > first)
            text_addf(&t, "-%zu", last);
        last = wanted ? i : 0;
    }
    if (t.len && r->throttle)
        text_addf(&t, "%%%d", r->throttle);
    return t.s;
}

/* Adds the jobs of the run that are held; a line for one that a crash kept out of the ledger. */
static int find_held(const struct camp_run *r, long *jobs, size_t *n)
{
    for (size_t i = 0; i < r->n_tasks; i++) {
        const struct slurm_job *j = r->tasks[i].job;
        if (!j || !slurm_job_held(j))
            continue;
        size_t listed = 0;
        while (listed < *n && jobs[listed] != j->array)
            listed++;
        if (listed < *n)
            continue;
        AUTO_TEXT struct text indices = {0};
        for (size_t k = i; k < r->n_tasks; k++)
            if (r->tasks[k].job && r->tasks[k].job->array == j->array)
                text_addf(&indices, "%s%zu", indices.len ? "," : "", k + 1);
        if (j->array > r->tasks[i].last_job)
            CHECK(ledger_add(r->dir, j->array, indices.s));
        jobs[(*n)++] = j->array;
        say("job %ld of %s was held: released", j->array, r->name);
    }
    return GS_OK;
}

static int submit_run(const struct camp_run *r, long *job)
{
    AUTO_TEXT struct text out = {0};
    AUTO_WORDS struct words w = {0};
    AUTO_FREE char *indices = wanted_indices(r);
    if (!indices)
        return GS_OK;
    campaign_command(&w, r->dir, indices);
    CHECK(slurm_call(&out, "nothing was submitted", (const char *const *)w.v));
    *job = out.s ? strtol(out.s, NULL, 10) : 0; /* "12" or "12;cluster" */
    if (*job < 1)
        return fail(GS_FAILED, "sbatch printed no job id: '%.80s'", out.s ? out.s : "");
    CHECK(ledger_add(r->dir, *job, indices));
    say("job %ld: launches %.*s of %s", *job, (int)strcspn(indices, "%"), indices, r->name);
    return GS_OK;
}

int campaign_submit(struct campaign *c)
{
    size_t room = c->n, n = 0, missing = 0;
    int code = GS_OK;
    for (size_t i = 0; i < c->n; i++) {
        room += c->runs[i].n_tasks;
        missing += c->runs[i].n_missing;
    }
    AUTO_FREE long *jobs = xcalloc(room, sizeof *jobs);
    for (size_t i = 0; !code && i < c->n; i++) {
        long job = 0;
        code = find_held(&c->runs[i], jobs, &n);
        TRY(code, submit_run(&c->runs[i], &job));
        if (job && !code)
            jobs[n++] = job;
    }
    int released = release_jobs(jobs, n);
    if (!n && !code)
        say("nothing to submit: %s", missing ? "a job waits or runs for each launch that is missing"
                                             : "every launch is measured");
    return code ? code : released;
}

/* ---- a new campaign ---- */

/* NAME of configs/NAME.ini, and a hash of all that the plans are made from. */
static char *name_of(struct plan *const *plans, size_t n)
{
    char hex[65];
    AUTO_TEXT struct text all = {0};
    for (size_t i = 0; i < n; i++) {
        text_addf(&all, "%s\n[%s]\n", plans[i]->config->text, plans[i]->section);
        for (char **o = plans[i]->config->overrides; *o; o++)
            text_addf(&all, "%s\n", *o);
    }
    sha256_hex(all.s, all.len, hex);
    const char *file = path_name(plans[0]->config->path);
    AUTO_FREE char *name = xstrfmt("%.*s", (int)strcspn(file, "."), file);
    return xstrfmt("%s-%.8s", printable_name(name) ? name : "runs", hex);
}

static bool all_measured(const char *folder)
{
    AUTO(campaign_free) struct campaign c = {0};
    size_t missing = 0;
    char ignored[1]; /* the next step reports it */
    err_capture(ignored, sizeof ignored);
    int code = campaign_read(&c, folder, false);
    err_capture(NULL, 0);
    for (size_t i = 0; i < c.n; i++)
        missing += c.runs[i].n_missing;
    return !code && !missing;
}

/* The run folders of the plans in `temp`, which becomes `folder`. */
static int make_runs(struct plan *const *plans, size_t n, const char *temp, const char *folder)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *dir = NULL;
        AUTO_TEXT struct text script = {0};
        CHECK(slurm_check_time(plans[i]));
        CHECK(run_make_folder(plans[i], temp, &dir));
        AUTO_FREE char *at = xstrfmt("%s%s", folder, dir + strlen(temp)),
                       *path = xstrfmt("%s/" SCRIPT, dir);
        CHECK(slurm_script(&script, plans[i], at));
        if (!files_write_new(path, script.s, 0777))
            return fail_file(path, "written", errno);
        const struct set_measure *m = &plans[i]->set.measure;
        CHECK(append_line(dir, json_pack("{sI sI sI}", "launches", (json_int_t)m->launches,
                                         "throttle", (json_int_t)plans[i]->set.slurm.throttle,
                                         "retries", (json_int_t)m->retries)));
        AUTO_TEXT struct text reply = {0};
        AUTO_FREE char *chdir = xstrfmt("--chdir=%s", dir);
        CHECK(slurm_call(
            &reply, "nothing was submitted",
            (const char *const[]){"sbatch", "--test-only", "--export=NONE", chdir, path, NULL}));
    }
    return GS_OK;
}

static int make_folder(struct plan *const *plans, size_t n, const char *folder)
{
    AUTO_FREE char *temp = files_temporary(folder);
    int code = mkdir(temp, 0777) ? fail_file(temp, "made", errno) : GS_OK;
    TRY(code, make_runs(plans, n, temp, folder));
    if (!code && rename(temp, folder))
        code = fail_file(folder, "made", errno);
    if (code)
        files_remove_tree(temp);
    AUTO_WORDS struct words paths = {0};
    find_ledgers(&paths, folder, OF_CAMPAIGN);
    for (size_t i = 0; !code && i < paths.n; i++) {
        *strrchr(paths.v[i], '/') = '\0';
        begun_mark(paths.v[i]);
    }
    return code;
}

int campaign_make(struct plan *const *plans, size_t n, const char *root, char **folder)
{
    AUTO_FREE char *name = name_of(plans, n), *below = xstrfmt("%s/x", root);
    AUTO_FREE char *failed = files_make_above(below);
    AUTO_FREE char *absolute = realpath(root, NULL);
    if (failed || !absolute)
        return fail_file(failed ? failed : root, "made", errno);
    if (!slurm_path(absolute))
        return fail_at(GS_USAGE, root, 0,
                       "the path of a campaign cannot contain '%%' or '\\', which Slurm expands; "
                       "choose another folder with -o");
    *folder = xstrfmt("%s/%s", absolute, name);
    for (int i = 2; files_is_folder(*folder) && all_measured(*folder); i++) {
        free(*folder);
        *folder = xstrfmt("%s/%s-%d", absolute, name, i);
    }
    if (!files_is_folder(*folder))
        return make_folder(plans, n, *folder);
    say("this config is being measured in %s", SHELL_WORD(*folder));
    return GS_OK;
}
