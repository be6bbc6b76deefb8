/* SPDX-License-Identifier: Apache-2.0 */
#include "rank/conformance_calls.h"

#include "base/err.h"
#include "base/text.h"
#include "rank/stdout_capture.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETRIES 10 /* of one sample */

/* ---- the host that the plugin sees ---- */

static void host_barrier(void *ctx)
{
    const struct conformance *c = ctx;
    c->runner->barrier(c->runner->ctx);
}

static void host_start(void *ctx)
{
    const struct conformance *c = ctx;
    c->runner->start(c->runner->ctx);
}

static void host_lost(void *ctx, const char *host)
{
    conformance_note(ctx, "warning: the network to %s is cut", host);
}

static void host_bcast(void *ctx, void *buf, size_t bytes, int root)
{
    const struct conformance *c = ctx;
    c->runner->bcast(c->runner->ctx, buf, bytes, root);
}

static void host_fail(void *ctx, const char *fmt, ...)
{
    struct conformance *c = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, args);
    va_end(args);
}

static void host_note(void *ctx, const char *key, const char *value)
{
    struct conformance *c = ctx;
    if (!key || !*key || !value)
        conformance_fault(c, "calls host->note without a key or value in %s", c->at);
    else if (!strcmp(key, WL_WARNING))
        conformance_note(c, "warning: %s", value);
}

enum wl_status conformance_agree(const struct conformance *c, enum wl_status mine)
{
    int worst = (int)mine;
    for (int r = 0; r < c->host.ranks; r++) {
        int theirs = (int)mine;
        c->runner->bcast(c->runner->ctx, &theirs, sizeof theirs, r);
        worst = theirs > worst ? theirs : worst;
    }
    return (enum wl_status)worst;
}

/* ---- after every call ---- */

static void check_output(struct conformance *c)
{
    char line[200];
    if (stdout_capture_line(line, sizeof line, true))
        conformance_fault(c, "prints in %s: '%s' (report through host->fail or host->note)", c->at,
                          line);
}

static bool is_status(struct conformance *c, enum wl_status s, bool retry)
{
    if ((unsigned)s > WL_LOST || (s == WL_RETRY && !retry)) {
        conformance_fault(c, "%s returns %d, which is not allowed", c->at, (int)s);
        return false;
    }
    if (s != WL_OK && !c->why[0])
        conformance_fault(c, "%s fails without a reason; give one with host->fail", c->at);
    return true;
}

static enum wl_status judged(struct conformance *c, enum wl_status s, bool retry)
{
    check_output(c);
    if (!is_status(c, s, retry))
        s = WL_FAIL;
    else if (s >= WL_FAIL && c->why[0])
        conformance_fault(c, "%s fails: %s", c->at, c->why);
    return s == WL_LOST ? WL_FAIL : s;
}

/* ---- the calls ---- */

enum wl_status conformance_describe(struct conformance *c, const void *cell,
                                    const struct wl_job *job, struct wl_shape *shape)
{
    conformance_enter(c, "describe");
    size_t n = c->wl->cell_size;
    AUTO_FREE void *copy = xmalloc(n);
    memcpy(copy, cell, n);
    *shape = (struct wl_shape){.size = sizeof *shape};
    enum wl_status s = c->wl->describe(cell, job, shape, c->why, sizeof c->why);
    check_output(c);
    if (!memchr(c->why, '\0', sizeof c->why)) {
        conformance_fault(c, "%s writes past `why`", c->at);
        c->why[sizeof c->why - 1] = '\0';
    }
    if (memcmp(copy, cell, n))
        conformance_fault(c, "%s writes into the cell", c->at);
    return is_status(c, s, false) ? s : WL_FAIL;
}

static void check_sample(struct conformance *c, const struct wl_sample *s, unsigned iters)
{
    double span = (double)(s->end_ns - s->start_ns) * 1e-9, total = s->values[0] * iters;
    if (!(s->values[0] > 0) || !isfinite(s->values[0]))
        conformance_fault(c, "%s: values[0] is %g, not a time above 0", c->at, s->values[0]);
    else if (s->start_ns == 0 || s->end_ns < s->start_ns)
        conformance_fault(c, "%s: start_ns=%llu, end_ns=%llu: not set, or in the wrong order",
                          c->at, (unsigned long long)s->start_ns, (unsigned long long)s->end_ns);
    else if (iters > 1 && total > 1.5 * span + 1e-3) /* one may be extrapolated from a rate */
        conformance_fault(
            c,
            "%s: %u iterations of values[0] = %g s last longer than end_ns - start_ns = %g s; "
            "values[0] is the time of one iteration",
            c->at, iters, s->values[0], span);
    for (size_t i = 1; c->wl->metrics[i].name; i++)
        if (!isfinite(s->values[i]) && c->wl->metrics[i].across != WL_EACH)
            conformance_fault(c, "%s: metric '%s' is not set", c->at, c->wl->metrics[i].name);
}

/* Takes one valid sample; false if the plugin fails on any rank. */
bool conformance_sample(struct conformance *c, void *prepared, unsigned iters, double *time_s)
{
    conformance_enter(c, "sample");
    for (int i = 0; i <= RETRIES; i++) {
        struct wl_sample s = {.size = sizeof s};
        for (size_t m = 0; m < WL_METRICS_MAX; m++)
            s.values[m] = NAN;
        c->runner->barrier(c->runner->ctx);
        enum wl_status mine = judged(c, c->wl->sample(prepared, iters, &s), true);
        int before = c->faults;
        if (mine == WL_OK)
            check_sample(c, &s, iters);
        enum wl_status all = conformance_agree(c, c->faults > before ? WL_FAIL : mine);
        *time_s = s.values[0];
        if (all != WL_RETRY)
            return all == WL_OK;
    }
    conformance_fault(c, "%s returns WL_RETRY %d times in a row", c->at, RETRIES);
    return false;
}

enum wl_status conformance_prepare(struct conformance *c, const void *cell, void **prepared)
{
    conformance_enter(c, "prepare");
    *prepared = NULL;
    enum wl_status mine = judged(c, c->wl->prepare(c->self, cell, prepared), false);
    if (mine == WL_OK && !*prepared) {
        conformance_fault(c, "%s sets no prepared cell", c->at);
        mine = WL_FAIL;
    }
    enum wl_status all = conformance_agree(c, mine);
    if (mine == WL_OK && all != WL_OK)
        c->wl->release(*prepared);
    return all;
}

void conformance_release(struct conformance *c, void *prepared)
{
    conformance_enter(c, "release");
    c->wl->release(prepared);
    check_output(c);
}

bool conformance_verify(struct conformance *c, void *prepared)
{
    conformance_enter(c, "verify");
    return conformance_agree(c, judged(c, c->wl->verify(prepared), false)) == WL_OK;
}

/* ---- from load to close ---- */

int conformance_load(struct conformance *c, const char *path)
{
    char line[1024], *why;
    snprintf(c->at, sizeof c->at, "being loaded");
    conformance_put(c, "at", c->at);
    err_capture(line, sizeof line);
    int code = plugin_load(&c->plugin, path);
    err_capture(NULL, 0);
    if (code) {
        why = strstr(line, ": ");
        conformance_fault(c, "%s", why ? why + 2 : line);
        return code;
    }
    check_output(c);
    c->wl = &c->plugin->wl;
    return GS_OK;
}

enum wl_status conformance_open(struct conformance *c)
{
    conformance_enter(c, "open");
    enum wl_status mine = judged(c, c->wl->open(&c->self, &c->host), false);
    enum wl_status all = conformance_agree(c, mine);
    if (mine == WL_SKIP)
        conformance_note(c, "open() skips this machine: %s", c->why);
    if (mine == WL_OK && all != WL_OK)
        conformance_close(c);
    return all;
}

void conformance_close(struct conformance *c)
{
    conformance_enter(c, "close");
    c->wl->close(c->self);
    check_output(c);
}

int conformance_begin(struct conformance *c, const struct wl_host *runner)
{
    *c = (struct conformance){.runner = runner, .host = *runner};
    c->host.size = sizeof c->host;
    c->host.ctx = c;
    c->host.barrier = host_barrier;
    c->host.bcast = host_bcast;
    c->host.fail = host_fail;
    c->host.note = host_note;
    c->host.start = host_start;
    c->host.lost = host_lost;
    c->job = (struct wl_job){.size = sizeof c->job,
                             .ranks = runner->ranks,
                             .nodes = runner->nodes,
                             .local_ranks = runner->local_ranks};
    c->out = stdout_capture_begin();
    if (c->out < 0)
        return fail(GS_FAILED, "stdout cannot be redirected: %s", strerror(errno));
    conformance_catch_crashes(c);
    return GS_OK;
}

void conformance_end(struct conformance *c, int code)
{
    char end[16];
    snprintf(end, sizeof end, "%d", code);
    conformance_put(c, "end", end);
    stdout_capture_end(c->out);
    plugin_unload(c->plugin);
}
