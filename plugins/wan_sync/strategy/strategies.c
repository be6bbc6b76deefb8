/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/strategy/strategies.h"

#include "common/wan_strategy.h"

#include <stdlib.h>

typedef void put(struct schedule *s, uint32_t block, int peer);

/* The blocks of parts [first, end). */
static void each(struct schedule *s, put *f, int first, int end, int peer)
{
    for (uint32_t b = s->part[first]; b < s->part[end]; b++)
        f(s, b, peer);
}

/* ---- ring: reduce-scatter, then all-gather, each of S-1 rounds ---- */

static bool make_ring(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me, next = (me + 1) % n, previous = (me + n - 1) % n;
    if (!schedule_open(s, f, n, 1))
        return false;
    for (int round = 0; round < n - 1; round++) {
        int out = (me - round + n) % n, in = (me - round - 1 + 2 * n) % n;
        each(s, put_send, out, out + 1, next);
        each(s, put_add, in, in + 1, previous);
    }
    for (int round = 0; round < n - 1; round++) {
        int out = (me + 1 - round + n) % n, in = (me - round + n) % n;
        each(s, put_send, out, out + 1, next);
        each(s, put_recv, in, in + 1, previous);
    }
    return schedule_close(s);
}

/* Partial sums of 1, 2, .. S-1 inputs and the whole. */
static double ring_rounded(int n)
{
    return 0.5 * n * (n + 1);
}

/* ---- direct: everybody to the owner of a part, who adds and sends the sum to everybody ---- */

/* The other members, those of the largest shares first: who has a small one is slow, and what waits
 * for it keeps its slot, and with it whatever else comes from there. The caller's; NULL: no memory.
 */
static int *by_share(const struct schedule_shape *f)
{
    int *order = calloc((size_t)f->members, sizeof *order), n = 0;
    for (int p = 0; order && p < f->members; p++) {
        int at = n;
        if (p == f->me)
            continue;
        for (; f->share && at > 0 && f->share[order[at - 1]] < f->share[p]; at--)
            order[at] = order[at - 1];
        order[at] = p;
        n++;
    }
    return order;
}

/* What the others have of this member's part. In one order, whatever the order of arrival: the
 * sum's bits do not depend on it. */
static void add_all(struct schedule *s, const struct schedule_shape *f)
{
    int *order = by_share(f);
    s->no_memory |= !order;
    for (uint32_t b = s->part[f->me]; order && b < s->part[f->me + 1]; b++)
        for (int k = 0; k < f->members - 1; k++)
            put_add(s, b, order[k]);
    free(order);
}

/* Everybody's part to its owner, who adds what came of its own. */
static void scatter(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    for (int k = 1; k < n; k++)
        each(s, put_send, (me + k) % n, (me + k) % n + 1, (me + k) % n);
    add_all(s, f);
}

static bool make_direct(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    if (!schedule_open(s, f, n, n - 1))
        return false;
    scatter(s, f);
    for (uint32_t b = s->part[me]; b < s->part[me + 1]; b++)
        for (int k = 1; k < n; k++)
            put_send(s, b, (me + k) % n);
    for (int p = 0; p < n; p++)
        if (p != me)
            each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

static double direct_rounded(int n)
{
    return 2.0 * n;
}

/* ---- oneshot: everybody's vector to everybody, and all add the same numbers in one order ---- */

static bool make_oneshot(struct schedule *s, const struct schedule_shape *f)
{
    if (!schedule_open(s, f, 1, f->members - 1))
        return false;
    for (uint32_t b = 0; b < s->blocks; b++) {
        for (int k = 1; k < f->members; k++)
            put_send(s, b, (f->me + k) % f->members);
        put_sum(s, b);
    }
    return schedule_close(s);
}

static double oneshot_rounded(int n)
{
    return n;
}

/* ---- inside a site: everybody's sum to the leader, member 0, and its to everybody ---- */

bool strategy_inward(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    if (!schedule_open(s, f, n, n - 1))
        return false;
    scatter(s, f);
    if (me != 0)
        each(s, put_send, me, me + 1, 0);
    for (int p = 1; me == 0 && p < n; p++)
        each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

bool strategy_outward(struct schedule *s, const struct schedule_shape *f)
{
    int n = f->members, me = f->me;
    if (!schedule_open(s, f, n, n - 1))
        return false;
    for (int p = 1; me == 0 && p < n; p++)
        each(s, put_send, p, p + 1, p);
    for (int p = 1; me == 0 && p < n; p++)
        each(s, put_send, 0, 1, p);
    if (me == 0)
        return schedule_close(s);
    each(s, put_recv, me, me + 1, 0);
    each(s, put_recv, 0, 1, 0);
    for (int p = 1; p < n; p++)
        if (p != me)
            each(s, put_send, me, me + 1, p);
    for (int p = 1; p < n; p++)
        if (p != me)
            each(s, put_recv, p, p + 1, p);
    return schedule_close(s);
}

const struct strategy strategies[] = {
    [WAN_RING] = {make_ring, ring_rounded},
    [WAN_DIRECT] = {make_direct, direct_rounded},
    [WAN_ONESHOT] = {make_oneshot, oneshot_rounded},
    [WAN_HIERARCHICAL] = {make_ring, ring_rounded},
};
