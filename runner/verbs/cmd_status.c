/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/locate.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "cluster/campaign.h"
#include "cluster/cluster_status.h"
#include "verbs/commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return a->state == b->state && a->job == b->job && !strcmp(a->why, b->why);
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
        printf("%-16s %-8s %8ld  %s%s%s\n", list.s, state_names[t->state], t->job, t->why,
               *t->remedy ? ": " : "", t->remedy);
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
               f->kind, f->why, reason_failed(f->kind));
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
        json_array_append_new(tasks,
                              json_pack("{sI si si ss sI so so}", "task", (json_int_t)i + 1,
                                        "first", c->tasks[i].first, "last", c->tasks[i].last,
                                        "state", state_names[t->state], "job", (json_int_t)t->job,
                                        "why", json_text(t->why), "remedy", json_text(t->remedy)));
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

static void print_json(const struct campaign *c, const struct cluster_status *s)
{
    AUTO_JSON json_t *o = as_json(c, s);
    json_print(o, JSON_INDENT(1));
}

/* ---- the verb ---- */

struct request {
    bool json, all;
};

static int status(void *request, char **words, int n)
{
    const struct request *q = request;
    struct campaign c;
    struct cluster_status s = {0};
    AUTO_FREE char *latest = n ? NULL : locate_campaign();
    if (!n && !latest)
        return fail(GS_USAGE, "status: no campaign below data/campaigns; 'gradsync submit' makes "
                              "one, or give the folder of yours");
    if (latest && !q->json)
        printf("%s\n", latest);
    int code = campaign_read(&c, n ? words[0] : latest);
    if (!code)
        code = cluster_status_read(&s, &c, true);
    if (!code && q->json) {
        print_json(&c, &s);
    } else if (!code) {
        print_cells(&c, &s);
        print_tasks(&c, &s);
        print_fails(&c, &s, q->all);
        if (s.n_orphans)
            printf("\nmissing in jobs.jsonl, because submit was interrupted: %zu jobs; resume "
                   "takes them over\n",
                   s.n_orphans);
        print_next(&c, &s);
    }
    if (!code && (s.n_fails || count(&c, &s, WORK_MISSING)))
        code = GS_FAILED;
    cluster_status_free(&s);
    campaign_free(&c);
    return code;
}

int cmd_status(int argc, char **argv)
{
    struct request q = {0};
    const struct cli_option options[] = {
        {"json", 'j', CLI_FLAG, &q.json, NULL, "print the status as JSON"},
        {"all", 'a', CLI_FLAG, &q.all, NULL, "print every failed cell (default: the first 10)"},
        {0}};
    const struct cli cli = {.verb = "status",
                            .arguments = "[CAMPAIGN]",
                            .summary = "Shows the cells that a campaign has measured, the state of "
                                       "its jobs, and what to do next. Default: the latest "
                                       "campaign below data/campaigns.",
                            .example = "gradsync status data/campaigns/gs-20250101T000000Z-ab12",
                            .options = options,
                            .max_args = 1};
    return cli_request(&cli, argc, argv, status, &q);
}
