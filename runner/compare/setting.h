/* SPDX-License-Identifier: Apache-2.0
 *
 * A config, "ring/LL128" or "ctas=16/bucket_cap=50MiB", as what a user sets in a job. Values of a
 * training come from the names and values of its recording (contrast.differs), never from the label:
 * a value may hold blanks, '/', quotes, '$' and new lines.
 */
#pragma once

#include "base/text.h"
#include "compare/verdicts.h"

struct setting {
    struct words environment; /* name, value, name, value…: all variables */
    struct words unset;       /* names of variables that the job shall not have */
};

/* False: it is no config of NCCL or of a training. The environment cannot limit an algorithm to the
 * collectives that have it before NCCL 2.24, so tree, nvls and others need that version. Call
 * setting_free in either case. */
bool setting_of(struct setting *s, const struct contrast *c);
void setting_free(struct setting *s);

/* "NCCL_MIN_CTAS=16 NCCL_MAX_CTAS=16", words of a shell to put in front of a command; "env -u NAME"
 * comes first if a variable is removed. NULL: nothing is to be set in the environment. The caller
 * frees it. */
char *setting_export_line(const struct setting *s);
