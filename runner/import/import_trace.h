/* SPDX-License-Identifier: Apache-2.0
 *
 * The events of a Chrome trace of torch.profiler that a training step is made of.
 */
#pragma once

#include "base/text.h"
#include "common/step_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    unsigned element_B;
    bool strided; /* stride is known */
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

/* GS_OK; or reported: not such a trace, truncated, or of a PyTorch without these fields.
 * trace_events_free in both cases. */
int trace_events_read(struct trace_events *t, const char *path, const struct text *json);
void trace_events_free(struct trace_events *t);

/* The operator with this id, or NULL. */
const struct trace_event *trace_op(const struct trace_events *t, int64_t id);
/* When the CPU launched a kernel; NaN: before the recording began. Its own begin if the trace has no
 * launches or the kernel names none. */
double trace_launch(const struct trace_events *t, const struct trace_event *kernel);
/* When the first kernel of this id began, and the last one ended; unchanged, 0: unknown. */
void trace_kernel_span(const struct trace_events *t, int64_t id, double *begin, double *end);
