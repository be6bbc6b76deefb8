/* SPDX-License-Identifier: Apache-2.0
 *
 * A config, "ring/LL128" or "ctas=16/bucket_cap=50MiB", as what a user sets in a job. Values of a
 * training come from the names and values of its recording (contrast.differs), never from the label:
 * a value may hold blanks, '/', quotes, '$' and new lines.
 */
#pragma once

#include "compare/verdicts.h"

/* "NCCL_MIN_CTAS=16 NCCL_MAX_CTAS=16", words of a shell to put in front of a command; "env -u NAME"
 * comes first if a variable is removed. NULL: the config sets nothing in the environment, or is none of
 * NCCL or of a training. The environment cannot limit an algorithm to the collectives that have it
 * before NCCL 2.24, so tree, nvls and others need that version. The caller frees it. */
char *setting_export_line(const struct contrast *c);
