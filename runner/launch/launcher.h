/* SPDX-License-Identifier: Apache-2.0
 *
 * The command that starts the ranks: mpirun or srun, as an argv, never through a shell.
 */
#ifndef GS_LAUNCHER_H
#define GS_LAUNCHER_H

#include "plan/plan.h"

#include <stdbool.h>

/* argv (NULL-terminated, launcher_free) starts `gradsync-rank rank_args…` on every slot. GS_OK or
 * reported: GS_USAGE more nodes than hosts; GS_CANNOT more ranks than slots, no launcher or no
 * gradsync-rank here. */
int launcher_command(const struct plan *p, const char *const *rank_args, char ***argv);
/* The same, and where all ranks are on this machine MPI keeps its own files in `scratch` (NULL:
 * where it likes). */
int launcher_command_in(const struct plan *p, const char *scratch, const char *const *rank_args,
                        char ***argv);
void launcher_free(char **argv);

/* The same without a command: can the ranks be started at all? Said before a folder is made. */
int launcher_check(const struct plan *p);
/* Leaves out the plans that need a GPU where all ranks would start here and there is none: *n
 * becomes how many stay. GS_OK, or GS_CANNOT after one line for all of them. */
int launcher_check_gpus(struct plan **plans, size_t *n);
/* Of that, whether there is room for them here, whatever starts them. */
int launcher_check_slots(const struct plan *p);
/* And whether the launcher may know what ranks are to be bound to. GS_OK or GS_USAGE, reported. */
int launcher_check_binding(const struct config *c, const struct set_launch *set);

/* Ranks bind themselves, each beside its GPU (rank/binding.h), and the launcher leaves them alone:
 * bind = gpu, or auto on a device where this gradsync has hwloc. */
bool launcher_binds_to_gpus(const struct plan *p);

#endif
