/* SPDX-License-Identifier: Apache-2.0
 *
 * What mpirun and srun are told of a launch: knowledge of their options, and of nothing else.
 */
#ifndef GS_LAUNCHER_OPTIONS_H
#define GS_LAUNCHER_OPTIONS_H

#include "base/text.h"
#include "config/settings.h"

/* What `bind`, up to a colon, was most likely meant to be; NULL: it is known, or near to nothing
 * that is, for versions of mpirun bind to more. */
const char *launcher_mpirun_binding(const char *bind);

/* Adds the options to argv, behind the program's name. `scratch`: where MPI keeps its own files
 * when all ranks are on this machine; NULL: where it likes. */
void launcher_mpirun_options(struct words *argv, const struct set_launch *set, const char *scratch);
void launcher_srun_options(struct words *argv, const struct set_launch *set, const char *scratch);

#endif
