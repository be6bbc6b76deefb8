/* SPDX-License-Identifier: Apache-2.0 */
#include "import/import_trace.h"

#include "base/err.h"
#include "base/jsontext.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_INPUTS 8
#define SCHEMA_TRIED 1 /* of PyTorch 2.11 */

/* PyTorch writes some integers as text. */
static int64_t integer_of(const json_t *o, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(o, key);
    if (json_is_integer(v))
        return json_integer_value(v);
    return json_is_string(v) ? strtoll(json_string_value(v), NULL, 10) : otherwise;
}

/* ---- names ---- */

static int dtype_of(const char *name, unsigned *element_B)
{
    static const struct {
        const char *name;
        int dtype;
        unsigned element_B;
    } types[] = {{"float", STEP_FP32, 4},
                 {"c10::BFloat16", STEP_BF16, 2},
                 {"c10::Half", STEP_FP16, 2},
                 {"Float", STEP_FP32, 4},
                 {"BFloat16", STEP_BF16, 2},
                 {"Half", STEP_FP16, 2},
                 {"double", -1, 8},
                 {"long int", -1, 8},
                 {"int", -1, 4},
                 {"unsigned char", -1, 1},
                 {"bool", -1, 1}};
    for (size_t i = 0; i < COUNT(types); i++)
        if (!strcmp(types[i].name, name)) {
            *element_B = types[i].element_B;
            return types[i].dtype;
        }
    *element_B = 0;
    return -1;
}

static enum trace_op op_of(const char *name)
{
    static const char *const names[] = {[TRACE_MM] = "aten::mm",
                                        [TRACE_ADDMM] = "aten::addmm",
                                        [TRACE_BMM] = "aten::bmm",
                                        [TRACE_BADDBMM] = "aten::baddbmm"};
    for (int i = TRACE_MM; i <= TRACE_BADDBMM; i++)
        if (!strcmp(names[i], name))
            return (enum trace_op)i;
    return TRACE_OTHER;
}

static int collective_of(const char *name)
{
    static const struct {
        const char *part;
        int kind;
    } parts[] = {{"reduce_scatter", STEP_REDUCE_SCATTER},
                 {"allgather", STEP_ALL_GATHER},
                 {"all_gather", STEP_ALL_GATHER},
                 {"allreduce", STEP_ALL_REDUCE},
                 {"all_reduce", STEP_ALL_REDUCE}};
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strstr(name, parts[i].part))
            return parts[i].kind;
    return -1;
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
        s->dtype = dtype_of(type ? type : "", &s->element_B);
        for (int k = 0; k < s->dims; k++)
            if (s->dim[k] < 0 || s->dim[k] > (int64_t)STEP_DIMENSION_MAX)
                s->dims = 0;
        if (s->dims && (!e->type || !*e->type))
            e->type = type ? type : "";
    }
}

static void read_comms(struct trace_events *t, struct trace_event *e, const json_t *args)
{
    unsigned element_B;
    const char *group = json_text_of(args, "Process Group Description");
    int64_t in = integer_of(args, "In msg nelems", 0), out = integer_of(args, "Out msg nelems", 0);
    const char *name = json_text_of(args, "Collective name");
    *(*name ? &t->named : &t->unnamed) = true;
    e->collective = collective_of(name);
    e->message_dtype = dtype_of(json_text_of(args, "dtype"), &element_B);
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
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
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

const struct trace_event *trace_op(const struct trace_events *t, int64_t id)
{
    size_t i = find(t->op, t->ops, id);
    return i < t->ops ? &t->event[t->op[i].event] : NULL;
}

double trace_launch(const struct trace_events *t, const struct trace_event *kernel)
{
    size_t i = find(t->launch, t->launches, kernel->correlation);
    if (i < t->launches)
        return t->event[t->launch[i].event].ts;
    return t->launches && kernel->correlation >= 0 ? (double)NAN : kernel->ts;
}

void trace_kernel_span(const struct trace_events *t, int64_t id, double *begin, double *end)
{
    for (size_t i = find(t->kernel, t->kernels, id); i < t->kernels && t->kernel[i].key == id;
         i++) {
        const struct trace_event *e = &t->event[t->kernel[i].event];
        *begin = *begin == 0 || e->ts < *begin ? e->ts : *begin;
        *end = e->ts + e->dur > *end ? e->ts + e->dur : *end;
    }
}

/* ---- the file ---- */

static void warn_schema(const char *path, const json_t *root)
{
    int64_t version = json_integer_of(root, "schemaVersion");
    if (version && version != SCHEMA_TRIED)
        say("%s: warning: schemaVersion %lld was never tried, only %d; compare the step's GEMMs "
            "and gradients with the model",
            path, (long long)version, SCHEMA_TRIED);
}

int trace_events_read(struct trace_events *t, const char *path, const struct text *json)
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
    warn_schema(path, root);
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

void trace_events_free(struct trace_events *t)
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
