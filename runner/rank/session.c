/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/session.h"

#include "base/clock.h"
#include "base/err.h"
#include "launch/control.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- struct wl_host, over MPI ---- */

static void api_barrier(void *ctx)
{
    const struct host_api *l = ctx;
    team_meet(l->team);
}

/* In parts, because MPI counts with int. */
static void api_bcast(void *ctx, void *buf, size_t bytes, int root)
{
    const struct host_api *l = ctx;
    const size_t part = (size_t)1 << 30;
    for (size_t at = 0; at < bytes; at += part) {
        size_t n = bytes - at < part ? bytes - at : part;
        team_share(l->team, (char *)buf + at, n, root);
    }
}

__attribute__((format(printf, 2, 3))) static void api_fail(void *ctx, const char *fmt, ...)
{
    struct host_api *l = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(l->why, sizeof l->why, fmt, args);
    va_end(args);
}

/* Sends a warning to the supervisor, through the launcher's stdout like the shims' control lines. If
 * that fails, the warning is still in the recording. */
static void tell(const struct host_api *l, const char *text)
{
    char line[CONTROL_LINE_MAX];
    struct control c = {.event = CONTROL_WARN, .rank = l->team->rank};
    snprintf(c.cell, sizeof c.cell, "%s", l->cell);
    snprintf(c.why, sizeof c.why, "%s", text);
    size_t n = control_encode(&c, line);
    while (write(STDOUT_FILENO, line, n) < 0 && errno == EINTR)
        continue;
}

/* Every rank notes the same facts; only rank 0 writes. */
static void api_note(void *ctx, const char *key, const char *value)
{
    const struct host_api *l = ctx;
    if (!l->recording)
        return;
    record_attempt_line(l->recording, record_note_line(l->cell, l->copy, key, value));
    if (l->team->rank == 0 && !strcmp(key, WL_WARNING))
        tell(l, value);
}

static void api_start(void *ctx)
{
    const struct host_api *l = ctx;
    team_start(l->team);
}

/* One thread calls it. */
static void api_lost(void *ctx, const char *host)
{
    struct beat *b = ((const struct host_api *)ctx)->team->beat;
    size_t at = b->lost_B, room = sizeof b->lost - at;
    int n = snprintf(b->lost + at, room, "%s ", host);
    if (n > 0 && (size_t)n < room)
        atomic_store(&b->lost_B, (uint32_t)(at + (size_t)n));
}

void host_api_at(struct host_api *l, const char *cell, int copy)
{
    l->cell = cell;
    l->copy = l->wl.copy = copy;
    l->why[0] = '\0';
}

void host_api_begin(struct host_api *l, const struct team *team, struct record_attempt *recording,
                    uint64_t seed)
{
    *l = (struct host_api){.team = team, .recording = recording, .cell = ""};
    l->wl = (struct wl_host){.size = sizeof l->wl,
                             .rank = team->rank,
                             .ranks = team->ranks,
                             .local_rank = team->local_rank,
                             .local_ranks = team->local_ranks,
                             .node = team->node,
                             .nodes = team->nodes,
                             .seed = seed,
                             .ctx = l,
                             .barrier = api_barrier,
                             .bcast = api_bcast,
                             .fail = api_fail,
                             .note = api_note,
                             .start = api_start,
                             .lost = api_lost};
}

/* ---- the deadline of a call ---- */

/* Sleeps until the deadline it saw last, and then reads the current one. So setting a deadline need
 * not wake this thread. */
static void *watch(void *arg)
{
    struct watchdog *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->leave) {
        if (w->deadline_ns == UINT64_MAX) {
            pthread_cond_wait(&w->changed, &w->lock);
        } else if (clock_now_ns() < w->deadline_ns) {
            struct timespec until = {.tv_sec = (time_t)(w->deadline_ns / 1000000000u),
                                     .tv_nsec = (long)(w->deadline_ns % 1000000000u)};
            pthread_cond_timedwait(&w->changed, &w->lock, &until);
        } else {
            w->deadline_ns = UINT64_MAX;
            atomic_store(&w->fired, true);
            w->abort(w->self);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool watchdog_start(struct watchdog *w, void (*abort)(void *self), void *self)
{
    *w = (struct watchdog){.abort = abort, .self = self, .deadline_ns = UINT64_MAX};
    if (!abort)
        return false;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigset_t all, before; /* the main thread handles signals */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&w->thread, NULL, watch, w))
        w->abort = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->abort;
}

void watchdog_stop(struct watchdog *w)
{
    if (!w->abort)
        return;
    pthread_mutex_lock(&w->lock);
    w->leave = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    w->abort = NULL;
}

/* CLOCK_MONOTONIC. Deadlines only move forward; UINT64_MAX: none. */
static void watchdog_set(struct watchdog *w, uint64_t deadline_ns)
{
    if (!w->abort)
        return;
    pthread_mutex_lock(&w->lock);
    bool idle = w->deadline_ns == UINT64_MAX;
    w->deadline_ns = deadline_ns;
    if (idle)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* ---- the session ---- */

/* Seconds for abort() to end a hung call, before the shim kills the process. */
#define ABORT_S 2.0

void session_step(struct session *r, const char *phase)
{
    double deadline_s = r->plan->set.measure.deadline;
    beat_step(r->beat, phase, deadline_s + (r->watchdog.abort ? ABORT_S : 0));
    watchdog_set(&r->watchdog, r->beat->step_ns + (uint64_t)(deadline_s * 1e9));
}

void session_own_step(struct session *r, const char *phase)
{
    watchdog_set(&r->watchdog, UINT64_MAX);
    beat_step(r->beat, phase, r->plan->set.measure.deadline);
}

enum call_result session_result(const struct session *r, enum wl_status status)
{
    static const enum call_result results[] = {
        [WL_OK] = FINE, [WL_RETRY] = AGAIN, [WL_SKIP] = SKIPPED, [WL_FAIL] = FAILED};
    if (atomic_load(&r->watchdog.fired))
        return HANGING;
    if (status == WL_LOST) {
        /* As after a crash, the shim reports the cell and the launcher ends the other ranks, which may be in
         * an operation that needs this one. Nothing is closed: with a lost device that may hang. */
        snprintf(r->beat->error, sizeof r->beat->error, "%s",
                 *r->api.why ? r->api.why : "the plugin cannot go on and gives no reason");
        snprintf(r->beat->status, sizeof r->beat->status, "lost");
        _exit(GS_FAILED);
    }
    if ((size_t)status >= COUNT(results))
        return FAILED;
    return results[status];
}
