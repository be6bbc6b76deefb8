/* SPDX-License-Identifier: Apache-2.0
 *
 * burn GPU PERCENT SECONDS: keeps a GPU busy for PERCENT of each 10 ms. A GPU runs one process at a
 * time, so that other processes on it take longer. Prints "burning" once it does.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD_NS 10000000ull
#define CALIBRATION 1000000u

/* Work, not a time to wait for: the time would pass while another process has the GPU. */
__global__ void work(unsigned n, float *sink)
{
    float x = (float)threadIdx.x;
    for (unsigned i = 0; i < n; i++)
        x = x * 0.999f + 1.0f;
    if (x < 0)
        *sink = x;
}

static unsigned long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static void sleep_until(unsigned long long ns)
{
    struct timespec t = {(time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static bool run(int sms, unsigned n)
{
    work<<<sms, 1024>>>(n, NULL);
    return cudaDeviceSynchronize() == cudaSuccess;
}

/* Iterations that take so long on a GPU that is idle otherwise. */
static unsigned iterations(int sms, double ns)
{
    unsigned long long start = 0;
    for (int i = 0; i < 20; i++) { /* the clocks of an idle GPU rise first */
        start = now_ns();
        if (!run(sms, CALIBRATION))
            return 0;
    }
    return (unsigned)(CALIBRATION * ns / (double)(now_ns() - start));
}

int main(int argc, char **argv)
{
    int sms = 0, gpu = argc == 4 ? atoi(argv[1]) : -1;
    if (gpu < 0 || cudaSetDevice(gpu) != cudaSuccess ||
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, gpu) != cudaSuccess) {
        fprintf(stderr, "burn GPU PERCENT SECONDS: no such GPU\n");
        return 2;
    }
    unsigned n = iterations(sms, (double)PERIOD_NS * atof(argv[2]) / 100);
    unsigned long long end = now_ns() + strtoull(argv[3], NULL, 10) * 1000000000ull;
    puts("burning");
    fflush(stdout);
    for (unsigned long long next = now_ns(); n && next < end; next = now_ns()) {
        if (!run(sms, n))
            return 1;
        sleep_until(next + PERIOD_NS);
    }
    return n ? 0 : 1;
}
