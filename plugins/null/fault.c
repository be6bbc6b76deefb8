/* SPDX-License-Identifier: Apache-2.0 */
#include "null/null.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum fault {
    NONE,
    CRASH,
    HANG, /* deaf to abort() */
    WAIT, /* until abort() */
    STOP,
    EXIT,
    FAIL,
    RETRY,
    WRONG,
    LEAK,
    PREPARE_CRASH,
    PREPARE_FAIL,
    PREPARE_SKIP,
    DESCRIBE_SKIP,
    LOST
};

const char *const faults[] = {[NONE] = "none",
                              [CRASH] = "crash",
                              [HANG] = "hang",
                              [WAIT] = "wait",
                              [STOP] = "stop",
                              [EXIT] = "exit",
                              [FAIL] = "fail",
                              [RETRY] = "retry",
                              [WRONG] = "wrong",
                              [LEAK] = "leak",
                              [PREPARE_CRASH] = "prepare_crash",
                              [PREPARE_FAIL] = "prepare_fail",
                              [PREPARE_SKIP] = "skip",
                              [DESCRIBE_SKIP] = "unfit",
                              [LOST] = "lost",
                              NULL};

static enum wl_status scripted(const struct prepared *p, enum wl_status status)
{
    p->self->host->fail(p->self->host->ctx, "scripted fault '%s' after %lld samples",
                        faults[p->cell.fault], (long long)p->samples);
    return status;
}

static enum wl_status wait_for_abort(const struct prepared *p)
{
    while (!atomic_load(&p->self->aborted))
        usleep(1000);
    return scripted(p, WL_FAIL);
}

static enum wl_status leak(void)
{
    static char *volatile lost;
    lost = malloc(1 << 16);
    if (lost)
        memset(lost, 1, 1 << 16);
    return WL_OK;
}

bool fault_is_here(const struct cell *c, const struct wl_host *host)
{
    struct rng launch;
    rng_stream(&launch, host->seed, UINT64_MAX);
    return c->fault != NONE && rng_uniform(&launch) < c->fault_share &&
           (c->fault_rank < 0 || c->fault_rank == host->rank) &&
           (c->fault_config == 0 || c->fault_config == c->config + 1);
}

enum wl_status fault_describe(const struct cell *c, char *why, size_t why_size)
{
    if (c->fault != DESCRIBE_SKIP)
        return WL_OK;
    snprintf(why, why_size, "scripted: this cell does not fit this machine");
    return WL_SKIP;
}

enum wl_status fault_prepare(const struct prepared *p)
{
    switch (p->cell.fault) {
    case PREPARE_CRASH:
        raise(SIGSEGV);
        return WL_OK;
    case PREPARE_FAIL:
        return scripted(p, WL_FAIL);
    case PREPARE_SKIP:
        return scripted(p, WL_SKIP);
    default:
        return WL_OK;
    }
}

enum wl_status fault_sample(const struct prepared *p)
{
    switch (p->cell.fault) {
    case CRASH:
        raise(SIGSEGV);
        return WL_OK;
    case HANG:
        for (;;)
            pause();
    case WAIT:
        return wait_for_abort(p);
    case STOP:
        raise(SIGSTOP);
        return WL_OK;
    case EXIT:
        _exit(0);
    case FAIL:
        return scripted(p, WL_FAIL);
    case LOST:
        return scripted(p, WL_LOST);
    case RETRY: /* once: a runner that takes the sample again gets it */
        return p->samples == p->cell.fault_after ? scripted(p, WL_RETRY) : WL_OK;
    case LEAK:
        return leak();
    default:
        return WL_OK;
    }
}

enum wl_status fault_verify(const struct prepared *p)
{
    return p->cell.fault == WRONG ? scripted(p, WL_FAIL) : WL_OK;
}
