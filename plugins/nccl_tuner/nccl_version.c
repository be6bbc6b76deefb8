/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/nccl_version.h"

#include <dlfcn.h>
#include <stddef.h>

int nccl_version(void)
{
    int version = 0;
    void *library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_NOLOAD);
    int (*get)(int *) = NULL;
    *(void **)&get = dlsym(library ? library : RTLD_DEFAULT, "ncclGetVersion");
    if (get && get(&version))
        version = 0;
    if (library)
        dlclose(library);
    return version;
}
