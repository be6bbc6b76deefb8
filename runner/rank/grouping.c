/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/grouping.h"

#include "base/clock.h"
#include "base/text.h"
#include "plan/order.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

static struct slot *add_slot(struct grouping *g, const struct cell *c, int copy)
{
    const struct set_measure *set = &g->session->plan->set.measure;
    struct slot *s = &g->slots[g->n++];
    *s = (struct slot){.cell = c, .copy = copy};
    s->visited.time_ns = xcalloc((size_t)set->samples, sizeof *s->visited.time_ns);
    s->medians = xcalloc((size_t)set->max_blocks, sizeof *s->medians);
    return s;
}

void grouping_begin(struct grouping *g, struct session *r, struct visit *v, size_t index)
{
    *g = (struct grouping){.session = r,
                           .visit = v,
                           .group = &r->plan->groups[index],
                           .index = index,
                           .began_ns = clock_now_ns()};
    g->slots = xcalloc(2 * g->group->n, sizeof *g->slots);
    g->order = xcalloc(2 * g->group->n, sizeof *g->order);
    for (size_t i = g->group->first; i < g->group->first + g->group->n; i++) {
        const struct cell *c = &r->plan->cells[i];
        if (r->given_up[i])
            continue;
        for (int copy = 0; copy < group_copies(r->plan, g->group, c); copy++)
            add_slot(g, c, copy);
    }
    snprintf(r->beat->group, sizeof r->beat->group, "%s", g->group->id);
    atomic_store(&r->beat->block, 0);
    atomic_store(&r->beat->half_width_ppm, 0);
}

void grouping_end(struct grouping *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->slots[i].visited.time_ns);
        free(g->slots[i].visited.each);
        free(g->slots[i].medians);
    }
    free(g->order);
    free(g->slots);
}

size_t grouping_living(const struct grouping *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        n += g->slots[i].live;
    return n;
}

/* ---- what goes wrong ---- */

static void release(struct grouping *g, struct slot *s)
{
    s->live = false;
    if (!s->prepared)
        return;
    session_step(g->session, "release");
    g->session->wl->release(s->prepared);
    session_own_step(g->session, "release");
    s->prepared = NULL;
}

static void drop_cell(struct grouping *g, const struct cell *c)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->slots[i].cell == c) {
            release(g, &g->slots[i]);
            g->slots[i].lost = true;
        }
}

/* After abort() the plugin's state is unreliable, so another attempt continues. The rank that hung
 * reports to its shim. */
static enum course hang(const struct session *r, const struct slot *s, const char *phase,
                        int culprit)
{
    if (r->team.rank == culprit) {
        beat_cell(r->beat, s->cell, s->copy);
        snprintf(r->beat->phase, sizeof r->beat->phase, "%s", phase);
        snprintf(r->beat->error, sizeof r->beat->error,
                 "the plugin did not return within %g s in %s; its abort() ended the call",
                 r->plan->set.measure.deadline, phase);
    }
    return HUNG;
}

enum course grouping_lose(struct grouping *g, struct slot *s, const char *phase,
                          enum call_result mine, const char *kind)
{
    struct session *r = g->session;
    struct {
        char why[sizeof s->why], host[sizeof r->team.host];
    } words;
    int worst = (int)mine, culprit;
    team_worst(&r->team, &worst, &culprit, 1);
    if (worst == HANGING)
        return hang(r, s, phase, culprit);
    snprintf(words.why, sizeof words.why, "%s", s->why);
    snprintf(words.host, sizeof words.host, "%s", r->team.host);
    team_share(&r->team, &words, sizeof words, culprit);
    report_fail(&r->report, s,
                &(struct report_fail){.kind = worst == SKIPPED ? "skip" : kind,
                                      .why = words.why,
                                      .host = words.host,
                                      .phase = phase,
                                      .rank = culprit});
    drop_cell(g, s->cell);
    return GO_ON;
}

void grouping_release(struct grouping *g)
{
    for (size_t i = g->n; i-- > 0;)
        release(g, &g->slots[i]);
    beat_cell(g->session->beat, NULL, 0);
}

/* ---- preparing ---- */

static enum call_result prepare_slot(struct session *r, struct slot *s)
{
    struct wl_job job = {.size = sizeof job,
                         .ranks = r->team.ranks,
                         .nodes = r->team.nodes,
                         .local_ranks = r->team.local_ranks};
    struct wl_shape shape = {.size = sizeof shape};
    char why[sizeof s->why] = "";
    enum call_result result =
        session_result(r, r->wl->describe(s->cell->values, &job, &shape, why, sizeof why));
    if (result == FINE) {
        host_api_at(&r->api, s->cell->id, s->copy);
        session_step(r, "prepare");
        result = session_result(r, r->wl->prepare(r->self, s->cell->values, &s->prepared));
        snprintf(why, sizeof why, "%s", r->api.why);
    }
    if (result == FINE)
        return FINE;
    s->prepared = NULL;
    snprintf(s->why, sizeof s->why, "%s", *why ? why : "prepare() failed without a reason");
    return result == AGAIN ? FAILED : result;
}

enum course grouping_prepare(struct grouping *g)
{
    struct session *r = g->session;
    enum course course = GO_ON;
    order_prepared(g->order, g->n, r->plan->seed, r->launch, g->index);
    for (size_t i = 0; i < g->n && course == GO_ON; i++) {
        struct slot *s = &g->slots[g->order[i]];
        s->prepared_as = i + 1;
        if (s->lost)
            continue;
        beat_cell(r->beat, s->cell, s->copy);
        enum call_result mine = prepare_slot(r, s);
        s->live = team_max(&r->team, mine) == FINE;
        if (!s->live)
            course = grouping_lose(g, s, "prepare", mine, "failed");
        s->iters = clock_iterations(0, 0, 0, s->cell->shape.iters_min, s->cell->shape.iters_max);
    }
    return course;
}
