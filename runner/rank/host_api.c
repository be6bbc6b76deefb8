/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/host_api.h"

#include "launch/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    if (!l->report)
        return;
    report_note(l->report, l->cell, l->copy, key, value);
    if (l->team->rank == 0 && !strcmp(key, WL_WARNING))
        tell(l, value);
}

static void api_start(void *ctx)
{
    const struct host_api *l = ctx;
    team_start(l->team);
}

static void api_lost(void *ctx, const char *host)
{
    const struct host_api *l = ctx;
    beat_lost(l->team->beat, host);
}

void host_api_at(struct host_api *l, const char *cell, int copy)
{
    l->cell = cell;
    l->copy = l->wl.copy = copy;
    l->why[0] = '\0';
}

void host_api_begin(struct host_api *l, const struct team *team, struct report *report,
                    uint64_t seed)
{
    *l = (struct host_api){.team = team, .report = report, .cell = ""};
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
