/* SPDX-License-Identifier: Apache-2.0
 *
 * Hands tasks to Slurm so that a crash at any moment loses none: an array is submitted held, its
 * line in the ledger is on disk, and only then is it released. What a crash leaves held is found by
 * its comment.
 */
#ifndef GS_SLURM_SUBMIT_H
#define GS_SLURM_SUBMIT_H

#include "cluster/campaign.h"

/* The wanted tasks (NULL: all), one submission an array. GS_OK or reported. */
int slurm_submit_tasks(const struct campaign *c, const bool *wanted);

/* "1-3,7%4": the wanted tasks of array k; NULL: none. The caller's. */
char *slurm_submit_indices(const struct campaign *c, size_t k, const bool *wanted);

#endif
