/* SPDX-License-Identifier: Apache-2.0
 *
 * The ledger of a campaign: one line per submission, with its job and tasks. A line is on disk
 * before the job may start, and stays after Slurm has forgotten the job.
 */
#pragma once

#include "cluster/campaign.h"

struct submission {
    long job;
    size_t array;
    char *indices; /* "1-3,7" */
};

struct jobs {
    struct submission *v; /* in order of submission */
    size_t n;
    bool cancelled; /* cancelled after the last submission */
};

/* GS_OK (empty without a ledger) or reported. */
int jobs_read(struct jobs *j, const struct campaign *c);
void jobs_free(struct jobs *j);

/* Append a line and fsync it. */
int jobs_add(const struct campaign *c, long job, size_t array, const char *indices);
int jobs_cancelled(const struct campaign *c);

bool jobs_knows(const struct jobs *j, long job);
/* Job of the last submission with this task; 0: none. */
long jobs_last(const struct jobs *j, const struct campaign *c, size_t task);
