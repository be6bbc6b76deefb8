/* SPDX-License-Identifier: Apache-2.0
 *
 * What was set in NCCL's environment for auto and for every setting alike. The advice holds for that
 * environment only.
 */
#pragma once

#include "advise/evidence.h"
#include "base/text.h"

/* Adds "NCCL_NVLS_ENABLE=0" for each variable of the run that is not part of a setting. */
void conditions_of_run(struct words *variables, const struct steps_evidence *s,
                       const struct advice_run *run);
/* "Measured with NCCL_NVLS_ENABLE=0 in the environment of the ranks; without it nothing was
 * measured.": of the steps that `config` shortens, NULL: of all steps of the shape. "" if nothing was
 * set. The caller frees it. */
char *conditions_sentence(const struct steps_evidence *s, size_t shape, const char *config);
