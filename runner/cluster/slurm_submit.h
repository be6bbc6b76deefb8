/* SPDX-License-Identifier: Apache-2.0
 *
 * Submits tasks so that a crash at any moment loses no job. An array is submitted held; it is
 * released when its line in the ledger is on disk. A job that a crash left held is found by its
 * comment.
 */
#pragma once

#include "cluster/campaign.h"

/* Submits the wanted tasks (NULL: all), one submission per array. GS_OK or reported. */
int slurm_submit_tasks(const struct campaign *c, const bool *wanted);

/* "1-3,7%4": indices of the wanted tasks of array k; NULL: none. The caller frees it. */
char *slurm_submit_indices(const struct campaign *c, size_t k, const bool *wanted);
