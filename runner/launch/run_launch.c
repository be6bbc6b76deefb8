/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/run_launch.h"

#include "base/err.h"
#include "base/text.h"
#include "job/train.h"
#include "lab/spec.h"
#include "launch/supervise.h"
#include "record/attempt_number.h"
#include "record/ledger.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The state of a launch, from its recordings. */
struct launch_state {
    size_t missing; /* groups */
    size_t fails;   /* fail lines of cells */
    int next_attempt;
};

static int read_state(const struct run_at *r, int launch, struct launch_state *s)
{
    AUTO(ledger_free_of) struct ledger *l = NULL;
    int code = ledger_read(&l, r->dir);
    if (code)
        return code;
    *s = (struct launch_state){.missing = ledger_missing(l, r->plan, launch, NULL),
                               .next_attempt = ledger_next_attempt(l, launch)};
    for (size_t i = 0; i < l->n_fails; i++)
        s->fails += l->fails[i].launch == launch && *l->fails[i].cell;
    return GS_OK;
}

static void say_death(const struct run_at *r, const struct attempt *a)
{
    const struct cell *c = cell_find(r->plan, a->cell);
    char name[256] = "before the first cell";
    if (c)
        cell_name(r->plan, c, name, sizeof name);
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

static int train(const struct run_at *r, struct attempt *a)
{
    bool complete;
    int code = train_launch(r->plan, r->dir, r->interrupts, a->launch, a->attempt, &complete);
    a->end = complete ? ATTEMPT_COMPLETE : ATTEMPT_INTERRUPTED;
    return code;
}

/* One attempt. GS_OK: read the ledger for its result; otherwise the run ends with this code. */
static int try_launch(const struct run_at *r, const struct launch_state *s, struct attempt *a)
{
    int code = attempt_number_take(r->dir, a->launch, &a->attempt);
    if (code)
        return code;
    if (plan_is_train(r->plan)) {
        code = train(r, a);
    } else {
        progress_launch(r->progress, a->launch, a->attempt, r->plan->n_groups - s->missing);
        code = supervise(r->plan, r->dir, r->interrupts, r->progress, a);
    }
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

/* The loop ends: each attempt completes a group or adds a failure to a cell, and the failures of a
 * cell are limited. Attempts that do neither are counted. A start after one that succeeded may take
 * `deadline` longer: where the network between the hosts is gone, MPI would wait for minutes. */
int run_launch(struct run_at *r, int launch)
{
    struct launch_state now, before = {0};
    struct attempt a = {.launch = launch};
    int64_t vain = 0;
    for (;;) {
        int code = read_state(r, launch, &now);
        if (code || !now.missing)
            return code;
        if (a.attempt)
            vain = now.missing == before.missing && now.fails == before.fails ? vain + 1 : 0;
        if (vain > r->plan->set.measure.retries)
            return fail(GS_FAILED,
                        "%s: launch %d: stopped after %lld attempt%s that measured "
                        "nothing%s%s",
                        r->plan->section, launch, (long long)vain, vain == 1 ? "" : "s",
                        *a.why ? "; last reason: " : "", a.why);
        interrupts_read(r->interrupts);
        if (r->interrupts->count)
            return GS_FAILED;
        before = now;
        a = (struct attempt){
            .launch = launch,
            .attempt = now.next_attempt > a.attempt ? now.next_attempt : a.attempt + 1,
            .start_by_s = r->start_s > 0 ? r->start_s + r->plan->set.measure.deadline : 0};
        code = try_launch(r, &now, &a);
        r->start_s = fmax(r->start_s, a.started_s);
        if (code)
            return code;
    }
}
