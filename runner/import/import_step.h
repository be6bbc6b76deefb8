/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a step file (common/step_file.h, docs/steps.md) from a trace of torch.profiler.
 */
#pragma once

#include "base/text.h"
#include "common/step_file.h"

/* Bytes of a trace, which takes about eight times that in memory. */
#define STEP_TRACE_MAX ((uint64_t)512 << 20)

struct step_draft {
    const char *path;
    struct text head; /* comment lines, without their '#' */
    struct step_line *line;
    size_t n, cap;
};

/* Adds an operation; returns it, zeroed but for its kind and dtype. Valid until the next one. */
struct step_line *step_draft_add(struct step_draft *d, enum step_kind kind, enum step_dtype dtype);

/* The step of a trace, in us of its clock: of its ProfilerStep#N, or else from the end of one
 * Optimizer.step to the end of the next, the one of median length. Without both: all of it. */
struct trace_events;
void trace_choose_step(struct step_draft *d, const struct trace_events *t, double *from,
                       double *to);
/* Bytes read and written in a second by the largest copies of the trace; small ones begin and end more
 * than they copy. Without large copies: by the memory rate in the data sheet of the trace's GPU. */
double trace_copy_rate(const struct trace_events *t);
/* Says how long the GPU took for what is in the step from..to, so that a user can judge a replay; also
 * in the head of the draft. `rate`: bytes a second of the kernels that are no GEMMs. */
void step_times_report(struct step_draft *d, const struct trace_events *t, double from, double to,
                       double rate);

/* GS_OK; or reported. */
int step_from_trace(struct step_draft *d, const struct text *json);

/* Reads the trace PATH and writes `out` (NULL: PATH's name with .step, in the current folder). */
int import_step(const char *path, const char *out);
