/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/outcome.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "base/units.h"
#include "config/train_settings.h"
#include "lab/spec.h"
#include "record/ledger.h"
#include "record/run_campaign.h"
#include "record/runs.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void outcome_begin(struct run_outcome *o, const struct plan *p, const char *dir)
{
    *o = (struct run_outcome){.section = xstrdup(p->section),
                              .dir = xstrdup(dir),
                              .cells = p->n_cells,
                              .compares = plan_is_train(p) && plan_visits(p) > p->n_cells};
}

void outcome_announce(const struct plan *p, const char *dir)
{
    char time[32];
    units_human_time(time, sizeof time, plan_cost(p).time_s);
    say("%s: %zu cell%s in %zu group%s, launches: %lld, %s %s%s; recording into %s", p->section,
        p->n_cells, p->n_cells == 1 ? "" : "s", p->n_groups, p->n_groups == 1 ? "" : "s",
        (long long)p->set.measure.launches, plan_is_train(p) ? "at most" : "about", time,
        plan_is_train(p) ? " (if every run reaches its timeout)" : "", dir);
}

/* The failure that made a launch give up the cell, or NULL. */
static const struct ledger_fail *given_up(const struct ledger *l, const struct plan *p,
                                          const char *cell)
{
    const struct ledger_fail *last = NULL;
    for (int launch = 1; launch <= p->set.measure.launches; launch++) {
        if (!ledger_given_up(l, launch, cell, p->set.measure.retries))
            continue;
        for (size_t i = 0; i < l->n_fails; i++)
            if (l->fails[i].launch == launch && !strcmp(l->fails[i].cell, cell))
                last = &l->fails[i];
        if (last && strcmp(last->kind, "skip"))
            return last;
    }
    return last;
}

bool outcome_all_skipped(const struct plan *p, const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    size_t skipped = 0;
    if (ledger_read(&l, dir))
        return false;
    for (size_t i = 0; i < p->n_cells; i++) {
        const struct ledger_fail *f = given_up(l, p, p->cells[i].id);
        skipped += f && !strcmp(f->kind, "skip");
    }
    return skipped == p->n_cells;
}

/* So did a command that failed with every config: `resume` starts it again. */
static bool skipped_all(const struct ledger *l, const struct ledger_file *f, const struct plan *p)
{
    size_t skipped = 0;
    if (plan_is_train(p))
        return !f->n_closed && f->status && !strcmp(f->status, "complete");
    for (size_t i = 0; i < l->n_fails; i++)
        skipped += l->fails[i].launch == f->launch && l->fails[i].attempt == f->attempt &&
                   !strcmp(l->fails[i].kind, "skip");
    return skipped == p->n_cells;
}

void outcome_set_skipped_aside(const struct plan *p, const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    if (ledger_read(&l, dir))
        return;
    for (size_t i = 0; i < l->n_files; i++) {
        const struct ledger_file *f = &l->files[i];
        AUTO_FREE char *aside = xstrfmt("%s/skipped-%02d.%02d.jsonl", dir, f->launch, f->attempt);
        if (skipped_all(l, f, p) && rename(f->path, aside))
            fail_file(f->path, "renamed", errno);
    }
}

void outcome_discard_without_lab(const struct plan *p, const char *dir)
{
    AUTO_FREE char *above = xstrdup(dir);
    if (!lab_facts_missed(p->config, p->set.launch.hosts) || runs_is_run(dir))
        return;
    files_remove_tree(dir);
    for (int i = 0; i < 2; i++) {
        *strrchr(above, '/') = '\0';
        rmdir(above); /* of the workload, of the platform; fails unless it is empty */
    }
}

bool outcome_nothing(const struct plan *p, const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    size_t closed = 0;
    if (ledger_read(&l, dir))
        return false;
    for (size_t i = 0; i < l->n_files; i++)
        closed += l->files[i].n_closed;
    return !closed || outcome_all_skipped(p, dir);
}

static int report_cells(const struct run_outcome *o, const struct plan *p, const struct cell *cell,
                        const struct ledger_fail *f)
{
    char name[256];
    if (!f)
        return GS_OK;
    cell_name(p, cell, name, sizeof name);
    if (o->failed)
        return fail(GS_FAILED, "%s: %zu of %zu cells failed; the first: %s: %s: %s%s%s%s",
                    p->section, o->failed, o->cells, name, f->kind, f->why, f->where ? " (" : "",
                    f->where ? f->where : "", f->where ? ")" : "");
    if (o->skipped == o->cells)
        return fail(GS_CANNOT, "%s: every cell was skipped: %s", p->section, f->why);
    say("%s: %zu of %zu cells skipped; the first: %s: %s", p->section, o->skipped, o->cells, name,
        f->why);
    return GS_OK;
}

int outcome_judge(struct run_outcome *o, const struct plan *p, const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    int code = ledger_read(&l, dir);
    if (code)
        return code;
    const struct cell *cell = NULL;
    const struct ledger_fail *first = NULL;
    for (size_t i = 0; i < p->n_cells; i++) {
        const struct ledger_fail *f = given_up(l, p, p->cells[i].id);
        if (!f)
            continue;
        bool skip = !strcmp(f->kind, "skip");
        if (!first || (!skip && !o->failed)) {
            first = f;
            cell = &p->cells[i];
        }
        *(skip ? &o->skipped : &o->failed) += 1;
    }
    return report_cells(o, p, cell, first);
}

void outcome_say(const struct run_outcome *o)
{
    const char *dir = SHELL_WORD(o->dir);
    AUTO_FREE char *command = run_completed_by(o->dir);
    if (o->complete)
        say("recorded: %s\nnext: gradsync %s %s", dir, o->compares ? "compare" : "show", dir);
    else if (o->interrupted)
        fail(GS_FAILED, "interrupted; finished groups are recorded. Continue with: %s", command);
    else if (o->nothing)
        say("nothing was measured. Fix the cause, then: %s (with the config as it was; if the "
            "config was wrong, run it again); to discard the run: rm -r %s",
            command, dir);
    else
        say("incomplete; finished groups are recorded. Fix the cause, then: %s", command);
}

/* Twice as many; with -o, compare does not find the new run by the name of the platform. */
void outcome_say_more(const struct run_outcome *o, const struct plan *p, const char *workload,
                      const char *const *overrides, const char *data)
{
    if (!o->complete || !o->compares || !plan_is_train(p))
        return;
    AUTO_WORDS struct words set = {0};
    for (size_t i = 0; overrides && overrides[i]; i++)
        if (strncmp(overrides[i], "measure:launches=", strlen("measure:launches=")) != 0)
            words_add(&set, overrides[i]);
    words_addf(&set, "measure:launches=%lld", 2 * (long long)p->set.measure.launches);
    bool every = !workload || !strcmp(workload, TRAIN_WORKLOAD); /* as without -w */
    AUTO_FREE char *command = shell_command("train", p->config->path, every ? NULL : workload,
                                            (const char *const *)set.v);
    say("more launches, if verdicts are undecided: %s%s%s (a new run%s)", command,
        data ? " -o " : "", data ? SHELL_WORD(data) : "",
        data ? "" : "; 'gradsync compare' then takes it instead of this one");
}

static const char *status(const struct run_outcome *o)
{
    return o->complete ? "complete" : o->interrupted ? "interrupted" : "incomplete";
}

void outcome_print(const struct run_outcome *o, size_t n)
{
    AUTO_JSON json_t *all = json_array();
    for (size_t i = 0; i < n; i++)
        if (o[i].dir)
            json_array_append_new(
                all, json_pack("{so so ss si si si si}", "workload", json_text(o[i].section), "run",
                               json_text(o[i].dir), "status", status(&o[i]), "exit", o[i].code,
                               "cells", (int)o[i].cells, "failed", (int)o[i].failed, "skipped",
                               (int)o[i].skipped));
    json_print(all, JSON_INDENT(1));
}

void outcome_free(struct run_outcome *o)
{
    free(o->section);
    free(o->dir);
    *o = (struct run_outcome){0};
}
