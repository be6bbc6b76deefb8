/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/probe.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "lab/site.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGMAS 4          /* of what chance loses */
#define AS_MUCH 1e-6      /* but for rounding */
#define LEAD_NS 50000000u /* to start a process in each site */

/* ---- measuring ---- */

static pid_t start_site(const struct probe_plan *plan, const struct lab_spec *s, size_t i,
                        pid_t holder, struct probe_seen *seen)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    int code = site_enter(s->sites[i].name, holder);
    if (!code)
        code = probe_site_play(plan, s, i, seen);
    _exit(code);
}

static int play(const struct probe_plan *plan, const struct lab_spec *s, const pid_t *holders,
                struct probe_seen *seen)
{
    pid_t players[LAB_SITES_MAX];
    int code = GS_OK, status;
    for (size_t i = 0; i < s->n; i++)
        players[i] = start_site(plan, s, i, holders[i], seen);
    for (size_t i = 0; i < s->n; i++) {
        if (players[i] < 0)
            code = fail(GS_CANNOT, "lab: probe: %s", strerror(errno));
        else if (waitpid(players[i], &status, 0) < 0 || status)
            code = GS_CANNOT;
    }
    return code;
}

/* What several flows carry together. Of flows at even paces a full queue may take one and drop
 * another for a while, so that they share the time in which any of them arrived. */
static void join(struct probe_seen *all, const struct probe_seen *one)
{
    if (!one->bytes)
        return;
    all->first_ns = all->bytes && all->first_ns < one->first_ns ? all->first_ns : one->first_ns;
    all->last_ns = all->last_ns > one->last_ns ? all->last_ns : one->last_ns;
    all->bytes += one->bytes;
}

/* Between two packets passes the second: of all that came, the very first has no time. */
static double rate_of(const struct probe_seen *s, const struct probe_phase *f)
{
    double bytes = (double)s->bytes - f->datagram_B - PROBE_HEADERS_B;
    return s->last_ns > s->first_ns ? bytes * 1e9 / (double)(s->last_ns - s->first_ns) : 0;
}

/* The flows of one end in one phase. */
struct end {
    struct probe_seen all;
    double flows, loss, burst; /* of the worst flow */
};

static void add_flow(struct end *e, const struct probe_phase *f, const struct lab_spec *s,
                     size_t flow, const struct probe_seen *seen)
{
    if (f->limit_Bps[flow] <= 0)
        return;
    join(&e->all, &seen[flow]);
    e->flows++;
    e->loss = fmax(e->loss, s->ways[flow].loss);
    e->burst = fmax(e->burst, s->ways[flow].burst);
}

/* The measurement that could show most of an end; of several the one that did, for in another the
 * flows' other ends may have been full as well. */
static void keep(struct probe_rate *r, double limit_Bps, const struct end *e,
                 const struct probe_phase *f)
{
    double Bps = rate_of(&e->all, f), dgram_B = f->datagram_B + PROBE_HEADERS_B;
    double packets = limit_Bps * 1e-9 * (double)(f->stop_ns - f->count_ns) / dgram_B;
    bool as_much = limit_Bps > r->limit_Bps * (1 - AS_MUCH),
         more = limit_Bps > r->limit_Bps * (1 + AS_MUCH);
    if (more || (as_much && Bps > r->Bps))
        *r = (struct probe_rate){
            limit_Bps, Bps,
            (SIGMAS * sqrt(e->loss * (2 * e->burst - 1) * packets) + e->flows - 1) / packets};
}

static void take_bulk(struct probe *p, const struct lab_spec *s, const struct probe_phase *f,
                      const struct probe_seen *seen)
{
    for (size_t i = 0; i < s->n; i++) {
        struct end up = {0}, down = {0};
        for (size_t k = 0; k < s->n; k++) {
            add_flow(&up, f, s, i * s->n + k, seen);
            add_flow(&down, f, s, k * s->n + i, seen);
        }
        keep(&p->up[i], probe_plan_up_Bps(f, s, i), &up, f);
        keep(&p->down[i], probe_plan_down_Bps(f, s, i), &down, f);
    }
}

void probe_take(struct probe *p, const struct lab_spec *s, const struct probe_plan *plan,
                const struct probe_seen *seen)
{
    for (size_t f = 0; f < plan->n; f++, seen += s->n * s->n) {
        if (plan->phases[f].kind == PROBE_BULK)
            take_bulk(p, s, &plan->phases[f], seen);
        for (size_t i = 0; i < s->n * s->n; i++) {
            if (plan->phases[f].kind == PROBE_PING && seen[i].rtt_ns)
                p->pairs[i].rtt_s = (double)seen[i].rtt_ns * 1e-9;
            if (plan->phases[f].kind == PROBE_COUNT) {
                p->pairs[i].sent = seen[i].sent;
                p->pairs[i].lost = seen[i].sent - seen[i].got;
            }
        }
    }
}

void probe_make(struct probe *p, size_t sites)
{
    *p = (struct probe){.n = sites};
    p->up = xcalloc(sites, sizeof *p->up);
    p->down = xcalloc(sites, sizeof *p->down);
    p->pairs = xcalloc(sites * sites, sizeof *p->pairs);
    for (size_t i = 0; i < sites * sites; i++)
        p->pairs[i].rtt_s = INFINITY;
}

int probe_run(struct probe *p, const struct lab_spec *s, const pid_t *holders)
{
    AUTO(probe_plan_free) struct probe_plan plan = {0};
    probe_make(p, s->n);
    probe_plan_make(&plan, s, clock_now_ns() + LEAD_NS);
    size_t bytes = plan.n * s->n * s->n * sizeof(struct probe_seen);
    struct probe_seen *seen =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int code = seen == MAP_FAILED ? fail(GS_CANNOT, "lab: probe: %s", strerror(errno))
                                  : play(&plan, s, holders, seen);
    if (!code)
        probe_take(p, s, &plan, seen);
    if (seen != MAP_FAILED)
        munmap(seen, bytes);
    return code;
}

void probe_free(struct probe *p)
{
    free(p->up);
    free(p->down);
    free(p->pairs);
    *p = (struct probe){0};
}
