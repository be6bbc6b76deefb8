/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/host_api.h"

#include "launch/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void lent_barrier(void *ctx)
{
    const struct lent *l = ctx;
    team_meet(l->team);
}

/* In parts that MPI's int can count. */
static void lent_bcast(void *ctx, void *buf, size_t bytes, int root)
{
    const struct lent *l = ctx;
    const size_t part = (size_t)1 << 30;
    for (size_t at = 0; at < bytes; at += part) {
        size_t n = bytes - at < part ? bytes - at : part;
        team_share(l->team, (char *)buf + at, n, root);
    }
}

__attribute__((format(printf, 2, 3))) static void lent_fail(void *ctx, const char *fmt, ...)
{
    struct lent *l = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(l->why, sizeof l->why, fmt, args);
    va_end(args);
}

/* To who watches the launch, through the launcher's stdout as the shims' lines go. One that cannot
 * be written is still in the recording. */
static void tell(const struct lent *l, const char *text)
{
    char line[CONTROL_LINE_MAX];
    struct control c = {.event = CONTROL_WARN, .rank = l->team->rank};
    snprintf(c.why, sizeof c.why, "%s", text);
    size_t n = control_encode(&c, line);
    while (write(STDOUT_FILENO, line, n) < 0 && errno == EINTR)
        continue;
}

/* Every rank notes the same facts; rank 0 holds the pen. */
static void lent_note(void *ctx, const char *key, const char *value)
{
    const struct lent *l = ctx;
    if (!l->report)
        return;
    report_note(l->report, l->cell, l->copy, key, value);
    if (l->team->rank == 0 && !strcmp(key, WL_WARNING))
        tell(l, value);
}

static void lent_start(void *ctx)
{
    const struct lent *l = ctx;
    team_start(l->team);
}

void lend(struct lent *l, const struct team *team, struct report *report, uint64_t seed)
{
    *l = (struct lent){.team = team, .report = report, .cell = ""};
    l->wl = (struct wl_host){.size = sizeof l->wl,
                             .rank = team->rank,
                             .ranks = team->ranks,
                             .local_rank = team->local_rank,
                             .local_ranks = team->local_ranks,
                             .node = team->node,
                             .nodes = team->nodes,
                             .seed = seed,
                             .ctx = l,
                             .barrier = lent_barrier,
                             .bcast = lent_bcast,
                             .fail = lent_fail,
                             .note = lent_note,
                             .start = lent_start};
}
