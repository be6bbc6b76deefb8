/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of mpirun and srun for a launch.
 */
#pragma once

#include "base/text.h"
#include "config/settings.h"

/* The known value nearest to a misspelt `bind` (up to a colon). NULL: `bind` is known, or nothing is
 * near; then mpirun decides, because its versions differ. */
const char *launcher_mpirun_binding(const char *bind);

/* Adds the options to argv, after the program's name. `scratch`: folder for MPI's temporary files if
 * all ranks are on this machine; NULL: MPI's default. */
void launcher_mpirun_options(struct words *argv, const struct set_launch *set, const char *scratch);
void launcher_srun_options(struct words *argv, const struct set_launch *set, const char *scratch);
