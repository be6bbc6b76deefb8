/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config.h"
#include "config/locate.h"
#include "config/settings.h"
#include "lab/probe.h"
#include "lab/spec.h"
#include "launch/launcher.h"
#include "launch/supervise.h"
#include "plan/plan.h"
#include "record/begun.h"
#include "record/host_load.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"
#include "reduce/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- what a run folder holds ---- */

struct run_at {
    const struct plan *plan;
    const char *dir;
    struct interrupts *interrupts;
    struct progress *progress;
    bool *stop;            /* set: nothing else can be measured either */
    struct ledger *ledger; /* of the last read_ledger */
};

static int read_ledger(struct run_at *r)
{
    ledger_free(r->ledger);
    return ledger_read(&r->ledger, r->dir);
}

/* The failure that made a launch give up the cell: a skip only if there is no other. NULL: none did. */
static const struct ledger_fail *given_up(const struct run_at *r, const struct cell *cell)
{
    const struct set_measure *m = &r->plan->set.measure;
    const struct ledger_fail *last = NULL;
    for (int launch = 1; launch <= m->launches; launch++) {
        const struct ledger_fail *f = ledger_given_up(r->ledger, launch, cell->id, m->retries);
        last = f ? f : last;
        if (f && strcmp(f->kind, "skip"))
            break;
    }
    return last;
}

/* True if every cell was skipped in some launch; this machine would skip them in the others too. */
static bool all_skipped(const struct run_at *r)
{
    size_t skipped = 0;
    for (size_t i = 0; i < r->plan->n_cells; i++) {
        const struct ledger_fail *f = given_up(r, &r->plan->cells[i]);
        skipped += f && !strcmp(f->kind, "skip");
    }
    return skipped == r->plan->n_cells;
}

/* Renames recordings of attempts that skipped every cell to skipped-LL.AA.jsonl. They keep the
 * reasons, and `resume` can then measure the launch on a suitable machine. */
static void set_skipped_aside(const struct run_at *r)
{
    const struct ledger *l = r->ledger;
    for (size_t i = 0; l && i < l->n_files; i++) {
        const struct ledger_file *f = &l->files[i];
        AUTO_FREE char *aside =
            xstrfmt("%s/skipped-%02d.%02d.jsonl", r->dir, f->launch, f->attempt);
        size_t skipped = 0;
        for (size_t k = 0; k < l->n_fails; k++)
            skipped += l->fails[k].launch == f->launch && l->fails[k].attempt == f->attempt &&
                       !strcmp(l->fails[k].kind, "skip");
        if (skipped == r->plan->n_cells && rename(f->path, aside))
            fail_file(f->path, "renamed", errno);
    }
}

/* Tells how many cells failed, or were skipped, in at least one launch. GS_OK; GS_FAILED if a cell failed;
 * GS_CANNOT if all were skipped. */
static int tell_cells(const struct run_at *r)
{
    const struct plan *p = r->plan;
    const struct cell *cell = NULL;
    const struct ledger_fail *first = NULL;
    size_t failed = 0, skipped = 0;
    char name[256];
    for (size_t i = 0; i < p->n_cells; i++) {
        const struct ledger_fail *f = given_up(r, &p->cells[i]);
        if (!f)
            continue;
        bool skip = !strcmp(f->kind, "skip");
        if (!first || (!skip && !failed)) {
            first = f;
            cell = &p->cells[i];
        }
        *(skip ? &skipped : &failed) += 1;
    }
    if (!first)
        return GS_OK;
    plan_cell_name(p, cell, name, sizeof name);
    if (failed)
        return fail(GS_FAILED, "%s: %zu of %zu cells failed; the first: %s: %s: %s%s%s%s",
                    p->section, failed, p->n_cells, name, first->kind, first->why,
                    first->where ? " (" : "", first->where ? first->where : "",
                    first->where ? ")" : "");
    if (skipped == p->n_cells)
        return fail(GS_CANNOT, "%s: every cell was skipped: %s", p->section, first->why);
    say("%s: %zu of %zu cells skipped; the first: %s: %s", p->section, skipped, p->n_cells, name,
        first->why);
    return GS_OK;
}

/* ---- one launch ---- */

static void say_death(const struct run_at *r, const struct attempt *a)
{
    const struct cell *c = plan_cell_find(r->plan, a->cell);
    char name[256] = "before the first cell";
    if (c)
        plan_cell_name(r->plan, c, name, sizeof name);
    say("%s: launch %d attempt %d: %s: %s; %s", r->plan->section, a->launch, a->attempt, a->kind,
        name, a->why);
}

/* One attempt. GS_OK: read the ledger for its result; otherwise the run ends with this code. */
static int try_launch(const struct run_at *r, size_t missing, struct attempt *a)
{
    CHECK(record_take_attempt(r->dir, a->launch, &a->attempt));
    progress_launch(r->progress, a->launch, a->attempt, r->plan->n_groups - missing);
    CHECK(supervise(r->plan, r->dir, r->interrupts, r->progress, a));
    if (access(r->dir, F_OK))
        return fail_at(GS_FAILED, r->dir, 0,
                       "was removed while it was measured; run the config again");
    switch (a->end) {
    case ATTEMPT_COMPLETE:
        return GS_OK;
    case ATTEMPT_INTERRUPTED:
        return r->interrupts->count
                   ? GS_FAILED
                   : fail(GS_FAILED, "%s: another process told the ranks of launch %d to stop",
                          r->plan->section, a->launch);
    case ATTEMPT_DIED:
        *r->stop = a->cut; /* what needs these hosts cannot start */
        if (a->cut)
            return fail(GS_FAILED, "%s: %s", r->plan->section, a->why);
        say_death(r, a);
        return r->interrupts->count ? GS_FAILED : GS_OK;
    case ATTEMPT_REFUSED:
        break;
    }
    bool outside = lab_facts_missed(r->plan->config, r->plan->set.launch.hosts);
    return fail((enum gs_exit)a->code, "%s%s%s%s%s", a->why, *a->log ? " (log: " : "", a->log,
                *a->log ? ")" : "",
                outside ? "; if ssh does not reach these sites (docs/clusters.md, Hosts over ssh), "
                          "emulate them: gradsync lab CONFIG -- COMMAND"
                        : "");
}

/* The loop ends: each attempt completes a group or adds a failure to a cell, and the failures of a cell
 * are limited. One that does neither is repeated once. */
static int run_launch(struct run_at *r, int launch)
{
    struct attempt a = {.launch = launch};
    size_t before[2] = {0};
    for (int vain = 0;;) {
        CHECK(read_ledger(r));
        const struct ledger *l = r->ledger;
        size_t missing = ledger_missing(l, r->plan, launch, NULL), fails = 0;
        for (size_t i = 0; i < l->n_fails; i++)
            fails += l->fails[i].launch == launch && *l->fails[i].cell;
        if (!missing)
            return GS_OK;
        if (a.attempt)
            vain = missing == before[0] && fails == before[1] ? vain + 1 : 0;
        if (vain == 2)
            return fail(GS_FAILED, "%s: launch %d: two attempts measured nothing%s%s",
                        r->plan->section, launch, *a.why ? "; last reason: " : "", a.why);
        interrupts_read(r->interrupts);
        if (r->interrupts->count)
            return GS_FAILED;
        before[0] = missing;
        before[1] = fails;
        int next = ledger_next_attempt(l, launch);
        a = (struct attempt){.launch = launch, .attempt = next > a.attempt ? next : a.attempt + 1};
        CHECK(try_launch(r, missing, &a));
    }
}

/* ---- a run ---- */

struct run_job {
    struct run_at at;
    int first, last; /* launches */
    bool part;       /* only some launches; other processes may measure the rest */
};

static bool has_command(const struct plan *p)
{
    return *p->set.launch.prefix || *p->set.launch.args;
}

int run_make_folder(const struct plan *p, const char *data, char **dir)
{
    int code = record_make_run(data, p->set.platform.name, p->workload, p->label, dir);
    if (!code && (code = plan_write(p, *dir)) != GS_OK) { /* a folder without a plan is no run */
        AUTO_FREE char *config = xstrfmt("%s/config.ini", *dir);
        unlink(config);
        rmdir(*dir);
    }
    if (!code && has_command(p))
        begun_mark(*dir);
    return code;
}

/* ---- the lock of a run folder ---- */

/* Only one gradsync may write to a run folder (LOCK_EX), or several that measure a part each
 * (LOCK_SH). *fd is -1 after an error. GS_USAGE, reported, if another process holds the lock. */
static int lock_folder(int *fd, const char *dir, int how)
{
    /* The one file that every run folder has. Some network file systems lock only what can be
     * written; a finished run's cannot. */
    AUTO_FREE char *path = xstrfmt("%s/plan.json", dir);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return fail_at(GS_USAGE, dir, 0, "no run folder: plan.json: %s", strerror(errno));
    if (!flock(*fd, how | LOCK_NB) || errno != EWOULDBLOCK)
        return GS_OK;
    close(*fd);
    *fd = -1;
    return fail_at(GS_USAGE, dir, 0,
                   "another gradsync is measuring into it; wait for it, or end it first");
}

/* ---- one run folder ---- */

static int measure_one(struct run_job *r, int launch, struct launches_told *told, bool *whole)
{
    int code = run_launch(&r->at, launch);
    *whole = !code && !all_skipped(&r->at);
    if (*whole && !r->part)
        code = launches_tell(told, r->at.plan->section, r->at.dir);
    return code;
}

/* A machine that skips every cell of a launch would skip them in each, so the first such launch ends
 * the run, which is then not final.
 * Launches that are left out of the statistics are replaced, unless other processes measure a part. */
static int measure(struct run_job *r, bool *whole)
{
    struct launches_told told = {0};
    int code = GS_OK, more = 0;
    *whole = true;
    for (int launch = r->first; !code && *whole && launch <= r->last; launch++)
        code = measure_one(r, launch, &told, whole);
    for (; !code && *whole && !r->part && more < launches_more(&told, r->last); more++) {
        say("%s: launch %d is measured in place of one that is left out", r->at.plan->section,
            r->last + more + 1);
        code = measure_one(r, r->last + more + 1, &told, whole);
    }
    free(told.v);
    return code;
}

/* Measures the missing groups. Makes the run final, unless other processes measure a part of it. */
static int complete(struct run_job *r, bool *whole)
{
    /* Damage is reported before hours of measuring, not afterwards. */
    int code = r->part ? GS_OK : ledger_check_final(r->at.dir);
    TRY(code, measure(r, whole));
    int read =
        access(r->at.dir, F_OK) ? GS_OK : read_ledger(&r->at); /* if removed, that is reported */
    code = code ? code : read;
    /* A recording may be cut or removed while later launches are measured. */
    for (int launch = r->first; *whole && !r->part && !code && launch <= r->last; launch++)
        if (ledger_missing(r->at.ledger, r->at.plan, launch, NULL))
            code = fail_at(GS_FAILED, r->at.dir, 0,
                           "a recording of launch %d was cut or removed during the run; 'gradsync "
                           "resume %s' measures it again",
                           launch, SHELL_WORD(r->at.dir));
    if (*whole && !r->part)
        TRY(code, manifest_write(r->at.dir));
    *whole = *whole && !code;
    TRY(code, tell_cells(&r->at));
    if (!*whole && !r->part)
        set_skipped_aside(&r->at);
    return code;
}

/* *stop: nothing else can be measured either. */
static int run_plan(struct plan *p, const char *dir, struct interrupts *i,
                    const struct run_options *options, bool *stop)
{
    struct progress progress = {.plan = p, .quiet = options->quiet};
    struct run_job r = {.at = {p, dir, i, &progress, stop, NULL},
                        .part = options->launch > 0,
                        .first = options->launch ? options->launch : 1,
                        .last = options->launch ? options->launch : (int)p->set.measure.launches};
    const char *shown = SHELL_WORD(dir);
    AUTO_FREE char *command = run_completed_by(dir);
    AUTO_CLOSE int lock = -1;
    bool whole = false;
    CHECK(lock_folder(&lock, dir, r.part ? LOCK_SH : LOCK_EX));
    say("%s: %zu cell%s in %zu group%s, launches: %lld, about %s; recording into %s", p->section,
        p->n_cells, p->n_cells == 1 ? "" : "s", p->n_groups, p->n_groups == 1 ? "" : "s",
        (long long)p->set.measure.launches, HUMAN_TIME(plan_cost(p).time_s), dir);
    int code = complete(&r, &whole);
    if (access(dir, F_OK)) { /* the whole run was removed, which is reported */
        ledger_free(r.at.ledger);
        return code;
    }
    size_t closed = 0;
    for (size_t k = 0; r.at.ledger && k < r.at.ledger->n_files; k++)
        closed += r.at.ledger->files[k].n_closed;
    bool nothing = !whole && r.at.ledger && (!closed || all_skipped(&r.at));
    ledger_free(r.at.ledger);
    if (!nothing)
        host_load_warn(&dir, 1);
    if (whole && r.part)
        say("recorded: launches %d to %d of %s", r.first, r.last, dir);
    else if (whole)
        say("recorded: %s\nnext: gradsync show %s", shown, shown);
    else if (i->count)
        fail(GS_FAILED, "interrupted; finished groups are recorded. Continue with: %s", command);
    else if (nothing)
        say("nothing was measured. Fix the cause, then: %s (with the config as it was; if the "
            "config was wrong, run it again); to discard the run: rm -r %s",
            command, shown);
    else
        say("incomplete; finished groups are recorded. Fix the cause, then: %s", command);
    return code;
}

/* ---- a folder ---- */

int run_folder(const char *dir, const struct run_options *options)
{
    struct plan *p;
    bool stop = false;
    if (access(dir, F_OK))
        return locate_failed(GS_USAGE, dir, LOCATE_ONE_RUN);
    if (run_is_final(dir)) {
        int code = manifest_verify(dir);
        if (!code)
            say("%s is complete: nothing to do; next: gradsync show %s", dir, SHELL_WORD(dir));
        return code;
    }
    int code = plan_read(&p, dir);
    if (code)
        return code;
    if (options->launch > p->set.measure.launches)
        code = fail_at(GS_USAGE, dir, 0, "--launch %d: the run has only %lld launches",
                       options->launch, (long long)p->set.measure.launches);
    size_t n = 1;
    TRY(code, probe_same_links(p));
    if (has_command(p)) /* the folder may be another person's */
        TRY(code, begun_may_command(dir, p->config->path,
                                    "[launch] has a prefix or args, which are commands",
                                    options->commands));
    if (secrets_are_hidden(p->set.launch.prefix) || secrets_are_hidden(p->set.launch.args))
        TRY(code, fail_at(GS_USAGE, p->config->path, 0,
                          "[launch] holds a secret, which is not recorded: run the config again"));
    TRY(code, launcher_check_gpus(&p, &n));
    TRY(code, launcher_check(p));
    TRY(code, plan_memory_check(p));
    struct interrupts i;
    TRY(code, interrupts_catch(&i));
    if (!code) {
        code = run_plan(p, dir, &i, options, &stop);
        interrupts_release(&i);
    }
    plan_free(n ? p : NULL);
    return code;
}

/* ---- a config ---- */

static int run_section(struct plan *p, struct interrupts *i, const struct run_options *options,
                       bool *stop)
{
    AUTO_FREE char *dir = NULL;
    CHECK(plan_memory_check(p));
    *stop = true; /* without a folder; nor could the other sections make one */
    CHECK(run_make_folder(p, options->data, &dir));
    *stop = false;
    if (options->dir)
        xstrset(options->dir, dir);
    return run_plan(p, dir, i, options, stop);
}

static int run_sections(struct sections *plans, const struct run_options *options)
{
    struct interrupts i;
    bool stop = false;
    plans->left_out = err_worse(plans->left_out, launcher_check_gpus(plans->plans, &plans->n));
    /* All sections share one [launch], so its errors are reported once. */
    int code = GS_OK;
    for (size_t k = 0; !code && k < plans->n; k++)
        code = probe_same_links(plans->plans[k]);
    if (!code && plans->n)
        code = launcher_check(plans->plans[0]);
    size_t n = code ? 0 : plans->n, ran = 0;
    CHECK(interrupts_catch(&i));
    code = err_worse(code, plans->left_out);
    for (; ran < n && !i.count && !stop; ran++)
        code = err_worse(code, run_section(plans->plans[ran], &i, options, &stop));
    for (size_t k = ran; k < n; k++)
        say("not started: %s", plans->plans[k]->section);
    interrupts_release(&i);
    return code;
}

int run_config(const char *config, const struct run_options *options)
{
    AUTO(plan_sections_free) struct sections s = {0};
    int code = plan_sections(&s, config, options->overrides, options->workload);
    return code ? code : run_sections(&s, options);
}

int run_config_text(const char *name, const struct text *config, const struct run_options *options)
{
    AUTO(config_free_of) struct config *c = NULL;
    AUTO(plan_sections_free) struct sections s = {0};
    int code = config_from_text(&c, name, config->s, config->len, options->overrides);
    for (size_t i = 0; !code && i < c->n_sections; i++) /* of a file that the user never sees */
        c->sections[i].line = 0;
    for (size_t i = 0; !code && i < c->n; i++)
        c->entries[i].line = 0;
    TRY(code, plan_sections_of(&s, c, options->workload));
    return code ? code : run_sections(&s, options);
}
