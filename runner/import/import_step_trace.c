/* SPDX-License-Identifier: Apache-2.0
 *
 * A Chrome trace of torch.profiler, recorded with record_shapes=True, as a step. Of several steps
 * (ProfilerStep#N, or else from one Optimizer.step to the next) it takes the one of median length. It reads these events, in the order in which
 * the CPU issued them:
 *   aten::mm, addmm, bmm, baddbmm    "Input Dims", "Input type", "Input Strides" (layouts)
 *   kernels, copies, fills           their duration; bytes: what the GPU copies in that time, so that
 *                                    a replay takes as long, by the trace's own copies
 *   AccumulateGrad                   a gradient is ready
 *   record_param_comms               "Collective name", "dtype", "In msg nelems", the group
 */
#include "base/err.h"
#include "base/text.h"
#include "import/import_step.h"
#include "import/trace_event.h"

#include <stdlib.h>
#include <string.h>

struct trace {
    struct step_draft *d;
    struct trace_events e;
    double from, to; /* the step, in us */
    double rate;     /* trace_copy_rate */
    double reduced;  /* when the last all-reduce ended, if all-reduces became gradients; else 0 */
    struct item {
        double at; /* when the CPU issued it */
        size_t order;
        struct step_line line;
        double begin, end; /* of its kernels on the GPU; 0: unknown */
    } * item;
    size_t n, cap;
    size_t gemms, guessed, skipped;
};

static struct item *add_item(struct trace *t, double at, enum step_kind kind, int dtype)
{
    ALLOC_GROW(t->item, t->n, t->cap);
    struct item *i = &t->item[t->n];
    *i = (struct item){.at = at, .order = t->n};
    i->line.kind = kind;
    i->line.dtype = (enum step_dtype)dtype;
    t->n++;
    return i;
}

static bool inside(const struct trace *t, double at)
{
    return at >= t->from && at < t->to;
}

/* ---- GEMMs ---- */

/* By rows: a matrix whose first stride is 1 is the transpose of a stored one. */
static bool transposed(const struct trace_shape *s)
{
    int last = s->dims - 1;
    return s->strided && s->stride[last - 1] == 1 && s->stride[last] > 1;
}

static int refuse_shape(const struct trace *t, const struct trace_event *e)
{
    return fail_at(GS_FAILED, t->d->path, 0,
                   "%.60s at %.3f us: its \"Input Dims\" are not those of a "
                   "matrix product: record with record_shapes=True",
                   e->name, e->ts);
}

static int add_gemm(struct trace *t, const struct trace_event *e)
{
    const int first = e->op == TRACE_ADDMM || e->op == TRACE_BADDBMM;
    const bool batched = e->op == TRACE_BMM || e->op == TRACE_BADDBMM;
    const int dims = batched ? 3 : 2;
    if (e->inputs < first + 2)
        return refuse_shape(t, e);
    const struct trace_shape *a = &e->input[first], *b = &e->input[first + 1];
    if (a->dims != dims || b->dims != dims || a->dim[dims - 1] != b->dim[dims - 2] ||
        (batched && a->dim[0] != b->dim[0]))
        return refuse_shape(t, e);
    if (a->dtype < 0)
        return fail_at(GS_FAILED, t->d->path, 0,
                       "%.60s at %.3f us: no dtype '%.40s': float, "
                       "c10::BFloat16 or c10::Half",
                       e->name, e->ts, e->type);
    struct item *i = add_item(t, e->ts, STEP_GEMM, a->dtype);
    i->line.number[STEP_M].value = (uint64_t)a->dim[dims - 2];
    i->line.number[STEP_N].value = (uint64_t)b->dim[dims - 1];
    i->line.number[STEP_K].value = (uint64_t)a->dim[dims - 1];
    i->line.number[STEP_COUNT].value = batched ? (uint64_t)a->dim[0] : 1;
    i->line.transpose_a = transposed(a);
    i->line.transpose_b = b->strided ? transposed(b) : e->op == TRACE_ADDMM;
    trace_kernel_span(&t->e, e->id, &i->begin, &i->end);
    t->guessed += !b->strided;
    t->gemms++;
    return GS_OK;
}

/* ---- kernels ---- */

static void add_kernel(struct trace *t, const struct trace_event *e)
{
    const struct trace_event *op = trace_op(&t->e, e->id);
    double at = trace_launch(&t->e, e), bytes = e->dur * 1e-6 * t->rate;
    if (!inside(t, at) || (op && op->op != TRACE_OTHER) || !(e->dur > 0 && e->dur < 1e9))
        return;
    struct item *i = add_item(t, at, STEP_KERNEL, STEP_FP32);
    i->line.number[0].value = bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
    i->line.time_s = e->dur * 1e-6;
    i->begin = e->ts;
}

/* ---- gradients and collectives ---- */

static void add_gradient(struct trace *t, const struct trace_event *e)
{
    double elements = 1;
    const struct trace_shape *s = &e->input[0];
    for (int k = 0; e->inputs && k < s->dims; k++)
        elements *= (double)s->dim[k];
    if (!e->inputs || s->dtype < 0 || elements < 1 || elements > (double)STEP_NUMBER_MAX)
        return;
    add_item(t, e->ts, STEP_GRADIENT, s->dtype)->line.number[0].value = (uint64_t)elements;
}

static void add_collective(struct trace *t, const struct trace_event *e)
{
    if (e->collective < 0 || e->message_dtype < 0 || e->elements < 1 ||
        e->elements > (int64_t)STEP_NUMBER_MAX || e->group_size == 1) {
        t->skipped++;
        return;
    }
    struct item *i = add_item(t, e->ts, (enum step_kind)e->collective, e->message_dtype);
    i->line.number[0].value = (uint64_t)e->elements;
    snprintf(i->line.group, sizeof i->line.group, "%s", e->group);
    trace_kernel_span(&t->e, e->id, &i->begin, &i->end);
}

static int read_items(struct trace *t)
{
    int code = GS_OK;
    for (size_t i = 0; i < t->e.n && !code; i++) {
        const struct trace_event *e = &t->e.event[i];
        if (e->kind == TRACE_KERNEL)
            add_kernel(t, e);
        else if (!inside(t, e->ts))
            continue;
        else if (e->kind == TRACE_GRADIENT)
            add_gradient(t, e);
        else if (e->kind == TRACE_COMMS)
            add_collective(t, e);
        else if (e->kind == TRACE_OP && e->op != TRACE_OTHER)
            code = add_gemm(t, e);
    }
    return code;
}

/* ---- what the items are together ---- */

static int by_time(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void drop(struct trace *t, enum step_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->item[i].line.kind != kind)
            t->item[n++] = t->item[i];
    t->n = n;
}

/* DDP's all-reduces are the gradients in buckets: if their elements agree, gradients are written,
 * and the replay forms the buckets. */
static int settle_gradients(struct trace *t)
{
    double sum[STEP_WAIT] = {0};
    size_t n[STEP_WAIT] = {0};
    for (size_t i = 0; i < t->n; i++) {
        sum[t->item[i].line.kind] += (double)t->item[i].line.number[0].value;
        n[t->item[i].line.kind]++;
    }
    size_t others = n[STEP_ALL_GATHER] + n[STEP_REDUCE_SCATTER];
    double gradients = sum[STEP_GRADIENT], reduced = sum[STEP_ALL_REDUCE];
    bool ddp = gradients > 0 && reduced >= gradients && reduced <= gradients * 1.05 + 1024;
    for (size_t i = 0; ddp && i < t->n; i++)
        if (t->item[i].line.kind == STEP_ALL_REDUCE && t->item[i].end > t->reduced)
            t->reduced = t->item[i].end;
    if (ddp)
        drop(t, STEP_ALL_REDUCE);
    else if (n[STEP_ALL_REDUCE] + others)
        drop(t, STEP_GRADIENT);
    if (ddp)
        text_addf(&t->d->head, "DDP: %zu all-reduces became %zu gradients\n", n[STEP_ALL_REDUCE],
                  n[STEP_GRADIENT]);
    else if (gradients > 0 && !others && !n[STEP_ALL_REDUCE])
        say("%s: no collectives; its %zu gradients are all-reduced as DDP would", t->d->path,
            n[STEP_GRADIENT]);
    if (gradients > 0 || others || n[STEP_ALL_REDUCE])
        return GS_OK;
    return fail_at(GS_FAILED, t->d->path, 0,
                   "neither collectives (record_param_comms) nor gradients: record a training step "
                   "of several ranks, with record_shapes=True");
}

/* The optimizer waits for the last bucket: the first computation behind the gradients that began after
 * the last all-reduce had ended. */
static bool waits_for_buckets(struct trace *t, size_t i, size_t gradients)
{
    bool waits = t->reduced > 0 && !gradients && t->item[i].begin >= t->reduced;
    t->reduced = waits ? 0 : t->reduced;
    return waits;
}

/* The first computation that began after a gather ended waited for it. If the trace does not say
 * when, the next one did. */
static void write_items(struct trace *t)
{
    size_t written = 0, gradients = 0;
    AUTO_FREE double *end = xcalloc(t->n + 1, sizeof *end);
    size_t waited = 0;
    for (size_t i = 0; i < t->n; i++)
        gradients += t->item[i].line.kind == STEP_GRADIENT;
    for (size_t i = 0; i < t->n; i++) {
        const struct item *item = &t->item[i];
        size_t ready = waited;
        bool compute = item->line.kind == STEP_GEMM || item->line.kind == STEP_KERNEL;
        for (size_t k = waited; compute && k < written; k++)
            if (end[k] >= 0 && (end[k] <= item->begin || item->begin == 0))
                ready = k + 1;
        gradients -= item->line.kind == STEP_GRADIENT;
        if (ready > waited || (compute && waits_for_buckets(t, i, gradients)))
            step_draft_add(t->d, STEP_WAIT, STEP_FP32)->number[0].value = written - ready;
        waited = ready;
        if (step_is_collective(item->line.kind))
            end[written++] = item->line.kind == STEP_ALL_GATHER ? item->end : -1;
        struct step_line *l = step_draft_add(t->d, item->line.kind, item->line.dtype);
        *l = item->line;
    }
}

static void warn(const struct trace *t)
{
    const char *group = NULL;
    if (t->guessed)
        say("%s: no \"Input Strides\": layouts of %zu of %zu GEMMs are guessed (addmm nt, others "
            "nn)",
            t->d->path, t->guessed, t->gemms);
    if (t->skipped)
        say("%s: other collectives (barriers, broadcasts, integers) are left out: %zu", t->d->path,
            t->skipped);
    for (size_t i = 0; i < t->n; i++) {
        const struct step_line *l = &t->item[i].line;
        if (!step_is_collective(l->kind))
            continue;
        if (group && strcmp(group, l->group) != 0) {
            say("%s: collectives of groups %s and %s: a replay has one group; remove the lines of "
                "the others",
                t->d->path, group, l->group);
            return;
        }
        group = l->group;
    }
}

int step_from_trace(struct step_draft *d, const struct text *json)
{
    struct trace t = {.d = d};
    int code = trace_events_read(&t.e, d->path, json);
    if (!code) {
        trace_choose_step(d, &t.e, &t.from, &t.to);
        t.rate = trace_copy_rate(&t.e);
        code = read_items(&t);
    }
    if (!code && !t.gemms)
        code = fail_at(GS_FAILED, d->path, 0,
                       "no aten::mm, addmm or bmm with shapes: record with record_shapes=True, and "
                       "without CUDA graphs");
    if (!code)
        code = settle_gradients(&t);
    if (!code) {
        qsort(t.item, t.n, sizeof *t.item, by_time);
        warn(&t);
        write_items(&t);
        step_times_report(d, &t.e, t.from, t.to, t.rate);
    }
    trace_events_free(&t.e);
    free(t.item);
    return code;
}
