/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/probe_plan.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#define MS 1000000u
#define PINGS_MS 40
#define PING_EVERY_NS 5e6
#define BULK_MS 400
#define BULK_WARM_MS 100 /* until a queue has formed and the line is never idle */
#define BULK_OVER 1.25   /* sent, of what is let through */
#define SMALL_B 32
#define SMALL_SHARE 0.3 /* of a line, at most: what is lost must not be lost in a queue */
#define SMALL_EVERY_NS 1e5
#define SMALL_MIN 500.0
#define SMALL_MAX 10000.0
#define LOSSES 40.0 /* to be seen in all */
#define MARGIN_MS 30

static struct probe_phase *add_phase(struct probe_plan *p, const struct lab_spec *s,
                                     enum probe_kind kind, double send_ns)
{
    double way_ns = lab_max_rtt_s(s) * 1e9, queue_ns = 0;
    /* What is sent too much has to leave the queues before the next phase. */
    if (kind == PROBE_BULK) {
        send_ns += way_ns / 2;
        queue_ns = (BULK_OVER - 1) * send_ns + 1e9 * (double)s->n * s->mtu_B / lab_slowest_Bps(s);
    }
    struct probe_phase *f = &APPEND(p->phases, p->n);
    *f = (struct probe_phase){.kind = kind, .start_ns = p->end_ns};
    f->count_ns = f->start_ns + (kind == PROBE_BULK ? BULK_WARM_MS * MS + (uint64_t)way_ns / 2 : 0);
    f->stop_ns = f->start_ns + (uint64_t)send_ns;
    f->end_ns = f->stop_ns + (uint64_t)(way_ns + queue_ns) + MARGIN_MS * MS;
    f->datagram_B = kind == PROBE_BULK ? (unsigned)s->mtu_B - PROBE_HEADERS_B : SMALL_B;
    f->interval_ns = xcalloc(s->n * s->n, sizeof *f->interval_ns);
    f->limit_Bps = xcalloc(s->n * s->n, sizeof *f->limit_Bps);
    p->end_ns = f->end_ns;
    return f;
}

static void add_pings(struct probe_plan *p, const struct lab_spec *s)
{
    struct probe_phase *f = add_phase(p, s, PROBE_PING, PINGS_MS * (double)MS);
    for (size_t i = 0; i < s->n * s->n; i++)
        f->interval_ns[i] = i / s->n == i % s->n ? 0 : PING_EVERY_NS;
}

static bool crosses(const struct lab_way *w, size_t line)
{
    for (size_t i = 0; i < w->n_lines; i++)
        if (w->lines[i] == line)
            return true;
    return false;
}

/* What the lines between two ends let through; a shared line in equal parts for the flows of f, or
 * for all pairs. */
static double between_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t flow)
{
    const struct lab_way *w = &s->ways[flow];
    double rate = w->rate_Bps > 0 ? w->rate_Bps : INFINITY;
    for (size_t i = 0; i < w->n_lines; i++) {
        double flows = 0;
        for (size_t k = 0; k < s->n * s->n; k++)
            flows += (!f || f->limit_Bps[k] > 0) && crosses(&s->ways[k], w->lines[i]);
        rate = fmin(rate, s->lines[w->lines[i]].rate_Bps / flows);
    }
    return rate;
}

/* Every site asks all others at once, and answers them. */
double probe_plan_pings_s(const struct lab_spec *s, size_t from, size_t to)
{
    const struct lab_way *w = &s->ways[from * s->n + to];
    double rate = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps);
    double pings = 2 * (double)(s->n - 1);
    if (w->rate_Bps > 0)
        rate = fmin(rate, w->rate_Bps);
    for (size_t i = 0; i < w->n_lines; i++)
        rate = fmin(rate, s->lines[w->lines[i]].rate_Bps);
    return pings * (SMALL_B + PROBE_HEADERS_B) / rate;
}

static void add_count(struct probe_plan *p, const struct lab_spec *s)
{
    double every_ns = SMALL_EVERY_NS, least = 1, number = SMALL_MIN,
           pairs = (double)(s->n * (s->n - 1));
    for (size_t i = 0; i < s->n * s->n; i++) {
        size_t from = i / s->n, to = i % s->n;
        double others = (double)(s->n - 1);
        double ends = fmin(s->sites[from].up_Bps, s->sites[to].down_Bps) / others;
        if (from == to)
            continue;
        every_ns = fmax(every_ns, (SMALL_B + PROBE_HEADERS_B) * 1e9 /
                                      (SMALL_SHARE * fmin(ends, between_Bps(NULL, s, i))));
        if (s->ways[i].loss > 0)
            least = fmin(least, s->ways[i].loss);
    }
    if (least < 1)
        number = fmin(fmax(LOSSES / least / pairs, SMALL_MIN), SMALL_MAX);
    struct probe_phase *f = add_phase(p, s, PROBE_COUNT, number * every_ns);
    for (size_t i = 0; i < s->n * s->n; i++)
        f->interval_ns[i] = i / s->n == i % s->n ? 0 : every_ns;
}

/* ---- rates ---- */

/* Sends along the flows of f, which are those with a limit. */
static void add_rates(struct probe_phase *f, const struct lab_spec *s)
{
    size_t all = s->n * s->n;
    AUTO_FREE double *limit = xcalloc(all, sizeof *limit);
    for (size_t i = 0; i < all; i++)
        if (f->limit_Bps[i] > 0)
            limit[i] = fmin(between_Bps(f, s, i),
                            fmin(s->sites[i / s->n].up_Bps, s->sites[i % s->n].down_Bps));
    /* An end that several flows share carries a part of each. */
    for (size_t i = 0; i < all; i++) {
        const struct lab_site *from = &s->sites[i / s->n], *to = &s->sites[i % s->n];
        double out = 0, in = 0;
        for (size_t k = 0; k < s->n; k++) {
            out += limit[i / s->n * s->n + k];
            in += limit[k * s->n + i % s->n];
        }
        if (limit[i] <= 0)
            continue;
        f->limit_Bps[i] = limit[i] * fmin(1, fmin(from->up_Bps / out, to->down_Bps / in));
        f->interval_ns[i] = (f->datagram_B + PROBE_HEADERS_B) * 1e9 / (BULK_OVER * f->limit_Bps[i]);
    }
}

double probe_plan_wait_ns(const struct probe_phase *f, size_t flow, struct rng *r)
{
    return f->interval_ns[flow] * (f->kind == PROBE_BULK ? 0.5 + rng_uniform(r) : 1);
}

static double arrives(const struct probe_phase *f, const struct lab_spec *s, size_t flow)
{
    return f->limit_Bps[flow] * (1 - s->ways[flow].loss);
}

double probe_plan_up_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i)
{
    double flows = 0, loss = 0;
    for (size_t k = 0; k < s->n; k++) {
        flows += arrives(f, s, i * s->n + k);
        if (f->limit_Bps[i * s->n + k] > 0)
            loss = fmax(loss, s->ways[i * s->n + k].loss);
    }
    return fmin(flows, s->sites[i].up_Bps * (1 - loss));
}

double probe_plan_down_Bps(const struct probe_phase *f, const struct lab_spec *s, size_t i)
{
    double flows = 0;
    for (size_t k = 0; k < s->n; k++)
        flows += arrives(f, s, k * s->n + i);
    return fmin(flows, s->sites[i].down_Bps);
}

static size_t after(const struct lab_spec *s, size_t i)
{
    return i + 1 < s->n ? i + 1 : 0;
}

static size_t before(const struct lab_spec *s, size_t i)
{
    return i ? i - 1 : s->n - 1;
}

/* All at once in a ring. Then, for an end that the ring could not fill, one with all others. */
static void add_bulk(struct probe_plan *p, const struct lab_spec *s)
{
    size_t ring = p->n;
    struct probe_phase *f = add_phase(p, s, PROBE_BULK, BULK_MS * (double)MS);
    for (size_t i = 0; i < s->n; i++)
        f->limit_Bps[i * s->n + after(s, i)] = 1;
    add_rates(f, s);
    for (size_t i = 0; i < 2 * s->n; i++) {
        size_t site = i / 2;
        bool sends = i % 2 == 0;
        size_t flow = sends ? site * s->n + after(s, site) : before(s, site) * s->n + site;
        double end = sends ? s->sites[site].up_Bps : s->sites[site].down_Bps;
        if (s->n < 3 || p->phases[ring].limit_Bps[flow] >= end)
            continue;
        f = add_phase(p, s, PROBE_BULK, BULK_MS * (double)MS);
        for (size_t k = 0; k < s->n; k++)
            if (k != site)
                f->limit_Bps[sends ? site * s->n + k : k * s->n + site] = 1;
        add_rates(f, s);
    }
}

void probe_plan_make(struct probe_plan *p, const struct lab_spec *s, uint64_t start_ns)
{
    *p = (struct probe_plan){.end_ns = start_ns};
    add_pings(p, s);
    add_count(p, s);
    add_bulk(p, s);
}

void probe_plan_free(struct probe_plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->phases[i].interval_ns);
        free(p->phases[i].limit_Bps);
    }
    free(p->phases);
    *p = (struct probe_plan){0};
}
