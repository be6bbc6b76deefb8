/* SPDX-License-Identifier: Apache-2.0
 *
 * The campaign that measures a run folder. A run inside a campaign, CAMPAIGN/runs/P/W/RUN, is measured
 * by its jobs, and so is the rest of an unfinished copy that collect made: it holds the file
 * `collected`, which names the campaign.
 */
#pragma once

#define CAMPAIGN_FILE "campaign.json"

/* The absolute path of the campaign that the run folder lies in; the caller frees it. NULL: none. */
char *run_campaign(const char *dir);
/* The same for an unfinished copy; NULL also if that campaign is gone. */
char *run_collected_from(const char *dir);
/* Marks an unfinished copy. GS_OK, or GS_FAILED reported. */
int run_mark_collected(const char *dir, const char *campaign);

/* The command that completes the run: resume of the run or of its campaign, and for a copy collect.
 * The caller frees it. */
char *run_completed_by(const char *dir);
