/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/mesh.h"

#include "base/err.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- one link ----
 *
 * A link of a given rate behind a drop-tail queue, as pure arithmetic. A packet leaves when the
 * link has sent all earlier bytes. The result does not depend on when it is computed, so a delay of
 * the relay for one packet does not delay the next. Times are ns of one clock, as doubles, which
 * are exact for a hundred days.
 */

void shaper_set(struct shaper *s, double rate_Bps, double queue_B)
{
    s->ns_per_B = rate_Bps > 0 ? 1e9 / rate_Bps : 0;
    s->queue_B = queue_B;
}

bool shaper_pass(struct shaper *s, unsigned bytes, struct passage *p)
{
    if (s->ns_per_B <= 0)
        return true;
    double takes_ns = bytes * s->ns_per_B;
    /* Behind a slower line a packet arrives slowly, and only its last bits have to wait for earlier
     * packets. */
    double first = p->last_ns - fmin(p->long_ns, takes_ns);
    double waits_ns = fmax(0, s->free_ns - first);
    if (waits_ns + takes_ns > s->queue_B * s->ns_per_B && waits_ns > 0)
        return false;
    s->free_ns = first + waits_ns + takes_ns;
    p->last_ns = fmax(p->last_ns, s->free_ns);
    p->long_ns = fmax(p->long_ns, takes_ns);
    return true;
}

/* ---- packets and queues ---- */

struct packet *packet_new(size_t most_B)
{
    struct packet *p = malloc(sizeof *p + PACKET_HEAD_B + most_B);
    if (!p)
        _exit(fail(GS_CANNOT, "lab: no memory for packets; set a shorter queue in [links]"));
    return p;
}

static void fifo_add(struct fifo *f, struct packet *one)
{
    one->next = NULL;
    if (f->first)
        f->last->next = one;
    else
        f->first = one;
    f->last = one;
}

struct packet *fifo_take(struct fifo *f)
{
    struct packet *one = f->first;
    f->first = one->next;
    return one;
}

static void fifo_free(struct fifo *f)
{
    while (f->first)
        free(fifo_take(f));
}

/* ---- the mesh ---- */

void lab_mesh_reset(struct lab_mesh *n)
{
    const struct lab_spec *spec = n->spec;
    for (size_t i = 0; i < spec->n; i++) {
        const struct lab_site *s = &spec->sites[i];
        shaper_set(&n->ends[i].up, s->up_Bps, s->up_queue_B);
        shaper_set(&n->ends[i].down, s->down_Bps, s->down_queue_B);
        n->ends[i].cut = false;
    }
    for (size_t i = 0; i < spec->n * spec->n; i++) {
        struct lab_path *p = &n->paths[i];
        shaper_set(&p->own, spec->ways[i].rate_Bps, spec->ways[i].queue_B);
        p->loss = spec->ways[i].loss;
        p->cut = false;
    }
}

void lab_mesh_make(struct lab_mesh *n, const struct lab_spec *spec)
{
    *n = (struct lab_mesh){.spec = spec};
    n->ends = xcalloc(spec->n, sizeof *n->ends);
    n->paths = xcalloc(spec->n * spec->n, sizeof *n->paths);
    for (size_t i = 0; i < spec->n * spec->n; i++) {
        n->paths[i].delay_ns = spec->ways[i].delay_s * 1e9;
        rng_stream(&n->paths[i].losses, 1, i);
    }
    lab_mesh_reset(n);
}

void lab_mesh_free(struct lab_mesh *n)
{
    for (size_t i = 0; n->spec && i < n->spec->n * n->spec->n; i++)
        fifo_free(&n->paths[i].way);
    for (size_t i = 0; n->spec && i < n->spec->n; i++)
        fifo_free(&n->ends[i].out);
    free(n->ends);
    free(n->paths);
    *n = (struct lab_mesh){0};
}

static void drop(struct packet *one, uint64_t *count)
{
    ++*count;
    free(one);
}

/* A lost packet has taken its time on the uplink before. */
void lab_mesh_put(struct lab_mesh *n, struct packet *one, size_t from, size_t to, double now_ns)
{
    struct lab_path *p = &n->paths[from * n->spec->n + to];
    n->counts.packets++;
    n->counts.bytes += one->bytes;
    one->when = (struct passage){.last_ns = now_ns};
    if (n->ends[from].cut || n->ends[to].cut || p->cut)
        drop(one, &n->counts.cut_drops);
    else if (!shaper_pass(&n->ends[from].up, one->bytes, &one->when) ||
             !shaper_pass(&p->own, one->bytes, &one->when))
        drop(one, &n->counts.queue_drops);
    else if (p->loss > 0 && rng_uniform(&p->losses) < p->loss)
        drop(one, &n->counts.losses);
    else {
        one->when.last_ns += p->delay_ns;
        fifo_add(&p->way, one);
    }
}

static double due(const struct fifo *f)
{
    return f->first ? f->first->when.last_ns : INFINITY;
}

/* Packets of all other sites meet at the downlink of a site: the one that comes first goes first. */
void lab_mesh_move(struct lab_mesh *n, double now_ns)
{
    for (size_t to = 0; to < n->spec->n;) {
        struct lab_end *end = &n->ends[to];
        struct lab_path *p = NULL;
        double first = now_ns;
        for (size_t from = 0; from < n->spec->n; from++) {
            struct lab_path *way = &n->paths[from * n->spec->n + to];
            if (due(&way->way) <= first) {
                p = way;
                first = due(&way->way);
            }
        }
        if (!p) { /* no more for this site */
            to++;
            continue;
        }
        struct packet *one = fifo_take(&p->way);
        if (end->cut || p->cut)
            drop(one, &n->counts.cut_drops);
        else if (!shaper_pass(&end->down, one->bytes, &one->when))
            drop(one, &n->counts.queue_drops);
        else
            fifo_add(&end->out, one);
    }
}

double lab_mesh_next(const struct lab_mesh *n)
{
    double next = INFINITY;
    for (size_t i = 0; i < n->spec->n * n->spec->n; i++)
        next = fmin(next, due(&n->paths[i].way));
    for (size_t i = 0; i < n->spec->n; i++)
        next = fmin(next, due(&n->ends[i].out));
    return next;
}
