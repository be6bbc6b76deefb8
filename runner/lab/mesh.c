/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/mesh.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double room_B(const struct lab_spec *s)
{
    double bytes = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct lab_site *site = &s->sites[i];
        bytes += site->up_queue_B + site->down_queue_B + site->up_Bps * lab_max_rtt_s(s);
    }
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
        p->loss = p->spec->loss;
        shaper_set(&p->own, p->spec->rate_Bps, p->spec->queue_B);
        rng_stream(&p->rng, spec->seed, i);
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
    ++*count;
    packet_put(&n->packets, one);
}

/* Behind the last line that has a rate. A lost packet has taken its time on the lines before. */
static void send_off(struct lab_mesh *n, struct lab_path *p, struct packet *one)
{
    if (p->loss > 0 && rng_uniform(&p->rng) < p->loss) {
        drop(n, one, &n->counts.losses);
        return;
    }
    one->when.last_ns += p->delay_ns;
    fifo_add(&p->way, one);
}

void lab_mesh_put(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns)
{
    struct lab_path *p = &n->paths[from * n->spec->n + to];
    one->when = (struct passage){.last_ns = now_ns};
    n->counts.packets++;
    n->counts.bytes += one->bytes;
    if (n->ends[from].cut || n->ends[to].cut)
        drop(n, one, &n->counts.cut_drops);
    else if (!shaper_pass(&n->ends[from].up, one->bytes, &one->when) ||
             !shaper_pass(&p->own, one->bytes, &one->when))
        drop(n, one, &n->counts.queue_drops);
    else if (p->spec->n_lines)
        fifo_add(&p->to_lines, one);
    else
        send_off(n, p, one);
}

static double due(const struct fifo *f)
{
    return f->first ? f->first->when.last_ns : INFINITY;
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
        struct fifo *f = NULL;
        double first = now_ns;
        for (size_t from = 0; from < n->spec->n; from++) {
            struct fifo *way = &n->paths[from * n->spec->n + to].way;
            if (due(way) <= first) {
                f = way;
                first = due(way);
            }
        }
        if (!f)
            return;
        struct packet *one = fifo_take(f);
        if (end->cut)
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
    for (size_t i = 0; i < n->spec->n * n->spec->n; i++)
        next = fmin(next, fmin(due(&n->paths[i].to_lines), due(&n->paths[i].way)));
    for (size_t i = 0; i < n->spec->n; i++)
        if (!held[i])
            next = fmin(next, due(&n->ends[i].out));
    return next;
}
