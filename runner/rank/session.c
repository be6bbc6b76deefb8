/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/session.h"

#include "base/err.h"

#include <stdio.h>
#include <unistd.h>

/* Seconds for abort() to end a hung call, before the shim kills the process. */
#define ABORT_S 2.0

static double patience(const struct session *r)
{
    return r->plan->set.measure.deadline;
}

void session_step(struct session *r, const char *phase)
{
    bool can_abort = r->watchdog.abort;
    beat_step(r->beat, phase, patience(r) + (can_abort ? ABORT_S : 0));
    if (can_abort)
        watchdog_set(&r->watchdog, r->beat->step_ns + (uint64_t)(patience(r) * 1e9));
}

void session_own_step(struct session *r, const char *phase)
{
    watchdog_set(&r->watchdog, UINT64_MAX);
    beat_step(r->beat, phase, patience(r));
}

/* As after a crash, the shim reports the cell and the launcher ends the other ranks, which may be in an
 * operation that needs this one. Nothing is closed: with a lost device that may hang. */
_Noreturn static void leave(const struct session *r)
{
    snprintf(r->beat->error, sizeof r->beat->error, "%s",
             *r->api.why ? r->api.why : "the plugin cannot go on and gives no reason");
    snprintf(r->beat->status, sizeof r->beat->status, "lost");
    _exit(GS_FAILED);
}

enum call_result session_result(const struct session *r, enum wl_status status)
{
    static const enum call_result results[] = {
        [WL_OK] = FINE, [WL_RETRY] = AGAIN, [WL_SKIP] = SKIPPED, [WL_FAIL] = FAILED};
    if (watchdog_fired(&r->watchdog))
        return HANGING;
    if (status == WL_LOST)
        leave(r);
    if ((size_t)status >= sizeof results / sizeof *results)
        return FAILED;
    return results[status];
}
