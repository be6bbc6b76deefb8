/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_status.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/json_names.h"
#include "launch/run.h"
#include "record/begun.h"
#include "record/runs.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what a run holds ---- */

/* A run of the campaign, by its plan.json and its recordings. */
struct inventory {
    const json_t *cells; /* of plan.json, group after group */
    size_t n_cells;
    int launches, retries;
    struct ledger *ledger;
};

/* GS_OK or reported. inventory_free in both cases. */
static int inventory_take(struct inventory *v, const char *dir, int launches, int retries)
{
    *v = (struct inventory){.launches = launches, .retries = retries};
    CHECK(ledger_read(&v->ledger, dir));
    if (!v->ledger->plan.root)
        return fail_at(GS_FAILED, dir, 0, "has no plan.json; restore the file");
    v->cells = json_object_get(v->ledger->plan.root, "cells");
    v->n_cells = json_array_size(v->cells);
    return GS_OK;
}

static void inventory_free(struct inventory *v)
{
    ledger_free(v->ledger);
    *v = (struct inventory){0};
}

static const char *cell_text(const struct inventory *v, size_t cell, const char *key)
{
    return json_text_of(json_array_get(v->cells, cell), key);
}

static const struct ledger_fail *given_up(const struct inventory *v, int launch, size_t cell)
{
    return ledger_given_up(v->ledger, launch, cell_text(v, cell, "id"), v->retries);
}

/* Is the cell neither measured nor given up in this launch? */
static bool inventory_lacks(const struct inventory *v, int launch, size_t cell)
{
    return !ledger_closed(v->ledger, launch, cell_text(v, cell, "group"), NULL) &&
           !given_up(v, launch, cell);
}

/* Number of groups with a missing cell in this launch. */
static size_t inventory_missing(const struct inventory *v, int launch)
{
    size_t n = 0;
    const char *last = "";
    for (size_t i = 0; i < v->n_cells; i++)
        if (strcmp(cell_text(v, i, "group"), last) && inventory_lacks(v, launch, i)) {
            last = cell_text(v, i, "group");
            n++;
        }
    return n;
}

#define TAIL 8192 /* bytes of a log */
#define RESUME "resume measures what is missing"

/* ---- waiting jobs ---- */

static const struct {
    const char *reason, *why, *remedy;
    bool held; /* by gradsync or by Slurm, until it is released */
} waits[] = {
    {"JobHeldUser", "held", "resume releases it", true},
    {"JobHeldAdmin", "held by the cluster's administrators", "ask them to release it", false},
    {"BeginTime", "queued again after a preemption or the loss of its node",
     "nothing to do: it restarts in about 2 minutes", false},
    {"Requeued", "queued again after a preemption or the loss of its node",
     "nothing to do: it restarts", false},
    {"launch failed requeued held", "could not be started on its node, and is held",
     "resume releases it; mend the node first (sinfo -R; spool folder of slurmd)", true},
    {"BadConstraints", "requests processors, memory, GPUs or features that no node has",
     "see sinfo -o '%P %c %m %G %f'; then cancel, edit array-*.sh, resume", false},
    {"PartitionConfig", "requests more processors or nodes than its partition has",
     "see sinfo -o '%P %D %c'; then cancel, edit array-*.sh, resume", false},
    {"PartitionTimeLimit", "requests more time than its partition allows",
     "cancel, lower --time in array-*.sh, resume", false},
    {"PartitionNodeLimit", "requests more nodes than its partition has",
     "cancel, lower --nodes in array-*.sh, resume", false},
    {"PartitionDown", "its partition is down",
     "wait, or cancel, change --partition in array-*.sh, resume", false},
    {"AssocGrp", "your account's limit is reached", "nothing to do: it starts when other jobs end",
     false},
    {"QOSMax", "a limit of its qos is reached", "nothing to do: it starts when other jobs end",
     false},
    {"ReqNodeNotAvail", "the nodes it needs are down or reserved",
     "nothing to do: it waits for them", false},
    {"InvalidAccount", "its account is no longer valid",
     "cancel, change --account in array-*.sh, resume", false},
};

static void explain(struct reason *r, const char *why, const char *remedy)
{
    snprintf(r->why, sizeof r->why, "%s", why);
    snprintf(r->remedy, sizeof r->remedy, "%s", remedy);
}

bool cluster_reason_waits(struct reason *r, const struct job *j)
{
    for (size_t i = 0; i < COUNT(waits); i++)
        if (!strncmp(j->reason, waits[i].reason, strlen(waits[i].reason))) {
            explain(r, waits[i].why, waits[i].remedy);
            return waits[i].held;
        }
    snprintf(r->why, sizeof r->why, "in the queue (%s)", j->reason);
    r->remedy[0] = '\0';
    return false;
}

/* ---- ended jobs ---- */

#define MORE_TIME RESUME "; to give it more time, edit --time in array-*.sh first"
#define MORE_MEMORY "raise --mem in array-*.sh, then resume"

/* What Slurm calls it, and what is then in the log; NULL: nothing. The last match in the log tells
 * how the job ended. */
static const struct ending {
    const char *state, *mark, *why, *remedy;
} endings[] = {
    {"PREEMPTED", "DUE TO PREEMPTION", "preempted", RESUME},
    {"TIMEOUT", "DUE TO TIME LIMIT", "time limit", MORE_TIME},
    {"DEADLINE", NULL, "time limit", RESUME},
    {NULL, "User defined signal 1: finishing", "stopped before its time limit", MORE_TIME},
    {"NODE_FAIL", "DUE TO NODE FAILURE", "its node failed", RESUME},
    {"BOOT_FAIL", NULL, "its node did not start", RESUME},
    {NULL, "DUE TO JOB REQUEUE", "queued again, then lost", RESUME},
    {"OUT_OF_MEMORY", "exceeded memory limit", "out of memory", MORE_MEMORY},
    {NULL, "oom-kill", "out of memory", MORE_MEMORY},
    {NULL, "oom_kill", "out of memory", MORE_MEMORY},
    {"CANCELLED", "CANCELLED AT", "cancelled", RESUME},
};

static const struct ending *ending_of(const char *state)
{
    for (size_t i = 0; state && i < COUNT(endings); i++)
        if (endings[i].state && !strcmp(state, endings[i].state))
            return &endings[i];
    return NULL;
}

/* False: there is no such log, or it is empty. */
static bool tail(const char *log, char *buf)
{
    int fd = files_open(log, FILES_OWN);
    if (fd < 0)
        return false;
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, buf, TAIL, size > TAIL ? size - TAIL : 0);
    close(fd);
    buf[n > 0 ? n : 0] = '\0';
    for (char *s = buf; s < buf + n; s++)
        if (!*s)
            *s = ' ';
    return n > 0;
}

static const struct ending *last_words(const char *log)
{
    const struct ending *found = NULL;
    const char *where = log;
    for (const struct ending *e = endings; e < endings + COUNT(endings); e++)
        for (const char *s = log; e->mark && (s = strstr(s, e->mark)); s++)
            if (s >= where) {
                where = s;
                found = e;
            }
    return found;
}

/* Nothing was measured. A resubmitted job would fail again, so the cause comes first. The last
 * entry that fits is used. */
static const char *const never_up[][2] = {
    {"srun ended with code",
     "mend that first (srun --mpi=list must show pmix), then resume; or submit again with "
     "[launch] launcher = mpirun"},
    {"[slurm] ", "correct that line in array-*.sh, then resume"},
    {"mpirun ended with code", "mend that first (check modules and setup), then resume"},
};

/* The last error line of gradsync in the log. */
static void last_line(struct reason *r, const char *log)
{
    const char *line = NULL;
    for (const char *s = log; (s = strstr(s, "gradsync: ")); s++)
        if (s == log || s[-1] == '\n')
            line = s + strlen("gradsync: ");
    if (!line)
        return;
    snprintf(r->why, sizeof r->why, "%.*s", (int)strcspn(line, "\n"), line);
    printable_make(r->why, "");
    for (size_t i = 0; i < COUNT(never_up); i++)
        if (!strncmp(line, never_up[i][0], strlen(never_up[i][0])))
            snprintf(r->remedy, sizeof r->remedy, "%s", never_up[i][1]);
}

void cluster_reason_ended(struct reason *r, const char *state, const char *log)
{
    char buf[TAIL + 1];
    bool there = tail(log, buf);
    const struct ending *e = ending_of(state), *said = there ? last_words(buf) : NULL;
    /* Slurm may report an out-of-memory kill as cancelled. */
    if (said && (!e || !strcmp(e->state, "CANCELLED")))
        e = said;
    if (!e && there && strstr(buf, "Terminated: finishing"))
        e = ending_of("CANCELLED");
    if (e) {
        explain(r, e->why, e->remedy);
        return;
    }
    explain(r, state ? "ended without a result" : "ended; Slurm no longer knows how", RESUME);
    if (there)
        last_line(r, buf);
    else if (state && !strcmp(state, "FAILED") && !access(log, F_OK))
        explain(r, "its script ended before gradsync began",
                "correct modules and setup in array-*.sh, then resume");
    else if (state && !strcmp(state, "FAILED"))
        explain(r, "could not write its log",
                "put the campaign where compute nodes can write (submit -o), or see sinfo -R");
}

/* ---- cells ---- */

static const struct {
    const char *kind, *remedy;
} kinds[] = {
    {"crash", "see the .log beside the recording"},
    {"hang", "raise [measure] deadline if it is only slow; else see the .log"},
    {"lost", "a rank, its GPU or its node was lost; see the .log, and dmesg of the node"},
    {"wrong", "the result is wrong; do not use this config"},
    {"failed", "correct the cause, or exclude the cell"},
};

const char *cluster_reason_failed(const char *kind)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (!strcmp(kinds[i].kind, kind))
            return kinds[i].remedy;
    return "";
}

/* ---- jobs ---- */

static size_t task_of(const struct campaign *c, const struct job *j)
{
    return c->arrays[j->array].first + (size_t)j->index - 1;
}

/* Prefers a running job to a waiting one, and that to the last one that ended. */
static void choose_jobs(const struct job **of, const struct campaign *c, const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct job **best = &of[task_of(c, &q->v[i])];
        if (*best && slurm_job_life(*best) == JOB_RUNS && slurm_job_life(&q->v[i]) != JOB_RUNS)
            continue;
        if (*best && slurm_job_life(*best) == JOB_WAITS && slurm_job_life(&q->v[i]) == JOB_ENDED)
            continue;
        *best = &q->v[i];
    }
}

static void find_orphans(struct cluster_status *s, const struct jobs *jobs, const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct job *j = &q->v[i];
        if (slurm_job_life(j) == JOB_ENDED || slurm_jobs_knows(jobs, j->array_job))
            continue;
        bool seen = false;
        for (size_t k = 0; k < s->n_orphans; k++)
            seen = seen || s->orphans[k].job == j->array_job;
        if (!seen)
            APPEND(s->orphans, s->n_orphans) = (struct orphan){j->array_job, j->array};
    }
}

/* ---- tasks ---- */

static void ended(struct task_status *t, const struct campaign *c, const struct job *j, size_t task,
                  const struct jobs *jobs)
{
    t->state = WORK_MISSING;
    t->job = j ? j->array_job : slurm_jobs_last(jobs, c, task);
    if (!t->job) {
        explain(&t->reason, "never submitted", "resume submits it");
        return;
    }
    AUTO_FREE char *log = xstrfmt("%s/log/%ld_%zu.out", c->dir, t->job,
                                  task - c->arrays[c->tasks[task].array].first + 1);
    cluster_reason_ended(&t->reason, j ? j->state : NULL, log);
    if (jobs->cancelled && !j)
        snprintf(t->reason.why, sizeof t->reason.why, "cancelled");
}

static void judge_task(struct task_status *t, const struct campaign *c, const struct job *j,
                       size_t task, const struct jobs *jobs)
{
    if (!t->missing) {
        t->state = WORK_DONE;
    } else if (!j || slurm_job_life(j) == JOB_ENDED) {
        ended(t, c, j, task, jobs);
    } else {
        t->state = slurm_job_life(j) == JOB_RUNS ? WORK_RUNNING : WORK_WAITING;
        t->job = j->array_job;
        t->held = t->state == WORK_WAITING && cluster_reason_waits(&t->reason, j);
    }
}

/* ---- cells ---- */

static void note_fail(struct cluster_status *s, size_t run, const struct inventory *v, size_t cell,
                      const struct ledger_fail *f)
{
    const char *config = cell_text(v, cell, "config");
    struct cell_fail *x = &APPEND(s->fails, s->n_fails);
    *x = (struct cell_fail){.run = run, .launch = f->launch, .why = xstrdup(f->why)};
    x->cell = xstrfmt("%s%s%s", config, *config ? " " : "", cell_text(v, cell, "params"));
    snprintf(x->kind, sizeof x->kind, "%s", f->kind);
}

static void count_cells(struct cluster_status *s, size_t run, const struct inventory *v,
                        const enum work_state *of_launch)
{
    struct run_status *r = &s->runs[run];
    r->n_cells = v->n_cells;
    for (size_t i = 0; i < v->n_cells; i++) {
        enum work_state worst = WORK_DONE;
        const struct ledger_fail *skip = NULL, *fail = NULL;
        for (int l = 1; l <= v->launches; l++) {
            const struct ledger_fail *f = given_up(v, l, i);
            if (f && !strcmp(f->kind, "skip"))
                skip = f;
            else if (f)
                fail = f;
            if (inventory_lacks(v, l, i) && of_launch[l - 1] > worst)
                worst = of_launch[l - 1];
        }
        if (fail) {
            worst = WORK_FAILED;
            note_fail(s, run, v, i, fail);
        }
        r->skipped += worst == WORK_DONE && skip;
        r->cells[worst]++;
    }
}

static int take_run(struct cluster_status *s, const struct campaign *c, size_t run,
                    const struct job *const *job_of, const struct jobs *jobs)
{
    const struct camp_run *r = &c->runs[run];
    AUTO(inventory_free) struct inventory v = {0};
    AUTO_FREE char *dir = campaign_path(c, r->dir);
    int code = inventory_take(&v, dir, r->launches, r->retries);
    AUTO_FREE enum work_state *of_launch = xcalloc((size_t)r->launches, sizeof *of_launch);
    s->runs[run].complete = !code;
    for (size_t i = 0; !code && i < c->n_tasks; i++) {
        const struct camp_task *t = &c->tasks[i];
        if (t->run != run)
            continue;
        for (int l = t->first; l <= t->last; l++)
            s->tasks[i].missing += inventory_missing(&v, l);
        judge_task(&s->tasks[i], c, job_of[i], i, jobs);
        for (int l = t->first; l <= t->last; l++)
            of_launch[l - 1] = s->tasks[i].state;
        if (s->tasks[i].missing)
            s->runs[run].complete = false;
    }
    if (!code)
        count_cells(s, run, &v, of_launch);
    return code;
}

/* ---- all runs ---- */

int cluster_status_read(struct cluster_status *s, const struct campaign *c, bool ask)
{
    AUTO(slurm_queue_free) struct queue q = {0};
    AUTO(slurm_jobs_free) struct jobs jobs = {0};
    *s = (struct cluster_status){.tasks = xcalloc(c->n_tasks + 1, sizeof *s->tasks),
                                 .runs = xcalloc(c->n_runs + 1, sizeof *s->runs)};
    int code = slurm_jobs_read(&jobs, c);
    if (!code && ask) /* before reading: a job that ends now is then seen in its recording */
        code = slurm_queue(&q, c);
    AUTO_FREE const struct job **job_of = xcalloc(c->n_tasks + 1, sizeof(struct job *));
    choose_jobs(job_of, c, &q);
    find_orphans(s, &jobs, &q);
    for (size_t i = 0; !code && i < c->n_runs; i++)
        code = take_run(s, c, i, job_of, &jobs);
    return code;
}

void cluster_status_free(struct cluster_status *s)
{
    for (size_t i = 0; i < s->n_fails; i++) {
        free(s->fails[i].cell);
        free(s->fails[i].why);
    }
    free(s->tasks);
    free(s->runs);
    free(s->fails);
    free(s->orphans);
    *s = (struct cluster_status){0};
}

/* ---- resume: releases held jobs and submits tasks that no job will measure ---- */

/* Releases held jobs. Jobs that a crash kept out of the ledger are added to it first. */
static int release_held(const struct campaign *c, const struct cluster_status *s)
{
    AUTO_FREE long *jobs = xcalloc(c->n_tasks + s->n_orphans + 1, sizeof *jobs);
    size_t n = 0;
    int code = GS_OK;
    for (size_t i = 0; !code && i < s->n_orphans; i++) {
        code = slurm_jobs_add(c, s->orphans[i].job, s->orphans[i].array, "");
        say("job %ld: missing in jobs.jsonl, because submit was interrupted; taken over",
            s->orphans[i].job);
    }
    for (size_t i = 0; i < c->n_tasks; i++) {
        bool listed = !s->tasks[i].held;
        for (size_t k = 0; k < n && !listed; k++)
            listed = jobs[k] == s->tasks[i].job;
        if (!listed)
            jobs[n++] = s->tasks[i].job;
    }
    TRY(code, slurm_release(jobs, n));
    for (size_t i = 0; !code && i < n; i++)
        say("job %ld: released", jobs[i]);
    return code;
}

static void say_alike(size_t n, const char *why)
{
    bool was = !strcmp(why, "cancelled") || !strcmp(why, "never submitted");
    const char *plural = n == 1 ? "" : "s", *were = n == 1 ? " was" : " were";
    say("%zu task%s%s %s", n, plural, was ? were : ":", why);
}

static void say_why(const struct cluster_status *s, const bool *wanted, size_t n)
{
    AUTO_FREE bool *told = xcalloc(n + 1, sizeof *told);
    for (size_t i = 0; i < n; i++) {
        size_t alike = 0;
        for (size_t k = i; wanted[i] && !told[i] && k < n; k++)
            if (wanted[k] && !strcmp(s->tasks[k].reason.why, s->tasks[i].reason.why)) {
                alike++;
                told[k] = k != i || told[k];
            }
        if (alike)
            say_alike(alike, s->tasks[i].reason.why);
    }
}

static int submit_lacking(const struct campaign *c, const struct cluster_status *s)
{
    AUTO_FREE bool *wanted = xcalloc(c->n_tasks + 1, sizeof *wanted);
    size_t n = 0, alive = 0;
    for (size_t i = 0; i < c->n_tasks; i++) {
        wanted[i] = s->tasks[i].state == WORK_MISSING;
        n += wanted[i];
        alive += s->tasks[i].state == WORK_WAITING || s->tasks[i].state == WORK_RUNNING;
    }
    say_why(s, wanted, c->n_tasks);
    int code = n ? slurm_submit_tasks(c, wanted) : GS_OK;
    if (!n && alive)
        say("nothing to submit: %zu task%s waiting or running", alive,
            alive == 1 ? " is" : "s are");
    else if (!n)
        say("nothing to do: all tasks are measured; next: gradsync collect %s", SHELL_WORD(c->dir));
    return code;
}

int cluster_resume(const char *dir, bool commands)
{
    AUTO(campaign_free) struct campaign c = {0};
    AUTO(cluster_status_free) struct cluster_status s = {0};
    AUTO_CLOSE int lock = -1;
    int code = campaign_read(&c, dir);
    TRY(code, begun_may_command(dir, dir, "the scripts of this campaign are commands", commands));
    TRY(code, campaign_lock(&c, &lock));
    TRY(code, cluster_status_read(&s, &c, true));
    TRY(code, release_held(&c, &s));
    TRY(code, submit_lacking(&c, &s));
    return code;
}

int cluster_resume_task(const char *dir, long task)
{
    AUTO(campaign_free) struct campaign c = {0};
    int code = campaign_read(&c, dir);
    if (!code && (task < 1 || (size_t)task > c.n_tasks))
        code = fail_at(GS_USAGE, dir, 0, "no task %ld; tasks are 1 to %zu", task, c.n_tasks);
    if (!code) {
        const struct camp_task *t = &c.tasks[task - 1];
        AUTO_FREE char *run = campaign_path(&c, c.runs[t->run].dir);
        struct run_options options = {.first = t->first, .last = t->last, .trusted = true};
        code = run_folder(run, &options);
    }
    return code;
}
