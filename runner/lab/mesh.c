/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/mesh.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DETOUR 1.5 /* times the delay: half of it later than its neighbours */

static double room_B(const struct lab_spec *s)
{
    double bytes = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct lab_site *site = &s->sites[i];
        bytes += site->up_queue_B + site->down_queue_B + site->up_Bps * lab_max_rtt_s(s);
    }
    for (size_t i = 0; i < s->n * s->n; i++)
        bytes += s->sites[i / s->n].up_Bps * s->ways[i].jitter_s;
    for (size_t i = 0; i < s->n_lines; i++)
        bytes += s->lines[i].queue_B;
    return bytes;
}

int lab_mesh_make(struct lab_mesh *n, const struct lab_spec *spec)
{
    *n = (struct lab_mesh){.spec = spec};
    if (!packets_make(&n->packets, (size_t)spec->mtu_B, room_B(spec)))
        return fail(GS_CANNOT,
                    "lab: no memory for %.3g MB of packets in flight: %s; set a shorter "
                    "queue in [links]",
                    room_B(spec) / 1e6, strerror(errno));
    n->ends = xcalloc(spec->n, sizeof *n->ends);
    n->paths = xcalloc(spec->n * spec->n, sizeof *n->paths);
    n->lines = xcalloc(spec->n_lines + 1, sizeof *n->lines);
    for (size_t i = 0; i < spec->n; i++) {
        const struct lab_site *s = &spec->sites[i];
        shaper_set(&n->ends[i].up, s->up_Bps, s->up_queue_B);
        shaper_set(&n->ends[i].down, s->down_Bps, s->down_queue_B);
    }
    for (size_t i = 0; i < spec->n * spec->n; i++) {
        struct lab_path *p = &n->paths[i];
        p->spec = &spec->ways[i];
        p->delay_ns = p->spec->delay_s * 1e9;
        shaper_set(&p->own, p->spec->rate_Bps, p->spec->queue_B);
        disturb_init(&p->disturb, p->spec, spec->seed, i, spec->n * spec->n);
    }
    for (size_t i = 0; i < spec->n_lines; i++)
        shaper_set(&n->lines[i], spec->lines[i].rate_Bps, spec->lines[i].queue_B);
    return GS_OK;
}

void lab_mesh_free(struct lab_mesh *n)
{
    packets_free(&n->packets);
    free(n->ends);
    free(n->paths);
    free(n->lines);
    *n = (struct lab_mesh){0};
}

static void drop(struct lab_mesh *n, struct packet *one, uint64_t *count)
{
    *count += !one->others;
    packet_put(&n->packets, one);
}

/* Behind the last line that has a rate. A lost packet has taken its time on the lines before. */
static void send_off(struct lab_mesh *n, struct lab_path *p, struct packet *one)
{
    if (!one->others && disturb_loses(&p->disturb)) {
        drop(n, one, &n->counts.losses);
        return;
    }
    bool detours = n->disturbed && !one->others && disturb_detours(&p->disturb);
    if (n->disturbed)
        one->when.last_ns += disturb_jitter_ns(&p->disturb, one->when.last_ns);
    one->when.last_ns += p->delay_ns * (detours ? DETOUR : 1);
    n->counts.detours += detours;
    fifo_add(detours ? &p->detour : &p->way, one);
}

static void enter(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns)
{
    struct lab_path *p = &n->paths[from * n->spec->n + to];
    one->when = (struct passage){.last_ns = now_ns};
    if (n->ends[from].cut || n->ends[to].cut || p->cut)
        drop(n, one, &n->counts.cut_drops);
    else if (!shaper_pass(&n->ends[from].up, one->bytes, &one->when) ||
             !shaper_pass(&p->own, one->bytes, &one->when))
        drop(n, one, &n->counts.queue_drops);
    else if (p->spec->n_lines)
        fifo_add(&p->to_lines, one);
    else
        send_off(n, p, one);
}

/* Only when a site sends: without its packets nobody could tell. What others send until then is on
 * its way before the packet that asks, in the order of time. */
static void enter_others(struct lab_mesh *n, double now_ns)
{
    double at_ns;
    unsigned bytes = (unsigned)n->spec->mtu_B;
    for (size_t i = 0; i < n->spec->n * n->spec->n; i++)
        while (disturb_others(&n->paths[i].disturb, now_ns, bytes, &at_ns)) {
            struct packet *one = packet_get(&n->packets, true);
            if (!one)
                return;
            one->others = true;
            one->bytes = bytes;
            n->counts.others++;
            enter(n, one, i / n->spec->n, i % n->spec->n, at_ns);
        }
}

void lab_mesh_put(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns)
{
    n->counts.packets++;
    n->counts.bytes += one->bytes;
    if (n->disturbed)
        enter_others(n, now_ns);
    enter(n, one, from, to, now_ns);
}

static double due(const struct fifo *f)
{
    return f->first ? f->first->when.last_ns : INFINITY;
}

static struct fifo *first_of(struct lab_path *p)
{
    return due(&p->detour) < due(&p->way) ? &p->detour : &p->way;
}

/* Links meet on a shared line: the packet that comes first goes first. */
static void move_lines(struct lab_mesh *n, double now_ns)
{
    size_t all = n->spec->n * n->spec->n;
    for (;;) {
        struct lab_path *p = NULL;
        double first = now_ns;
        for (size_t i = 0; i < all; i++)
            if (due(&n->paths[i].to_lines) <= first) {
                p = &n->paths[i];
                first = due(&p->to_lines);
            }
        if (!p)
            return;
        struct packet *one = fifo_take(&p->to_lines);
        bool passed = true;
        for (size_t i = 0; passed && i < p->spec->n_lines; i++)
            passed = shaper_pass(&n->lines[p->spec->lines[i]], one->bytes, &one->when);
        if (passed)
            send_off(n, p, one);
        else
            drop(n, one, &n->counts.queue_drops);
    }
}

/* What all others sent to one site meets at its downlink. */
static void move_down(struct lab_mesh *n, size_t to, double now_ns)
{
    struct lab_end *end = &n->ends[to];
    for (;;) {
        struct lab_path *p = NULL;
        double first = now_ns;
        for (size_t from = 0; from < n->spec->n; from++) {
            struct lab_path *way = &n->paths[from * n->spec->n + to];
            if (!way->held && due(first_of(way)) <= first) {
                p = way;
                first = due(first_of(way));
            }
        }
        if (!p)
            return;
        struct packet *one = fifo_take(first_of(p));
        if (end->cut || p->cut)
            drop(n, one, &n->counts.cut_drops);
        else if (!shaper_pass(&end->down, one->bytes, &one->when))
            drop(n, one, &n->counts.queue_drops);
        else
            fifo_add(&end->out, one);
    }
}

void lab_mesh_move(struct lab_mesh *n, double now_ns)
{
    if (n->spec->n_lines)
        move_lines(n, now_ns);
    for (size_t to = 0; to < n->spec->n; to++)
        move_down(n, to, now_ns);
}

double lab_mesh_next(const struct lab_mesh *n, const bool *held)
{
    double next = INFINITY;
    for (size_t i = 0; i < n->spec->n * n->spec->n; i++) {
        struct lab_path *p = &n->paths[i];
        next = fmin(next, due(&p->to_lines));
        if (!p->held)
            next = fmin(next, due(first_of(p)));
    }
    for (size_t i = 0; i < n->spec->n; i++)
        if (!held[i])
            next = fmin(next, due(&n->ends[i].out));
    return next;
}
