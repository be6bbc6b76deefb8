/* SPDX-License-Identifier: Apache-2.0 */
#include "common/wan_plan.h"

#include <math.h>
#include <string.h>

#define GAIN 0.95
#define SITES_MOST 64

static double rate_of(const struct wan_matrix *m, size_t from, size_t to)
{
    return m->rate_Bps ? m->rate_Bps[from * m->n + to] : 1e9;
}

static double ring_s(const struct wan_matrix *m, double bytes, const int *order,
                     const struct wan_carrier *carrier)
{
    double up[SITES_MOST], down[SITES_MOST], hop[SITES_MOST], farthest_s = 0;
    for (size_t i = 0; i < m->n; i++) {
        size_t from = (size_t)order[i], to = (size_t)order[(i + 1) % m->n];
        up[i] = rate_of(m, from, to);
        down[i] = INFINITY;
        hop[i] = m->rtt_s[from * m->n + to] / 2;
        farthest_s = fmax(farthest_s, hop[i]);
    }
    struct wan_net net = {.n = m->n,
                          .up_Bps = up,
                          .down_Bps = down,
                          .hop_s = hop,
                          .farthest_s = farthest_s,
                          .carrier = carrier};
    return wan_sync_s(WAN_RING, &net, bytes);
}

struct search {
    const struct wan_matrix *m;
    double bytes, least_s;
    int *best, now[SITES_MOST];
};

static void swap(int *order, size_t a, size_t b)
{
    int x = order[a];
    order[a] = order[b];
    order[b] = x;
}

static void judge(struct search *s)
{
    double t = ring_s(s->m, s->bytes, s->now, NULL);
    if (t >= s->least_s)
        return;
    s->least_s = t;
    memcpy(s->best, s->now, s->m->n * sizeof *s->best);
}

/* Every order of the places from `at` on. */
static void try_all(struct search *s, size_t at)
{
    if (at == s->m->n)
        judge(s);
    for (size_t i = at; i < s->m->n; i++) {
        swap(s->now, at, i);
        try_all(s, at + 1);
        swap(s->now, at, i);
    }
}

/* Swaps of two places, as long as one helps. */
static void try_swaps(struct search *s)
{
    for (double before = INFINITY; s->least_s < before;) {
        before = s->least_s;
        for (size_t a = 1; a < s->m->n; a++)
            for (size_t b = a + 1; b < s->m->n; b++) {
                memcpy(s->now, s->best, s->m->n * sizeof *s->now);
                swap(s->now, a, b);
                judge(s);
            }
    }
}

double wan_ring_order(const struct wan_matrix *m, double bytes, int *order)
{
    struct search s = {.m = m, .bytes = bytes, .best = order};
    if (m->n > SITES_MOST)
        return INFINITY;
    double given_s = ring_s(m, bytes, order, NULL);
    if (m->n < 4 && m->n != 3)
        return given_s;
    s.least_s = GAIN * given_s;
    memcpy(s.now, order, m->n * sizeof *order);
    if (m->n <= WAN_ORDER_ALL)
        try_all(&s, 1);
    else
        try_swaps(&s);
    return ring_s(m, bytes, order, NULL);
}

/* All links of a site in use at once share its end; the slowest paces. In rounds one is. */
static double mesh_s(const struct wan_matrix *m, enum wan_strategy strategy, double bytes)
{
    double up[SITES_MOST], down[SITES_MOST] = {0}, end[SITES_MOST], farthest_s = 0;
    double links = strategy == WAN_DIRECT || strategy == WAN_ONESHOT ? (double)(m->n - 1) : 1;
    for (size_t i = 0; i < m->n; i++) {
        double least = INFINITY, most = 0;
        for (size_t k = 0; k < m->n; k++) {
            if (k == i)
                continue;
            least = fmin(least, rate_of(m, i, k));
            most = fmax(most, rate_of(m, i, k));
            down[k] = fmax(down[k], rate_of(m, i, k));
            farthest_s = fmax(farthest_s, m->rtt_s[i * m->n + k] / 2);
        }
        up[i] = fmin(most, links * least);
        end[i] = most;
    }
    for (size_t i = 0; i < m->n; i++)
        end[i] = fmin(end[i], down[i]);
    struct wan_net net = {.n = m->n,
                          .up_Bps = up,
                          .down_Bps = down,
                          .farthest_s = farthest_s,
                          .carrier = m->carrier,
                          .pair_Bps = m->rate_Bps,
                          .end_Bps = end};
    return wan_sync_s(strategy, &net, bytes);
}

enum wan_strategy wan_fastest(const struct wan_matrix *m, double bytes, const int *order,
                              double *seconds)
{
    enum wan_strategy best = WAN_RING;
    double least_s = INFINITY;
    for (int s = 0; s < WAN_STRATEGIES && m->n <= SITES_MOST; s++) {
        double t = s == WAN_HIERARCHICAL ? INFINITY
                   : s == WAN_RING       ? ring_s(m, bytes, order, m->carrier)
                                         : mesh_s(m, (enum wan_strategy)s, bytes);
        if (seconds)
            seconds[s] = t;
        if (t < least_s * (1 - 1e-9)) {
            least_s = t;
            best = (enum wan_strategy)s;
        }
    }
    return best;
}
