/* SPDX-License-Identifier: Apache-2.0
 *
 * The advised setting in the form that a job takes, each with a comment that names its evidence. If
 * no setting is advised, the comment says so.
 *
 *   env         lines NAME=VALUE
 *   nccl.conf   the same, for NCCL_CONF_FILE
 *   pytorch     options of a process group; algorithm and protocol through the environment
 *   megatron    YAML for --nccl-communicator-config-path
 *   deepspeed   variables before the launcher, which passes on those that begin with NCCL
 *   sbatch      lines for a job script
 *   tuner       rules for the tuner plugin, limited to the ranks and nodes that were measured
 */
#pragma once

#include "advise/evidence.h"

/* GS_OK, or GS_USAGE, reported: there is no such form. */
int emit_known(const char *form);
/* GS_OK, or GS_USAGE, reported: the recordings are of several platforms. */
int emit_print(const struct steps_evidence *s, const char *form);
