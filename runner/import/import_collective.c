/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_collective.h"

#include "base/err.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The factors are those of nccl-tests, doc/PERFORMANCE.md. */
static const struct collective collectives[] = {
    {"all_reduce_perf", "nccl_allreduce", "", IMP_ALLREDUCE},
    {"reduce_scatter_perf", "nccl_allreduce", "reducescatter", IMP_SHARE},
    {"all_gather_perf", "nccl_allreduce", "allgather", IMP_SHARE},
    {"alltoall_perf", "nccl_allreduce", "alltoall", IMP_SHARE},
    {"broadcast_perf", "nccl_allreduce", "broadcast", IMP_ONE},
    {"reduce_perf", "nccl_allreduce", "reduce", IMP_ONE},
    {"sendrecv_perf", "nccl_allreduce", "sendrecv", IMP_ONE},
    /* gradsync measures none of these. */
    {"gather_perf", "nccl_gather", "", IMP_SHARE},
    {"scatter_perf", "nccl_scatter", "", IMP_SHARE},
    {"hypercube_perf", "nccl_hypercube", "", IMP_SHARE},
};

const struct collective *collective_of(const struct import_lines *in, const char *program)
{
    const char *name = path_name(program);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (!strncmp(name, collectives[i].program, strlen(collectives[i].program)))
            return &collectives[i];
    import_refuse(in, "'%.60s' is not a known collective of nccl-tests", program);
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

/* gradsync's name of an element type, and its bytes; unknown: the same name, and 0. */
static const char *dtype_of(const char *name, int64_t *bytes)
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

int64_t collective_iters(int64_t iters, int64_t aggregated)
{
    bool sane = iters > 0 && iters < 1000000 && aggregated > 0 && aggregated < 1000;
    return sane ? iters * aggregated : 1;
}

int collective_set_type(const struct import_lines *in, const struct imp_test *t, const char *type,
                        const char *op, int64_t count, struct imp_cell *cell)
{
    int64_t bytes;
    const char *dtype = dtype_of(type, &bytes);
    word_copy(cell->dtype, sizeof cell->dtype, &(struct word){dtype, strlen(dtype)});
    word_copy(cell->op, sizeof cell->op, &(struct word){op, strlen(op)});
    if (t->factor == IMP_ALLREDUCE && bytes &&
        (count > INT64_MAX / 8 || count * bytes != cell->size_B))
        return import_refuse(in, "%lld elements of %.20s are not %lld bytes", (long long)count,
                             type, (long long)cell->size_B);
    return GS_OK;
}

#define SLACK 0.005 /* relative; nccl-tests computes in double, and old versions cut digits */

int collective_check(const struct import_lines *in, const struct collective_row *row,
                     enum imp_factor factor, int64_t ranks)
{
    double time = row->time_us.value, size = (double)row->size_B;
    if (row->time_us.negative)
        return import_refuse(in, "a negative time, %g us", time);
    if (!row->time_us.finite || !row->algbw.finite || !row->busbw.finite || time <= 0)
        return GS_OK; /* becomes a fault of the cell */
    double algbw = size / time * 1e-3;
    double room = row->algbw.half + algbw * (SLACK + row->time_us.half / time);
    if (fabs(row->algbw.value - algbw) > room)
        return import_refuse(in,
                             "%lld bytes in %g us are %.4g GB/s, but the row says %g: its time "
                             "does not fit its size and bandwidth",
                             (long long)row->size_B, time, algbw, row->algbw.value);
    double want = import_factor(factor, ranks);
    if (ranks < 2)
        return GS_OK;
    room = row->busbw.half + want * row->algbw.half + SLACK * row->busbw.value;
    if (fabs(row->busbw.value - want * row->algbw.value) > room)
        return import_refuse(in,
                             "the bus bandwidth of %g GB/s is not %.4g x %g, the factor of %lld "
                             "ranks: its columns do not fit each other",
                             row->busbw.value, want, row->algbw.value, (long long)ranks);
    return GS_OK;
}

int collective_refuse_cpu_time(const struct import_lines *in)
{
    return import_refuse(in, "its times are what the host takes to issue an operation "
                             "(nccl-tests -C), not the operation's own; run it without -C");
}
