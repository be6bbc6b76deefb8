/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/joined_run.h"

#include "base/err.h"
#include "base/files.h"
#include "base/lock.h"
#include "base/shell_quote.h"
#include "base/text.h"
#include "lab/same_links.h"
#include "launch/launcher.h"
#include "launch/outcome.h"
#include "launch/supervise.h"
#include "plan/sections.h"
#include "record/check_run.h"
#include "record/ledger.h"
#include "record/manifest.h"
#include "record/record.h"
#include "record/runs.h"

#include <stdlib.h>

struct rank_run {
    const struct joined *joined;
    const struct run_options *options;
    struct assignment todo;
    struct plan *plan; /* owned */
    int lock;          /* rank 0's, on the run folder */
};

/* ---- rank 0 ---- */

static int check_ranks(const struct plan *p, const struct joined *j)
{
    if (plan_is_train(p))
        return fail_at(GS_USAGE, p->config->path, config_section(p->config, p->section)->line,
                       "[%s] starts its own ranks; run gradsync once, without a launcher",
                       p->section);
    if (p->set.launch.ranks == j->ranks)
        return GS_OK;
    return fail_at(GS_USAGE, p->config->path, 0,
                   "%d ranks were started, but [launch] ranks=%lld; start %lld, or add --set "
                   "launch:ranks=%d",
                   j->ranks, (long long)p->set.launch.ranks, (long long)p->set.launch.ranks,
                   j->ranks);
}

/* One workload only: a process can call MPI_Init once. */
static int plan_config(struct rank_run *r, const char *config)
{
    AUTO(sections_free) struct sections s = {0};
    int code = sections_plan(&s, config, r->options->overrides, r->options->workload);
    if (!code)
        code = same_links_check(s.plans[0]);
    if (!code && s.n > 1)
        code = fail_at(GS_USAGE, config, 0,
                       "ranks started by your own launcher measure one workload; choose it with "
                       "--workload, e.g. '%s'",
                       s.plans[0]->section);
    if (!code)
        code = check_ranks(s.plans[0], r->joined);
    if (!code)
        code = launcher_check_gpus(s.plans, &s.n);
    if (!code)
        code = plan_memory_check(s.plans[0]);
    if (!code)
        code = run_make_folder(s.plans[0], r->options->data, &r->todo.dir);
    if (!code) {
        r->plan = s.plans[0];
        s.n = 0;
    }
    return code;
}

static int plan_folder(struct rank_run *r, const char *dir)
{
    r->todo.dir = xstrdup(dir);
    if (run_is_final(dir))
        return manifest_verify(dir);
    int code = plan_read(&r->plan, dir);
    if (!code)
        code = same_links_check(r->plan);
    return code ? code : check_ranks(r->plan, r->joined);
}

/* The first incomplete launch, and the number of incomplete launches. */
static int find_launch(struct rank_run *r, int *lacking)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    int code = ledger_read(&l, r->todo.dir);
    r->todo.launch = *lacking = 0;
    if (code)
        return code;
    for (int i = 1; i <= r->plan->set.measure.launches; i++)
        if (ledger_missing(l, r->plan, i, NULL) && !(*lacking)++) {
            r->todo.launch = i;
            r->todo.attempt = ledger_next_attempt(l, i);
        }
    return GS_OK;
}

static int decide(struct rank_run *r, const char *what)
{
    int lacking;
    int code = files_is_folder(what) ? plan_folder(r, what) : plan_config(r, what);
    if (code || !r->plan)
        return code;
    code = lock_take(&r->lock, r->todo.dir);
    if (!code)
        code = check_before_final(r->todo.dir);
    return code ? code : find_launch(r, &lacking);
}

static int finish(struct rank_run *r)
{
    AUTO(outcome_free) struct run_outcome o = {0};
    int lacking;
    int code = find_launch(r, &lacking);
    if (code)
        return code;
    outcome_begin(&o, r->plan, r->todo.dir);
    if (!lacking) {
        code = manifest_write(r->todo.dir);
        o.complete = !code;
        if (!code)
            code = outcome_judge(&o, r->plan, r->todo.dir);
        outcome_say(&o);
    } else {
        say("%s: %d of %lld launches are missing; start the ranks again with: gradsync run %s",
            r->plan->section, lacking, (long long)r->plan->set.measure.launches,
            SHELL_WORD(r->todo.dir));
    }
    o.code = code;
    if (r->options->json)
        outcome_print(&o, 1);
    return code;
}

/* ---- every rank ---- */

static int report(const struct rank_run *r, const struct attempt *a)
{
    switch (a->end) {
    case ATTEMPT_COMPLETE:
        return GS_OK;
    case ATTEMPT_INTERRUPTED:
        return r->joined->rank ? GS_FAILED
                               : fail(GS_FAILED,
                                      "interrupted; to continue, start the "
                                      "ranks again with: gradsync run %s",
                                      SHELL_WORD(r->todo.dir));
    case ATTEMPT_DIED:
        return fail(GS_FAILED, "%s: %s; start the ranks again with: gradsync run %s", a->kind,
                    a->why, SHELL_WORD(r->todo.dir));
    case ATTEMPT_REFUSED:
        break;
    }
    return fail((enum gs_exit)a->code, "%s", a->why);
}

static int measure(struct rank_run *r)
{
    struct interrupts i;
    struct progress progress;
    struct attempt a = {.launch = r->todo.launch, .attempt = r->todo.attempt, .joined = r->joined};
    int code = interrupts_catch(&i);
    if (code)
        return code;
    progress_begin(&progress, r->plan, r->options->quiet || r->joined->rank > 0);
    progress_launch(&progress, a.launch, a.attempt, 0);
    code = supervise(r->plan, r->todo.dir, &i, &progress, &a);
    interrupts_release(&i);
    return code ? code : report(r, &a);
}

static int lead(struct rank_run *r, const char *what, const char *place)
{
    r->todo.code = decide(r, what);
    if (!r->todo.code && !r->plan) {
        say("%s is complete: nothing to do", r->todo.dir);
        return GS_OK;
    }
    if (!r->todo.code && !r->todo.launch)
        return finish(r); /* the others wait for the manifest */
    int code = files_is_folder(place) ? joined_tell(r->joined, place, &r->todo) : GS_OK;
    if (r->todo.code || code)
        return r->todo.code ? r->todo.code : code;
    code = measure(r);
    return code ? code : finish(r);
}

static int follow(struct rank_run *r, const char *what, const char *place)
{
    AUTO_FREE char *manifest = files_is_folder(what) ? xstrfmt("%s/" RECORD_MANIFEST, what) : NULL;
    int code = joined_ask(r->joined, place, manifest, &r->todo);
    if (code || r->todo.code || !r->todo.launch)
        return code ? code : r->todo.code;
    code = plan_read(&r->plan, r->todo.dir);
    return code ? code : measure(r);
}

int joined_run(const struct joined *j, const char *what, const struct run_options *options)
{
    struct rank_run r = {.joined = j, .options = options, .lock = -1};
    AUTO_FREE char *place = files_is_folder(what) ? xstrfmt("%s/..", what) : xstrdup(options->data);
    int code = j->rank == 0 ? lead(&r, what, place) : follow(&r, what, place);
    if (j->rank == 0)
        joined_forget(j, place);
    lock_free(r.lock);
    plan_free(r.plan);
    free(r.todo.dir);
    return code;
}
