/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a launch would start from: what of this machine, its environment and the job around it
 * decides how ranks are started.
 */
#ifndef GS_LAUNCHER_HERE_H
#define GS_LAUNCHER_HERE_H

#include "config/settings.h"

#include <stdbool.h>

bool here_runs(const char *path);              /* a program that may be executed */
bool here_is_set(const char *variable);        /* and not empty */
bool here_in_allocation(void);                 /* of Slurm or another batch system */
bool here_alone(const struct set_launch *set); /* all ranks are on this machine */
/* Processors that this process may use: what a container or taskset left of the machine. */
long here_slots(void);

/* Path of a program in PATH, the caller's; NULL: not here. */
char *here_find(const char *program);
/* Path of gradsync-rank, the caller's: beside the program, or in ../libexec/gradsync. NULL and
 * GS_CANNOT reported. */
char *here_rank_program(void);

#endif
