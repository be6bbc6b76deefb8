/* SPDX-License-Identifier: Apache-2.0
 *
 * What mpirun and srun are told of a launch: knowledge of their options, and of nothing else.
 */
#ifndef GS_LAUNCHER_OPTIONS_H
#define GS_LAUNCHER_OPTIONS_H

#include "settings.h"
#include "text.h"

#include <stdbool.h>

/* `bind` up to a colon, behind which mpirun takes modifiers, is none of auto, gpu and what mpirun
 * binds to: says which these are, and the nearest, into buf. srun's are its own to refuse. */
bool launcher_mpirun_cannot_bind(const char *bind, char *buf, size_t n);

/* Adds the options to argv, behind the program's name. `scratch`: where MPI keeps its own files
 * when all ranks are on this machine; NULL: where it likes. */
void launcher_mpirun_options(struct words *argv, const struct set_launch *set, const char *scratch);
void launcher_srun_options(struct words *argv, const struct set_launch *set, const char *scratch);

#endif
