/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice from synthetic steps alone, while real steps of the same GPUs were recorded on another
 * platform.
 */
#pragma once

#include "advise/evidence.h"

/* The platform below data/raw with the highest level of evidence about real steps (replayed, trial or
 * training) of the same GPUs, ranks and nodes; the caller frees it. NULL: there is none, or the shape
 * has such steps itself. */
char *elsewhere_find(const struct steps_evidence *s, size_t shape);
