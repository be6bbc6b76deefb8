/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/health.h"

#include "base/text.h"

#include <stdlib.h>
#include <time.h>

/* The processor time of this rank's threads, its share of the host's busy time (host_load.h). */
struct cpu {
    double wall_s, used_s; /* at the start of the launch */
};

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool cpu_open(void **self, const struct team *team)
{
    (void)team;
    struct cpu *c = xcalloc(1, sizeof *c);
    *c = (struct cpu){now_s(CLOCK_MONOTONIC), now_s(CLOCK_PROCESS_CPUTIME_ID)};
    *self = c;
    return true;
}

static void cpu_read(void *self, json_t *now)
{
    const struct cpu *c = self;
    double wall_s = now_s(CLOCK_MONOTONIC) - c->wall_s;
    if (wall_s >= HEALTH_MEAN_S)
        json_object_set_new(now, "own_cores",
                            health_cores(now_s(CLOCK_PROCESS_CPUTIME_ID) - c->used_s, wall_s));
}

const struct health_source health_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = free,
    .read = cpu_read,
};
