/* SPDX-License-Identifier: Apache-2.0
 *
 * The ledger of a campaign: which jobs were submitted for which tasks, a line each, on disk before
 * the job may start. What Slurm has long forgotten is still there.
 */
#ifndef GS_JOBS_H
#define GS_JOBS_H

#include "cluster/campaign.h"

struct submission {
    long job;
    size_t array;
    char *indices; /* "1-3,7" */
};

struct jobs {
    struct submission *v; /* in the order of their submission */
    size_t n;
    bool cancelled; /* after the last submission */
};

int jobs_read(struct jobs *j, const struct campaign *c); /* no ledger: none; GS_OK or reported */
void jobs_free(struct jobs *j);

/* Appended and fsynced. */
int jobs_add(const struct campaign *c, long job, size_t array, const char *indices);
int jobs_cancelled(const struct campaign *c);

bool jobs_knows(const struct jobs *j, long job);
/* The last submission that had this task, 0: none. */
long jobs_last(const struct jobs *j, const struct campaign *c, size_t task);

#endif
