/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run.h"

#include "base/err.h"
#include "base/family.h"
#include "base/files.h"
#include "base/jsontext.h"
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
#include "plan/plan_cost.h"
#include "plan/plan_io.h"
#include "record/begun.h"
#include "record/host_load.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"
#include "reduce/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the outcome of a run folder ---- */

struct run_outcome {
    char *section, *dir; /* NULL: no folder was created */
    bool no_folder;      /* none could be created */
    int code;            /* enum gs_exit */
    bool complete, interrupted;
    bool cut;                      /* the network to a host is cut */
    bool nothing;                  /* no group was measured */
    size_t cells, failed, skipped; /* failed, skipped: in at least one launch */
};

/* Says what will be measured, how long that takes, and where it is recorded. */
static void outcome_announce(const struct plan *p, const char *dir)
{
    char time[32];
    units_human_time(time, sizeof time, plan_cost(p).time_s);
    say("%s: %zu cell%s in %zu group%s, launches: %lld, about %s; recording into %s", p->section,
        p->n_cells, p->n_cells == 1 ? "" : "s", p->n_groups, p->n_groups == 1 ? "" : "s",
        (long long)p->set.measure.launches, time, dir);
}

/* The failure that made a launch give up the cell: a skip only if there is no other. NULL: none did. */
static const struct ledger_fail *given_up(const struct ledger *l, const struct plan *p,
                                          const char *cell)
{
    const struct ledger_fail *last = NULL;
    for (int launch = 1; launch <= p->set.measure.launches; launch++) {
        const struct ledger_fail *f = ledger_given_up(l, launch, cell, p->set.measure.retries);
        last = f ? f : last;
        if (f && strcmp(f->kind, "skip"))
            break;
    }
    return last;
}

/* True if every cell was skipped in some launch; this machine would skip them in the others too. */
static bool outcome_all_skipped(const struct plan *p, const char *dir)
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

static bool skipped_all(const struct ledger *l, const struct ledger_file *f, const struct plan *p)
{
    size_t skipped = 0;
    for (size_t i = 0; i < l->n_fails; i++)
        skipped += l->fails[i].launch == f->launch && l->fails[i].attempt == f->attempt &&
                   !strcmp(l->fails[i].kind, "skip");
    return skipped == p->n_cells;
}

/* Renames recordings of attempts that skipped every cell to skipped-LL.AA.jsonl. They keep the
 * reasons, and `resume` can then measure the launch on a suitable machine. */
static void outcome_set_skipped_aside(const struct plan *p, const char *dir)
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

/* Removes a run folder that was made outside of the lab of its config: it holds nothing that the
 * error did not say. Keeps a folder with a recording. */
static void outcome_discard_without_lab(const struct plan *p, const char *dir)
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

/* True if no group is measured in any launch. */
static bool outcome_nothing(const struct plan *p, const char *dir)
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
    plan_cell_name(p, cell, name, sizeof name);
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

/* Counts the failed and skipped cells. GS_OK; GS_FAILED if a cell failed; GS_CANNOT if all were
 * skipped. The first reason is reported. */
static int outcome_judge(struct run_outcome *o, const struct plan *p, const char *dir)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    CHECK(ledger_read(&l, dir));
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

/* Reports where the recording is and what to do next. */
static void outcome_say(const struct run_outcome *o)
{
    const char *dir = SHELL_WORD(o->dir);
    AUTO_FREE char *command = run_completed_by(o->dir);
    if (o->complete)
        say("recorded: %s\nnext: gradsync show %s", dir, dir);
    else if (o->interrupted)
        fail(GS_FAILED, "interrupted; finished groups are recorded. Continue with: %s", command);
    else if (o->nothing)
        say("nothing was measured. Fix the cause, then: %s (with the config as it was; if the "
            "config was wrong, run it again); to discard the run: rm -r %s",
            command, dir);
    else
        say("incomplete; finished groups are recorded. Fix the cause, then: %s", command);
}

static const char *status(const struct run_outcome *o)
{
    return o->complete ? "complete" : o->interrupted ? "interrupted" : "incomplete";
}

/* JSON on stdout */
static void outcome_print(const struct run_outcome *o, size_t n)
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

static void outcome_free(struct run_outcome *o)
{
    free(o->section);
    free(o->dir);
    *o = (struct run_outcome){0};
}

/* ---- one launch ---- */

struct run_at {
    const struct plan *plan;
    const char *dir;
    struct interrupts *interrupts;
    struct progress *progress;
    bool *cut; /* set: hosts have lost each other, and what needs them cannot start */
};

/* The state of a launch, from its recordings. */
struct launch_state {
    size_t missing; /* groups */
    size_t fails;   /* fail lines of cells */
    int next_attempt;
};

static int read_state(const struct run_at *r, int launch, struct launch_state *s)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    CHECK(ledger_read(&l, r->dir));
    *s = (struct launch_state){.missing = ledger_missing(l, r->plan, launch, NULL),
                               .next_attempt = ledger_next_attempt(l, launch)};
    for (size_t i = 0; i < l->n_fails; i++)
        s->fails += l->fails[i].launch == launch && *l->fails[i].cell;
    return GS_OK;
}

static void say_death(const struct run_at *r, const struct attempt *a)
{
    const struct cell *c = plan_cell_find(r->plan, a->cell);
    char name[256] = "before the first cell";
    if (c)
        plan_cell_name(r->plan, c, name, sizeof name);
    say("%s: launch %d attempt %d: %s: %s; %s", r->plan->section, a->launch, a->attempt, a->kind,
        name, a->why);
}

static bool has_lab(const struct config *c)
{
    char ignored[1];
    AUTO(lab_spec_free) struct lab_spec s = {0};
    err_capture(ignored, sizeof ignored);
    int code = lab_spec_read(&s, c);
    err_capture(NULL, 0);
    return !code;
}

/* The hosts are the sites of the config, and this is no lab. */
static int refuse_outside(const struct plan *p, const struct attempt *a)
{
    const char *lab = has_lab(p->config) ? "; emulated sites: gradsync lab CONFIG -- COMMAND" : "";
    AUTO_WORDS struct words hosts = {0};
    bool ssh = strstr(a->why, "ssh: ") || strstr(a->why, "ORTE was unable to reliably start");
    if (!ssh)
        return fail((enum gs_exit)a->code, "%s%s", a->why, lab);
    words_split(&hosts, p->set.launch.hosts, ',');
    for (size_t i = 0; i < hosts.n; i++) {
        AUTO_FREE char *named = xstrfmt(" %s", hosts.v[i]);
        if (strstr(a->why, named))
            return fail((enum gs_exit)a->code,
                        "ssh %s does not work from here (docs/clusters.md, Hosts over ssh)%s",
                        hosts.v[i], lab);
    }
    return fail((enum gs_exit)a->code,
                "ssh to %s does not work from here (docs/clusters.md, Hosts over ssh)%s",
                p->set.launch.hosts, lab);
}

/* One attempt. GS_OK: read the ledger for its result; otherwise the run ends with this code. */
static int try_launch(const struct run_at *r, const struct launch_state *s, struct attempt *a)
{
    int code = record_take_attempt(r->dir, a->launch, &a->attempt);
    if (code)
        return code;
    progress_launch(r->progress, a->launch, a->attempt, r->plan->n_groups - s->missing);
    code = supervise(r->plan, r->dir, r->interrupts, r->progress, a);
    if (code)
        return code;
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
        *r->cut = a->cut;
        if (a->cut)
            return fail(GS_FAILED, "%s: %s", r->plan->section, a->why);
        say_death(r, a);
        return r->interrupts->count ? GS_FAILED : GS_OK;
    case ATTEMPT_REFUSED:
        break;
    }
    if (lab_facts_missed(r->plan->config, r->plan->set.launch.hosts))
        return refuse_outside(r->plan, a);
    return fail((enum gs_exit)a->code, "%s%s%s%s", a->why, *a->log ? " (log: " : "", a->log,
                *a->log ? ")" : "");
}

/* The loop ends: each attempt completes a group or adds a failure to a cell, and the failures of a cell
 * are limited. One that does neither is repeated once. */
static int run_launch(struct run_at *r, int launch)
{
    struct launch_state now, before = {0};
    struct attempt a = {.launch = launch};
    for (int vain = 0;;) {
        CHECK(read_state(r, launch, &now));
        if (!now.missing)
            return GS_OK;
        if (a.attempt)
            vain = now.missing == before.missing && now.fails == before.fails ? vain + 1 : 0;
        if (vain == 2)
            return fail(GS_FAILED, "%s: launch %d: two attempts measured nothing%s%s",
                        r->plan->section, launch, *a.why ? "; last reason: " : "", a.why);
        interrupts_read(r->interrupts);
        if (r->interrupts->count)
            return GS_FAILED;
        before = now;
        a = (struct attempt){.launch = launch,
                             .attempt =
                                 now.next_attempt > a.attempt ? now.next_attempt : a.attempt + 1};
        CHECK(try_launch(r, &now, &a));
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

/* The holder from /proc/locks: "1: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE 0 EOF"; 0 when it
 * is not there (it runs on another machine, or in another container). */
static long holder(int fd)
{
    struct stat s;
    AUTO_TEXT struct text t = {0};
    long found = 0;
    if (fstat(fd, &s) || !text_read_file("/proc/locks", &t))
        return 0;
    AUTO_WORDS struct words lines = {0};
    words_split(&lines, t.s, '\n');
    for (size_t i = 0; i < lines.n && !found; i++) {
        long pid;
        unsigned long inode;
        if (sscanf(lines.v[i], "%*d: FLOCK ADVISORY WRITE %ld %*x:%*x:%lu", &pid, &inode) == 2 &&
            inode == s.st_ino)
            found = pid;
    }
    return found;
}

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
    long pid = holder(*fd);
    char who[64] = "another gradsync";
    if (pid)
        snprintf(who, sizeof who, "process %ld", pid);
    close(*fd);
    *fd = -1;
    return fail_at(GS_USAGE, dir, 0, "%s is measuring into it; wait for it, or end it first", who);
}

/* ---- one run folder ---- */

static int measure_one(struct run_job *r, int launch, struct launches_told *told, bool *whole)
{
    int code = run_launch(&r->at, launch);
    *whole = !code && !outcome_all_skipped(r->at.plan, r->at.dir);
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

/* A recording may be cut or removed while later launches are measured. */
static int check_whole(const struct run_job *r)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    int code = ledger_read(&l, r->at.dir);
    for (int launch = r->first; !code && launch <= r->last; launch++)
        if (ledger_missing(l, r->at.plan, launch, NULL))
            code = fail_at(GS_FAILED, r->at.dir, 0,
                           "a recording of launch %d was cut or removed during the run; 'gradsync "
                           "resume %s' measures it again",
                           launch, SHELL_WORD(r->at.dir));
    return code;
}

/* Measures the missing groups. Makes the run final, unless other processes measure a part of it. */
static int complete(struct run_job *r, struct run_outcome *o)
{
    /* Damage is reported before hours of measuring, not afterwards. */
    int code = r->part ? GS_OK : ledger_check_final(r->at.dir);
    TRY(code, measure(r, &o->complete));
    if (o->complete && !r->part)
        code = check_whole(r);
    if (o->complete && !r->part && !code)
        code = manifest_write(r->at.dir);
    o->complete = o->complete && !code;
    TRY(code, outcome_judge(o, r->at.plan, r->at.dir));
    if (!o->complete && !r->part && !access(r->at.dir, F_OK))
        outcome_set_skipped_aside(r->at.plan, r->at.dir);
    return code;
}

static int run_plan(struct plan *p, const char *dir, bool fresh, struct interrupts *i,
                    const struct run_options *options, struct run_outcome *o)
{
    struct progress progress = {.plan = p, .quiet = options->quiet};
    struct run_job r = {.at = {p, dir, i, &progress, &o->cut},
                        .part = options->first > 0,
                        .first = options->first ? options->first : 1,
                        .last = options->first ? options->last : (int)p->set.measure.launches};
    AUTO_CLOSE int lock = -1;
    int code = lock_folder(&lock, dir, r.part ? LOCK_SH : LOCK_EX);
    if (code)
        return code;
    *o = (struct run_outcome){
        .section = xstrdup(p->section), .dir = xstrdup(dir), .cells = p->n_cells};
    outcome_announce(p, dir);
    o->code = complete(&r, o);
    if (fresh && o->code == GS_CANNOT)
        outcome_discard_without_lab(p, dir);
    o->interrupted = i->count > 0 && !o->complete;
    bool gone = access(dir, F_OK) != 0;
    o->nothing = !o->complete && !gone && outcome_nothing(p, dir);
    if (!o->nothing && !gone)
        host_load_warn(&dir, 1);
    if (gone)
        o->nothing = true;
    else if (r.part && o->complete)
        say("recorded: launches %d to %d of %s", r.first, r.last, dir);
    else
        outcome_say(o);
    return o->code;
}

/* ---- a folder ---- */

/* What config.ini does not hold comes from the environment. */
static int restore(const struct plan *p, const char *key, char value[SET_TEXT_MAX])
{
    AUTO_FREE char *missing = NULL, *whole = secrets_restored(value, &missing);
    if (missing)
        return fail_at(GS_USAGE, p->config->path, 0,
                       "[launch] %s: secrets are not recorded; give it again: export %s=…", key,
                       missing);
    if (strlen(whole) >= SET_TEXT_MAX)
        return fail_at(GS_USAGE, p->config->path, 0, "[launch] %s: too long", key);
    strcpy(value, whole);
    return GS_OK;
}

/* The folder may be another person's, and `resume` be the advice of a message about it. */
static int check_commands(const struct plan *p, const char *dir, const struct run_options *options)
{
    if (!has_command(p))
        return GS_OK;
    return begun_may_command(dir, p->config->path,
                             "[launch] has a prefix or args, which are commands",
                             options->commands);
}

int run_folder(const char *dir, const struct run_options *options)
{
    struct plan *p;
    struct run_outcome o = {0};
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
    if (options->last > p->set.measure.launches)
        code = fail_at(GS_USAGE, dir, 0, "--launch %d: the run has only %lld launches",
                       options->last, (long long)p->set.measure.launches);
    size_t n = 1;
    TRY(code, probe_same_links(p));
    TRY(code, check_commands(p, dir, options));
    TRY(code, restore(p, "prefix", p->set.launch.prefix));
    TRY(code, restore(p, "args", p->set.launch.args));
    TRY(code, launcher_check_gpus(&p, &n));
    TRY(code, launcher_check(p));
    TRY(code, plan_memory_check(p));
    struct interrupts i;
    TRY(code, interrupts_catch(&i));
    if (!code) {
        code = run_plan(p, dir, false, &i, options, &o);
        interrupts_release(&i);
    }
    if (options->json)
        outcome_print(&o, 1);
    outcome_free(&o);
    plan_free(n ? p : NULL);
    return code;
}

/* ---- a config ---- */

static int run_section(struct plan *p, struct interrupts *i, const struct run_options *options,
                       struct run_outcome *o)
{
    char *dir = NULL;
    int code = plan_memory_check(p);
    if (!code)
        o->no_folder = (code = run_make_folder(p, options->data, &dir)) != GS_OK;
    TRY(code, run_plan(p, dir, true, i, options, o));
    o->code = code;
    if (options->dir) {
        free(*options->dir);
        *options->dir = dir;
        return code;
    }
    free(dir);
    return code;
}

static void say_not_begun(const struct plan *p, const struct run_options *options)
{
    AUTO_FREE char *command =
        config_command("run", p->config->path, p->section, options->overrides);
    bool elsewhere = strcmp(options->data, RUN_DATA) != 0;
    say("not started: %s; run it with: %s%s%s", p->section, command, elsewhere ? " -o " : "",
        elsewhere ? SHELL_WORD(options->data) : "");
}

static int run_sections(const struct sections *plans, const struct run_options *options)
{
    struct interrupts i;
    /* All sections share one [launch], so its errors are reported once. */
    int code = GS_OK;
    for (size_t k = 0; !code && k < plans->n; k++)
        code = probe_same_links(plans->plans[k]);
    if (!code && plans->n)
        code = launcher_check(plans->plans[0]);
    size_t n = code ? 0 : plans->n, ran = 0;
    AUTO_FREE struct run_outcome *outcomes = xcalloc(n, sizeof *outcomes);
    int caught = interrupts_catch(&i);
    code = err_worse(code, plans->left_out);
    for (; !caught && ran < n && !i.count && !(ran && outcomes[ran - 1].cut); ran++) {
        int one = run_section(plans->plans[ran], &i, options, &outcomes[ran]);
        code = err_worse(code, one);
        if (outcomes[ran].no_folder) /* nor could the other sections make one */
            n = ran + 1;
    }
    for (size_t k = ran; !caught && k < n; k++)
        say_not_begun(plans->plans[k], options);
    if (options->interrupted && i.count)
        *options->interrupted = true;
    if (!caught)
        interrupts_release(&i);
    if (options->json)
        outcome_print(outcomes, ran);
    for (size_t k = 0; k < ran; k++)
        outcome_free(&outcomes[k]);
    return caught ? caught : code;
}

static int run_planned(struct sections *s, const struct run_options *options)
{
    s->left_out = err_worse(s->left_out, launcher_check_gpus(s->plans, &s->n));
    return run_sections(s, options);
}

int run_config(const char *config, const struct run_options *options)
{
    AUTO(plan_sections_free) struct sections s = {0};
    int code = plan_sections(&s, config, options->overrides, options->workload);
    return code ? code : run_planned(&s, options);
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
    return code ? code : run_planned(&s, options);
}
