/* SPDX-License-Identifier: Apache-2.0 */
#include "common/host.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int badness(enum wl_status s)
{
    static const int of[] = {
        [WL_OK] = 0, [WL_RETRY] = 1, [WL_SKIP] = 2, [WL_FAIL] = 3, [WL_LOST] = 4};
    return of[s];
}

enum wl_status host_agree(const struct wl_host *host, enum wl_status status, const char *why)
{
    struct outcome {
        enum wl_status status;
        char why[232];
    } mine = {.status = status}, worst = {.status = WL_OK};
    int rank = 0, bad = 0;
    if (status != WL_OK)
        snprintf(mine.why, sizeof mine.why, "%s", why ? why : "failed; its own line says why");
    for (int r = 0; r < host->ranks; r++) {
        struct outcome o = mine;
        host->bcast(host->ctx, &o, sizeof o, r);
        bad += o.status != WL_OK;
        if (badness(o.status) > badness(worst.status)) {
            worst = o;
            rank = r;
        }
    }
    if (bad && !(status != WL_OK && !why)) {
        if (bad == host->ranks)
            HOST_FAIL(host, "%s", worst.why);
        else
            HOST_FAIL(host, "rank %d: %s", rank, worst.why);
    }
    return worst.status;
}

/* This object's own path without .so, then "/BACKEND.so". */
static bool path_of(const char *backend, char *path, size_t n)
{
    static const char here;
    Dl_info self;
    if (!dladdr(&here, &self) || !self.dli_fname)
        return false;
    size_t stem = strlen(self.dli_fname);
    if (stem > 3 && strcmp(self.dli_fname + stem - 3, ".so") == 0)
        stem -= 3;
    return (size_t)snprintf(path, n, "%.*s/%s.so", (int)stem, self.dli_fname, backend) < n;
}

enum wl_status host_backend(struct host_backend *b, const char *backend, const char *symbol,
                            size_t size, char *why, size_t n)
{
    char path[PATH_MAX];
    *b = (struct host_backend){0};
    if (!path_of(backend, path, sizeof path))
        return HOST_WHY(WL_SKIP, why, n, "%s.so: the plugin's own file cannot be found", backend);
    if (!(b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
        return HOST_WHY(
            WL_SKIP, why, n,
            "%s: install CUDA's and NCCL's libraries, or run make where they are (CUDA_HOME, "
            "NCCL_HOME)",
            dlerror());
    b->ops = dlsym(b->library, symbol);
    if (b->ops && *(const size_t *)b->ops == size)
        return WL_OK;
    snprintf(why, n, "%s: its version differs from the plugin's; build both again", path);
    dlclose(b->library);
    *b = (struct host_backend){0};
    return WL_FAIL;
}
