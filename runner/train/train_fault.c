/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_fault.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>

/* "; 60 step times recorded, not compared" */
static void printed(struct train_fault *f, size_t steps)
{
    size_t n = strlen(f->why);
    char first[64] = "";
    if (steps > TRAIN_PRINTED_MAX)
        snprintf(first, sizeof first, "the first %d of ", TRAIN_PRINTED_MAX);
    if (steps)
        snprintf(f->why + n, sizeof f->why - n, "; %s%zu step time%s recorded, not compared", first,
                 steps, steps == 1 ? "" : "s");
}

static void last_words(struct train_fault *f, const struct train_output *o)
{
    size_t n = strlen(f->why);
    if (*o->last)
        snprintf(f->why + n, sizeof f->why - n, "; its last line: %s", o->last);
}

struct train_fault train_judge(const struct train_settings *set, const char *section,
                               const struct train_ended *e, const struct train_output *o,
                               const struct train_times *t)
{
    struct train_fault f = {0};
    char limit[32];
    const struct train_step *steps;
    size_t n = train_times_get(t, &steps);
    if (e->hung) {
        f.kind = "hang";
        snprintf(f.why, sizeof f.why, "ended after %s (timeout)",
                 units_human_time(limit, sizeof limit, set->timeout));
    } else if (e->status > 128 && sigabbrev_np(e->status - 128)) {
        f.kind = "crash";
        snprintf(f.why, sizeof f.why, "ended by SIG%s", sigabbrev_np(e->status - 128));
    } else if (e->status) {
        f.kind = "crash";
        snprintf(f.why, sizeof f.why, "exit code %d", e->status);
    } else if (*train_times_wrong(t)) {
        f.kind = "failed";
        snprintf(f.why, sizeof f.why, "%s", train_times_wrong(t));
        return f;
    } else if (!n) {
        f.kind = "failed";
        snprintf(f.why, sizeof f.why, "no step time in %s; compare its lines with 'time' of [%s]",
                 set->file ? "its file" : "its output", section);
    }
    if (f.kind) {
        printed(&f, n);
        last_words(&f, o);
    }
    return f;
}
