/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "nccl_tuner/nccl_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* The newest of NAME_vLEAST to NAME_v*newest. */
static const void *find(void *library, const char *name, int least, int *newest)
{
    const void *symbol = NULL;
    for (; *newest >= least && !symbol; *newest -= !symbol) {
        char full[32];
        snprintf(full, sizeof full, "%s_v%d", name, *newest);
        symbol = dlsym(library, full);
    }
    return symbol;
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    return library;
}

bool host_load(struct host *h, const char *path, int abi)
{
    *h = (struct host){.library = load(path), .abi = abi, .channels = 24};
    if (!h->library || abi < 3)
        return h->library;
    h->symbol = find(h->library, "ncclTunerPlugin", 3, &h->abi);
    if (!h->symbol)
        fprintf(stderr, "%s: no tuner of version 3 to %d\n", path, abi);
    return h->symbol != NULL;
}

bool host_load_profiler(struct host *h, const char *path, int version)
{
    h->profiler = version;
    h->profiler_library = load(path);
    h->profiler_symbol =
        h->profiler_library ? find(h->profiler_library, "ncclProfiler", 2, &h->profiler) : NULL;
    return h->profiler_symbol;
}

void host_unload(struct host *h)
{
    if (h->library)
        dlclose(h->library);
    if (h->profiler_library)
        dlclose(h->profiler_library);
    *h = (struct host){0};
}

static void no_log(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)level, (void)flags, (void)file, (void)line, (void)fmt;
}

static bool init_profiler(struct host_comm *c, uint64_t id, int nodes)
{
    const struct host *h = c->host;
    const void *p = h->profiler_symbol;
    int events = 0, ranks = c->ranks;
    if (!p)
        return true;
    if (h->profiler < 4)
        return !((const struct nccl_profiler_v2 *)p)->init(&c->profiler_context, &events);
    if (h->profiler == 4)
        return !((const struct nccl_profiler_v4 *)p)
                    ->init(&c->profiler_context, &events, "", id, nodes, ranks, 0, no_log);
    return !((const struct nccl_profiler_v5 *)p)
                ->init(&c->profiler_context, id, &events, "", nodes, ranks, 0, no_log);
}

bool host_init(struct host_comm *c, const struct host *h, uint64_t id, int ranks, int nodes)
{
    struct nccl_domains domains = {1, ranks, ranks};
    double constants[512] = {0}; /* larger than NCCL's, and not to be touched */
    *c = (struct host_comm){.host = h, .ranks = ranks};
    size_t r = (size_t)ranks, n = (size_t)nodes;
    if (!init_profiler(c, id, nodes))
        return false;
    if (!h->symbol)
        return true;
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

static bool choose(struct ran *ran, float table[NCCL_ALGOS][NCCL_PROTOS])
{
    float least = 3.6e9f;
    ran->algo = ran->proto = 255;
    for (int a = 0; a < NCCL_ALGOS; a++)
        for (int p = 0; p < NCCL_PROTOS; p++)
            if (table[a][p] >= 0 && table[a][p] < least) {
                least = table[a][p];
                ran->algo = (uint8_t)a;
                ran->proto = (uint8_t)p;
            }
    return ran->algo != 255;
}

static const char *const algo_log[] = {"TREE", "RING"}, *const proto_log[] = {"LL", "LL128",
                                                                              "SIMPLE"};

static bool tell_old(struct host_comm *c, const struct ran *ran, int channels)
{
    const struct host *h = c->host;
    const struct nccl_profiler_v4 *p = h->profiler_symbol;
    const char *algo = algo_log[ran->algo & 1], *proto = proto_log[ran->proto];
    int (*start)(void *, void **, struct nccl_event_old *) =
        h->profiler == 4 ? p->start : ((const struct nccl_profiler_v2 *)h->profiler_symbol)->start;
    struct nccl_event_old group = {.type = NCCL_EVENT_GROUP}, e = {.type = NCCL_EVENT_COLL};
    void *handle = NULL, *other = NULL;
    if (h->profiler == 4)
        e.v4 = (struct nccl_coll){.channels = (uint8_t)channels, .algo = algo, .proto = proto};
    else if (h->profiler == 3)
        e.old = (struct nccl_coll_old){.v3 = {.algo = algo, .proto = proto}};
    else
        e.old = (struct nccl_coll_old){.v2 = {.algo = algo, .proto = proto}};
    if (start(c->profiler_context, &handle, &group))
        return false;
    return !handle || !start(c->profiler_context, &other, &e);
}

/* What NCCL runs, and not what it was asked for. */
static bool tell(struct host_comm *c, const struct ran *ran, int channels)
{
    const struct host *h = c->host;
    const struct nccl_profiler_v5 *p = h->profiler_symbol;
    if (!p || h->profiler < 5)
        return !p || tell_old(c, ran, channels);
    struct nccl_event_v5 api = {.type = NCCL_EVENT_COLL_API, .api = {.captured = c->captured}};
    struct nccl_event_v5 e = {.type = NCCL_EVENT_COLL,
                              .coll = {.channels = (uint8_t)channels,
                                       .algo = algo_log[ran->algo & 1],
                                       .proto = proto_log[ran->proto]}};
    void *handle = NULL;
    return !p->start(c->profiler_context, &handle, &api) && !handle &&
           (c->captured || (!p->start(c->profiler_context, &handle, &e) && !handle));
}

bool host_call(struct host_comm *c, int func, size_t bytes, struct ran *ran)
{
    float table[NCCL_ALGOS][NCCL_PROTOS];
    const struct host *h = c->host;
    struct ran own;
    int channels = 0;
    fill(table, func, bytes);
    choose(&own, table);
    if (h && h->symbol && ask(c, func, bytes, (float **)table, &channels))
        return false;
    ran->channels = (uint8_t)channels;
    if (channels < 0 || channels > NCCL_MAX_CHANNELS || !choose(ran, table))
        return false;
    return !h || tell(c, h->stubborn ? &own : ran,
                      channels && channels < h->channels ? channels : h->channels);
}

bool host_finalize(struct host_comm *c)
{
    const struct host *h = c->host;
    bool good = true;
    if (h->symbol && h->abi == 3)
        good = !((const struct nccl_tuner_v3 *)h->symbol)->destroy(c->context);
    else if (h->symbol && h->abi == 4)
        good = !((const struct nccl_tuner_v4 *)h->symbol)->destroy(c->context);
    else if (h->symbol)
        good = !((const struct nccl_tuner_v5 *)h->symbol)->finalize(c->context);
    if (h->profiler_symbol && h->profiler < 4)
        ((const struct nccl_profiler_v2 *)h->profiler_symbol)->finalize(c->profiler_context);
    else if (h->profiler_symbol) /* v5's struct has the same members from start on */
        ((const struct nccl_profiler_v4 *)h->profiler_symbol)->finalize(c->profiler_context);
    return good;
}
