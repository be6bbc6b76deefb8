/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recording says of the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names a log, a folder or a version of NCCL, which change nothing that it runs. */
bool machine_ignores(const char *name);

/* "3 pairs of GPUs" if the launches of these runs were measured on several; the caller frees it. NULL:
 * on one, or unknown. */
char *machine_gpu_sets(const char *const *dirs, size_t n);
