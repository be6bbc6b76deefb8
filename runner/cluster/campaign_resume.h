/* SPDX-License-Identifier: Apache-2.0
 *
 * What brings a campaign on: held jobs are released, and what no job will measure is submitted.
 */
#ifndef GS_CAMPAIGN_RESUME_H
#define GS_CAMPAIGN_RESUME_H

/* GS_OK or reported. */
int campaign_resume(const char *dir);

/* One task, in its job: measures its launches. `task` from 1. GS_OK or reported. */
int campaign_resume_task(const char *dir, long task);

#endif
