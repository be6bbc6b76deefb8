/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The version of the NCCL in this process, as ncclGetVersion() gives it (22809 is 2.28.9); 0: it is
 * linked into the program in a way that hides it. */
int nccl_version(void);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" of the GPU that this thread has made current, as NVML
 * names it. False: no CUDA driver, or no current GPU. */
#define NCCL_GPU_UUID 41
bool nccl_gpu_uuid(char uuid[NCCL_GPU_UUID]);
