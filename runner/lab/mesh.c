/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/mesh.h"

#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    /* Behind a slower line it trickles in, and waits for what is before it with its last bits
     * alone. */
    double first = p->last_ns - fmin(p->long_ns, takes_ns);
    double waits_ns = fmax(0, s->free_ns - first);
    if (waits_ns + takes_ns > s->queue_B * s->ns_per_B && waits_ns > 0)
        return false;
    s->free_ns = first + waits_ns + takes_ns;
    p->last_ns = fmax(p->last_ns, s->free_ns);
    p->long_ns = fmax(p->long_ns, takes_ns);
    return true;
}

/* ---- packets and queues ----
 *
 * Packets in flight and their queues. One memory reservation holds slots of two sizes, because most
 * packets are either full or bare acknowledgements. Memory is touched on first use.
 */

#define LINE_B 64
#define MEAN_B 500 /* of packets that are neither full nor small; sizes the reservation */
#define SMALL_SLOTS 1e5
#define SPARE_B 16e6 /* what the kernel hands over at once */

static size_t slot_B(size_t bytes)
{
    return (sizeof(struct packet) + PACKET_HEAD_B + bytes + LINE_B - 1) / LINE_B * LINE_B;
}

bool packets_make(struct packets *p, size_t mtu_B, double bytes)
{
    *p = (struct packets){.big_B = slot_B(mtu_B), .small_B = slot_B(PACKET_SMALL_B)};
    size_t big = (size_t)((bytes + SPARE_B) / MEAN_B) * p->big_B;
    size_t small = (size_t)(SMALL_SLOTS + bytes / MEAN_B) * p->small_B;
    p->memory_B = big + small;
    p->memory = mmap(NULL, p->memory_B, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->memory == MAP_FAILED) {
        p->memory = NULL;
        return false;
    }
    p->next_big = p->memory;
    p->end_big = p->next_small = p->memory + big;
    p->end_small = p->memory + p->memory_B;
    return true;
}

void packets_free(struct packets *p)
{
    if (p->memory)
        munmap(p->memory, p->memory_B);
    p->memory = NULL;
}

struct packet *packet_get(struct packets *p, bool small)
{
    struct packet **list = small ? &p->small : &p->big, *one = *list;
    char **next = small ? &p->next_small : &p->next_big;
    char *end = small ? p->end_small : p->end_big;
    size_t size = small ? p->small_B : p->big_B;
    if (one) {
        *list = one->next;
    } else if (*next + size <= end) {
        one = (void *)*next;
        *next += size;
    }
    if (one) {
        one->small = small;
        one->others = false;
    }
    return one;
}

void packet_put(struct packets *p, struct packet *one)
{
    struct packet **list = one->small ? &p->small : &p->big;
    one->next = *list;
    *list = one;
}

struct packet *packet_fit(struct packets *p, struct packet *one)
{
    struct packet *fits = one->bytes <= PACKET_SMALL_B && !one->small ? packet_get(p, true) : NULL;
    if (!fits)
        return one;
    fits->when = one->when;
    fits->bytes = one->bytes;
    memcpy(fits->data, one->data, PACKET_HEAD_B + one->bytes);
    packet_put(p, one);
    return fits;
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

/* ---- bad lines and other traffic ----
 *
 * What other traffic and bad lines do to one direction between two sites: losses alone or in
 * bursts, jitter, packets that overtake others, and packets of others that take part of the rate.
 * Pure arithmetic with random numbers of the lab's seed. Times are ns.
 */

#define JITTER_STEP_NS 20e6
#define ASLEEP_NS 100e6 /* what others sent in a longer pause of the sites has left the queues */

void disturb_init(struct disturb *d, const struct lab_way *way, uint64_t seed, size_t index,
                  size_t ways)
{
    *d = (struct disturb){.way = way, .loss = way->loss};
    rng_stream(&d->losses, seed, index);
    rng_stream(&d->others, seed, ways + index);
}

bool disturb_loses(struct disturb *d)
{
    double burst = d->way->burst, chance = d->loss;
    if (chance <= 0)
        return false;
    if (burst > 1)
        chance = d->losing ? 1 - 1 / burst : chance / (burst * (1 - chance));
    d->losing = rng_uniform(&d->losses) < chance;
    return d->losing;
}

/* The extra delay at that time. It wanders between 0 and jitter, slowly enough to keep the
 * order. */
static double disturb_jitter_ns(struct disturb *d, double at_ns)
{
    double most_ns = d->way->jitter_s * 1e9;
    if (most_ns <= 0)
        return 0;
    double step_ns = fmax(JITTER_STEP_NS, most_ns);
    while (at_ns - d->since_ns >= step_ns) {
        double steps = fmax(floor((at_ns - d->since_ns) / step_ns) - 1, 1);
        d->since_ns += steps * step_ns;
        d->from_ns = d->to_ns;
        d->to_ns = most_ns * rng_uniform(&d->others);
    }
    double part = fmax(0, at_ns - d->since_ns) / step_ns;
    return d->from_ns + part * (d->to_ns - d->from_ns);
}

/* True: this packet goes a longer way, and others overtake it. */
static bool disturb_detours(struct disturb *d)
{
    return d->way->reorder > 0 && rng_uniform(&d->others) < d->way->reorder;
}

/* True: a packet of others of `bytes` comes at *at_ns, which is not after now_ns. */
static bool disturb_others(struct disturb *d, double now_ns, unsigned bytes, double *at_ns)
{
    if (d->way->cross_Bps <= 0)
        return false;
    d->next_ns = fmax(d->next_ns, now_ns - ASLEEP_NS);
    if (d->next_ns > now_ns)
        return false;
    *at_ns = d->next_ns;
    d->next_ns -= log(1 - rng_uniform(&d->others)) * bytes * 1e9 / d->way->cross_Bps;
    return true;
}

/* ---- the whole ---- */

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
