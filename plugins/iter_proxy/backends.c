/* SPDX-License-Identifier: Apache-2.0 */
#include "iter_proxy/backends.h"

#include "common/beside.h"
#include "common/host.h"
#include "iter_proxy/traits.h"

#include <dlfcn.h>

enum wl_status backends_open(struct backends *b, const struct wl_host *host)
{
    *b = (struct backends){.host = host};
    if (MPI_Comm_dup(MPI_COMM_WORLD, &b->comm) != MPI_SUCCESS)
        return HOST_FAILED(host, "MPI_Comm_dup failed");
    return WL_OK;
}

static void shut(struct backend *at)
{
    if (at->open)
        at->ops->close(at->state);
    if (at->library)
        dlclose(at->library);
    *at = (struct backend){.refused = at->refused};
}

void backends_close(struct backends *b)
{
    for (int i = 0; i < BACKEND_KINDS; i++)
        shut(&b->of[i]);
    MPI_Comm_free(&b->comm);
}

static enum wl_status load(struct backends *b, enum proxy_backend_kind kind)
{
    struct backend *at = &b->of[kind];
    struct beside so;
    char why[512];
    if (kind == PROXY_HOST) {
        at->ops = &proxy_backend_host;
        return WL_OK;
    }
    enum wl_status status = beside_open(&so, proxy_backends[kind], PROXY_BACKEND_SYMBOL,
                                        sizeof(struct proxy_backend), why, sizeof why);
    if (status != WL_OK)
        b->host->fail(b->host->ctx, "backend=%s%s: %s", proxy_backends[kind],
                      status == WL_SKIP ? " is not here" : "", why);
    at->library = so.library;
    at->ops = so.ops;
    return status;
}

static enum wl_status worst_of(struct backends *b, enum wl_status mine)
{
    int worst = (int)mine;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, b->comm);
    return (enum wl_status)worst;
}

/* The worst of all ranks; a rank that is well says that another is not. */
static enum wl_status agree(struct backends *b, const char *name, enum wl_status mine)
{
    enum wl_status worst = worst_of(b, mine);
    if (worst != mine)
        b->host->fail(b->host->ctx, "backend=%s is not available on another rank", name);
    return worst;
}

enum wl_status backends_agree(struct backends *b, enum wl_status mine, const char *why)
{
    enum wl_status worst = worst_of(b, mine);
    if (mine != WL_OK)
        b->host->fail(b->host->ctx, "%s", why);
    else if (worst != WL_OK)
        b->host->fail(b->host->ctx, "the step cannot be prepared on another rank");
    return worst;
}

enum wl_status backends_use(struct backends *b, enum proxy_backend_kind kind)
{
    struct backend *at = &b->of[kind];
    if (at->open)
        return WL_OK;
    enum wl_status status = agree(b, proxy_backends[kind], load(b, kind));
    if (status == WL_OK) {
        enum wl_status mine = at->ops->open(&at->state, b->host);
        at->open = mine == WL_OK;
        status = agree(b, proxy_backends[kind], mine);
    }
    if (status != WL_OK) {
        at->refused = true;
        shut(at);
    }
    return status;
}

bool backends_refused(const struct backends *b, enum proxy_backend_kind kind)
{
    return b->of[kind].refused;
}

void backends_abort(struct backends *b)
{
    for (int i = 0; i < BACKEND_KINDS; i++)
        if (b->of[i].open && b->of[i].ops->abort)
            b->of[i].ops->abort(b->of[i].state);
}
