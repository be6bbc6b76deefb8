/* SPDX-License-Identifier: Apache-2.0
 *
 * The command that starts the ranks: mpirun or srun, as an argv, never through a shell. And what
 * this machine has for them: slots, GPUs, NUMA nodes.
 */
#pragma once

#include "base/text.h"
#include "config/settings.h"
#include "plan/plan.h"

#include <jansson.h>
#include <stdbool.h>

/* Binds this process, and its later threads and children, to those processors beside a device (its folder
 * in /sys) that it may use. Adds to `bound` numa (-1: the machine has one) and cpus, or why it is not. */
void numa_bind(json_t *bound, const char *device);

/* ---- the launcher ---- */

/* Makes argv (NULL-terminated, launcher_free), which starts `gradsync-rank rank_args…` once per rank.
 * If all ranks are on this machine, MPI keeps its temporary files in `scratch` (NULL: MPI's default).
 * GS_OK, or reported: GS_USAGE more nodes than hosts; GS_CANNOT more ranks than slots, or no launcher
 * or gradsync-rank on this machine. */
int launcher_command(const struct plan *p, const char *scratch, const char *const *rank_args,
                     char ***argv);
/* GS_USAGE, reported, if a launcher started this process as one of several. */
int launcher_refuse_ranks(const char *verb);
void launcher_free(char **argv);
AUTO_POINTER(char *, launcher_free)

/* Only checks that the ranks can start; called before a run folder is created. */
int launcher_check(const struct plan *p);
/* Removes the plans that need a GPU if all ranks would start here and there is no GPU. *n becomes the
 * number of remaining plans. GS_OK, or GS_CANNOT after one message for all of them. */
int launcher_check_gpus(struct plan **plans, size_t *n);
/* Checks only that there are enough slots, for any launcher. */
int launcher_check_slots(const struct plan *p);

/* True if each rank binds itself to the processors near its GPU (rank/health.h) and the launcher
 * binds nothing: bind = gpu, or auto on a device. */
bool launcher_binds_to_gpus(const struct plan *p);

/* ---- network devices ----
 *
 * And the NCCL settings that follow from them. They are read from /sys and /proc below a root folder,
 * so that tests can use another tree. */

/* {ports: [{name, kind, pci, active, rate_Bps}], gpus: [{pci}], control, control_family, gpudirect, ofi_plugin,
 * settings: [{name, value, kept, why}]}, as recordings have it. `control` is the interface for NCCL's
 * connections, and missing if there is none; `kept` means that the environment sets the variable
 * already, and wins. root "": this machine. */
json_t *fabric_json(const char *root);
