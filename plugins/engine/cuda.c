/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cuda.h"

#include "common/clock.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct cuda driver;
static bool complete;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const struct cuda *cuda_driver(void)
{
    static const struct {
        size_t at;
        const char *symbol;
    } rows[] = {
#define CUDA_ROW(name, symbol, parameters) {offsetof(struct cuda, name), symbol},
        CUDA_EACH(CUDA_ROW)
#undef CUDA_ROW
    };
    if (__atomic_load_n(&complete, __ATOMIC_ACQUIRE))
        return &driver;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    bool all = true;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *f = dlsym(library, rows[i].symbol);
        memcpy((char *)&driver + rows[i].at, &f, sizeof f);
        all = all && f;
    }
    __atomic_store_n(&complete, all, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return all ? &driver : NULL;
}

bool cuda_is_captured(cuda_stream s)
{
    const struct cuda *cu = cuda_driver();
    int status = 0;
    return cu && !cu->capturing(s, &status) && status;
}

cuda_context cuda_enter(cuda_context context)
{
    const struct cuda *cu = cuda_driver();
    cuda_context before = NULL;
    if (cu && !cu->context(&before) && before != context)
        cu->set_context(context);
    return before;
}

void cuda_uuid(int device, char *uuid, size_t n)
{
    const struct cuda *cu = cuda_driver();
    unsigned char b[16];
    *uuid = '\0';
    if (cu && !cu->uuid(b, device))
        snprintf(uuid, n,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
                 b[14], b[15]);
}

/* False: after `until` something is still in the stream. */
static bool drain(const struct cuda *cu, cuda_stream s, uint64_t until, int *code)
{
    const int not_ready = 600; /* CUDA_ERROR_NOT_READY */
    while ((*code = cu->stream_query(s)) == not_ready) {
        if (now_ns() >= until)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return true;
}

bool cuda_known_sums(int (*all_reduce)(void *ctx, void *buffer, size_t count, cuda_stream s),
                     void *ctx, int ranks, int rank, double wait_s, bool *hung, char *why, size_t n)
{
    static const size_t counts[] = {1, 16384, 4194304}; /* LL, LL128 and Simple */
    const size_t most = 4194304;
    const struct cuda *cu = cuda_driver();
    uint64_t until = now_ns() + (uint64_t)(wait_s * 1e9);
    float mine = (float)(rank + 1), sum = (float)((double)ranks * (ranks + 1) / 2);
    unsigned bits;
    uintptr_t buffer = 0;
    cuda_stream s = NULL;
    float *host = malloc(most * sizeof *host);
    int code = 0;
    *hung = false;
    *why = '\0';
    memcpy(&bits, &mine, sizeof bits);
    if (!cu || !host || cu->alloc(&buffer, most * sizeof *host) ||
        cu->stream_create(&s, CUDA_STREAM_NON_BLOCKING))
        snprintf(why, n, "no memory for the proof of its sums");
    for (size_t i = 0; i < sizeof counts / sizeof *counts && cu && host && !*why; i++) {
        size_t count = counts[i], wrong = 0;
        code = cu->set(buffer, bits, count, s);
        code = code ? code : all_reduce(ctx, (void *)buffer, count, s);
        if (code) {
            snprintf(why, n, "an all-reduce of %zu bytes failed with code %d", 4 * count, code);
        } else if (!drain(cu, s, until, &code)) {
            *hung = true;
            snprintf(why, n, "an all-reduce of %zu bytes hung for %.0f s", 4 * count, wait_s);
        } else if (code || cu->to_host(host, buffer, count * sizeof *host)) {
            snprintf(why, n, "an all-reduce of %zu bytes failed on the GPU (CUDA error %d)",
                     4 * count, code);
        } else {
            for (size_t k = 0; k < count; k++)
                wrong += host[k] != sum;
            if (wrong)
                snprintf(why, n, "wrong sums: %zu of %zu elements of an all-reduce", wrong, count);
        }
    }
    free(host);
    if (!*hung && s)
        cu->stream_destroy(s);
    if (!*hung && buffer)
        cu->release(buffer);
    return !*why;
}
