/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bus to algorithm bandwidth: nccl-tests, doc/PERFORMANCE.md. */
static const struct collective collectives[] = {
    {"all_reduce_perf", "nccl_allreduce", IMP_ALLREDUCE},
    {"reduce_scatter_perf", "nccl_reduce_scatter", IMP_SHARE},
    {"all_gather_perf", "nccl_allgather", IMP_SHARE},
    {"alltoall_perf", "nccl_alltoall", IMP_SHARE},
    {"gather_perf", "nccl_gather", IMP_SHARE},
    {"scatter_perf", "nccl_scatter", IMP_SHARE},
    {"hypercube_perf", "nccl_hypercube", IMP_SHARE},
    {"broadcast_perf", "nccl_broadcast", IMP_ONE},
    {"reduce_perf", "nccl_reduce", IMP_ONE},
    {"sendrecv_perf", "nccl_sendrecv", IMP_ONE},
};

const struct collective *collective_of(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (!strncmp(name, collectives[i].program, strlen(collectives[i].program)))
            return &collectives[i];
    return NULL;
}

static const struct {
    const char *name, *ours;
    int64_t bytes;
} dtypes[] = {
    {"float", "fp32", 4},        {"double", "fp64", 8},     {"half", "fp16", 2},
    {"bfloat16", "bf16", 2},     {"f8e4m3", "fp8_e4m3", 1}, {"f8e5m2", "fp8_e5m2", 1},
    {"int8", "int8", 1},         {"char", "int8", 1},       {"uint8", "uint8", 1},
    {"int32", "int32", 4},       {"int", "int32", 4},       {"uint32", "uint32", 4},
    {"int64", "int64", 8},       {"uint64", "uint64", 8},   {"fp8_e4m3", "fp8_e4m3", 1},
    {"fp8_e5m2", "fp8_e5m2", 1},
};

const char *collective_dtype(const char *name, int64_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (!strcmp(dtypes[i].name, name)) {
            *bytes = dtypes[i].bytes;
            return dtypes[i].ours;
        }
    return name;
}

void collective_version(char *buf, size_t n, int64_t code)
{
    /* NCCL_VERSION(X,Y,Z): X*1000 + Y*100 + Z up to 2.8, X*10000 + Y*100 + Z since. */
    int64_t major = code < 10000 ? code / 1000 : code / 10000;
    int64_t minor = code < 10000 ? code % 1000 / 100 : code % 10000 / 100;
    snprintf(buf, n, "%lld.%lld.%lld", (long long)major, (long long)minor, (long long)(code % 100));
}

#define SLACK 0.005 /* relative: nccl-tests computes in double, and old versions cut digits */

int collective_check(const struct lines *in, const struct claim *c, enum imp_factor factor,
                     int64_t ranks)
{
    double time = c->time_us.value, size = (double)c->size_B;
    if (!c->time_us.finite || !c->algbw.finite || !c->busbw.finite || time <= 0)
        return 0; /* a fault of its cell, not of its arithmetic */
    double algbw = size / time * 1e-3;
    double room = c->algbw.half + algbw * (SLACK + c->time_us.half / time);
    if (fabs(c->algbw.value - algbw) > room)
        return import_refuse(
            in,
            "%lld bytes in %g us are %.4g GB/s, and the row says %g: its time does "
            "not fit its size and bandwidth",
            (long long)c->size_B, time, algbw, c->algbw.value);
    double want = import_factor(factor, ranks);
    if (ranks < 2)
        return 0;
    room = c->busbw.half + want * c->algbw.half + SLACK * c->busbw.value;
    if (fabs(c->busbw.value - want * c->algbw.value) > room)
        return import_refuse(in,
                             "a bus bandwidth of %g GB/s is not %.4g x %g, that of %lld ranks: its "
                             "columns do not fit each other",
                             c->busbw.value, want, c->algbw.value, (long long)ranks);
    return 0;
}
