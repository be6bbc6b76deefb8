/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign_resume.h"

#include "base/err.h"
#include "base/lock.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "cluster/campaign.h"
#include "cluster/cluster_status.h"
#include "cluster/slurm.h"
#include "launch/run.h"
#include "record/begun.h"

#include <string.h>

/* Releases held jobs. Jobs that a crash kept out of the ledger are added to it first. */
static int release_held(const struct campaign *c, const struct cluster_status *s)
{
    AUTO_FREE long *jobs = xcalloc(c->n_tasks + s->n_orphans + 1, sizeof *jobs);
    size_t n = 0;
    int code = GS_OK;
    for (size_t i = 0; !code && i < s->n_orphans; i++) {
        code = jobs_add(c, s->orphans[i], s->orphan_arrays[i], "");
        say("job %ld: missing in jobs.jsonl, because submit was interrupted; taken over",
            s->orphans[i]);
    }
    for (size_t i = 0; i < c->n_tasks; i++) {
        bool listed = !s->tasks[i].held;
        for (size_t k = 0; k < n && !listed; k++)
            listed = jobs[k] == s->tasks[i].job;
        if (!listed)
            jobs[n++] = s->tasks[i].job;
    }
    if (!code)
        code = slurm_release(jobs, n);
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
            if (wanted[k] && !strcmp(s->tasks[k].why, s->tasks[i].why)) {
                alike++;
                told[k] = k != i || told[k];
            }
        if (alike)
            say_alike(alike, s->tasks[i].why);
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

/* The scripts of the folder may be another person's. */
static int check_begun(const char *dir, bool commands)
{
    if (!commands && !begun_here(dir))
        return fail_at(GS_USAGE, dir, 0,
                       "you did not begin this campaign in this folder, and its scripts are "
                       "commands: read them, then: gradsync resume --commands %s",
                       SHELL_WORD(dir));
    begun_mark(dir);
    return GS_OK;
}

int campaign_resume(const char *dir, bool commands)
{
    AUTO(campaign_free) struct campaign c = {0};
    AUTO(cluster_status_free) struct cluster_status s = {0};
    int lock = -1, code = campaign_read(&c, dir);
    if (!code)
        code = check_begun(dir, commands);
    if (!code)
        code = campaign_lock(&c, &lock);
    if (!code)
        code = cluster_status_read(&s, &c, true);
    if (!code)
        code = release_held(&c, &s);
    if (!code)
        code = submit_lacking(&c, &s);
    lock_free(lock);
    return code;
}

int campaign_resume_task(const char *dir, long task)
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
