/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_step.h"

#include "base/err.h"
#include "base/files.h"
#include "base/jsontext.h"
#include "import/import_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the events of a trace ----
 *
 * Those of a Chrome trace of torch.profiler that a training step is made of.
 */

#define TRACE_DIMS 8

enum trace_kind {
    TRACE_STEP,      /* ProfilerStep#N, on the CPU */
    TRACE_OPTIMIZER, /* Optimizer.step#NAME, on the CPU: the end of a step */
    TRACE_OP,        /* an operator, on the CPU */
    TRACE_GRADIENT,  /* AccumulateGrad */
    TRACE_COMMS,     /* record_param_comms */
    TRACE_LAUNCH,    /* of a kernel, on the CPU */
    TRACE_KERNEL,    /* on the GPU, also a copy or a fill; none of NCCL's */
    TRACE_NCCL       /* a kernel of NCCL's */
};
enum trace_op { TRACE_OTHER, TRACE_MM, TRACE_ADDMM, TRACE_BMM, TRACE_BADDBMM };

struct trace_shape {
    int dims, dtype; /* dtype: enum step_dtype; -1: another */
    bool strided;    /* stride is known */
    int64_t dim[TRACE_DIMS], stride[TRACE_DIMS];
};

struct trace_event {
    enum trace_kind kind;
    enum trace_op op;
    double ts, dur; /* us */
    int64_t id;     /* "External id": of an operator, and of the kernels that it launched; -1 */
    int64_t correlation; /* of a launch, and of its kernel; -1 */
    int64_t copied_B;    /* of a copy inside the GPU; 0 */
    const char *name;    /* these point into the JSON */
    const char *type;    /* of the first matrix */
    int inputs;
    struct trace_shape *input;
    int collective;     /* enum step_kind; -1: another */
    int message_dtype;  /* enum step_dtype; -1: another */
    int64_t elements;   /* of the whole buffer */
    int64_t group_size; /* 0: unknown */
    char group[32];
};

struct trace_events {
    struct trace_event *event;
    size_t n, cap;
    json_t *json;
    bool named, unnamed; /* collectives; older PyTorch did not name them */
    /* indices, by id or correlation */
    struct trace_key {
        int64_t key;
        size_t event;
    } * op, *launch, *kernel;
    size_t ops, launches, kernels;
};

#define TRACE_INPUTS 8
#define ORDER(x, y) (((x) > (y)) - ((x) < (y))) /* for qsort */
#define SCHEMA_TRIED 1                          /* of PyTorch 2.11 */

/* PyTorch writes some integers as text. */
static int64_t integer_of(const json_t *o, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(o, key);
    if (json_is_integer(v))
        return json_integer_value(v);
    return json_is_string(v) ? strtoll(json_string_value(v), NULL, 10) : otherwise;
}

/* ---- names ---- */

/* -1: no type of a gradient. */
static int dtype_of(const char *name)
{
    return text_lists("float,Float", ",", name)              ? STEP_FP32
           : text_lists("c10::BFloat16,BFloat16", ",", name) ? STEP_BF16
           : text_lists("c10::Half,Half", ",", name)         ? STEP_FP16
                                                             : -1;
}

static enum trace_op op_of(const char *name)
{
    static const char *const names[] = {[TRACE_MM] = "aten::mm",
                                        [TRACE_ADDMM] = "aten::addmm",
                                        [TRACE_BMM] = "aten::bmm",
                                        [TRACE_BADDBMM] = "aten::baddbmm"};
    enum trace_op op = TRACE_BADDBMM;
    while (op > TRACE_OTHER && strcmp(names[op], name) != 0)
        op--;
    return op;
}

static int collective_of(const char *name)
{
    return strstr(name, "reduce_scatter")                            ? STEP_REDUCE_SCATTER
           : strstr(name, "allgather") || strstr(name, "all_gather") ? STEP_ALL_GATHER
           : strstr(name, "allreduce") || strstr(name, "all_reduce") ? STEP_ALL_REDUCE
                                                                     : -1;
}

static bool is_device_copy(const char *category, const char *name)
{
    return !strcmp(category, "gpu_memcpy") && strstr(name, "DtoD");
}

static bool kind_of(const char *category, const char *name, enum trace_kind *kind)
{
    bool cpu = !strcmp(category, "cpu_op");
    if (!strncmp(name, "ProfilerStep#", 13))
        *kind = TRACE_STEP;
    else if (!strncmp(name, "Optimizer.step#", 15))
        *kind = TRACE_OPTIMIZER;
    else if (cpu && !strcmp(name, "record_param_comms"))
        *kind = TRACE_COMMS;
    else if (cpu && !strcmp(name, "torch::autograd::AccumulateGrad"))
        *kind = TRACE_GRADIENT;
    else if (cpu)
        *kind = TRACE_OP;
    else if (!strcmp(category, "cuda_runtime") || !strcmp(category, "cuda_driver"))
        *kind = TRACE_LAUNCH;
    else if (!strcmp(category, "kernel"))
        *kind = !strncmp(name, "nccl", 4) ? TRACE_NCCL : TRACE_KERNEL;
    else if (!strcmp(category, "gpu_memset") || is_device_copy(category, name))
        *kind = TRACE_KERNEL;
    else
        return false;
    return strcmp(category, "gpu_user_annotation") != 0;
}

/* ---- one event ---- */

static int read_integers(const json_t *array, int64_t out[TRACE_DIMS])
{
    size_t n = json_array_size(array);
    for (size_t i = 0; i < n && i < TRACE_DIMS; i++)
        out[i] = json_integer_value(json_array_get(array, i));
    return n <= TRACE_DIMS ? (int)n : 0;
}

static void read_shapes(struct trace_event *e, const json_t *args)
{
    const json_t *dims = json_object_get(args, "Input Dims");
    const json_t *strides = json_object_get(args, "Input Strides");
    const json_t *types = json_object_get(args, "Input type");
    size_t n = json_array_size(dims);
    e->inputs = n < TRACE_INPUTS ? (int)n : TRACE_INPUTS;
    e->input = e->inputs ? xcalloc((size_t)e->inputs, sizeof *e->input) : NULL;
    for (int i = 0; i < e->inputs; i++) {
        struct trace_shape *s = &e->input[i];
        const char *type = json_string_value(json_array_get(types, (size_t)i));
        s->dims = read_integers(json_array_get(dims, (size_t)i), s->dim);
        s->strided =
            s->dims && read_integers(json_array_get(strides, (size_t)i), s->stride) == s->dims;
        s->dtype = dtype_of(type ? type : "");
        for (int k = 0; k < s->dims; k++)
            if (s->dim[k] < 0 || s->dim[k] > (int64_t)STEP_DIMENSION_MAX)
                s->dims = 0;
        if (s->dims && (!e->type || !*e->type))
            e->type = type ? type : "";
    }
}

static void read_comms(struct trace_events *t, struct trace_event *e, const json_t *args)
{
    const char *group = json_text_of(args, "Process Group Description");
    int64_t in = integer_of(args, "In msg nelems", 0), out = integer_of(args, "Out msg nelems", 0);
    const char *name = json_text_of(args, "Collective name");
    *(*name ? &t->named : &t->unnamed) = true;
    e->collective = collective_of(name);
    e->message_dtype = dtype_of(json_text_of(args, "dtype"));
    e->elements = e->collective == STEP_ALL_GATHER ? out : in;
    e->group_size = integer_of(args, "Group size", 0);
    if (!*group)
        group = json_text_of(args, "Process Group Name");
    snprintf(e->group, sizeof e->group, "%s", *group ? group : "world");
    for (char *p = e->group; *p; p++)
        if (*p <= ' ' || *p == '#')
            *p = '_';
}

static void read_event(struct trace_events *t, const json_t *o)
{
    enum trace_kind kind;
    const char *name = json_text_of(o, "name");
    const json_t *args = json_object_get(o, "args");
    if (strcmp(json_text_of(o, "ph"), "X") != 0 || !kind_of(json_text_of(o, "cat"), name, &kind))
        return;
    ALLOC_GROW(t->event, t->n, t->cap);
    struct trace_event *e = &t->event[t->n++];
    *e = (struct trace_event){.kind = kind,
                              .name = name,
                              .type = "",
                              .ts = json_number_value(json_object_get(o, "ts")),
                              .dur = json_number_value(json_object_get(o, "dur")),
                              .id = integer_of(args, "External id", -1),
                              .correlation = integer_of(args, "correlation", -1)};
    if (is_device_copy(json_text_of(o, "cat"), name))
        e->copied_B = integer_of(args, "bytes", 0);
    if (kind == TRACE_OP || kind == TRACE_GRADIENT)
        read_shapes(e, args);
    if (kind == TRACE_OP)
        e->op = op_of(name);
    if (kind == TRACE_COMMS)
        read_comms(t, e, args);
}

/* ---- indices ---- */

static int by_key(const void *a, const void *b)
{
    const struct trace_key *x = a, *y = b;
    return x->key != y->key ? ORDER(x->key, y->key) : ORDER(x->event, y->event);
}

static bool on_gpu(const struct trace_event *e)
{
    return e->kind == TRACE_KERNEL || e->kind == TRACE_NCCL;
}

static size_t index_of(const struct trace_events *t, unsigned kinds, bool correlation,
                       struct trace_key **out)
{
    size_t n = 0;
    *out = xcalloc(t->n + 1, sizeof **out);
    for (size_t i = 0; i < t->n; i++) {
        int64_t key = correlation ? t->event[i].correlation : t->event[i].id;
        if (kinds & 1u << t->event[i].kind && key >= 0)
            (*out)[n++] = (struct trace_key){key, i};
    }
    qsort(*out, n, sizeof **out, by_key);
    return n;
}

/* The first of this key, or n. */
static size_t find(const struct trace_key *index, size_t n, int64_t key)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && index[low].key == key ? low : n;
}

/* The operator with this id, or NULL. */
static const struct trace_event *trace_op(const struct trace_events *t, int64_t id)
{
    size_t i = find(t->op, t->ops, id);
    return i < t->ops ? &t->event[t->op[i].event] : NULL;
}

/* When the CPU launched a kernel; NaN: before the recording began. Its own begin if the trace has no
 * launches or the kernel names none. */
static double trace_launch(const struct trace_events *t, const struct trace_event *kernel)
{
    size_t i = find(t->launch, t->launches, kernel->correlation);
    if (i < t->launches)
        return t->event[t->launch[i].event].ts;
    return t->launches && kernel->correlation >= 0 ? (double)NAN : kernel->ts;
}

/* When the first kernel of this id began, and the last one ended; unchanged, 0: unknown. */
static void trace_kernel_span(const struct trace_events *t, int64_t id, double *begin, double *end)
{
    for (size_t i = find(t->kernel, t->kernels, id); i < t->kernels && t->kernel[i].key == id;
         i++) {
        const struct trace_event *e = &t->event[t->kernel[i].event];
        *begin = *begin == 0 || e->ts < *begin ? e->ts : *begin;
        *end = e->ts + e->dur > *end ? e->ts + e->dur : *end;
    }
}

/* ---- the file ---- */

/* GS_OK; or reported: not such a trace, truncated, or of a PyTorch without these fields. */
static int trace_events_read(struct trace_events *t, const char *path, const struct text *json)
{
    json_error_t error;
    size_t i;
    json_t *o, *root = json_loadb(json->s, json->len, 0, &error);
    if (!root)
        return fail_at(GS_FAILED, path, error.line,
                       "truncated or not JSON: %.100s; record it again", error.text);
    const json_t *events = json_is_array(root) ? root : json_object_get(root, "traceEvents");
    t->json = root;
    if (!json_is_array(events))
        return fail_at(GS_FAILED, path, 0,
                       "no \"traceEvents\": give what torch.profiler's export_chrome_trace wrote");
    int64_t version = json_integer_of(root, "schemaVersion");
    if (version && version != SCHEMA_TRIED)
        say("%s: warning: schemaVersion %lld was never tried, only %d; compare the step's GEMMs "
            "and gradients with the model",
            path, (long long)version, SCHEMA_TRIED);
    json_array_foreach(events, i, o) read_event(t, o);
    if (t->unnamed && !t->named)
        return fail_at(GS_FAILED, path, 0,
                       "record_param_comms without \"Collective name\": record with PyTorch 2.2 or "
                       "newer");
    t->ops = index_of(t, 1u << TRACE_OP, false, &t->op);
    t->launches = index_of(t, 1u << TRACE_LAUNCH, true, &t->launch);
    t->kernels = index_of(t, 1u << TRACE_KERNEL | 1u << TRACE_NCCL, false, &t->kernel);
    return GS_OK;
}

static void trace_events_free(struct trace_events *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->event[i].input);
    free(t->event);
    free(t->op);
    free(t->launch);
    free(t->kernel);
    json_decref(t->json);
    *t = (struct trace_events){0};
}

/* ---- import step ----
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

struct span {
    double from, to; /* us */
    const char *name;
};

static int by_length(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return ORDER(x->to - x->from, y->to - y->from);
}

static int by_end(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return ORDER(x->to, y->to);
}

static size_t find_spans(const struct trace_events *t, enum trace_kind kind, struct span *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct trace_event *e = &t->event[i];
        if (e->kind == kind)
            out[n++] = (struct span){e->ts, e->ts + e->dur, e->name};
    }
    return n;
}

/* From the end of one optimizer to the end of the next; returns how many such steps there are. */
static size_t cut_at_optimizers(const struct trace_events *t, struct span *out)
{
    size_t n = find_spans(t, TRACE_OPTIMIZER, out);
    qsort(out, n, sizeof *out, by_end);
    for (size_t i = 0; i + 1 < n; i++)
        out[i] = (struct span){out[i].to, out[i + 1].to, out[i + 1].name};
    return n ? n - 1 : 0;
}

static int ascending(const void *a, const void *b)
{
    return ORDER(*(const size_t *)a, *(const size_t *)b);
}

static bool inside(const struct span *s, double at)
{
    return at >= s->from && at < s->to;
}

static size_t kernels_in(const struct trace_events *t, const struct span *s)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += on_gpu(&t->event[i]) && inside(s, trace_launch(t, &t->event[i]));
    return n;
}

/* A recording that begins or ends within a step leaves a mark with few kernels or none. Returns how
 * many steps are left: those with at least half of the median's kernels. */
static size_t leave_out_stubs(const struct trace_events *t, struct span *step, size_t n)
{
    AUTO_FREE size_t *count = xcalloc(n + 1, sizeof *count),
                     *sorted = xcalloc(n + 1, sizeof *sorted);
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = count[i] = kernels_in(t, &step[i]);
    qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 0; i < n; i++)
        if (2 * count[i] >= sorted[n / 2] && (count[i] || !sorted[n - 1]))
            step[left++] = step[i];
    return left;
}

static struct span trace_choose_step(struct step_draft *d, const struct trace_events *t)
{
    struct text *head = &d->head;
    AUTO_FREE struct span *step = xcalloc(t->n + 1, sizeof *step);
    size_t n = find_spans(t, TRACE_STEP, step);
    bool marked = n > 0;
    n = leave_out_stubs(t, step, marked ? n : cut_at_optimizers(t, step));
    qsort(step, n, sizeof *step, by_length);
    const struct span median = n ? step[(n - 1) / 2] : (struct span){-1e300, 1e300, ""};
    text_addf(head, "From %s, ", d->path);
    if (n) {
        text_addf(head, "%s%.60s, the median of %zu step%s: %.6g ms on the host\n",
                  marked ? "" : "up to ", median.name, n, n == 1 ? "" : "s",
                  (median.to - median.from) * 1e-3);
    } else {
        text_add(head, "all of it: it has no ProfilerStep marks, and no two Optimizer.step\n");
        say("%s: no ProfilerStep marks, and no two Optimizer.step: all of it counts as one step",
            d->path);
    }
    return median;
}

#define COPY_LEAST_B 4194304
#define COPY_SHARE 0.82 /* of the data sheet's memory rate; H200s copied at 0.80 to 0.83 of it */
#define IDLE_SHARE 0.1  /* of a step without any kernel that is worth a warning */

/* Memory rates of NVIDIA's data sheets, bytes a second; the first name that the GPU's contains. */
static const struct {
    const char *name;
    double rate;
} gpus[] = {{"B200", 8e12},          {"H200", 4.8e12},       {"H100 NVL", 3.9e12},
            {"H100 PCIe", 2e12},     {"H100", 3.35e12},      {"A100-SXM4-80GB", 2.039e12},
            {"A100 80GB", 1.935e12}, {"A100", 1.555e12},     {"L40S", 0.864e12},
            {"V100", 0.9e12},        {"", 2e12 / COPY_SHARE}};

static double data_sheet_rate(const struct trace_events *t)
{
    const json_t *device = json_array_get(json_object_get(t->json, "deviceProperties"), 0);
    const char *name = json_text_of(device, "name");
    size_t i = 0;
    while (!strstr(name, gpus[i].name))
        i++;
    return COPY_SHARE * gpus[i].rate;
}

static double trace_copy_rate(const struct trace_events *t)
{
    double bytes = 0, us = 0;
    int64_t largest = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->event[i].copied_B > largest)
            largest = t->event[i].copied_B;
    for (size_t i = 0; largest >= COPY_LEAST_B && i < t->n; i++)
        if (t->event[i].copied_B > largest / 2 && t->event[i].dur > 0) {
            bytes += 2 * (double)t->event[i].copied_B;
            us += t->event[i].dur;
        }
    return us > 0 ? bytes / us * 1e6 : data_sheet_rate(t);
}

struct times { /* us */
    double gemms, others, collectives, begin, end;
    double busy, computing; /* with any kernel; with one that is no collective */
    double computed;        /* when the last of these ended */
};

static int by_begin(const void *a, const void *b)
{
    const struct trace_event *x = *(struct trace_event *const *)a;
    const struct trace_event *y = *(struct trace_event *const *)b;
    return ORDER(x->ts, y->ts);
}

static void add(struct times *s, const struct trace_events *t, const struct trace_event *e)
{
    const struct trace_event *op = trace_op(t, e->id);
    double end = e->ts + e->dur;
    if (e->kind == TRACE_NCCL)
        s->collectives += e->dur;
    else if (op && op->op != TRACE_OTHER)
        s->gemms += e->dur;
    else
        s->others += e->dur;
    if (e->kind != TRACE_NCCL && end > s->computed) {
        s->computing += end - (e->ts > s->computed ? e->ts : s->computed);
        s->computed = end;
    }
    s->begin = s->end > 0 ? s->begin : e->ts;
    if (end > s->end) {
        s->busy += end - (e->ts > s->end ? e->ts : s->end);
        s->end = end;
    }
}

static struct times times_of(const struct trace_events *t, const struct span *step)
{
    AUTO_FREE const struct trace_event **v = xcalloc(t->n + 1, sizeof *v);
    struct times s = {0};
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct trace_event *e = &t->event[i];
        if (on_gpu(e) && inside(step, trace_launch(t, e)))
            v[n++] = e;
    }
    qsort(v, n, sizeof *v, by_begin);
    for (size_t i = 0; i < n; i++)
        add(&s, t, v[i]);
    return s;
}

struct trace {
    struct step_draft *d;
    struct trace_events e;
    struct span step;
    double rate;    /* trace_copy_rate */
    double reduced; /* when the last all-reduce ended, if all-reduces became gradients; else 0 */
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
    if (!inside(&t->step, at) || (op && op->op != TRACE_OTHER) || !(e->dur > 0 && e->dur < 1e9))
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
        else if (!inside(&t->step, e->ts))
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
    return x->at != y->at ? ORDER(x->at, y->at) : ORDER(x->order, y->order);
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
    AUTO_FCLOSE FILE *out = open_memstream(&t->d->lines, &t->d->n);
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
            step_write_line(
                out, &(struct step_line){.kind = STEP_WAIT, .number[0].value = written - ready});
        waited = ready;
        if (step_is_collective(item->line.kind))
            end[written++] = item->line.kind == STEP_ALL_GATHER ? item->end : -1;
        step_write_line(out, &item->line);
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

static double flops_of(const struct trace *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct step_number *v = t->item[i].line.number;
        if (t->item[i].line.kind == STEP_GEMM)
            sum += 2.0 * (double)v[STEP_M].value * (double)v[STEP_N].value *
                   (double)v[STEP_K].value * (double)v[STEP_COUNT].value;
    }
    return sum;
}

static void report_times(const struct trace *t)
{
    struct step_draft *d = t->d;
    struct times s = times_of(&t->e, &t->step);
    AUTO_TEXT struct text text = {0};
    double gemms_s = s.gemms > 0 ? s.gemms * 1e-6 : 1;
    text_addf(&text,
              "step %.1f ms in the trace: GEMMs %.1f ms (%.3g TFLOP/s), other kernels %.1f ms (as "
              "copies at %.2f TB/s), collectives %.1f ms, no kernel %.1f ms",
              (s.end - s.begin) * 1e-3, s.gemms * 1e-3, flops_of(t) / gemms_s * 1e-12,
              s.others * 1e-3, t->rate * 1e-12, s.collectives * 1e-3,
              (s.end - s.begin - s.busy) * 1e-3);
    say("%s: %s", d->path, text.s);
    double kernels = s.gemms + s.others;
    if (s.collectives > 0 && kernels < s.busy)
        say("%s: a replay on this GPU should take %.1f to %.1f ms (without collectives, and with "
            "all of their time in the trace)",
            d->path, kernels * 1e-3, s.busy * 1e-3);
    else
        say("%s: a replay on this GPU should take about %.1f ms", d->path, s.busy * 1e-3);
    double idle = s.end > s.begin ? 1 - s.busy / (s.end - s.begin) : 0;
    if (idle > IDLE_SHARE)
        say("%s: the GPU waited for the CPU in %.0f%% of the step, which a replay does not: "
            "settings matter more in the replay than in this training, unless the profiler slowed "
            "it down",
            d->path, 100 * idle);
    text_addf(&d->head, "%s\n", text.s);
    double exposed = s.busy - s.computing, step = s.end - s.begin;
    if (s.collectives > 0)
        text_addf(&d->exposed, "communication is exposed for %.3g ms, %.3g%% of the step",
                  exposed * 1e-3, step > 0 ? 100 * exposed / step : 0);
    else
        text_add(&d->exposed, "the trace has no kernels of NCCL: the communication that is exposed "
                              "is unknown");
}

static void trace_free(struct trace *t)
{
    trace_events_free(&t->e);
    free(t->item);
}

int step_from_trace(struct step_draft *d, const struct text *json)
{
    AUTO(trace_free) struct trace t = {.d = d};
    CHECK(trace_events_read(&t.e, d->path, json));
    t.step = trace_choose_step(d, &t.e);
    t.rate = trace_copy_rate(&t.e);
    CHECK(read_items(&t));
    if (!t.gemms)
        return fail_at(GS_FAILED, d->path, 0,
                       "no aten::mm, addmm or bmm with shapes: record with record_shapes=True, and "
                       "without CUDA graphs");
    CHECK(settle_gradients(&t));
    qsort(t.item, t.n, sizeof *t.item, by_time);
    warn(&t);
    write_items(&t);
    report_times(&t);
    return GS_OK;
}

static char *default_name(const char *path)
{
    const char *name = path_name(path);
    const char *dot = strchr(name, '.');
    size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    return xstrfmt("%.*s.step", (int)n, name);
}

static int write_draft(const struct step_draft *d, const char *path)
{
    AUTO_FREE char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    step_write_version(out);
    for (char *rest = d->head.s, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            fprintf(out, "# %s\n", line);
    fwrite(d->lines, 1, d->n, out);
    fclose(out);
    char why[512];
    struct step_file check;
    if (!step_parse(&check, path, text, n, why, sizeof why))
        return fail_at(GS_FAILED, d->path, 0, "makes a step that cannot be replayed: %s", why);
    step_free(&check);
    return files_write_new(path, text, 0644) ? GS_OK : fail_file(path, "written", errno);
}

void step_draft_free(struct step_draft *d)
{
    text_free(&d->head);
    text_free(&d->exposed);
    free(d->lines);
}

int import_step(const char *path, const char *out)
{
    AUTO(step_draft_free) struct step_draft d = {.path = path};
    AUTO_TEXT struct text in = {0};
    AUTO_FREE char *name = out ? xstrdup(out) : default_name(path);
    if (access(name, F_OK) == 0)
        return fail_at(GS_USAGE, name, 0, "exists: give another name with -o");
    CHECK(import_text_read(&in, path, STEP_TRACE_MAX,
                           "record fewer steps (torch.profiler.schedule with active=3)"));
    CHECK(step_from_trace(&d, &in));
    CHECK(write_draft(&d, name));
    puts(name);
    say("next: step = %s in an [iter_proxy] section of a config (docs/steps.md)", name);
    say("%s", d.exposed.s);
    return GS_OK;
}
