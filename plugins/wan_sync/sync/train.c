/* SPDX-License-Identifier: Apache-2.0 */
#include "wan_sync/sync/train.h"

#include "common/clock.h"

#include <math.h>

struct course {
    const struct train *t;
    int64_t every, fragments, beside;
    bool timed;
    double owed_s; /* of the next step's computation */
    struct train_times times;
};

static double since(uint64_t ns)
{
    return (double)(now_ns() - ns) * 1e-9;
}

/* The fragment that is posted after step `after`, counted from the first timed one, or -1. */
static int64_t fragment_of(const struct course *c, int64_t after)
{
    int64_t each = c->every / c->fragments;
    int64_t at = (after % c->every + c->every) % c->every;
    if (at % each)
        return -1;
    return (at ? at : c->every) / each - 1;
}

static void post(struct course *c, int64_t f)
{
    const struct train *t = c->t;
    size_t first = cell_fragment(t->cell, f), end = cell_fragment(t->cell, f + 1);
    if (c->beside) {
        uint64_t begin = now_ns();
        pattern_fill(t->pattern, t->data + first, t->shift + first, end - first);
        c->owed_s += since(begin);
    }
    sync_post(t->sync, f);
}

/* What is due after a step, then what begins there; unoverlapped, the same. */
static bool turn(struct course *c, int64_t after)
{
    int64_t begins = fragment_of(c, after), due = fragment_of(c, after - c->beside);
    if (begins >= 0 && !c->beside)
        post(c, begins);
    if (due >= 0 && after > 0 && !sync_wait(c->t->sync, due))
        return false;
    if (begins >= 0 && c->beside)
        post(c, begins);
    return true;
}

static bool step(struct course *c, int64_t after)
{
    const struct cell *cell = c->t->cell;
    double compute_s = cell->compute * (double)cell->accumulate, owed_s = c->owed_s;
    c->owed_s = 0;
    if (compute_s > owed_s && !sync_poll(c->t->sync, compute_s - owed_s))
        return false;
    if (c->timed)
        c->times.compute_s += fmax(compute_s, owed_s);
    return turn(c, after);
}

static bool all_steps(struct course *c)
{
    for (int64_t k = 1 - c->beside; k <= 0; k++)
        if (!step(c, k))
            return false;
    c->timed = true;
    c->times.start_ns = now_ns();
    for (int64_t k = 1; k <= c->every; k++)
        if (!step(c, k))
            return false;
    return true;
}

bool train_run(const struct train *t, struct train_times *out)
{
    struct course c = {.t = t,
                       .every = t->cell->every,
                       .fragments = t->cell->fragments,
                       .beside = cell_steps_beside(t->cell)};
    bool good = all_steps(&c);
    c.times.end_ns = now_ns();
    c.times.all_s = (double)(c.times.end_ns - c.times.start_ns) * 1e-9;
    *out = c.times;
    return good && sync_drain(t->sync);
}
