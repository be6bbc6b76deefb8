/* SPDX-License-Identifier: Apache-2.0
 *
 * A sample with on_loss=continue: the training steps and their synchronisation among the ranks that
 * are present (present.h). When the set changes before the sum counts, the exchange is repeated from
 * the gradient, among the others. At the end all ranks meet over MPI, which must not cross the network
 * that may be cut: the lost ones too, and they learn there what the others did.
 */
#include "common/clock.h"
#include "wan_sync/wan_sync.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POLL_S 0.002

/* What a rank tells at the end; the maximum over ranks is taken. */
enum { E_SET, E_FAILED, E_BITS, E_NOT_BITS, E_TIME_NS };
_Static_assert(E_TIME_NS + 1 == PRESENT_WORDS, "the words of struct self");

static bool make_sync_among(struct prepared *p, rank_set set)
{
    if (p->sync)
        sync_close(p->sync);
    p->sync = NULL;
    p->present = set;
    if (!p->among && !(p->among = calloc((size_t)p->self->host->ranks, sizeof *p->among)))
        return false;
    for (int m = 0, n = 0; m < wan_members(p); m++)
        if (set >> p->rank_of[m] & 1)
            p->among[n++] = p->rank_of[m];
    bool good = wan_make_sync(p);
    if (good)
        sync_totals(p->sync);
    return good;
}

/* The steps were computed already: only the exchange is repeated. */
static bool exchange_again(struct prepared *p)
{
    sync_post(p->sync, 0);
    return sync_wait(p->sync, 0) && sync_drain(p->sync);
}

/* Returns the ranks of the sum that this rank has; 0: none. Times count until the sum does. */
static rank_set sum_among_present(struct prepared *p, struct train_times *times, const char **why)
{
    struct wan_link *link = p->line->link;
    uint64_t view;
    rank_set set;
    for (bool again = false; (set = present_set(link, &view)); again = true) {
        if (!make_sync_among(p, set)) {
            *why = "out of memory";
            present_leave(link);
            return 0;
        }
        engine_begin_at(p->line->engine, view);
        wan_fill(p);
        struct train train = wan_train(p);
        if ((again ? exchange_again(p) : train_run(&train, times)) &&
            present_commit(link) == PRESENT_USED) {
            times->end_ns = now_ns();
            times->all_s = (double)(times->end_ns - times->start_ns) * 1e-9;
            return set;
        }
        if (present_broken(link))
            break;
    }
    *why = present_broken(link) ? link->why : NULL;
    return 0;
}

/* All ranks end the sample together; meanwhile this one answers the others. */
static bool meet(struct prepared *p)
{
    struct self *s = p->self;
    MPI_Request request;
    int done = 0;
    /* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */
    bool good = MPI_Iallreduce(s->ended, s->all_ended, PRESENT_WORDS, MPI_UINT64_T, MPI_MAX,
                               s->comm, &request) == MPI_SUCCESS;
    while (good && !done) {
        good = MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        if (!present_poll(p->line->link, POLL_S) && atomic_load(&s->lines.aborted))
            good = false;
    }
    /* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */
    return good;
}

static void name_absent(const struct prepared *p, rank_set set, char *text, size_t size)
{
    int ranks = p->self->host->ranks, at;
    at = snprintf(text, size, "%d of %d ranks", ranks_in(set), ranks);
    for (int r = 0, n = 0; r < ranks && at < (int)size - 1; r++)
        if (!(set >> r & 1))
            at += snprintf(text + at, size - (size_t)at, "%s rank %d (%s)", n++ ? "," : ", without",
                           r, p->sites.host[r]);
}

/* A sum without all ranks is another measurement: it is noted, and its block left out. */
static void note_present(struct prepared *p, rank_set set, double time_s)
{
    const struct wl_host *h = p->self->host;
    char text[320] = "", line[400];
    bool all = ranks_in(set) == h->ranks;
    name_absent(p, set, text, sizeof text);
    snprintf(line, sizeof line, "%s: %.4g s", text, time_s);
    if (!all || p->noted != set)
        h->note(h->ctx, "present", line);
    p->noted = set;
    if (!all && h->apart)
        h->apart(h->ctx, line);
}

/* The sum that is checked is that of the ranks that are in it. */
static bool choose_pattern(struct prepared *p, rank_set set)
{
    struct self *s = p->self;
    struct pattern *all = &s->patterns[p->cell.pattern];
    if (!p->fewer && !(p->fewer = calloc(1, sizeof *p->fewer)))
        return false;
    bool whole = ranks_in(set) == s->host->ranks;
    if (!whole)
        pattern_init_among(p->fewer, (enum pattern_kind)p->cell.pattern, s->host->rank,
                           s->host->ranks, set);
    p->pattern = whole ? all : p->fewer;
    return true;
}

/* A rank that has no sum reports the others' time. */
static void report_absent(struct prepared *p, const struct train_times *t, struct wl_sample *out)
{
    for (int m = 0; m < WL_METRICS_MAX; m++)
        out->values[m] = 0;
    out->values[0] = (double)p->self->all_ended[E_TIME_NS] * 1e-9;
    out->start_ns = t->start_ns;
    out->end_ns = t->start_ns + p->self->all_ended[E_TIME_NS];
    p->verdict = WL_OK;
}

static enum wl_status judge_all(struct prepared *p, const char *why)
{
    struct self *s = p->self;
    const uint64_t *all = s->all_ended;
    if (why || all[E_FAILED]) {
        p->line->broken = why != NULL;
        return wan_failed(s, why ? why : "another rank failed in a synchronisation");
    }
    if (!all[E_SET]) {
        snprintf(p->why, sizeof p->why,
                 "no sum: a majority of the %d ranks that all reach each other is needed; the "
                 "network between the others is cut, or they are stopped",
                 s->host->ranks);
        return wan_failed(s, p->why);
    }
    if (all[E_BITS] == ~all[E_NOT_BITS])
        return WL_OK;
    return wan_failed(s, "the ranks that are present ended with different bits");
}

enum wl_status wan_sample_present(struct prepared *p, struct wl_sample *out)
{
    struct self *s = p->self;
    struct train_times times = {0};
    const char *why = NULL;
    p->samples++;
    s->host->start(s->host->ctx);
    times.start_ns = now_ns();
    present_turn(p->line->link);
    rank_set set = sum_among_present(p, &times, &why);
    if (set && !choose_pattern(p, set))
        why = "out of memory";
    if (set && !why)
        wan_report(p, &times, out);
    s->ended[E_SET] = set;
    s->ended[E_FAILED] = why != NULL;
    s->ended[E_BITS] = set ? p->bits : 0;
    s->ended[E_NOT_BITS] = set ? ~p->bits : 0;
    s->ended[E_TIME_NS] = set ? times.end_ns - times.start_ns : 0;
    if (!meet(p))
        return wan_failed(s, "stopped past the deadline");
    p->pattern = &s->patterns[p->cell.pattern];
    enum wl_status status = judge_all(p, why);
    if (status != WL_OK)
        return status;
    if (!set)
        report_absent(p, &times, out);
    note_present(p, s->all_ended[E_SET], (double)s->all_ended[E_TIME_NS] * 1e-9);
    return WL_OK;
}
