/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts of this machine, its environment and its batch job that decide how ranks are started.
 */
#pragma once

#include "config/settings.h"

#include <stdbool.h>

bool here_is_set(const char *variable);        /* the variable is not empty */
bool here_in_allocation(void);                 /* this is a job of Slurm or another batch system */
bool here_alone(const struct set_launch *set); /* all ranks run on this machine */
/* Processors that this process may use; a container or taskset may allow fewer than exist. */
long here_slots(void);

/* Path of gradsync-rank, freed by the caller: in the program's folder or ../libexec/gradsync. NULL:
 * not found, GS_CANNOT reported. */
char *here_rank_program(void);
