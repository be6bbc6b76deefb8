/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/group.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "plan/order.h"
#include "rank/grouping.h"
#include "rank/stopping.h"

#include <stdio.h>
#include <stdlib.h>

/* Limit of warm-up rounds, for a plugin that reports samples of no duration. */
enum { ROUNDS_MAX = 10000 };
/* Late blocks in a row: the machine is too small for the lab, not just busy for a moment. */
enum { LATE_MOST = 8 };

static enum course visit_slot(struct grouping *g, struct slot *s, const char *phase, size_t discard,
                              size_t n)
{
    enum call_result mine;
    beat_cell(g->session->beat, s->cell, s->copy);
    host_api_at(&g->session->api, s->cell->id, s->copy);
    session_step(g->session, phase);
    if (visit(g->visit, g->session, s, discard, n, &mine) == FINE)
        return GO_ON;
    return grouping_lose(g, s, phase, mine, "failed");
}

/* The copies of a cell get the same number of iterations, because they are compared. */
static bool settle_iterations(struct grouping *g, struct slot *s)
{
    const struct wl_shape *shape = &s->cell->shape;
    unsigned iters = clock_iterations(s->iters, s->visited.time_ns[0], g->session->sample_ns,
                                      shape->iters_min, shape->iters_max);
    bool settled = iters == s->iters;
    for (size_t i = 0; i < g->n; i++)
        if (g->slots[i].cell == s->cell && g->slots[i].iters < iters)
            g->slots[i].iters = iters;
    return settled;
}

/* No warm-up is wanted, and its number of iterations is fixed. */
static bool needs_none(const struct slot *s, const struct set_measure *set)
{
    const struct wl_shape *shape = &s->cell->shape;
    return set->warmup_ops == 0 && set->warmup <= 0 && shape->iters_max > 0 &&
           shape->iters_min == shape->iters_max;
}

/* Takes one sample of each cell per round, until all ran often and long enough and no sample is too
 * short for the clock. It adds up the sample times, which are the same on every rank. */
static enum course warm_up(struct grouping *g)
{
    const struct set_measure *set = &g->session->plan->set.measure;
    enum course course = GO_ON;
    double spent_s = 0;
    bool warm = false;
    for (int round = 0; !warm && course == GO_ON && round < ROUNDS_MAX; round++) {
        warm = true;
        for (size_t i = 0; i < g->n && course == GO_ON; i++) {
            struct slot *s = &g->slots[i];
            if (!s->live || needs_none(s, set))
                continue;
            course = visit_slot(g, s, "warmup", 0, 1);
            if (course != GO_ON || !s->live)
                continue;
            spent_s += (double)s->visited.time_ns[0] * 1e-9;
            warm = settle_iterations(g, s) && s->operations >= (uint64_t)set->warmup_ops && warm;
        }
        warm = warm && (spent_s >= set->warmup || !grouping_living(g));
        if (course == GO_ON)
            course =
                (enum course)team_max(&g->session->team, g->session->beat->stop ? STOP : GO_ON);
    }
    return course;
}

/* Verifies every live slot on every rank. A wrong cell is dropped before its block is recorded. */
static enum course verify(struct grouping *g)
{
    struct session *r = g->session;
    enum course course = GO_ON;
    AUTO_FREE enum call_result *mine = xcalloc(g->n, sizeof *mine);
    AUTO_FREE int *worst = xcalloc(g->n, sizeof *worst),
                  *culprits = xcalloc(g->n, sizeof *culprits);
    for (size_t i = 0; i < g->n && r->plan->set.measure.verify; i++) {
        struct slot *s = &g->slots[i];
        if (!s->live)
            continue;
        beat_cell(r->beat, s->cell, s->copy);
        host_api_at(&r->api, s->cell->id, s->copy);
        session_step(r, "verify");
        mine[i] = session_result(r, r->wl->verify(s->prepared));
        if (mine[i] != FINE)
            snprintf(s->why, sizeof s->why, "%s",
                     *r->api.why ? r->api.why : "verify() failed without a reason");
        worst[i] = mine[i];
    }
    session_own_step(r, "verify");
    team_worst(&r->team, worst, culprits, g->n);
    for (size_t i = 0; i < g->n && course == GO_ON; i++)
        if (worst[i] != FINE && g->slots[i].live)
            course = grouping_lose(g, &g->slots[i], "verify", mine[i], "wrong");
    return course;
}

static enum course visit_all(struct grouping *g)
{
    struct session *r = g->session;
    const struct set_measure *set = &r->plan->set.measure;
    enum course course = GO_ON;
    order_visits(g->order, g->n, r->plan->seed, r->launch, g->index, g->block);
    for (size_t i = 0; i < g->n && course == GO_ON; i++) {
        struct slot *s = &g->slots[g->order[i]];
        size_t discard = s->cell->shape.settled ? 0 : (size_t)set->discard;
        if (s->live)
            course = visit_slot(g, s, "sample", discard, (size_t)set->samples);
    }
    return course;
}

/* Writes the block lines in visit order. */
static void record(struct grouping *g, json_t *before, json_t *after)
{
    struct session *r = g->session;
    for (size_t i = 0; i < g->n; i++) {
        struct slot *s = &g->slots[g->order[i]];
        if (!s->live)
            continue;
        s->medians[s->blocks++] = s->visited.metrics[0];
        report_block(&r->report, r->plan, g->group, s, g->block);
    }
    report_health(&r->report, g->group, g->block, before, after);
    report_sync(&r->report);
}

static void note_late(struct grouping *g, const struct lateness *before)
{
    struct session *r = g->session;
    AUTO_FREE char *text = lateness_text(&r->lateness, before), *note = NULL;
    note = xstrfmt("block %d left out: %s", g->block, text);
    report_note(&r->report, "", 0, "lab", note);
    if (g->late == LATE_MOST && !r->report.code)
        r->report.code =
            fail(GS_FAILED,
                 "the emulated network delivered packets late in %d blocks in a row: %s; free this "
                 "machine's processors or lower rate in [links], then resume",
                 LATE_MOST, text);
}

/* A block with a late emulated network measured this machine, so it is discarded and repeated; cells
 * that failed in it stay failed. The relay decides from its own times, not from the samples. */
static bool lab_was_late(struct grouping *g)
{
    struct session *r = g->session;
    struct lateness before = r->lateness;
    bool late = false;
    if (!r->report.code)
        r->report.code = lateness_judge(&r->lateness, &late);
    g->late = team_max(&r->team, late) ? g->late + 1 : 0;
    if (late)
        note_late(g, &before);
    return g->late > 0;
}

static enum course block(struct grouping *g)
{
    struct session *r = g->session;
    atomic_store(&r->beat->block, (uint32_t)++g->block);
    session_own_step(r, "block");
    team_align_clocks(&r->team);
    json_t *before = health_read(&r->health, &r->team);
    if (!r->report.code)
        r->report.code = lateness_mark(&r->lateness);
    team_meet(&r->team); /* rank 0 had more to do: all start the block together */
    enum course course = visit_all(g);
    if (course == GO_ON)
        course = verify(g);
    if (course == HUNG) {
        json_decref(before);
        return course;
    }
    session_own_step(r, "record");
    bool left_out = lab_was_late(g);
    json_t *after = health_read(&r->health, &r->team);
    if (!left_out) {
        record(g, before, after);
        return course;
    }
    g->block--;
    json_decref(before);
    json_decref(after);
    return course;
}

/* Rank 0 decides by its clock, statistics and recording; any rank may have been told to stop. */
static enum course agree(struct grouping *g, bool *enough)
{
    struct session *r = g->session;
    stopping_judge(&r->plan->set.measure, g->slots, g->n);
    double spent_s = (double)(clock_now_ns() - g->began_ns) * 1e-9;
    int answers[] = {r->report.code  ? BROKEN
                     : r->beat->stop ? STOP
                                     : GO_ON,
                     r->team.rank == 0 &&
                         stopping_enough(&r->plan->set.measure, g->slots, g->n, g->block, spent_s)};
    int ranks[2];
    team_worst(&r->team, answers, ranks, 2);
    *enough = answers[1];
    atomic_store(&r->beat->half_width_ppm, (uint64_t)(stopping_half_width(g->slots, g->n) * 1e6));
    return (enum course)answers[0];
}

static void note_lab(struct session *r, const struct lateness *before)
{
    AUTO_FREE char *text = lateness_text(&r->lateness, before);
    if (text)
        report_note(&r->report, "", 0, "lab", text);
}

enum course group_measure(struct session *r, struct visit *v, size_t index)
{
    struct grouping g;
    bool enough = false;
    struct lateness before = r->lateness;
    grouping_begin(&g, r, v, index);
    enum course course = grouping_prepare(&g);
    if (course == GO_ON)
        course = warm_up(&g);
    while (course == GO_ON && !enough) {
        course = grouping_living(&g) ? block(&g) : GO_ON;
        if (course == GO_ON)
            course = agree(&g, &enough);
    }
    if (enough && course <= STOP) {
        note_lab(r, &before);
        report_group(&r->report, g.group, g.slots, g.n, g.block);
        report_sync(&r->report);
    }
    if (course != HUNG)
        grouping_release(&g);
    grouping_end(&g);
    return course;
}
