/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"
#include "wan_sync/sync/sync_state.h"

#include <stdio.h>

/* Later than the verdict of the links, which knows who is silent, and than the time in which the
 * runner collects such verdicts. */
#define LATER_S 1.8

bool sync_failed(struct sync *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    return false;
}

bool sync_mpi_failed(struct sync *s, const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(rc, text, &n);
    snprintf(s->why, sizeof s->why, "%s: %.180s", what, text);
    return false;
}

static bool is_inside(const struct sync *s)
{
    return s->phase == INWARD || s->phase == OUTWARD;
}

/* Of a site that waits for its leader, who is still at the exchange, nothing can be said. */
static bool waits_for_leader(const struct sync *s)
{
    return s->phase == OUTWARD && s->me < 0 && s->events == s->outward_events;
}

/* They say nothing on the way. */
static bool gpus_stall(struct sync *s)
{
    bool for_leader = s->phase == OUTWARD && s->me < 0;
    if (for_leader || (double)(now_ns() - s->moved_ns) * 1e-9 < s->parts.cell->timeout)
        return false;
    snprintf(s->why, sizeof s->why,
             "the GPUs of site %d have not finished a sum for %g s: a rank of the site is lost or "
             "stopped; if it is only slow, raise timeout=%g",
             s->parts.sites->site_of[s->parts.rank], s->parts.cell->timeout,
             s->parts.cell->timeout);
    return true;
}

/* Moving is any block that comes or goes. */
bool sync_stalls(struct sync *s)
{
    if (is_inside(s) && s->parts.inside.gpu)
        return gpus_stall(s);
    const struct engine *e = is_inside(s) ? s->parts.inside.engine : s->parts.engine;
    uint64_t now = now_ns();
    if (engine_events(e) != s->events || waits_for_leader(s)) {
        s->events = engine_events(e);
        s->moved_ns = now;
    }
    if ((double)(now - s->moved_ns) * 1e-9 < s->parts.cell->timeout + LATER_S)
        return false;
    int rank = engine_awaits(e);
    if (is_inside(s) && rank >= 0)
        rank = s->parts.inside.rank_of[rank];
    const struct sites *sites = s->parts.sites;
    snprintf(s->why, sizeof s->why,
             "no block moved for %g s; it waits for rank %d on %s (site %d), which may wait for "
             "another; if a rank is only slow, raise timeout=%g",
             s->parts.cell->timeout + LATER_S, rank, rank < 0 ? "?" : sites->host[rank],
             rank < 0 ? -1 : sites->site_of[rank], s->parts.cell->timeout);
    return true;
}
