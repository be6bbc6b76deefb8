/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run.h"

#include "base/err.h"
#include "base/files.h"
#include "base/interrupts.h"
#include "base/locate.h"
#include "base/lock.h"
#include "base/secrets.h"
#include "base/shell_quote.h"
#include "config/config.h"
#include "lab/probe.h"
#include "launch/launcher.h"
#include "launch/outcome.h"
#include "launch/run_launch.h"
#include "plan/sections.h"
#include "record/begun.h"
#include "record/check_run.h"
#include "record/host_load.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"
#include "reduce/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_job {
    struct run_at at;
    int first, last; /* launches */
    bool part;       /* only some launches; other processes may measure the rest */
};

static bool has_command(const struct plan *p)
{
    return *p->set.launch.prefix || *p->set.launch.args || plan_is_train(p);
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

/* ---- one run folder ---- */

static int measure_one(struct run_job *r, int launch, struct launches_told *told, bool *whole)
{
    int code = run_launch(&r->at, launch);
    *whole = !code && !outcome_all_skipped(r->at.plan, r->at.dir) &&
             !(plan_is_train(r->at.plan) && outcome_nothing(r->at.plan, r->at.dir));
    if (*whole && !r->part)
        code = launches_tell(told, r->at.plan->section, r->at.dir);
    return code;
}

/* A machine that skips every cell of a launch would skip them in each, so the first such launch ends
 * the run, which is then not final. So does a command that fails in every cell of the first one.
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
    int code = r->part ? GS_OK : check_before_final(r->at.dir);
    if (!code)
        code = measure(r, &o->complete);
    if (o->complete && !r->part)
        code = check_whole(r);
    if (o->complete && !r->part && !code)
        code = manifest_write(r->at.dir);
    o->complete = o->complete && !code;
    if (!code)
        code = outcome_judge(o, r->at.plan, r->at.dir);
    if (!o->complete && !r->part && !access(r->at.dir, F_OK))
        outcome_set_skipped_aside(r->at.plan, r->at.dir);
    return code;
}

static int run_plan(struct plan *p, const char *dir, bool fresh, struct interrupts *i,
                    const struct run_options *options, struct run_outcome *o)
{
    struct progress progress;
    struct run_job r = {.at = {p, dir, i, &progress, &o->cut},
                        .part = options->first > 0,
                        .first = options->first ? options->first : 1,
                        .last = options->first ? options->last : (int)p->set.measure.launches};
    int lock;
    int code = r.part ? lock_share(&lock, dir) : lock_take(&lock, dir);
    if (code)
        return code;
    outcome_begin(o, p, dir);
    outcome_announce(p, dir);
    progress_begin(&progress, p, options->quiet);
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
    lock_free(lock);
    return o->code;
}

/* ---- a folder ---- */

static int finish_folder(const char *dir, const struct run_options *options, struct plan *p,
                         struct run_outcome *o)
{
    struct interrupts i;
    int code = interrupts_catch(&i);
    if (code)
        return code;
    code = run_plan(p, dir, false, &i, options, o);
    interrupts_release(&i);
    return code;
}

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
    if (!has_command(p) || options->trusted || begun_here(dir))
        return GS_OK;
    if (options->commands) {
        begun_mark(dir);
        return GS_OK;
    }
    return fail_at(GS_USAGE, p->config->path, 0,
                   "you did not begin this run in this folder, and %s: read it, then: gradsync "
                   "resume --commands %s",
                   plan_is_train(p) ? "[train] has a command"
                                    : "[launch] has a prefix or args, which are commands",
                   SHELL_WORD(dir));
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
    if (!code)
        code = probe_same_links(p);
    if (!code)
        code = check_commands(p, dir, options);
    if (!code)
        code = restore(p, "prefix", p->set.launch.prefix);
    if (!code)
        code = restore(p, "args", p->set.launch.args);
    if (!code)
        code = launcher_check_gpus(&p, &n);
    if (!code && !plan_is_train(p))
        code = launcher_check(p);
    if (!code)
        code = plan_memory_check(p);
    if (!code)
        code = finish_folder(dir, options, p, &o);
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
    if (!code)
        code = run_plan(p, dir, true, i, options, o);
    o->code = code;
    outcome_say_more(o, p, options->workload, options->overrides,
                     strcmp(options->data, RUN_DATA) ? options->data : NULL);
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
        options->again ? xstrdup(options->again)
                       : shell_command("run", p->config->path, p->section, options->overrides);
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
    for (size_t k = 0, checked = 0; !code && k < plans->n && !checked; k++)
        if (!plan_is_train(plans->plans[k]) && ++checked)
            code = launcher_check(plans->plans[k]);
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
    AUTO(sections_free) struct sections s = {0};
    int code = sections_plan(&s, config, options->overrides, options->workload);
    return code ? code : run_planned(&s, options);
}

int run_config_text(const char *name, const struct text *config, const struct run_options *options)
{
    AUTO(config_free_of) struct config *c = NULL;
    AUTO(sections_free) struct sections s = {0};
    int code = config_from_text(&c, name, config->s, config->len, options->overrides);
    if (!code)
        code = sections_of(&s, c, options->workload);
    return code ? code : run_planned(&s, options);
}
