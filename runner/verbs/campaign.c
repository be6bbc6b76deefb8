/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign.h"
#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/cluster_status.h"
#include "cluster/collect.h"
#include "cluster/slurm.h"
#include "config/locate.h"
#include "launch/run.h"
#include "plan/plan.h"
#include "verbs/commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- submit ---- */

struct submit {
    const char **set;
    const char *root, *workload;
    bool dry_run;
    struct words configs;
    struct sections sections; /* of all configs */
    struct shapes shapes;
    long array_max;
};

/* ---- plans ---- */

static int plan_config(struct submit *s, const char *path)
{
    struct sections one;
    int code = plan_sections(&one, path, s->set, s->workload);
    struct sections *all = &s->sections;
    all->plans = xrealloc(all->plans, (all->n + one.n + 1) * sizeof *all->plans);
    for (size_t i = 0; i < one.n; i++)
        all->plans[all->n++] = one.plans[i];
    all->left_out = err_worse(all->left_out, one.left_out);
    free(one.plans);
    return code;
}

/* A campaign is of one cluster: its jobs are found by their numbers. */
static int one_cluster(const struct submit *s)
{
    const struct plan *first = s->sections.n ? s->sections.plans[0] : NULL;
    for (size_t i = 1; i < s->sections.n; i++)
        if (strcmp(s->sections.plans[i]->set.slurm.clusters, first->set.slurm.clusters))
            return fail_at(GS_USAGE, s->sections.plans[i]->config->path, 0,
                           "[slurm] clusters is not that of %s; submit them apart",
                           first->config->path);
    campaign_client_cluster(first ? first->set.slurm.clusters : "");
    return GS_OK;
}

static int plan_all(struct submit *s, char **args, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(campaign_configs_add(&s->configs, args[i]));
    for (size_t i = 0; i < s->configs.n; i++)
        CHECK(plan_config(s, s->configs.v[i]));
    CHECK(one_cluster(s));
    return slurm_shapes(&s->shapes, s->sections.plans, s->sections.n);
}

static int ask_cluster(struct submit *s)
{
    CHECK(slurm_check(&s->shapes, s->sections.plans));
    return slurm_array_max(&s->array_max);
}

/* A dry submit_run also works without a cluster. */
static int check(struct submit *s)
{
    char why[512] = "";
    if (!s->dry_run)
        return ask_cluster(s);
    s->array_max = 1001;
    err_capture(why, sizeof why);
    int code = ask_cluster(s);
    err_capture(NULL, 0);
    if (code == GS_CANNOT)
        say("no Slurm here: the limits of the cluster were not checked");
    /* The second call prints each fault, which the first one captured. */
    return code && code != GS_CANNOT ? ask_cluster(s) : GS_OK;
}

/* ---- a campaign ---- */

static int write_script(const struct campaign *c, const char *name, const char *text)
{
    return campaign_file(c, name, text, true);
}

static int make_campaign(const struct submit *s, struct campaign *c)
{
    const char *cluster = s->sections.plans[0]->set.slurm.clusters;
    CHECK(campaign_make(c, s->root));
    if (*cluster)
        c->cluster = xstrdup(cluster);
    AUTO_FREE char *runs = campaign_path(c, "runs");
    for (size_t i = 0; i < s->sections.n; i++) {
        AUTO_FREE char *dir = NULL;
        CHECK(run_make_folder(s->sections.plans[i], runs, &dir));
        CHECK(campaign_add_run(c, dir, s->sections.plans[i]));
    }
    CHECK(slurm_tasks(c, &s->shapes, s->sections.plans, s->array_max, write_script));
    return campaign_write(c);
}

static int submit(const struct submit *s)
{
    AUTO(campaign_free) struct campaign c = {0};
    AUTO_CLOSE int lock = -1;
    int code = make_campaign(s, &c);
    TRY(code, campaign_lock(&c, &lock));
    TRY(code, slurm_submit_tasks(&c, NULL));
    if (!code) {
        say("submitted: %zu task%s in %zu array%s; next: gradsync status %s", c.n_tasks,
            c.n_tasks == 1 ? "" : "s", c.n_arrays, c.n_arrays == 1 ? "" : "s", SHELL_WORD(c.dir));
        printf("%s\n", c.dir);
    } else if (c.n_tasks && campaign_is(c.dir)) {
        say("the campaign remains; correct the cause, then: gradsync resume %s", SHELL_WORD(c.dir));
    }
    return code;
}

/* ---- dry submit_run ---- */

static int print_script(const struct campaign *c, const char *name, const char *text)
{
    printf("%s/%s:\n%s\n", c->dir, name, text);
    return GS_OK;
}

static void print_command(const struct campaign *c, size_t k)
{
    AUTO_FREE char *indices = slurm_submit_indices(c, k, NULL);
    AUTO_WORDS struct words w = {0};
    AUTO_TEXT struct text t = {0};
    slurm_submit_command(&w, c, k, indices);
    for (size_t i = 0; i < w.n; i++) {
        text_add(&t, i ? " " : "");
        shell_quote(&t, w.v[i]);
    }
    printf("%s\n", t.s);
}

static int dry_run(const struct submit *s)
{
    AUTO(campaign_free) struct campaign c = {.id = xstrdup("gs-DATE-XXXX")};
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    c.dir = *s->root == '/' ? xstrfmt("%s/%s", s->root, c.id)
                            : xstrfmt("%s/%s/%s", cwd ? cwd : "", s->root, c.id);
    CHECK(slurm_tasks(&c, &s->shapes, s->sections.plans, s->array_max, print_script));
    for (size_t k = 0; k < c.n_arrays; k++)
        print_command(&c, k);
    return GS_OK;
}

/* ---- the verb ---- */

static int submit_run(void *request, char **words, int n)
{
    struct submit *s = request;
    int code = plan_all(s, words, n);
    TRY(code, check(s));
    TRY(code, s->dry_run ? dry_run(s) : submit(s));
    code = code ? code : s->sections.left_out;
    slurm_shapes_free(&s->shapes);
    plan_sections_free(&s->sections);
    words_free(&s->configs);
    return code;
}

int cmd_submit(int argc, char **argv)
{
    struct submit s = {.root = "data/campaigns"};
    const struct cli_option options[] = {
        CLI_SET_ROW(&s.set),
        {"output", 'o', CLI_TEXT, &s.root, "FOLDER",
         "folder for campaigns, on a file system that all nodes see (default data/campaigns)"},
        {"workload", 'w', CLI_TEXT, &s.workload, "SECTION",
         "submit only this workload section (default: all)"},
        {"dry-run", 'n', CLI_FLAG, &s.dry_run, NULL,
         "print the job scripts and sbatch commands; submit nothing"},
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print only the campaign's folder, and errors"},
        {0}};
    const struct cli cli = {.arguments = "CONFIG | FOLDER…",
                            .summary =
                                "Measures what configs define, in Slurm jobs. The jobs form a "
                                "campaign, a folder for status, resume, cancel and collect.",
                            .example = "gradsync submit a100-8gpu --dry-run",
                            .options = options,
                            .args = {1, -1}};
    return cli_request(&cli, argc, argv, submit_run, &s);
}

/* ---- status ---- */

#define FAILS_SHOWN 10

static const char *const state_names[WORK_STATES] = {"done", "waiting", "running", "lacking",
                                                     "failed"};

/* ---- the table of cells ---- */

static void print_cells(const struct campaign *c, const struct cluster_status *s)
{
    static const enum work_state columns[] = {WORK_DONE, WORK_RUNNING, WORK_WAITING, WORK_FAILED,
                                              WORK_MISSING};
    printf("%-28s %-24s %7s", "workload", "platform", "cells");
    for (size_t i = 0; i < WORK_STATES; i++)
        printf(" %7s", state_names[columns[i]]);
    printf("\n");
    for (size_t r = 0; r < c->n_runs; r++) {
        printf("%-28s %-24s %7zu", c->runs[r].section, c->runs[r].platform, s->runs[r].n_cells);
        for (size_t i = 0; i < WORK_STATES; i++)
            printf(" %7zu", s->runs[r].cells[columns[i]]);
        if (s->runs[r].skipped)
            printf("  (%zu skipped)", s->runs[r].skipped);
        printf("\n");
    }
}

/* ---- the tasks ---- */

static bool same(const struct task_status *a, const struct task_status *b)
{
    return a->state == b->state && a->job == b->job && !strcmp(a->reason.why, b->reason.why);
}

/* Appends the numbers of the tasks in the same state as task i ("2-4,7") and marks them. */
static void list_alike(struct text *t, const struct campaign *c, const struct cluster_status *s,
                       size_t i, bool *told)
{
    for (size_t k = i; k < c->n_tasks; k++) {
        if (told[k] || !same(&s->tasks[k], &s->tasks[i]))
            continue;
        size_t last = k;
        for (told[k] = true; last + 1 < c->n_tasks && same(&s->tasks[last + 1], &s->tasks[i]);)
            told[++last] = true;
        text_addf(t, "%s%zu", t->len ? "," : "", k + 1);
        if (last > k)
            text_addf(t, "-%zu", last + 1);
        k = last;
    }
}

static void print_tasks(const struct campaign *c, const struct cluster_status *s)
{
    bool *told = xcalloc(c->n_tasks + 1, sizeof *told), any = false;
    for (size_t i = 0; i < c->n_tasks; i++) {
        const struct task_status *t = &s->tasks[i];
        struct text list = {0};
        if (t->state == WORK_DONE || told[i])
            continue;
        if (!any)
            printf("\n%-16s %-8s %8s  %s\n", "tasks", "", "job", "why: what to do");
        any = true;
        list_alike(&list, c, s, i, told);
        printf("%-16s %-8s %8ld  %s%s%s\n", list.s, state_names[t->state], t->job, t->reason.why,
               *t->reason.remedy ? ": " : "", t->reason.remedy);
        text_free(&list);
    }
    free(told);
}

static void print_fails(const struct campaign *c, const struct cluster_status *s, bool all)
{
    size_t shown = all || s->n_fails < FAILS_SHOWN ? s->n_fails : FAILS_SHOWN;
    if (shown)
        printf("\nfailed\n");
    for (size_t i = 0; i < shown; i++) {
        const struct cell_fail *f = &s->fails[i];
        printf("  %s, launch %d: %s: %s: %s: %s\n", c->runs[f->run].section, f->launch, f->cell,
               f->kind, f->why, cluster_reason_failed(f->kind));
    }
    if (shown < s->n_fails)
        printf("  … and %zu more (--all)\n", s->n_fails - shown);
}

static size_t count(const struct campaign *c, const struct cluster_status *s, enum work_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_tasks; i++)
        n += s->tasks[i].state == state;
    return n;
}

static void print_next(const struct campaign *c, const struct cluster_status *s)
{
    const char *dir = SHELL_WORD(c->dir);
    bool held = s->n_orphans > 0;
    for (size_t i = 0; i < c->n_tasks; i++)
        held = held || s->tasks[i].held;
    if (held || count(c, s, WORK_MISSING))
        printf("\nnext: gradsync resume %s\n", dir);
    else if (!count(c, s, WORK_RUNNING) && !count(c, s, WORK_WAITING))
        printf("\nnext: gradsync collect %s\n", dir);
}

/* ---- JSON ---- */

static json_t *as_json(const struct campaign *c, const struct cluster_status *s)
{
    json_t *runs = json_array(), *tasks = json_array(), *fails = json_array();
    for (size_t i = 0; i < c->n_runs; i++) {
        json_t *o = json_pack("{so so sI sb}", "workload", json_text(c->runs[i].section),
                              "platform", json_text(c->runs[i].platform), "cells",
                              (json_int_t)s->runs[i].n_cells, "complete", (int)s->runs[i].complete);
        for (size_t k = 0; k < WORK_STATES; k++)
            json_object_set_new(o, state_names[k], json_integer((json_int_t)s->runs[i].cells[k]));
        json_array_append_new(runs, o);
    }
    for (size_t i = 0; i < c->n_tasks; i++) {
        const struct task_status *t = &s->tasks[i];
        json_array_append_new(tasks, json_pack("{sI si si ss sI so so}", "task", (json_int_t)i + 1,
                                               "first", c->tasks[i].first, "last", c->tasks[i].last,
                                               "state", state_names[t->state], "job",
                                               (json_int_t)t->job, "why", json_text(t->reason.why),
                                               "remedy", json_text(t->reason.remedy)));
    }
    for (size_t i = 0; i < s->n_fails; i++)
        json_array_append_new(
            fails,
            json_pack("{so so si so so}", "workload", json_text(c->runs[s->fails[i].run].section),
                      "cell", json_text(s->fails[i].cell), "launch", s->fails[i].launch, "kind",
                      json_text(s->fails[i].kind), "why", json_text(s->fails[i].why)));
    return json_pack("{so so so so}", "campaign", json_text(c->id), "runs", runs, "tasks", tasks,
                     "failed", fails);
}

/* ---- the verb ---- */

struct status_request {
    bool json, all;
};

static int status(void *request, char **words, int n)
{
    const struct status_request *q = request;
    AUTO(campaign_free) struct campaign c = {0};
    AUTO(cluster_status_free) struct cluster_status s = {0};
    AUTO_FREE char *latest = n ? NULL : locate_campaign();
    if (!n && !latest)
        return fail(GS_USAGE, "status: no campaign below data/campaigns; 'gradsync submit' makes "
                              "one, or give the folder of yours");
    if (latest && !q->json)
        printf("%s\n", latest);
    CHECK(campaign_read(&c, n ? words[0] : latest));
    CHECK(cluster_status_read(&s, &c, true));
    if (q->json) {
        AUTO_JSON json_t *o = as_json(&c, &s);
        json_print(o, JSON_INDENT(1));
    } else {
        print_cells(&c, &s);
        print_tasks(&c, &s);
        print_fails(&c, &s, q->all);
        if (s.n_orphans)
            printf("\nmissing in jobs.jsonl, because submit was interrupted: %zu jobs; resume "
                   "takes them over\n",
                   s.n_orphans);
        print_next(&c, &s);
    }
    return s.n_fails || count(&c, &s, WORK_MISSING) ? GS_FAILED : GS_OK;
}

int cmd_status(int argc, char **argv)
{
    struct status_request q = {0};
    const struct cli_option options[] = {
        {"json", 'j', CLI_FLAG, &q.json, NULL, "print the status as JSON"},
        {"all", 'a', CLI_FLAG, &q.all, NULL, "print every failed cell (default: the first 10)"},
        {0}};
    const struct cli cli = {.arguments = "[CAMPAIGN]",
                            .summary = "Shows the cells that a campaign has measured, the state of "
                                       "its jobs, and what to do next. Default: the latest "
                                       "campaign below data/campaigns.",
                            .example = "gradsync status data/campaigns/gs-20250101T000000Z-ab12",
                            .options = options,
                            .args = {0, 1}};
    return cli_request(&cli, argc, argv, status, &q);
}

/* ---- cancel ---- */

/* Ids of our array jobs with a job that has not ended, each once. A copy of a campaign names the jobs
 * of the original: they are not ours to cancel. */
static size_t living(const struct queue *q, long *jobs)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++) {
        bool listed = slurm_job_life(&q->v[i]) == JOB_ENDED || !q->v[i].mine;
        for (size_t k = 0; k < n && !listed; k++)
            listed = jobs[k] == q->v[i].array_job;
        if (!listed)
            jobs[n++] = q->v[i].array_job;
    }
    return n;
}

static int cancel_queue(const struct campaign *c)
{
    AUTO(slurm_queue_free) struct queue q = {0};
    CHECK(slurm_queue(&q, c));
    AUTO_FREE long *jobs = xcalloc(q.n + 1, sizeof *jobs);
    size_t n = living(&q, jobs);
    CHECK(slurm_jobs_cancelled(c));
    CHECK(slurm_cancel(jobs, n));
    say("cancelled: %zu array%s; recordings are kept, resume measures the missing cells", n,
        n == 1 ? "" : "s");
    return GS_OK;
}

static int cancel(void *request, char **words, int n)
{
    (void)request, (void)n;
    AUTO(campaign_free) struct campaign c = {0};
    AUTO_CLOSE int lock = -1;
    CHECK(campaign_read(&c, words[0]));
    CHECK(campaign_lock(&c, &lock));
    return cancel_queue(&c);
}

int cmd_cancel(int argc, char **argv)
{
    const struct cli_option options[] = {CLI_QUIET_ROW, {0}};
    const struct cli cli = {.arguments = "CAMPAIGN",
                            .summary = "Cancels the Slurm jobs of a campaign. Recordings are kept.",
                            .example = "gradsync cancel data/campaigns/gs-20250101T000000Z-ab12",
                            .options = options,
                            .args = {1, 1}};
    return cli_request(&cli, argc, argv, cancel, NULL);
}

/* ---- collect ---- */

struct collect_request {
    const char *raw;
    bool so_far;
};

static int collect_run(void *request, char **words, int n)
{
    const struct collect_request *q = request;
    AUTO(campaign_free) struct campaign c = {0};
    struct collected got = {0};
    (void)n;
    AUTO_CLOSE int lock = -1;
    CHECK(campaign_read(&c, words[0]));
    CHECK(campaign_lock(&c, &lock));
    CHECK(collect(&got, &c, q->raw, q->so_far));
    /* Absolute, because data/raw depends on the current folder. */
    AUTO_FREE char *whole = realpath(q->raw, NULL);
    say("collected into %s: %zu run%s (%s), %zu already there, %zu incomplete%s",
        whole ? whole : q->raw, got.copied, got.copied == 1 ? "" : "s", HUMAN_SIZE(got.bytes),
        got.there, got.lacking, got.lacking ? " (see gradsync status)" : "");
    return got.lacking ? GS_FAILED : GS_OK;
}

int cmd_collect(int argc, char **argv)
{
    struct collect_request q = {.raw = "data/raw"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.raw, "RAW", "folder for the recordings (default data/raw)"},
        {"so-far", 0, CLI_FLAG, &q.so_far, NULL,
         "also copy unfinished runs, e.g. to draw figures early"},
        CLI_QUIET_ROW,
        {0}};
    const struct cli cli = {
        .arguments = "CAMPAIGN",
        .summary = "Verifies the finished runs of a campaign and copies them to data/raw.",
        .example = "gradsync collect data/campaigns/gs-20250101T000000Z-ab12 --so-far",
        .options = options,
        .args = {1, 1}};
    return cli_request(&cli, argc, argv, collect_run, &q);
}
