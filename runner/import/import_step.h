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
    struct text head;    /* comment lines, without their '#' */
    struct text exposed; /* the last line that import prints */
    char *lines;         /* of the step file, n bytes */
    size_t n;
};

/* GS_OK; or reported. */
int step_from_trace(struct step_draft *d, const struct text *json);
void step_draft_free(struct step_draft *d);

/* Reads the trace PATH and writes `out` (NULL: PATH's name with .step, in the current folder). */
int import_step(const char *path, const char *out);
