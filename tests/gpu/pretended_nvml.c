/* SPDX-License-Identifier: Apache-2.0
 *
 * NVML, pretended: built as libnvidia-ml.so.1 for tests of what is recorded about GPUs. It has
 * PRETEND_GPUS GPUs (2). The programs on GPU N are the process ids in the file PRETEND_PROGRAMS.N,
 * one a line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, MISSING = 6, GPUS = 8 };

struct program {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

static char device[GPUS];

static unsigned gpus(void)
{
    const char *told = getenv("PRETEND_GPUS");
    return told ? (unsigned)atoi(told) : 2;
}

static int put(char *to, unsigned n, const char *text)
{
    snprintf(to, n, "%s", text);
    return SUCCESS;
}

int nvmlInit_v2(void)
{
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = gpus();
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, char **d)
{
    *d = &device[i % GPUS];
    return i < gpus() ? SUCCESS : MISSING;
}

int nvmlDeviceGetName(const char *d, char *name, unsigned n)
{
    return put(name, n, d ? "Pretended GPU" : "");
}

int nvmlDeviceGetUUID(const char *d, char *uuid, unsigned n)
{
    snprintf(uuid, n, "GPU-00000000-0000-0000-0000-0000000000%02x", (unsigned)(d - device));
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *version, unsigned n)
{
    return put(version, n, "570.1");
}

int nvmlSystemGetCudaDriverVersion(int *version)
{
    *version = 12080;
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(const char *d, int kind, unsigned *mhz)
{
    *mhz = d && kind ? 1980 : 0;
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(const char *d, unsigned *n, struct program *found)
{
    char path[4096];
    const char *stem = getenv("PRETEND_PROGRAMS");
    unsigned most = *n;
    *n = 0;
    snprintf(path, sizeof path, "%s.%d", stem ? stem : "/nothing", (int)(d - device));
    FILE *f = fopen(path, "r");
    while (f && *n < most && fscanf(f, "%u", &found[*n].pid) == 1)
        ++*n;
    if (f)
        fclose(f);
    return SUCCESS;
}
