/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of a ring and, for strategy=auto, the strategy: by the round trips and the rates between
 * ranks that were measured when the link was opened.
 */
#include "common/wan_plan.h"
#include "wan_sync/transport/probe.h"
#include "wan_sync/transport/tcp.h"
#include "wan_sync/wan_sync.h"

#include <stdlib.h>

struct measured {
    int n;
    double *rtt_s, *rate_Bps; /* [n * n] by member */
    struct wan_matrix matrix;
};

static void forget(struct measured *m)
{
    free(m->rtt_s);
    free(m->rate_Bps);
}

/* Of n ranks. Rates count only if every pair of them has one. False: see lines.why. */
static bool look(struct prepared *p, const int *rank_of, int n, bool rates, struct measured *m)
{
    struct self *s = p->self;
    int ranks = s->host->ranks;
    *m = (struct measured){.n = n};
    if (!lines_measure_rtt(&s->lines, p->line) ||
        (rates && !lines_measure_pairs(&s->lines, p->line)))
        return false;
    m->rtt_s = calloc((size_t)n * (size_t)n, sizeof *m->rtt_s);
    m->rate_Bps = calloc((size_t)n * (size_t)n, sizeof *m->rate_Bps);
    if (!m->rtt_s || !m->rate_Bps) {
        forget(m);
        return false;
    }
    for (int i = 0; i < n * n; i++) {
        int at = rank_of[i / n] * ranks + rank_of[i % n];
        m->rtt_s[i] = p->line->rtt_s[at];
        m->rate_Bps[i] = rates ? p->line->pair_Bps[at] : 0;
        rates = rates && (i / n == i % n || m->rate_Bps[i] > 0);
    }
    m->matrix = (struct wan_matrix){
        .n = (size_t)n, .rate_Bps = rates ? m->rate_Bps : NULL, .rtt_s = m->rtt_s};
    return true;
}

static double bytes_of(const struct prepared *p)
{
    return (double)wire_bytes((enum wire)p->cell.wire, cell_count(&p->cell));
}

/* The same on every rank. */
static struct wan_carrier carrier_of(const struct prepared *p)
{
    bool bbr;
    double x[2] = {link_tcp_segment(p->line->link, &bbr), 0};
    x[1] = bbr;
    MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_DOUBLE, MPI_MIN, p->self->comm);
    return wan_carrier_make((double)p->cell.block, (double)p->cell.streams, x[0], x[1] > 0, 0);
}

bool wan_order_ring(struct prepared *p)
{
    struct self *s = p->self;
    struct measured m;
    int strategy = p->cell.strategy - CELL_FIRST, n = wan_members(p), at[PROBE_RANKS_MOST];
    int of[PROBE_RANKS_MOST];
    bool ring = strategy == WAN_RING || strategy == WAN_HIERARCHICAL;
    bool by_rate = p->cell.order == ORDER_RATE;
    if (!ring || p->cell.order == ORDER_SITES || n < (by_rate ? 3 : 4) ||
        s->host->ranks > PROBE_RANKS_MOST)
        return true;
    if (!look(p, p->rank_of, n, by_rate, &m))
        return false;
    for (int i = 0; i < n; i++)
        at[i] = i, of[i] = p->rank_of[i];
    wan_ring_order(&m.matrix, by_rate ? bytes_of(p) : 0, at);
    for (int i = 0; i < n; i++)
        p->rank_of[i] = of[at[i]];
    forget(&m);
    wan_note_ranks(s, "ring", p->rank_of, n);
    return true;
}

/* Sites with several ranks sum inside first; between single ranks the fastest strategy is taken,
 * with the best ring in its place. */
bool wan_choose(struct prepared *p)
{
    struct self *s = p->self;
    struct cell *c = &p->cell;
    struct measured m;
    int order[PROBE_RANKS_MOST];
    if (c->strategy != CELL_AUTO)
        return true;
    enum wan_strategy chosen = p->sites.largest > 1 ? WAN_HIERARCHICAL : WAN_RING;
    if (chosen == WAN_RING && p->sites.ranks <= PROBE_RANKS_MOST) {
        if (!look(p, p->sites.in_order, p->sites.ranks, true, &m))
            return false;
        for (int i = 0; i < m.n; i++)
            order[i] = i;
        wan_ring_order(&m.matrix, bytes_of(p), order);
        struct wan_carrier carrier = carrier_of(p);
        m.matrix.carrier = &carrier;
        chosen = wan_fastest(&m.matrix, bytes_of(p), order, NULL);
        forget(&m);
    }
    c->strategy = CELL_FIRST + (int)chosen;
    c->order = ORDER_RATE;
    s->host->note(s->host->ctx, "strategy", wan_strategy_names[chosen]);
    return true;
}
