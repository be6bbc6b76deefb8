/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi_allreduce/cell.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#define T_SS_ITERS 16
/* For plans alone: an operation's latency and bandwidth on a common host. */
#define ROUGH_LATENCY_S 2e-6
#define ROUGH_BANDWIDTH_BPS 2e9

static const char *const dtypes[] = {"float32", "float64", "int32", "int64", "uint8", NULL};
static const enum payload_type types[] = {PAYLOAD_FP32, PAYLOAD_FP64, PAYLOAD_INT32, PAYLOAD_INT64,
                                          PAYLOAD_UINT8};
static const char *const ops[] = {[PAYLOAD_SUM] = "sum",
                                  [PAYLOAD_PROD] = "prod",
                                  [PAYLOAD_MAX] = "max",
                                  [PAYLOAD_MIN] = "min",
                                  NULL};
static const char *const buffers[] = {[HOT] = "hot", [COLD] = "cold", NULL};
static const char *const metric_names[] = {[T_SS] = "T_ss", [L_ISO] = "L_iso", NULL};
const char *const algorithms[] = {[ALLREDUCE_AUTO] = "auto",
                                  [ALLREDUCE_RING] = "ring",
                                  [ALLREDUCE_TREE] = "tree",
                                  [ALLREDUCE_RECURSIVE_DOUBLING] = "recursive_doubling",
                                  [ALLREDUCE_RABENSEIFNER] = "rabenseifner",
                                  NULL};

#define P(member, type, role, ctype) #member, type, role, WL_FIELD(struct cell, member, ctype)
/* clang-format off */
const struct wl_param cell_params[] = {
    {P(size, WL_SIZE, WL_AXIS, uint64_t), "B", "1MiB", 1, 1ull << 40, NULL,
     "bytes of the buffer on one rank; a multiple of the element size"},
    {P(dtype, WL_CHOICE, WL_AXIS, int), NULL, "float32", 0, 0, dtypes,
     "type of an element"},
    {P(op, WL_CHOICE, WL_AXIS, int), NULL, "sum", 0, 0, ops,
     "reduction operation"},
    {P(in_place, WL_BOOL, WL_AXIS, bool), NULL, "no", 0, 0, NULL,
     "the result replaces the input"},
    {P(buffers, WL_CHOICE, WL_AXIS, int), NULL, "hot", 0, 0, buffers,
     "hot: reuse one buffer; cold: rotate through 4 times the last-level cache"},
    {P(metric, WL_CHOICE, WL_AXIS, int), NULL, "T_ss", 0, 0, metric_names,
     "T_ss: operations back to back; L_iso: one operation from a common start"},
    {P(algorithm, WL_CHOICE, WL_CONFIG, int), NULL, "auto", 0, 0, algorithms,
     "auto: MPI_Allreduce; the others use MPI point to point"},
    {P(collective, WL_CHOICE, WL_AXIS, int), NULL, "allreduce", 0, 0, collective_names,
     "the collective; sendrecv: to the next rank, from the one before; size as in nccl-tests"},
    {0}};
/* clang-format on */

const char *const cell_added[] = {"collective", NULL};

const struct mpi_operation *cell_operation(const struct cell *c)
{
    return c->collective == COLLECTIVE_ALLREDUCE ? &mpi_allreduces[c->algorithm]
                                                 : &mpi_collectives[c->collective];
}

/* Values of max differ between ranks, which is what a collective that copies needs. */
struct payload_kind cell_payload(const struct cell *c, int ranks)
{
    bool reduces = collective_reduces((enum collective)c->collective);
    return (struct payload_kind){.type = types[c->dtype],
                                 .op = reduces ? (enum payload_op)c->op : PAYLOAD_MAX,
                                 .ranks = ranks,
                                 .chained = c->in_place && c->metric == T_SS};
}

size_t cell_element_B(const struct cell *c)
{
    return payload_dtypes[types[c->dtype]].size_B;
}

size_t cell_count(const struct cell *c)
{
    return (size_t)c->size / cell_element_B(c);
}

size_t cell_scratch_B(const struct cell *c, int ranks)
{
    return mpi_scratch_B((enum allreduce_kind)c->algorithm, cell_count(c), cell_element_B(c), ranks,
                         c->in_place);
}

struct slots_shape cell_slots(const struct cell *c)
{
    return slots_shape(c->size, c->buffers == COLD, c->in_place);
}

/* What the other collectives lack. */
static bool lacks(const struct cell *c, char *why, size_t n)
{
    const char *name = collective_names[c->collective];
    if (c->collective == COLLECTIVE_ALLREDUCE)
        return false;
    if (c->algorithm != ALLREDUCE_AUTO)
        snprintf(why, n, "algorithm=%s is an all-reduce: use algorithm=auto with collective=%s",
                 algorithms[c->algorithm], name);
    else if (c->in_place)
        snprintf(why, n, "collective=%s is measured out of place: use in_place=no", name);
    else if (c->op != PAYLOAD_SUM && !collective_reduces((enum collective)c->collective))
        snprintf(why, n, "collective=%s reduces nothing: use op=sum", name);
    else
        return false;
    return true;
}

static enum wl_status judge(const struct cell *c, const struct wl_job *job, char *why, size_t n)
{
    size_t element_B = cell_element_B(c);
    struct payload_kind kind = cell_payload(c, job->ranks);
    if (job->ranks < 2) {
        snprintf(why, n, "ranks=%d: %s needs at least 2", job->ranks,
                 c->collective ? "a collective" : "an all-reduce");
        return WL_FAIL;
    }
    if (!collective_divides((enum collective)c->collective, c->size, element_B, dtypes[c->dtype],
                            job->ranks, why, n))
        return WL_FAIL;
    if (c->size / element_B > INT_MAX) {
        snprintf(why, n, "size=%llu is more than the %d elements of dtype=%s that MPI can count",
                 (unsigned long long)c->size, INT_MAX, dtypes[c->dtype]);
        return WL_FAIL;
    }
    if (lacks(c, why, n))
        return WL_SKIP;
    if (payload_reductions(&kind) < (kind.chained ? T_SS_ITERS : 1)) {
        snprintf(why, n,
                 "dtype=%s op=%s%s on %d ranks has no values whose result is exact; "
                 "use a wider dtype",
                 dtypes[c->dtype], ops[c->op], kind.chained ? " in_place=yes metric=T_ss" : "",
                 job->ranks);
        return WL_SKIP;
    }
    return WL_OK;
}

enum wl_status cell_describe(const void *cell, const struct wl_job *job, struct wl_shape *shape,
                             char *why, size_t why_size)
{
    const struct cell *c = cell;
    enum wl_status status = judge(c, job, why, why_size);
    if (status == WL_FAIL)
        return status;
    struct payload_kind kind = cell_payload(c, job->ranks);
    unsigned reductions = payload_reductions(&kind);
    bool isolated = c->metric == L_ISO;
    shape->size_B = c->size;
    shape->busbw_factor = collective_busbw_factor((enum collective)c->collective, job->ranks);
    shape->host_B = cell_slots(c).total_B + cell_scratch_B(c, job->ranks) + sizeof(struct payload);
    shape->iteration_s = ROUGH_LATENCY_S * log2(job->ranks) +
                         (double)c->size * shape->busbw_factor / ROUGH_BANDWIDTH_BPS;
    shape->iters_min = isolated ? 1 : T_SS_ITERS;
    shape->iters_max = isolated ? 1 : kind.chained && reductions != UINT_MAX ? reductions : 0;
    shape->span = isolated;
    return status;
}
