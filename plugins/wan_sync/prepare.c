/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/transport/probe.h"
#include "wan_sync/wan_sync.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 4096

/* ---- a cell ---- */

#define NOTE_MAX 512
#define SHARES_GAIN 0.85
#define TAIL_ERROR 0.15 /* of one rounding, relative to the rms: above, a user is warned */

void wan_note_ranks(const struct self *s, const char *key, const int *x, int n)
{
    char text[NOTE_MAX] = "";
    for (int i = 0, at = 0; i < n && at < NOTE_MAX - 16; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%d", i ? " " : "", x[i]);
    s->host->note(s->host->ctx, key, text);
}

static void note_numbers(const struct self *s, const char *key, const double *x, size_t n)
{
    char text[NOTE_MAX] = "";
    size_t at = 0;
    for (size_t i = 0; i < n && at < NOTE_MAX - 32; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.4g", i ? " " : "", x[i]);
    s->host->note(s->host->ctx, key, text);
}

static bool reserve(struct self *s, const struct cell *c)
{
    size_t bytes = ((size_t)c->size + ALIGN - 1) / ALIGN * ALIGN;
    if (c->inside == INSIDE_BY_NCCL || s->bytes >= bytes)
        return true;
    free(s->buffer);
    s->buffer = aligned_alloc(ALIGN, bytes);
    s->bytes = s->buffer ? bytes : 0;
    if (s->buffer)
        memset(s->buffer, 0, bytes);
    return s->buffer;
}

void wan_release(void *prepared)
{
    struct prepared *p = prepared;
    if (p->sync)
        sync_close(p->sync);
    sites_close(&p->sites);
    free(p->rank_of);
    free(p->share);
    free(p->residual);
    free(p->errors);
    free(p);
}

float *wan_data(const struct prepared *p)
{
    return p->gpu ? p->gpu->data : p->self->buffer;
}

int wan_members(const struct prepared *p)
{
    bool leaders = p->cell.strategy == CELL_FIRST + WAN_HIERARCHICAL;
    return leaders ? p->sites.n : p->sites.ranks;
}

static bool has_shares(const struct prepared *p)
{
    return p->cell.strategy == CELL_FIRST + WAN_DIRECT && p->cell.shares == SHARES_LP;
}

static bool name_members(struct prepared *p)
{
    int n = wan_members(p);
    bool leaders = p->cell.strategy == CELL_FIRST + WAN_HIERARCHICAL;
    p->rank_of = calloc((size_t)n, sizeof *p->rank_of);
    if (p->rank_of)
        memcpy(p->rank_of, leaders ? p->sites.leader : p->sites.in_order,
               (size_t)n * sizeof *p->rank_of);
    if (has_shares(p))
        p->share = calloc((size_t)n, sizeof *p->share);
    return p->rank_of && (p->share || !has_shares(p));
}

/* By the linear program of the model: the least time of a direct exchange. Measured rates of equal
 * sites differ, so shares by them stay equal where the program gains less than SHARES_GAIN. */
static void share_by(struct prepared *p, const double *rate, const double *pair, size_t n,
                     bool measured)
{
    double bytes = (double)p->cell.size, least = INFINITY;
    double unequal_s = pair ? wan_shares_of_pairs(rate, pair, n, bytes, p->share)
                            : wan_shares(rate, n, bytes, p->share);
    for (size_t m = 0; m < n; m++)
        least = fmin(least, rate[m] / (double)(n - 1));
    for (size_t i = 0; pair && i < n * n; i++)
        least = fmin(least, i / n != i % n && pair[i] > 0 ? pair[i] : INFINITY);
    double equal_s = 2 / (double)n * bytes / least;
    for (size_t m = 0; m < n && measured && unequal_s > SHARES_GAIN * equal_s; m++)
        p->share[m] = 1 / (double)n;
}

/* The pair of members i and k; rates that were not measured limit nothing. */
static bool take_pairs(struct prepared *p, size_t n, double *pair)
{
    struct self *s = p->self;
    if (!lines_measure_pairs(&s->lines, p->line))
        return false;
    for (size_t i = 0; i < n * n; i++)
        pair[i] = p->line->pair_Bps[(size_t)p->rank_of[i / n] * n + (size_t)p->rank_of[i % n]];
    return true;
}

static bool share_out(struct prepared *p)
{
    struct self *s = p->self;
    size_t n = (size_t)s->host->ranks;
    if (!has_shares(p))
        return true;
    double given[PATTERN_RANKS_MOST], *rate = given;
    double pair[WAN_SHARES_MOST * WAN_SHARES_MOST];
    bool measured = cell_rates(&p->cell, given, PATTERN_RANKS_MOST) == 0;
    bool pairs = measured && n > 2 && n <= WAN_SHARES_MOST;
    if (measured) {
        if (!lines_measure_rate(&s->lines, p->line) || (pairs && !take_pairs(p, n, pair)))
            return false;
        rate = p->line->rate_Bps;
        note_numbers(s, "rates_Bps", rate, n);
    }
    double by_member[PATTERN_RANKS_MOST];
    for (size_t m = 0; m < n; m++)
        by_member[m] = rate[p->rank_of[m]];
    share_by(p, by_member, pairs ? pair : NULL, n, measured);
    note_numbers(s, "shares", p->share, n);
    return true;
}

static struct sync_inside inside_of(const struct prepared *p)
{
    struct sync_inside in = {0};
    if (!p->inside && !p->gpu)
        return in;
    in.gpu = p->gpu;
    in.link = p->inside ? p->inside->link : NULL;
    in.engine = p->inside ? p->inside->engine : NULL;
    in.peer = p->sites.place;
    in.rank_of = sites_inside(&p->sites, p->self->host->rank, &in.members);
    while (in.rank_of[in.me] != p->self->host->rank)
        in.me++;
    return in;
}

/* Anew when a link was mended, or another cell needed a larger buffer. */
bool wan_make_sync(struct prepared *p)
{
    struct self *s = p->self;
    struct wan_link *link = p->line ? p->line->link : NULL;
    struct engine *engine = p->line ? p->line->engine : NULL;
    struct sync_inside inside = inside_of(p);
    if (p->sync && p->parts.link == link && p->parts.engine == engine &&
        p->parts.inside.engine == inside.engine && p->parts.data == wan_data(p))
        return true;
    if (p->sync)
        sync_close(p->sync);
    p->parts = (struct sync_parts){.cell = &p->cell,
                                   .comm = s->comm,
                                   .sites = &p->sites,
                                   .link = link,
                                   .engine = engine,
                                   .data = wan_data(p),
                                   .residual = p->residual,
                                   .members = wan_members(p),
                                   .rank_of = p->rank_of,
                                   .share = p->share,
                                   .rank = s->host->rank,
                                   .inside = inside};
    p->sync = sync_open(&p->parts);
    return p->sync;
}

static bool all_have(const struct self *s, bool good)
{
    int mine = good, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, s->comm);
    if (!all)
        wan_failed(s, good ? "no memory on another rank" : "no memory");
    return all;
}

/* Every rank's own reason, and of those that are well that it is another's. */
static enum wl_status use_gpus(struct prepared *p)
{
    struct self *s = p->self;
    enum wl_status mine = inside_gpu_open(&s->gpu, s->host, p->sites.inside);
    if (mine == WL_OK)
        mine = inside_gpu_reserve(&s->gpu, cell_count(&p->cell));
    int worst = (int)mine;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, s->comm);
    const char *why = mine == WL_OK ? "inside=nccl is not available at another site" : s->gpu.why;
    if (worst != WL_OK && wan_failed(s, why) == WL_LOST)
        worst = WL_LOST;
    p->gpu = &s->gpu;
    return (enum wl_status)worst;
}

size_t wan_errors(const struct cell *c)
{
    return cell_count(c) < WAN_ERRORS_MOST ? cell_count(c) : WAN_ERRORS_MOST;
}

/* The gradient, and what is kept of one synchronisation for the next. */
static bool reserve_gradient(struct prepared *p)
{
    struct self *s = p->self;
    struct pattern *pattern = &s->patterns[p->cell.pattern];
    if (!pattern->ready)
        pattern_init(pattern, (enum pattern_kind)p->cell.pattern, s->host->rank, s->host->ranks);
    p->pattern = pattern;
    p->errors = calloc(wan_errors(&p->cell), sizeof *p->errors);
    if (p->cell.feedback)
        p->residual = calloc(cell_count(&p->cell), sizeof *p->residual);
    return p->errors && (p->residual || !p->cell.feedback);
}

/* A step is the largest number of a group over the levels, and an error is uniform in a step. */
static void warn_of_tail(const struct prepared *p)
{
    double peak = pattern_peak(p->pattern),
           error = 2 * wire_error((enum wire)p->cell.wire) * peak / sqrt(12);
    char text[NOTE_MAX];
    if (p->cell.wire < WIRE_INT8 || p->cell.strategy == CELL_MPI || error < TAIL_ERROR)
        return;
    snprintf(text, sizeof text,
             "wire=%s: the largest of %d numbers is %.1f times their rms, so one rounding loses "
             "%.0f%% of "
             "the rms: use wire=int8%s",
             cell_wires[p->cell.wire], WIRE_GROUP, peak, 100 * error,
             p->cell.feedback ? "" : ", or feedback=yes");
    p->self->host->note(p->self->host->ctx, WL_WARNING, text);
}

static enum wl_status prepare_cell(struct prepared *p)
{
    struct self *s = p->self;
    if (!sites_open(&p->sites, s->host, s->comm, (int)p->cell.site_ranks))
        return wan_failed(s, "no memory, or MPI failed, for the sites");
    if (p->cell.strategy != CELL_MPI &&
        (!(p->line = lines_take(&s->lines, &p->cell)) || !wan_choose(p)))
        return wan_failed(s, s->lines.why);
    if (p->cell.inside == INSIDE_BY_NCCL) {
        enum wl_status status = use_gpus(p);
        if (status != WL_OK)
            return status;
    } else if (p->cell.strategy == CELL_FIRST + WAN_HIERARCHICAL && p->sites.largest > 1 &&
               !(p->inside = lines_take_inside(&s->lines, &p->cell, p->sites.inside)))
        return wan_failed(s, s->lines.why);
    if (!all_have(s, reserve(s, &p->cell) && reserve_gradient(p) && name_members(p)))
        return WL_FAIL;
    if (!wan_order_ring(p) || !share_out(p))
        return wan_failed(s, s->lines.why);
    warn_of_tail(p);
    return all_have(s, wan_make_sync(p)) ? WL_OK : WL_FAIL;
}

void wan_watch(const struct prepared *p)
{
    silence_allow(p->self->silence, p->cell.timeout);
}

enum wl_status wan_prepare(void *self, const void *cell, void **prepared)
{
    struct self *s = self;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return wan_failed(s, "out of memory");
    p->self = s;
    p->cell = *(const struct cell *)cell;
    wan_watch(p);
    p->sites.inside = MPI_COMM_NULL;
    enum wl_status status = prepare_cell(p);
    if (status != WL_OK) {
        wan_release(p);
        return status;
    }
    *prepared = p;
    return WL_OK;
}
