/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool host_load(struct host *h, const char *path, int abi)
{
    *h = (struct host){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!h->library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    for (h->abi = abi; h->abi >= 3 && !h->symbol; h->abi -= !h->symbol) {
        char name[32];
        snprintf(name, sizeof name, "ncclTunerPlugin_v%d", h->abi);
        h->symbol = dlsym(h->library, name);
    }
    if (!h->symbol)
        fprintf(stderr, "%s: no tuner of version 3 to %d\n", path, abi);
    return h->symbol != NULL;
}

void host_unload(struct host *h)
{
    if (h->library)
        dlclose(h->library);
    *h = (struct host){0};
}

static void no_log(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)level, (void)flags, (void)file, (void)line, (void)fmt;
}

bool host_init(struct host_comm *c, const struct host *h, uint64_t id, int ranks, int nodes)
{
    struct nccl_domains domains = {1, ranks, ranks};
    double constants[512] = {0}; /* larger than NCCL's, and not to be touched */
    *c = (struct host_comm){.host = h, .ranks = ranks};
    size_t r = (size_t)ranks, n = (size_t)nodes;
    if (h->abi == 3)
        return !((const struct nccl_tuner_v3 *)h->symbol)->init(r, n, no_log, &c->context);
    if (h->abi == 4)
        return !((const struct nccl_tuner_v4 *)h->symbol)->init(r, n, no_log, &c->context);
    return !((const struct nccl_tuner_v5 *)h->symbol)
                ->init(&c->context, id, r, n, no_log, &domains, (void *)constants);
}

/* Costs as NCCL's model has them on NVLink, roughly: a latency and a bandwidth a pair. PAT, CollNet
 * and NVLS are not available; all-gather and reduce-scatter know the ring alone. */
static void fill(float table[NCCL_ALGOS][NCCL_PROTOS], int func, size_t bytes)
{
    static const float latency[2][NCCL_PROTOS] = {{8, 14, 30}, {10, 16, 36}};
    static const float gigabytes[2][NCCL_PROTOS] = {{40, 180, 190}, {50, 300, 340}};
    for (int a = 0; a < NCCL_ALGOS; a++)
        for (int p = 0; p < NCCL_PROTOS; p++)
            table[a][p] = a > NCCL_RING || (a == NCCL_TREE && func != NCCL_ALL_REDUCE)
                              ? NCCL_IGNORE
                              : latency[a][p] + (float)bytes / (gigabytes[a][p] * 1e3f);
}

static int ask(struct host_comm *c, int func, size_t bytes, float **table, int *channels)
{
    const struct host *h = c->host;
    if (h->abi == 3)
        return ((const struct nccl_tuner_v3 *)h->symbol)
            ->get(c->context, func, bytes, 1, table, NCCL_ALGOS, NCCL_PROTOS, channels);
    if (h->abi == 4)
        return ((const struct nccl_tuner_v4 *)h->symbol)
            ->get(c->context, func, bytes, 1, table, NCCL_ALGOS, NCCL_PROTOS, 0, channels);
    return ((const struct nccl_tuner_v5 *)h->symbol)
        ->get(c->context, func, bytes, 1, table, NCCL_ALGOS, NCCL_PROTOS, 0, channels);
}

bool host_call(struct host_comm *c, int func, size_t bytes, struct ran *ran)
{
    float table[NCCL_ALGOS][NCCL_PROTOS], least = 3.6e9f;
    int channels = 0;
    fill(table, func, bytes);
    if (c->host && ask(c, func, bytes, (float **)table, &channels))
        return false;
    *ran = (struct ran){255, 255, (uint8_t)channels};
    for (int a = 0; a < NCCL_ALGOS; a++)
        for (int p = 0; p < NCCL_PROTOS; p++)
            if (table[a][p] >= 0 && table[a][p] < least) {
                least = table[a][p];
                ran->algo = (uint8_t)a;
                ran->proto = (uint8_t)p;
            }
    return ran->algo != 255 && channels >= 0 && channels <= NCCL_MAX_CHANNELS;
}

bool host_finalize(struct host_comm *c)
{
    const struct host *h = c->host;
    if (h->abi == 3)
        return !((const struct nccl_tuner_v3 *)h->symbol)->destroy(c->context);
    if (h->abi == 4)
        return !((const struct nccl_tuner_v4 *)h->symbol)->destroy(c->context);
    return !((const struct nccl_tuner_v5 *)h->symbol)->finalize(c->context);
}
