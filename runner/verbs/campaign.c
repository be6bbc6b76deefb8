/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/campaign.h"

#include "base/cli.h"
#include "base/err.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/text.h"
#include "config/locate.h"
#include "plan/plan.h"
#include "record/begun.h"
#include "verbs/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- submit ---- */

struct submit_request {
    const char **set;
    const char *root, *workload;
    bool dry_run, commands;
};

static int plan_configs(struct sections *all, const struct submit_request *q, char **args, int n)
{
    for (int i = 0; i < n; i++) {
        struct sections one;
        int code = plan_sections(&one, args[i], q->set, q->workload);
        for (size_t k = 0; k < one.n; k++)
            APPEND(all->plans, all->n) = one.plans[k];
        all->left_out = err_worse(all->left_out, one.left_out);
        free(one.plans);
        CHECK(code);
    }
    return GS_OK;
}

/* Sections of one config share its [slurm], so a fault in it is reported once. */
static int check_scripts(const struct sections *s)
{
    int code = GS_OK;
    for (size_t i = 0; i < s->n; i++) {
        AUTO_TEXT struct text t = {0};
        if ((!i || s->plans[i]->config != s->plans[i - 1]->config) &&
            slurm_script(&t, s->plans[i], "/"))
            code = GS_USAGE;
    }
    return code;
}

static int print_jobs(const struct sections *s, const char *root)
{
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    for (size_t i = 0; i < s->n; i++) {
        const struct plan *p = s->plans[i];
        AUTO_TEXT struct text script = {0}, command = {0};
        AUTO_WORDS struct words w = {0};
        AUTO_FREE char *dir =
            xstrfmt("%s%s%s/CAMPAIGN/%s/%s/RUN", *root == '/' ? "" : cwd, *root == '/' ? "" : "/",
                    root, p->set.platform.name, p->workload);
        AUTO_FREE char *indices = xstrfmt("1-%lld", (long long)p->set.measure.launches);
        CHECK(slurm_script(&script, p, dir));
        campaign_command(&w, dir, indices);
        for (size_t k = 0; k < w.n; k++) {
            text_add(&command, k ? " " : "");
            shell_quote(&command, w.v[k]);
        }
        printf("%s/job.sh:\n%s\n%s\n%s", dir, script.s, command.s, i + 1 < s->n ? "\n" : "");
    }
    return GS_OK;
}

static int submit_folder(const char *folder, bool commands)
{
    AUTO(campaign_free) struct campaign c = {0};
    CHECK(campaign_read(&c, folder, true));
    for (size_t i = 0; i < c.n; i++) /* the scripts of the folder may be another person's */
        CHECK(begun_may_command(c.runs[i].dir, c.runs[i].dir, "its job.sh is commands", commands));
    int code = campaign_ask(&c);
    TRY(code, campaign_submit(&c));
    say("%s: gradsync %s %s", code ? "to try again" : "next", code ? "submit" : "status",
        SHELL_WORD(folder));
    return code;
}

static int submit(void *request, char **words, int n)
{
    const struct submit_request *q = request;
    AUTO(plan_sections_free) struct sections s = {0};
    AUTO_FREE char *folder = NULL;
    if (n == 1 && campaign_is(words[0])) {
        CHECK(submit_folder(words[0], q->commands));
    } else {
        CHECK(plan_configs(&s, q, words, n));
        CHECK(check_scripts(&s));
        if (q->dry_run)
            return print_jobs(&s, q->root);
        CHECK(campaign_make(s.plans, s.n, q->root, &folder));
        CHECK(submit_folder(folder, false));
    }
    printf("%s\n", folder ? folder : words[0]);
    return s.left_out;
}

int cmd_submit(int argc, char **argv)
{
    struct submit_request q = {.root = CAMPAIGNS};
    const struct cli_option options[] = {
        CLI_SET_ROW(&q.set),
        {"output", 'o', CLI_TEXT, &q.root, "FOLDER",
         "folder for campaigns, on a file system that all nodes see (default " CAMPAIGNS ")"},
        {"workload", 'w', CLI_TEXT, &q.workload, "SECTION",
         "submit only this workload section (default: all)"},
        {"dry-run", 'n', CLI_FLAG, &q.dry_run, NULL,
         "print the job scripts and sbatch commands; submit nothing"},
        {"commands", 0, CLI_FLAG, &q.commands, NULL,
         "submit job scripts that you did not make in this folder; read them first"},
        {"quiet", 'q', CLI_QUIET, NULL, NULL, "print only the campaign's folder, and errors"},
        {0}};
    const struct cli cli = {.arguments = "CONFIG… | CAMPAIGN",
                            .summary = "Measures configs in Slurm jobs, one array of jobs for each "
                                       "section. The same command again, or the folder that it "
                                       "printed, submits what is neither measured nor in a job.",
                            .example = "gradsync submit a100-8gpu --dry-run",
                            .options = options,
                            .args = {1, -1}};
    return cli_request(&cli, argc, argv, submit, &q);
}

/* ---- status ---- */

#define TAIL 8192 /* bytes of a job's output */

/* Its last line that is not empty, where Slurm and gradsync say why the job ended; "": none. */
static void last_line(char *line, size_t n, const char *dir, long job, size_t launch)
{
    AUTO_FREE char *path = xstrfmt("%s/slurm-%ld_%zu.out", dir, job, launch);
    AUTO_CLOSE int fd = files_open(path, FILES_OWN);
    char buf[TAIL + 1] = "";
    *line = '\0';
    if (fd < 0)
        return;
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t got = pread(fd, buf, TAIL, size > TAIL ? size - TAIL : 0);
    while (got > 0 && strchr(" \n\r\t", buf[got - 1]))
        buf[--got] = '\0';
    const char *s = strrchr(buf, '\n');
    snprintf(line, n, "%s", s ? s + 1 : buf);
    printable_make(line, "");
}

/* What Slurm says of the job of a task: "job 12 PENDING (Priority)". */
static void describe_task(char *text, size_t n, const struct camp_run *r, size_t task)
{
    const struct camp_task *t = &r->tasks[task];
    char why[256];
    long job = t->job ? t->job->array : t->last_job;
    if (!job) {
        snprintf(text, n, "not submitted");
        return;
    }
    const char *state = t->job ? t->job->state : "ended", *reason = t->job ? t->job->reason : "";
    last_line(why, sizeof why, r->dir, job, task + 1);
    bool alive = t->job && slurm_job_alive(t->job);
    if (*why && !alive)
        reason = why;
    bool said = *reason && strcmp(reason, "None");
    snprintf(text, n, "job %ld %s%s%s%s", job, state, said ? " (" : "", said ? reason : "",
             said ? ")" : "");
}

/* The tasks that lack something; neighbours of whom Slurm says the same share a line. */
static void print_tasks(const struct camp_run *r)
{
    char text[512], next[512];
    for (size_t i = 0, last; i < r->n_tasks; i = last + 1) {
        last = i;
        if (!r->tasks[i].missing)
            continue;
        describe_task(text, sizeof text, r, i);
        for (; last + 1 < r->n_tasks && r->tasks[last + 1].missing; last++) {
            describe_task(next, sizeof next, r, last + 1);
            if (strcmp(text, next))
                break;
        }
        if (i == last)
            printf("  launch %zu: %s\n", i + 1, text);
        else
            printf("  launches %zu-%zu: %s\n", i + 1, last + 1, text);
    }
}

static size_t count_idle(const struct camp_run *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_tasks; i++) {
        const struct slurm_job *j = r->tasks[i].job;
        n += r->tasks[i].missing && (!j || !slurm_job_alive(j) || slurm_job_held(j));
    }
    return n;
}

static int print_run(const struct camp_run *r, const char *raw)
{
    AUTO_FREE char *target = NULL;
    bool taken = false;
    int code = GS_OK;
    printf("%s: %zu of %zu launches measured, %zu cell%s", r->dir, r->n_tasks - r->n_missing,
           r->n_tasks, r->n_cells, r->n_cells == 1 ? "" : "s");
    AUTO_FREE char *show = err_as_called("gradsync show");
    if (r->n_failed)
        printf(", %zu failed (%s %s)", r->n_failed, show, SHELL_WORD(r->dir));
    printf("\n");
    print_tasks(r);
    if (r->n_missing)
        return GS_OK;
    fflush(stdout);
    code = campaign_take(r, raw, &target, &taken);
    AUTO_FREE char *whole = code ? NULL : realpath(target, NULL);
    if (!code)
        printf("  %s %s\n", taken ? "verified and copied to" : "is in", whole ? whole : target);
    return code;
}

struct status_request {
    const char *raw;
};

static int status(void *request, char **words, int n)
{
    const struct status_request *q = request;
    AUTO(campaign_free) struct campaign c = {0};
    const char *folder = n ? words[0] : CAMPAIGNS;
    size_t idle = 0, failed = 0, missing = 0;
    if (!n && !files_is_folder(folder))
        return fail(GS_USAGE, "status: no run below " CAMPAIGNS "; 'gradsync submit' makes one, or "
                              "give the folder of yours");
    CHECK(campaign_read(&c, folder, false));
    for (size_t i = 0; i < c.n; i++)
        missing += c.runs[i].n_missing;
    if (missing)
        CHECK(campaign_ask(&c));
    int code = GS_OK;
    for (size_t i = 0; i < c.n; i++) {
        code = err_worse(code, print_run(&c.runs[i], q->raw));
        idle += count_idle(&c.runs[i]);
        failed += c.runs[i].n_failed;
    }
    AUTO_FREE char *next = err_as_called("gradsync submit");
    if (idle)
        printf("next: %s %s\n", next, SHELL_WORD(folder));
    return code ? code : idle || failed ? GS_FAILED : GS_OK;
}

int cmd_status(int argc, char **argv)
{
    struct status_request q = {.raw = "data/raw"};
    const struct cli_option options[] = {
        {"output", 'o', CLI_TEXT, &q.raw, "RAW", "folder for the recordings (default data/raw)"},
        {0}};
    const struct cli cli = {.arguments = "[CAMPAIGN]",
                            .summary = "Shows which launches of a campaign are measured and what "
                                       "Slurm says of the others, and copies each run that is "
                                       "complete and verified to data/raw. Default: every campaign "
                                       "below " CAMPAIGNS ".",
                            .example = "gradsync status data/campaigns/local-3f2a91bc",
                            .options = options,
                            .args = {0, 1}};
    return cli_request(&cli, argc, argv, status, &q);
}
