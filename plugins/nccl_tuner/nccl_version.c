/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_tuner/nccl_version.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

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

/* cuda.h's, whose ABI is stable. */
bool nccl_gpu_uuid(char uuid[NCCL_GPU_UUID])
{
    int (*current)(int *) = NULL, (*ask)(unsigned char *, int) = NULL, device;
    unsigned char b[16];
    bool found = false;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return false;
    *(void **)&current = dlsym(driver, "cuCtxGetDevice");
    *(void **)&ask = dlsym(driver, "cuDeviceGetUuid");
    found = current && ask && !current(&device) && !ask(b, device);
    if (found)
        snprintf(uuid, NCCL_GPU_UUID,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                 b[14], b[15]);
    dlclose(driver);
    return found;
}
