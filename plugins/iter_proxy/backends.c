/* SPDX-License-Identifier: Apache-2.0 */
#include "backends.h"

#include "traits.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum wl_status backends_open(struct backends *b, const struct wl_host *host)
{
    *b = (struct backends){.host = host};
    if (MPI_Comm_dup(MPI_COMM_WORLD, &b->comm) != MPI_SUCCESS) {
        host->fail(host->ctx, "MPI_Comm_dup failed");
        return WL_FAIL;
    }
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

/* iter_proxy.so's own path without .so, then "/NAME.so". */
static bool beside(const char *name, char *path, size_t n)
{
    Dl_info self;
    if (!dladdr(&wl_plugin_v1, &self) || !self.dli_fname)
        return false;
    size_t stem = strlen(self.dli_fname);
    if (stem > 3 && strcmp(self.dli_fname + stem - 3, ".so") == 0)
        stem -= 3;
    return (size_t)snprintf(path, n, "%.*s/%s.so", (int)stem, self.dli_fname, name) < n;
}

static enum wl_status load(struct backends *b, enum proxy_backend_kind kind)
{
    struct backend *at = &b->of[kind];
    char path[PATH_MAX];
    if (kind == PROXY_HOST) {
        at->ops = &proxy_backend_host;
        return WL_OK;
    }
    if (!beside(proxy_backends[kind], path, sizeof path) ||
        !(at->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        b->host->fail(b->host->ctx, "backend=%s is not here: %s", proxy_backends[kind], dlerror());
        return WL_SKIP;
    }
    at->ops = dlsym(at->library, PROXY_BACKEND_SYMBOL);
    if (!at->ops || at->ops->size != sizeof(struct proxy_backend)) {
        b->host->fail(b->host->ctx, "%s is no backend of this iter_proxy: build both anew", path);
        return WL_FAIL;
    }
    return WL_OK;
}

/* The worst of all ranks; a rank that is well says that another is not. */
static enum wl_status agree(struct backends *b, const char *name, enum wl_status mine)
{
    int worst = (int)mine;
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, b->comm);
    if (worst != (int)mine)
        b->host->fail(b->host->ctx, "backend=%s is not there on another rank", name);
    return (enum wl_status)worst;
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
