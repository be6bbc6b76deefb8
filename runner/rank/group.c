/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/group.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/jsontext.h"
#include "base/stats.h"
#include "base/text.h"
#include "plan/plan.h"
#include "rank/stopping.h"
#include "record/raw.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- one visit ---- */

enum { TRIES = 11 };      /* the first, and ten repetitions */
#define TIME_BEYOND 10    /* a sample's time may be so many times as long as end_ns - start_ns */
#define TIME_SLACK_S 1e-3 /* and longer by this */

/* Rows of int64 reduced with MPI_MAX; a minimum is the maximum of negated values. */
enum { TIME, MINUS_TIME, START, MINUS_START, END, INVALID, ROWS };

void visit_begin(struct visit *v, const struct session *r)
{
    size_t cap = (size_t)r->plan->set.measure.samples, metrics = 0;
    while (r->wl->metrics[metrics].name)
        metrics++;
    *v = (struct visit){.cap = cap, .metrics = metrics};
    v->mine = xcalloc(2 * (ROWS * cap + 1), sizeof *v->mine);
    v->all = v->mine + ROWS * cap + 1;
    v->values = xcalloc((3 * metrics + 3) * cap, sizeof *v->values);
    v->reduced = v->values + metrics * cap;
    v->kept = v->reduced + metrics * cap;
    v->skew = v->kept + metrics * cap;
    v->spread = v->skew + cap;
    v->time = v->spread + cap;
}

/* False, with the reason in `why`: a time that cannot be. One that is far longer than the operation is
 * in a wrong unit, or of all iterations. A plugin of one iteration may extrapolate it from a rate. */
static bool time_can_be(const struct slot *s, const struct wl_sample *x, char *why, size_t n)
{
    double one_s = x->values[0], total_s = one_s * s->iters, span_s = INFINITY;
    if (x->end_ns > x->start_ns && s->cell->shape.iters_max != 1)
        span_s = (double)(x->end_ns - x->start_ns) * 1e-9;
    if (!(one_s > 0 && total_s < 1e9))
        snprintf(why, n, "sample() gave a time of %g s", one_s);
    else if (total_s > TIME_BEYOND * span_s + TIME_SLACK_S)
        snprintf(why, n,
                 "sample(): %u iterations of values[0] = %g s last longer than end_ns - start_ns = "
                 "%g s; values[0] is the time of one iteration in seconds",
                 s->iters, one_s, span_s);
    else
        return true;
    return false;
}

/* Takes one sample on this rank and checks its time. */
static enum call_result sample(struct session *r, struct slot *s, struct wl_sample *out)
{
    *out = (struct wl_sample){.size = sizeof *out};
    enum call_result result = session_result(r, r->wl->sample(s->prepared, s->iters, out));
    if (result == FINE && !time_can_be(s, out, r->api.why, sizeof r->api.why))
        result = FAILED;
    return result;
}

static void put(struct visit *v, const struct session *r, const struct slot *s, size_t n, size_t i,
                const struct wl_sample *x)
{
    int64_t time_ns = llround(x->values[0] * s->iters * 1e9);
    int64_t start_ns = (int64_t)x->start_ns + r->team.clock_offset_ns;
    v->mine[TIME * n + i] = time_ns;
    v->mine[MINUS_TIME * n + i] = -time_ns;
    v->mine[START * n + i] = start_ns;
    v->mine[MINUS_START * n + i] = -start_ns;
    v->mine[END * n + i] = (int64_t)x->end_ns + r->team.clock_offset_ns;
    for (size_t m = 1; m < v->metrics; m++)
        v->values[m * n + i] = x->values[m];
}

/* Takes `discard` + n samples. It continues after a failed one, because other ranks may be in an
 * operation that needs this rank. */
static enum call_result take(struct visit *v, struct session *r, struct slot *s, size_t discard,
                             size_t n)
{
    enum call_result worst = FINE;
    r->api.why[0] = r->beat->said[0] = '\0';
    for (size_t i = 0; i < discard + n && worst != HANGING; i++) {
        struct wl_sample x;
        enum call_result result = sample(r, s, &x);
        if (result > worst) {
            snprintf(s->why, sizeof s->why, "%s",
                     *r->api.why ? r->api.why : "sample() failed without a reason");
            snprintf(r->beat->said, sizeof r->beat->said, "%s", s->why);
            worst = result;
        }
        if (i < discard)
            continue;
        v->mine[INVALID * n + i - discard] = result == AGAIN;
        if (result == FINE)
            put(v, r, s, n, i - discard, &x);
    }
    s->operations += (discard + n) * s->iters;
    return worst;
}

/* A rank's mean of the samples of a metric, to rank 0. */
static void gather_each(const struct session *r, struct visited *o, size_t m, const double *row,
                        size_t n)
{
    double mine = stats_mean(row, n);
    if (!o->each)
        o->each = xcalloc((size_t)WL_METRICS_MAX * (size_t)r->team.ranks, sizeof *o->each);
    MPI_Gather(&mine, 1, MPI_DOUBLE, o->each + m * (size_t)r->team.ranks, 1, MPI_DOUBLE, 0,
               r->team.comm);
}

static void reduce(struct visit *v, const struct session *r, struct visited *o, size_t n)
{
    atomic_store(&r->beat->waiting, 1);
    MPI_Allreduce(v->mine, v->all, (int)(ROWS * n + 1), MPI_INT64_T, MPI_MAX, r->team.comm);
    for (size_t m = 1; m < v->metrics; m++) {
        enum wl_across how = r->wl->metrics[m].across;
        MPI_Op op = how == WL_MAX ? MPI_MAX : MPI_SUM;
        double *row = &v->reduced[m * n];
        MPI_Reduce(&v->values[m * n], row, (int)n, MPI_DOUBLE, op, 0, r->team.comm);
        for (size_t i = 0; how >= WL_MEAN && i < n; i++)
            row[i] /= r->team.ranks;
        if (how == WL_EACH)
            gather_each(r, o, m, &v->values[m * n], n);
    }
    atomic_store(&r->beat->waiting, 0);
}

/* Adds the valid ones of n reduced samples. */
static void keep(struct visit *v, struct slot *s, size_t n)
{
    struct visited *o = &s->visited;
    for (size_t i = 0; i < n; i++) {
        if (v->all[INVALID * n + i])
            continue;
        int64_t first_start = -v->all[MINUS_START * n + i], time = v->all[TIME * n + i];
        if (s->cell->shape.span)
            time = v->all[END * n + i] - first_start;
        v->skew[o->n] = (double)(v->all[START * n + i] - first_start);
        v->spread[o->n] = (double)(v->all[TIME * n + i] + v->all[MINUS_TIME * n + i]);
        v->time[o->n] = (double)time;
        o->time_ns[o->n] = time > 0 ? (uint64_t)time : 0;
        for (size_t m = 1; m < v->metrics; m++)
            v->kept[m * v->cap + o->n] = v->reduced[m * n + i];
        o->n++;
    }
}

static void summarise(const struct visit *v, struct slot *s)
{
    struct visited *o = &s->visited;
    o->skew_ns = (uint64_t)stats_median(v->skew, o->n);
    o->spread_ns = (uint64_t)stats_median(v->spread, o->n);
    o->metrics[0] = stats_median(v->time, o->n) * 1e-9 / s->iters;
    for (size_t m = 1; m < v->metrics; m++) {
        const double *x = &v->kept[m * v->cap];
        o->metrics[m] = stats_median(x, o->n);
        for (size_t i = 0; i < o->n; i++) /* one that some rank has not is NaN in every sample */
            if (!isfinite(x[i]))
                o->metrics[m] = NAN;
    }
}

/* Throws `discard` samples away, then fills s->visited with n (at most what [measure] samples
 * says); samples that a rank calls invalid are taken again, up to 10 times. Collective; returns the
 * worst result of the ranks, and in *mine this rank's own. Between two samples this code does not
 * allocate, write, or communicate: all samples are reduced over the ranks together afterwards. */
static enum call_result visit(struct visit *v, struct session *r, struct slot *s, size_t discard,
                              size_t n, enum call_result *mine)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    s->visited.at = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    s->visited.n = 0;
    for (int i = 0; i < TRIES; i++) {
        size_t lacking = n - s->visited.n;
        *mine = take(v, r, s, i ? 0 : discard, lacking);
        v->mine[ROWS * lacking] = *mine;
        reduce(v, r, &s->visited, lacking);
        enum call_result worst = (enum call_result)v->all[ROWS * lacking];
        if (worst > AGAIN)
            return worst;
        keep(v, s, lacking);
        if (s->visited.n == n) {
            summarise(v, s);
            return FINE;
        }
    }
    if (*mine == AGAIN)
        *mine = FAILED;
    return FAILED;
}

/* ---- the cells that are prepared together ---- */

/* The slots of a group during its measurement. */
struct grouping {
    struct session *session;
    struct visit *visit;
    const struct group *group;
    size_t index;
    struct slot *slots;
    size_t n;
    size_t *order; /* slot indices in preparation order, then in the visit order of a block */
    int block;
    uint64_t began_ns;
};

/* Creates two slots for the baseline of a comparison, one for each other cell, and none for a cell
 * that this launch has given up. */
static void grouping_begin(struct grouping *g, struct session *r, struct visit *v, size_t index)
{
    *g = (struct grouping){.session = r,
                           .visit = v,
                           .group = &r->plan->groups[index],
                           .index = index,
                           .began_ns = clock_now_ns()};
    const struct set_measure *set = &r->plan->set.measure;
    g->slots = xcalloc(2 * g->group->n, sizeof *g->slots);
    g->order = xcalloc(2 * g->group->n, sizeof *g->order);
    for (size_t i = g->group->first; i < g->group->first + g->group->n; i++) {
        const struct cell *c = &r->plan->cells[i];
        if (r->given_up[i])
            continue;
        for (int copy = 0; copy < plan_group_copies(r->plan, g->group, c); copy++) {
            struct slot *s = &g->slots[g->n++];
            *s = (struct slot){.cell = c, .copy = copy};
            s->visited.time_ns = xcalloc((size_t)set->samples, sizeof *s->visited.time_ns);
            s->medians = xcalloc((size_t)set->max_blocks, sizeof *s->medians);
        }
    }
}

static void grouping_end(struct grouping *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->slots[i].visited.time_ns);
        free(g->slots[i].visited.each);
        free(g->slots[i].medians);
    }
    free(g->order);
    free(g->slots);
}

static size_t grouping_living(const struct grouping *g)
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

/* The slot's result on this rank is `mine`, and on some rank it is a bad one: records that rank's
 * words as a failure of this kind (a skip is a skip), and drops the cell with all its copies.
 * Collective; GO_ON, or HUNG. */
static enum course grouping_lose(struct grouping *g, struct slot *s, const char *phase,
                                 enum call_result mine, const char *kind)
{
    struct session *r = g->session;
    struct {
        char why[sizeof s->why], host[sizeof r->team.host];
    } words;
    int worst = (int)mine, culprit;
    team_worst(&r->team, &worst, &culprit, 1);
    if (worst == HANGING) {
        /* After abort() the plugin's state is unreliable, so another attempt continues. The rank that hung
         * reports to its shim. */
        if (r->team.rank == culprit) {
            beat_cell(r->beat, s->cell, s->copy);
            snprintf(r->beat->phase, sizeof r->beat->phase, "%s", phase);
            snprintf(r->beat->error, sizeof r->beat->error,
                     "the plugin did not return within %g s in %s; its abort() ended the call",
                     r->plan->set.measure.deadline, phase);
        }
        return HUNG;
    }
    snprintf(words.why, sizeof words.why, "%s", s->why);
    snprintf(words.host, sizeof words.host, "%s", r->team.host);
    team_share(&r->team, &words, sizeof words, culprit);
    record_attempt_line(&r->recording,
                        raw_fail_line(&(struct raw_death){.cell = s->cell->id,
                                                          .kind = worst == SKIPPED ? "skip" : kind,
                                                          .why = words.why,
                                                          .host = words.host,
                                                          .phase = phase,
                                                          .copy = s->copy,
                                                          .rank = culprit}));
    for (size_t i = 0; i < g->n; i++)
        if (g->slots[i].cell == s->cell) {
            release(g, &g->slots[i]);
            g->slots[i].lost = true;
        }
    return GO_ON;
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
        s->prepared = NULL;
        result = session_result(r, r->wl->prepare(r->self, s->cell->values, &s->prepared));
        snprintf(why, sizeof why, "%s", r->api.why);
        if (result == FINE && !s->prepared) {
            result = FAILED;
            snprintf(why, sizeof why, "prepare() returned WL_OK, but did not set *prepared");
        }
    }
    if (result == FINE)
        return FINE;
    s->prepared = NULL;
    snprintf(s->why, sizeof s->why, "%s", *why ? why : "prepare() failed without a reason");
    return result == AGAIN ? FAILED : result;
}

/* Prepares the slots, in another order in each launch. Collective; GO_ON, or HUNG. */
static enum course grouping_prepare(struct grouping *g)
{
    struct session *r = g->session;
    enum course course = GO_ON;
    plan_order_prepared(g->order, g->n, r->plan->seed, r->launch, g->index);
    for (size_t i = 0; i < g->n && course == GO_ON; i++) {
        struct slot *s = &g->slots[g->order[i]];
        s->prepared_as = i + 1;
        if (s->lost)
            continue;
        beat_cell(r->beat, s->cell, s->copy);
        enum call_result mine = prepare_slot(r, s);
        s->live = team_max(&r->team, (int64_t)mine) == FINE;
        if (!s->live)
            course = grouping_lose(g, s, "prepare", mine, "failed");
        s->iters = clock_iterations(0, 0, 0, s->cell->shape.iters_min, s->cell->shape.iters_max);
    }
    return course;
}

/* ---- block after block ---- */

/* Limit of warm-up rounds, for a plugin that reports samples of no duration. */
enum { ROUNDS_MAX = 10000 };

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
            const struct wl_shape *shape = &s->cell->shape;
            bool fixed = shape->iters_max > 0 && shape->iters_min == shape->iters_max;
            if (!s->live || (fixed && set->warmup_ops == 0 && set->warmup <= 0))
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
    plan_order_visits(g->order, g->n, r->plan->seed, r->launch, g->index, g->block);
    for (size_t i = 0; i < g->n && course == GO_ON; i++) {
        struct slot *s = &g->slots[g->order[i]];
        size_t discard = s->cell->shape.settled ? 0 : (size_t)set->discard;
        if (s->live)
            course = visit_slot(g, s, "sample", discard, (size_t)set->samples);
    }
    return course;
}

static json_t *each_rank(const struct wl_metric *metrics, const double *each, int ranks)
{
    json_t *o = json_object();
    for (int m = 1; metrics[m].name; m++) {
        if (metrics[m].across != WL_EACH)
            continue;
        json_t *row = json_array();
        for (int r = 0; r < ranks; r++)
            json_array_append_new(row, json_finite(each[m * ranks + r]));
        json_object_set_new(o, metrics[m].name, row);
    }
    return o;
}

/* Writes the samples of a slot; before its first block also its cell line. */
static void record_samples(struct grouping *g, struct slot *s)
{
    struct session *r = g->session;
    const struct visited *v = &s->visited;
    const struct wl_metric *metrics = r->wl->metrics;
    if (!s->told)
        record_attempt_line(&r->recording, record_cell_line(r->plan, g->group, s->cell, s->copy,
                                                            s->iters, s->prepared_as));
    s->told = true;
    json_t *o = json_pack("{ss ss si si sf sI sI sI}", "type", "block", "cell", s->cell->id, "copy",
                          s->copy, "block", g->block, "at", round(v->at * 1e3) / 1e3, "iters",
                          (json_int_t)s->iters, "skew_ns", (json_int_t)v->skew_ns, "spread_ns",
                          (json_int_t)v->spread_ns);
    json_t *medians = metrics[1].name ? json_object() : NULL;
    for (size_t m = 1; metrics[m].name; m++)
        json_object_set_new(medians, metrics[m].name, json_finite(v->metrics[m]));
    if (medians)
        json_object_set_new(o, "metrics", medians);
    if (v->each)
        json_object_set_new(o, "each", each_rank(metrics, v->each, r->team.ranks));
    record_attempt_block(&r->recording, o, v->time_ns, v->n);
}

/* Writes the block lines in visit order. before, after: owned; NULL on ranks that do not write. */
static void record(struct grouping *g, json_t *before, json_t *after)
{
    struct session *r = g->session;
    for (size_t i = 0; i < g->n; i++) {
        struct slot *s = &g->slots[g->order[i]];
        if (!s->live)
            continue;
        s->medians[s->blocks++] = s->visited.metrics[0];
        if (r->recording.writes)
            record_samples(g, s);
    }
    if (before && after)
        record_attempt_line(&r->recording,
                            json_pack("{ss ss si sO sO}", "type", "health", "group", g->group->id,
                                      "block", g->block, "before", before, "after", after));
    json_decref(before);
    json_decref(after);
    record_attempt_sync(&r->recording);
}

static enum course block(struct grouping *g)
{
    struct session *r = g->session;
    g->block++;
    session_own_step(r, "block");
    team_align_clocks(&r->team);
    json_t *before = health_read(&r->health, &r->team);
    team_meet(&r->team); /* rank 0 had more to do: all start the block together */
    enum course course = visit_all(g);
    if (course == GO_ON)
        course = verify(g);
    if (course == HUNG) {
        json_decref(before);
        return course;
    }
    session_own_step(r, "record");
    record(g, before, health_read(&r->health, &r->team));
    return course;
}

/* Rank 0 decides by its clock, statistics and recording; any rank may have been told to stop. */
static enum course agree(struct grouping *g, bool *enough)
{
    struct session *r = g->session;
    stopping_judge(&r->plan->set.measure, g->slots, g->n);
    double spent_s = (double)(clock_now_ns() - g->began_ns) * 1e-9;
    int answers[] = {r->recording.code ? BROKEN
                     : r->beat->stop   ? STOP
                                       : GO_ON,
                     r->team.rank == 0 &&
                         stopping_enough(&r->plan->set.measure, g->slots, g->n, g->block, spent_s)};
    int ranks[2];
    team_worst(&r->team, answers, ranks, 2);
    *enough = answers[1];
    return (enum course)answers[0];
}

/* Closes the group in the recording. */
static void record_group(const struct grouping *g, const struct lateness *before)
{
    struct session *r = g->session;
    if (!r->recording.code)
        r->recording.code = lateness_mark(&r->lateness);
    bool many;
    AUTO_FREE char *late = lateness_text(&r->lateness, before, &many);
    json_t *cells = json_array();
    if (late)
        record_attempt_line(&r->recording, record_note_line("", 0, "lab", late));
    if (many) {
        host_api_at(&r->api, "", 0);
        r->api.wl.note(&r->api, WL_WARNING,
                       "the emulated network delivered more than 1% of the packets late, which the "
                       "times include; free this machine's processors or lower rate in [links]");
    }
    for (size_t i = 0; i < g->n; i++) {
        const struct slot *s = &g->slots[i];
        if (s->live)
            json_array_append_new(cells, record_closed_cell(s->cell, s->copy, s->blocks,
                                                            s->converged, s->half_width));
    }
    record_attempt_line(&r->recording, record_group_line(g->group, g->block, cells));
    record_attempt_sync(&r->recording);
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
    if (enough && course <= STOP)
        record_group(&g, &before);
    if (course != HUNG) { /* the beat of a rank that hung names its cell */
        for (size_t i = g.n; i-- > 0;)
            release(&g, &g.slots[i]);
        beat_cell(g.session->beat, NULL, 0);
    }
    grouping_end(&g);
    return course;
}
