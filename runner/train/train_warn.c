/* SPDX-License-Identifier: Apache-2.0 */
#include "train/train_warn.h"

#include "base/err.h"
#include "base/text.h"
#include "base/units.h"

#define RANKS 100 /* each may print the times of all steps */

static double sum_s(const struct train_step *steps, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)steps[i].ns * 1e-9;
    return sum;
}

void train_warn_times(const struct plan *p, const struct train_slot *s, const struct train_times *t,
                      double took_s)
{
    const struct train_step *steps;
    size_t n = train_times_get(t, &steps);
    char name[256], sum[32], took[32];
    double all_s = sum_s(steps, n);
    train_slot_name(p, s, name, sizeof name);
    if (all_s > RANKS * took_s)
        say("%s: warning: %s: the step times add up to %s, but the command took %s; set 'unit' to "
            "that of the times",
            p->section, name, units_human_time(sum, sizeof sum, all_s),
            units_human_time(took, sizeof took, took_s));
    if (n > 1 && n < TRAIN_STEPS_MIN)
        say("%s: warning: %s: %zu step times are too few to leave out the warm-up; let the command "
            "print %d or more",
            p->section, name, n, TRAIN_STEPS_MIN);
}

void train_warn_short(const struct plan *p, const struct train_slot *s, int launch, size_t most,
                      const char *log)
{
    char name[256];
    if (s->measured && 2 * s->blocks < most)
        say("%s: warning: launch %d of %s has less than half as many step times as others; did it "
            "end early? See %s",
            p->section, launch, train_slot_name(p, s, name, sizeof name), path_name(log));
}
