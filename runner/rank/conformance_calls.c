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

#define RETRIES 10 /* of one sample in a row */

/* ---- the host that the plugin sees ---- */

static void host_barrier(void *ctx)
{
    const struct trial *t = ctx;
    t->lent->barrier(t->lent->ctx);
}

static void host_start(void *ctx)
{
    const struct trial *t = ctx;
    t->lent->start(t->lent->ctx);
}

static void host_bcast(void *ctx, void *buf, size_t bytes, int root)
{
    const struct trial *t = ctx;
    t->lent->bcast(t->lent->ctx, buf, bytes, root);
}

static void host_fail(void *ctx, const char *fmt, ...)
{
    struct trial *t = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(t->why, sizeof t->why, fmt, args);
    va_end(args);
}

static void host_note(void *ctx, const char *key, const char *value)
{
    struct trial *t = ctx;
    if (!key || !*key || !value)
        trial_fault(t, "notes a fact without a name or value in %s", t->at);
    else if (!strcmp(key, WL_WARNING))
        trial_note(t, "warning: %s", value);
}

/* The worst status of all ranks, so that all go the same way. */
enum wl_status trial_agree(const struct trial *t, enum wl_status mine)
{
    int worst = (int)mine;
    for (int r = 0; r < t->host.ranks; r++) {
        int theirs = (int)mine;
        t->lent->bcast(t->lent->ctx, &theirs, sizeof theirs, r);
        worst = theirs > worst ? theirs : worst;
    }
    return (enum wl_status)worst;
}

/* ---- after every call ---- */

static void overhear(struct trial *t)
{
    char line[200];
    if (witness_heard(line, sizeof line, true))
        trial_fault(t, "prints in %s: '%s' (report through host->fail or host->note)", t->at, line);
}

static bool is_status(struct trial *t, enum wl_status s, bool retry)
{
    if ((unsigned)s > WL_FAIL || (s == WL_RETRY && !retry)) {
        trial_fault(t, "%s returns %d, which it may not", t->at, (int)s);
        return false;
    }
    if (s != WL_OK && !t->why[0])
        trial_fault(t, "%s does not return WL_OK and says no reason (host->fail)", t->at);
    return true;
}

static enum wl_status judged(struct trial *t, enum wl_status s, bool retry)
{
    overhear(t);
    if (!is_status(t, s, retry))
        s = WL_FAIL;
    else if (s == WL_FAIL && t->why[0])
        trial_fault(t, "%s fails: %s", t->at, t->why);
    return s;
}

/* ---- the calls ---- */

enum wl_status trial_describe(struct trial *t, const void *cell, const struct wl_job *job,
                              struct wl_shape *shape)
{
    trial_at(t, "describe");
    size_t n = t->wl->cell_size;
    void *copy = xmalloc(n);
    memcpy(copy, cell, n);
    *shape = (struct wl_shape){.size = sizeof *shape};
    enum wl_status s = t->wl->describe(cell, job, shape, t->why, sizeof t->why);
    overhear(t);
    if (!memchr(t->why, '\0', sizeof t->why)) {
        trial_fault(t, "%s writes past `why`", t->at);
        t->why[sizeof t->why - 1] = '\0';
    }
    if (memcmp(copy, cell, n))
        trial_fault(t, "%s writes into the cell", t->at);
    free(copy);
    return is_status(t, s, false) ? s : WL_FAIL;
}

static void check_sample(struct trial *t, const struct wl_sample *s, unsigned iters)
{
    double span = (double)(s->end_ns - s->start_ns) * 1e-9, total = s->values[0] * iters;
    if (!(s->values[0] > 0) || !isfinite(s->values[0]))
        trial_fault(t, "%s: values[0] is %g, not a time above 0", t->at, s->values[0]);
    else if (s->start_ns == 0 || s->end_ns < s->start_ns)
        trial_fault(t, "%s: start_ns %llu and end_ns %llu are not set, or in the wrong order",
                    t->at, (unsigned long long)s->start_ns, (unsigned long long)s->end_ns);
    else if (total > 1.5 * span + 1e-3)
        trial_fault(
            t,
            "%s: %u iterations of values[0] = %g s last longer than end_ns - start_ns = %g s; "
            "values[0] is the time of one iteration",
            t->at, iters, s->values[0], span);
    for (size_t i = 1; t->wl->metrics[i].name; i++)
        if (!isfinite(s->values[i]))
            trial_fault(t, "%s: metric '%s' is not set", t->at, t->wl->metrics[i].name);
}

/* One good sample; false when the plugin fails it on some rank. */
bool trial_sample(struct trial *t, void *prepared, unsigned iters, double *time_s)
{
    trial_at(t, "sample");
    for (int i = 0; i <= RETRIES; i++) {
        struct wl_sample s = {.size = sizeof s};
        for (size_t m = 0; m < WL_METRICS_MAX; m++)
            s.values[m] = NAN;
        t->lent->barrier(t->lent->ctx);
        enum wl_status mine = judged(t, t->wl->sample(prepared, iters, &s), true);
        int before = t->faults;
        if (mine == WL_OK)
            check_sample(t, &s, iters);
        enum wl_status all = trial_agree(t, t->faults > before ? WL_FAIL : mine);
        *time_s = s.values[0];
        if (all != WL_RETRY)
            return all == WL_OK;
    }
    trial_fault(t, "%s asks %d times in a row to be called again", t->at, RETRIES);
    return false;
}

enum wl_status trial_prepare(struct trial *t, const void *cell, void **prepared)
{
    trial_at(t, "prepare");
    *prepared = NULL;
    enum wl_status mine = judged(t, t->wl->prepare(t->self, cell, prepared), false);
    if (mine == WL_OK && !*prepared) {
        trial_fault(t, "%s sets no prepared cell", t->at);
        mine = WL_FAIL;
    }
    enum wl_status all = trial_agree(t, mine);
    if (mine == WL_OK && all != WL_OK)
        t->wl->release(*prepared);
    return all;
}

void trial_release(struct trial *t, void *prepared)
{
    trial_at(t, "release");
    t->wl->release(prepared);
    overhear(t);
}

bool trial_verify(struct trial *t, void *prepared)
{
    trial_at(t, "verify");
    return trial_agree(t, judged(t, t->wl->verify(prepared), false)) == WL_OK;
}

/* ---- from load to close ---- */

int trial_load(struct trial *t, const char *path)
{
    char line[1024], *why;
    snprintf(t->at, sizeof t->at, "being loaded");
    trial_put(t, "at", t->at);
    err_capture(line, sizeof line);
    int code = plugin_load(&t->plugin, path);
    err_capture(NULL, 0);
    if (code) {
        why = strstr(line, ": ");
        trial_fault(t, "%s", why ? why + 2 : line);
        return code;
    }
    overhear(t);
    t->wl = &t->plugin->wl;
    return GS_OK;
}

enum wl_status trial_open(struct trial *t)
{
    trial_at(t, "open");
    enum wl_status mine = judged(t, t->wl->open(&t->self, &t->host), false);
    enum wl_status all = trial_agree(t, mine);
    if (mine == WL_SKIP)
        trial_note(t, "open() skips this machine: %s", t->why);
    if (mine == WL_OK && all != WL_OK)
        trial_close(t);
    return all;
}

void trial_close(struct trial *t)
{
    trial_at(t, "close");
    t->wl->close(t->self);
    overhear(t);
}

int trial_begin(struct trial *t, const struct wl_host *lent)
{
    *t = (struct trial){.lent = lent, .host = *lent};
    t->host.size = sizeof t->host;
    t->host.ctx = t;
    t->host.barrier = host_barrier;
    t->host.bcast = host_bcast;
    t->host.fail = host_fail;
    t->host.note = host_note;
    t->host.start = host_start;
    t->job = (struct wl_job){.size = sizeof t->job,
                             .ranks = lent->ranks,
                             .nodes = lent->nodes,
                             .local_ranks = lent->local_ranks};
    t->out = witness_listen();
    if (t->out < 0)
        return fail(GS_FAILED, "stdout cannot be redirected: %s", strerror(errno));
    trial_catch_crashes(t);
    return GS_OK;
}

void trial_end(struct trial *t, int code)
{
    char end[16];
    snprintf(end, sizeof end, "%d", code);
    trial_put(t, "end", end);
    witness_listen_end(t->out);
    plugin_unload(t->plugin);
}
