/* SPDX-License-Identifier: Apache-2.0
 *
 * [slurm] container: the command that runs each rank in a container image.
 */
#pragma once

#include "base/text.h"
#include "plan/plan.h"

/* GS_OK, or GS_USAGE, reported: unknown kind of image. */
int container_check(const struct plan *p);
/* Adds the command to argv (NULL-terminated; the caller frees its words). It mounts the program's
 * folder and the run folder. Adds nothing without an image or outside a Slurm job. GS_OK, or
 * reported: GS_USAGE as above, GS_CANNOT if the container program is missing. */
int container_prefix(struct words *argv, const struct plan *p, const char *run_dir);
