/* SPDX-License-Identifier: Apache-2.0 */
#include "common/beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The plugin's own path without .so, then "/BACKEND.so". */
static bool path_of(const char *backend, char *path, size_t n)
{
    Dl_info self;
    if (!dladdr(&wl_plugin_v1, &self) || !self.dli_fname)
        return false;
    size_t stem = strlen(self.dli_fname);
    if (stem > 3 && strcmp(self.dli_fname + stem - 3, ".so") == 0)
        stem -= 3;
    return (size_t)snprintf(path, n, "%.*s/%s.so", (int)stem, self.dli_fname, backend) < n;
}

enum wl_status beside_open(struct beside *b, const char *backend, const char *symbol, size_t size,
                           char *why, size_t n)
{
    char path[PATH_MAX];
    *b = (struct beside){0};
    if (!path_of(backend, path, sizeof path)) {
        snprintf(why, n, "%s.so: the plugin's own file cannot be found", backend);
        return WL_SKIP;
    }
    if (!(b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
        snprintf(why, n,
                 "%s: install CUDA's and NCCL's libraries, or run make where they are (CUDA_HOME, "
                 "NCCL_HOME)",
                 dlerror());
        return WL_SKIP;
    }
    b->ops = dlsym(b->library, symbol);
    if (b->ops && *(const size_t *)b->ops == size)
        return WL_OK;
    snprintf(why, n, "%s: its version differs from the plugin's; build both again", path);
    dlclose(b->library);
    *b = (struct beside){0};
    return WL_FAIL;
}
