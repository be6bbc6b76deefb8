/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster_status.h"

#include "base/err.h"
#include "base/jsontext.h"
#include "base/text.h"
#include "cluster/inventory.h"
#include "cluster/reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (*best && job_life(*best) == JOB_RUNS && job_life(&q->v[i]) != JOB_RUNS)
            continue;
        if (*best && job_life(*best) == JOB_WAITS && job_life(&q->v[i]) == JOB_ENDED)
            continue;
        *best = &q->v[i];
    }
}

static void find_orphans(struct cluster_status *s, const struct jobs *jobs, const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct job *j = &q->v[i];
        if (job_life(j) == JOB_ENDED || jobs_knows(jobs, j->array_job))
            continue;
        bool seen = false;
        for (size_t k = 0; k < s->n_orphans; k++)
            seen = seen || s->orphans[k] == j->array_job;
        if (seen)
            continue;
        s->orphans = xrealloc(s->orphans, (s->n_orphans + 1) * sizeof *s->orphans);
        s->orphan_arrays = xrealloc(s->orphan_arrays, (s->n_orphans + 1) * sizeof(size_t));
        s->orphans[s->n_orphans] = j->array_job;
        s->orphan_arrays[s->n_orphans++] = j->array;
    }
}

/* ---- tasks ---- */

static void ended(struct task_status *t, const struct campaign *c, const struct job *j, size_t task,
                  const struct jobs *jobs)
{
    struct reason r = {0};
    long job = j ? j->array_job : jobs_last(jobs, c, task);
    t->state = WORK_MISSING;
    t->job = job;
    if (!job) {
        snprintf(t->why, sizeof t->why, "never submitted");
        snprintf(t->remedy, sizeof t->remedy, "resume submits it");
        return;
    }
    AUTO_FREE char *log = xstrfmt("%s/log/%ld_%zu.out", c->dir, job,
                                  task - c->arrays[c->tasks[task].array].first + 1);
    reason_ended(&r, j ? j->state : NULL, log);
    if (jobs->cancelled && !j)
        snprintf(r.why, sizeof r.why, "cancelled");
    snprintf(t->why, sizeof t->why, "%s", r.why);
    snprintf(t->remedy, sizeof t->remedy, "%s", r.remedy);
}

static void judge_task(struct task_status *t, const struct campaign *c, const struct job *j,
                       size_t task, const struct jobs *jobs)
{
    struct reason r = {0};
    if (!t->missing) {
        t->state = WORK_DONE;
    } else if (!j || job_life(j) == JOB_ENDED) {
        ended(t, c, j, task, jobs);
    } else if (job_life(j) == JOB_RUNS) {
        t->state = WORK_RUNNING;
        t->job = j->array_job;
    } else {
        t->state = WORK_WAITING;
        t->job = j->array_job;
        t->held = reason_waits(&r, j);
        snprintf(t->why, sizeof t->why, "%s", r.why);
        snprintf(t->remedy, sizeof t->remedy, "%s", r.remedy);
    }
}

/* ---- cells ---- */

static char *name_of(const struct inventory *v, size_t cell)
{
    json_t *o = json_array_get(json_object_get(v->plan, "cells"), cell);
    const char *config = json_text_of(o, "config");
    return xstrfmt("%s%s%s", config, *config ? " " : "", json_text_of(o, "params"));
}

static void note_fail(struct cluster_status *s, size_t run, const struct inventory *v, size_t cell,
                      const struct ledger_fail *f)
{
    struct cell_fail *x = &APPEND(s->fails, s->n_fails);
    *x = (struct cell_fail){
        .run = run, .launch = f->launch, .cell = name_of(v, cell), .why = xstrdup(f->why)};
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
            const struct ledger_fail *f = v->gone[(size_t)(l - 1) * v->n_cells + i];
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
    AUTO(queue_free) struct queue q = {0};
    AUTO(jobs_free) struct jobs jobs = {0};
    *s = (struct cluster_status){.tasks = xcalloc(c->n_tasks + 1, sizeof *s->tasks),
                                 .runs = xcalloc(c->n_runs + 1, sizeof *s->runs)};
    int code = jobs_read(&jobs, c);
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
    free(s->orphan_arrays);
    *s = (struct cluster_status){0};
}
