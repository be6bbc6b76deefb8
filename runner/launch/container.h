/* SPDX-License-Identifier: Apache-2.0
 *
 * [slurm] container: the command in front of each rank that runs it in an image.
 */
#ifndef GS_CONTAINER_H
#define GS_CONTAINER_H

#include "base/text.h"
#include "plan/plan.h"

/* GS_OK or GS_USAGE, reported: an image of no kind known here. */
int container_check(const struct plan *p);
/* Adds it to argv (NULL-terminated, its words the caller's), with the program's folder and the run
 * folder to be seen inside; nothing without an image or outside of a Slurm job. GS_OK or reported:
 * as above; GS_CANNOT its program is not here. */
int container_prefix(struct words *argv, const struct plan *p, const char *run_dir);

#endif
